//! The solved boards that the program contains: manifest, with census and winning first moves, and
//! book.

use super::{BOOK, DatabaseError, MANIFEST, SUMS};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;
use trinim_game::{Board, Rule};

/// The finished solve of a board, as part of the program; [`Database::open_built_in`] opens it.
///
/// Its [files](BuiltIn::files) are the `db` folder of a solve with `--keep book`. The manifest is
/// stored compressed: `zstd -dc manifest.json.zst | b3sum` prints its line of `SUMS`.
///
/// [`Database::open_built_in`]: super::Database::open_built_in
pub struct BuiltIn {
    /// Layers of the board.
    pub layers: u32,
    /// The rule.
    pub rule: Rule,
    /// One zstd frame.
    manifest: &'static [u8],
    sums: &'static [u8],
    book: &'static [u8],
}

macro_rules! built_in {
    ($layers:literal, $rule:expr, $folder:literal) => {
        BuiltIn {
            layers: $layers,
            rule: $rule,
            manifest: include_bytes!(concat!("built_in/", $folder, "/manifest.json.zst")),
            sums: include_bytes!(concat!("built_in/", $folder, "/SUMS")),
            book: include_bytes!(concat!("built_in/", $folder, "/book")),
        }
    };
}

static ALL: [BuiltIn; 2] = [built_in!(9, Rule::Misere, "k9-misere"), built_in!(9, Rule::Normal, "k9-normal")];

impl BuiltIn {
    /// Returns everything that is built in.
    pub fn all() -> &'static [BuiltIn] {
        &ALL
    }

    /// Returns the built-in solve of a triangle without a limit on the pieces of a move.
    pub fn find(layers: u32, rule: Rule) -> Option<&'static BuiltIn> {
        ALL.iter().find(|built_in| (built_in.layers, built_in.rule) == (layers, rule))
    }

    /// Returns the built-in solve of a board.
    pub fn for_board(board: &Board, rule: Rule) -> Option<&'static BuiltIn> {
        // A board with fewest pieces of a move above 1 has no layers.
        let plain = board.layers().filter(|_| board.max_take().is_none());
        plain.and_then(|layers| BuiltIn::find(layers, rule))
    }

    pub(super) fn file(&self, name: &str) -> Result<Cow<'static, [u8]>, DatabaseError> {
        let path = || self.place().join(name);
        match name {
            MANIFEST => zstd::decode_all(self.manifest)
                .map(Cow::Owned)
                .map_err(|_| DatabaseError::corrupt(path(), None, "not a zstd frame")),
            SUMS => Ok(self.sums.into()),
            BOOK => Ok(self.book.into()),
            _ => Err(DatabaseError::Io { operation: "open", path: path(), source: ErrorKind::NotFound.into() }),
        }
    }

    /// Returns the files of the `db` folder by name.
    ///
    /// # Errors
    /// [`DatabaseError::Corrupt`] if the built-in bytes are damaged.
    pub fn files(&self) -> Result<BTreeMap<&'static str, Vec<u8>>, DatabaseError> {
        let file = |name| Ok((name, self.file(name)?.into_owned()));
        [BOOK, MANIFEST, SUMS].into_iter().map(file).collect()
    }

    /// Returns what takes the place of a folder in messages.
    pub(super) fn place(&self) -> PathBuf {
        format!("{} layers, {}, built in", self.layers, self.rule).into()
    }
}
