//! What a look at a folder finds: damage, a damaged copy, or what a stop left.

use crate::error::Error;
use crate::storage::Storage;
use std::path::PathBuf;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Something that counts is not what was written.
    Damage,
    /// One of two copies is; the next opening heals it.
    Copy,
    /// Nothing is wrong: a stop left it, and the next opening clears it away.
    Leftover,
}

/// Something that is not as a folder at rest has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters.
    pub kind: Kind,
    /// Full path of the file.
    pub path: PathBuf,
    /// Where in the file, in bytes; 0 when the file as a whole is meant.
    pub offset: u64,
    /// The field or rule that is violated.
    pub what: String,
    /// What it should have been.
    pub expected: String,
    /// What it was.
    pub got: String,
}

impl Finding {
    /// A finding from its parts.
    pub fn new(
        kind: Kind,
        path: impl Into<PathBuf>,
        offset: u64,
        what: impl Into<String>,
        expected: impl Into<String>,
        got: impl Into<String>,
    ) -> Finding {
        let (what, expected, got) = (what.into(), expected.into(), got.into());
        Finding { kind, path: path.into(), offset, what, expected, got }
    }

    /// What an error says about a file that is looked at.
    ///
    /// # Errors
    /// The error itself if it is about something else: another version, a folder that cannot be read.
    pub fn of(kind: Kind, error: Error) -> Result<Finding, Error> {
        match error {
            Error::Corrupt { path, offset, what, expected, got } => {
                Ok(Finding { kind, path, offset, what: what.to_string(), expected, got })
            }
            Error::Io { ref path, .. } if error.is_not_found() => {
                Ok(Finding::new(kind, path, 0, "file", "one", "no such file"))
            }
            Error::Io { operation: "read", path, offset, source } => {
                Ok(Finding::new(kind, path, offset.unwrap_or(0), "bytes", "readable ones", source.to_string()))
            }
            other => Err(other),
        }
    }

    pub(crate) fn leftover(storage: &dyn Storage, name: &str, what: &str) -> Finding {
        Finding::new(Kind::Leftover, storage.path(name), 0, what, "none at rest", "one")
    }
}
