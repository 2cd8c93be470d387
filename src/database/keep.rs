//! What a solve keeps of its result, and the terms on which it runs.

use super::game::DATABASE_CELLS_MAX;
use super::{Audit, Game, Values};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use trinim_game::Board;
use trinim_kernel::bitmap_words;
use xxhash_rust::xxh3::xxh3_64;

/// The version of the files of a database.
pub const VERSION: u64 = 1;
/// Most empty cells of a position in a book of usual depth.
const BOOK_EMPTIES: u32 = 8;

/// What remains of a solve besides its census and its winning first moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The value of every position.
    #[default]
    Database,
    /// The values of the positions with at least this many pieces, in one file.
    Book {
        /// Least pieces of a position.
        pieces: u32,
    },
    /// Nothing.
    Counts,
}

/// The error for an unknown `--keep`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown value {name:?}: expected database, book:PIECES or counts")]
pub struct ParseKeepError {
    name: String,
}

impl Keep {
    /// Returns the choices for a board: every value, the book of usual depth, and nothing.
    pub fn choices(board: &Board) -> [Keep; 3] {
        [Keep::Database, Keep::book(board), Keep::Counts]
    }

    /// Returns the book of usual depth: of the positions with at most eight empty cells.
    pub fn book(board: &Board) -> Keep {
        Keep::Book { pieces: board.cells().saturating_sub(BOOK_EMPTIES) }
    }

    /// Returns what a solve keeps by default: the database up to 40 cells, and the book beyond,
    /// because a database of nine layers takes about a hundred gigabytes.
    pub fn usual(board: &Board) -> Keep {
        if board.cells() <= DATABASE_CELLS_MAX { Keep::Database } else { Keep::book(board) }
    }

    /// Describes in words which values are kept.
    pub fn limits(self) -> String {
        match self {
            Keep::Database => "every value".to_owned(),
            Keep::Book { pieces } => format!("only counts and positions with at least {pieces} pieces"),
            Keep::Counts => "counts only".to_owned(),
        }
    }

    /// The parameter in `FORMAT` with what a run keeps, unless it is the database.
    pub const PARAMETER: &'static str = "keep";

    /// Returns whether every value is kept.
    pub fn is_database(&self) -> bool {
        *self == Keep::Database
    }

    /// Returns the parameter of a run, if it has one.
    pub fn parameter(self) -> Option<(String, String)> {
        (!self.is_database()).then(|| (Keep::PARAMETER.to_owned(), self.to_string()))
    }

    /// Returns what a run with these parameters keeps; `None` if this program does not know.
    pub fn from_parameters(given: &[(String, String)]) -> Option<Keep> {
        match given.iter().find(|(name, _)| name == Keep::PARAMETER) {
            None => Some(Keep::Database),
            Some((_, value)) => value.parse().ok().filter(|keep: &Keep| keep.parameter().is_some()),
        }
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Keep::Database => f.pad("database"),
            Keep::Book { pieces } => f.pad(&format!("book:{pieces}")),
            Keep::Counts => f.pad("counts"),
        }
    }
}

impl FromStr for Keep {
    type Err = ParseKeepError;

    fn from_str(name: &str) -> Result<Keep, ParseKeepError> {
        let pieces = name.strip_prefix("book:").and_then(|pieces| pieces.parse().ok());
        let found = [Keep::Database, Keep::Counts].into_iter().chain(pieces.map(|pieces| Keep::Book { pieces }));
        let mut found = found.filter(|keep| keep.to_string() == name);
        found.next().ok_or_else(|| ParseKeepError { name: name.to_owned() })
    }
}

impl Serialize for Keep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Keep {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Keep, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Keep {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Keep".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^(database|book:[0-9]+|counts)$" })
    }
}

/// The terms of a solve that the files of the run depend on: which values are computed, what is
/// kept of the result, and whether it is audited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terms {
    /// What is computed of each position.
    pub values: Values,
    /// What is kept.
    pub keep: Keep,
    /// Which blocks are compared with their children before they are saved.
    pub audit: Audit,
}

impl Terms {
    /// The parameter in `FORMAT` with the version of the files in `db`. Every run has it, except
    /// those of programs from before the first release.
    pub const VERSION_PARAMETER: &'static str = "database";

    /// Returns the terms of a run with these parameters; `None` if this program does not know them.
    pub fn from_parameters(given: &[(String, String)]) -> Option<Terms> {
        let version = given.iter().find(|(name, _)| name == Terms::VERSION_PARAMETER);
        version.filter(|(_, version)| *version == VERSION.to_string())?;
        let (values, keep) = (Values::from_parameters(given)?, Keep::from_parameters(given)?);
        let terms = Terms { values, keep, audit: Audit::from_parameters(given)? };
        terms.are_possible().then_some(terms)
    }

    /// Returns whether this program can solve on these terms: nimbers and distances are kept whole.
    pub fn are_possible(&self) -> bool {
        self.values.is_outcomes() || self.keep.is_database()
    }

    /// Returns the spec of a solve of a game on these terms.
    pub fn spec(self, game: &Game) -> SolveSpec<'_> {
        SolveSpec { game, terms: self }
    }
}

impl From<Keep> for Terms {
    fn from(keep: Keep) -> Terms {
        Terms { keep, ..Terms::default() }
    }
}

/// A game to solve, and the terms: the subject of a run folder. From a game without terms, the
/// database is kept, without an audit.
#[derive(Clone, Copy, Debug)]
pub struct SolveSpec<'a> {
    /// The game.
    pub game: &'a Game,
    /// What is computed and kept, and how it is audited.
    pub terms: Terms,
}

impl<'a> From<&'a Game> for SolveSpec<'a> {
    fn from(game: &'a Game) -> SolveSpec<'a> {
        Terms::default().spec(game)
    }
}

impl SolveSpec<'_> {
    /// Returns the named parameters of a run, in the order used in files.
    pub fn parameters(&self) -> Vec<(String, String)> {
        let Terms { values, keep, audit } = self.terms;
        let terms = values.parameter().into_iter().chain(keep.parameter()).chain(audit.parameter());
        let version = (Terms::VERSION_PARAMETER.to_owned(), VERSION.to_string());
        self.game.parameters().into_iter().chain(terms).chain([version]).collect()
    }

    /// Returns whether each block counts the losses of the smaller boards, which only a triangle
    /// has in it: with the bitmaps, anyone can count them.
    pub fn counts_layers(&self) -> bool {
        !self.terms.keep.is_database() && self.game.board.layers().is_some()
    }

    /// Returns the number of canonical blocks.
    pub fn blocks(&self) -> u32 {
        self.game.layout.canonical_blocks().len() as u32
    }

    /// Returns the number of bitmaps of a block ([`Values::planes`]).
    pub fn planes(&self) -> usize {
        self.terms.values.planes(&self.game.board)
    }

    /// Returns the words of the bitmaps of a block, all planes together.
    pub fn stream_words(&self) -> usize {
        self.planes() * bitmap_words(self.game.layout.offset_bits())
    }

    /// Returns the short number of game and values that every block file carries.
    pub fn identity(&self) -> u64 {
        xxh3_64(self.game.parameters_text(self.terms.values).as_bytes())
    }

    /// Returns the digest of a solution in hexadecimal: BLAKE3 of the parameters of game and values
    /// as text and of `blocks`, the BLAKE3 of every canonical block's bitmaps by ordinal. It does
    /// not depend on how the board was solved.
    pub fn solution_digest<'a>(&self, blocks: impl Iterator<Item = &'a [u8; 32]>) -> String {
        let mut hasher = self.solution_hasher();
        for digest in blocks {
            hasher.update(digest);
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Returns the hasher of a solution before its first block.
    pub(super) fn solution_hasher(&self) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"trinim solution 1\n").update(self.game.parameters_text(self.terms.values).as_bytes());
        hasher
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_parameters_are_read_back() {
        for keep in [Keep::Database, Keep::Book { pieces: 0 }, Keep::Book { pieces: 37 }, Keep::Counts] {
            assert_eq!(keep.to_string().parse(), Ok(keep));
            let parameters: Vec<(String, String)> = keep.parameter().into_iter().collect();
            assert_eq!(Keep::from_parameters(&parameters), Some(keep));
        }
        assert_eq!(Keep::Database.parameter(), None);
        // Only one way to write it: parameters are compared as texts.
        for other in ["database", "Counts", "counts ", "", "all", "book", "book:", "book:07", "book:+7", "book:-1"] {
            assert_eq!(Keep::from_parameters(&[("keep".into(), other.into())]), None, "{other:?}");
        }
    }
}
