//! Small text files named by an argument.

use crate::cli::face::exit::Refused;
use pipeline::storage::read_regular;
use pipeline::{Damage, Error};
use std::path::Path;

/// A kind of file to read.
#[derive(Clone, Copy)]
pub struct InputKind {
    /// One word for it, with which errors begin.
    pub what: &'static str,
    /// Limit of its length, in bytes.
    pub most_bytes: u64,
    /// Where such a file comes from.
    pub hint: &'static str,
}

impl InputKind {
    /// Builds the error for a file of this kind.
    pub fn refused(self, path: &Path, reason: impl std::fmt::Display) -> Refused {
        Refused::new(format!("{} {}: {reason}", self.what, path.display()), self.hint)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// Returns [`Refused`] if the file is missing, not regular, too long or not UTF-8, and
    /// [`Error::Io`] if the system refuses.
    pub fn read(self, path: &Path) -> anyhow::Result<String> {
        let bytes = read_regular(path, self.most_bytes).map_err(|error| match error {
            Error::Corrupt { damage: Damage::NotAFile, .. } => self.refused(path, "not a regular file").into(),
            Error::Corrupt { damage: Damage::Length { .. }, .. } => {
                let most = crate::cli::words::args::Size(self.most_bytes);
                self.refused(path, format_args!("larger than the {most} limit")).into()
            }
            error if error.is_not_found() => self.refused(path, "no such file").into(),
            error => anyhow::Error::from(error),
        })?;
        String::from_utf8(bytes).map_err(|_| self.refused(path, "not text").into())
    }
}
