//! The errors of the database.

use super::Keep;
use pipeline::{Damage, DamageText, Expected, Finding, Severity};
use std::path::PathBuf;

/// An error in opening, reading or checking a database.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The operating system refused an operation.
    #[error("cannot {operation} {}", path.display())]
    Io {
        /// The operation that failed.
        operation: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The folder contains no finished database.
    #[error("{} contains no finished database: {reason}", path.display())]
    Missing {
        /// The folder.
        path: PathBuf,
        /// The missing part.
        reason: String,
    },
    /// The database is of a version this program does not read.
    #[error("{} has database version {found}, but this program reads version {supported}", path.display())]
    Version {
        /// The file with the version.
        path: PathBuf,
        /// The version in the file.
        found: u64,
        /// The version that this program reads.
        supported: u64,
    },
    /// The folder is sound, but does not keep the value.
    #[error("{} keeps {}, not every value", path.display(), keep.limits())]
    NotKept {
        /// The folder.
        path: PathBuf,
        /// What is kept.
        keep: Keep,
    },
    /// The bytes of a file are wrong.
    #[error("{}", DamageText { path, offset: *offset, damage })]
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// The offset of the damage in bytes; `None` for the file as a whole.
        offset: Option<u64>,
        /// The kind of damage.
        damage: Damage,
    },
    /// Another error of the storage.
    #[error(transparent)]
    Storage(pipeline::Error),
}

impl DatabaseError {
    pub(crate) fn corrupt(
        path: impl Into<PathBuf>,
        offset: impl Into<Option<u64>>,
        damage: impl Into<Damage>,
    ) -> DatabaseError {
        DatabaseError::Corrupt { path: path.into(), offset: offset.into(), damage: damage.into() }
    }

    /// Turns an error about the bytes of a checked file into a finding.
    ///
    /// # Errors
    /// Returns the error itself if it is of another kind.
    pub fn into_finding(self) -> Result<Finding, DatabaseError> {
        match self {
            DatabaseError::Corrupt { path, offset, damage } => {
                Ok(Finding { severity: Severity::Damage, path, offset, damage })
            }
            DatabaseError::Version { path, found, supported } => {
                let expected = Expected::Exactly(supported);
                Ok(Finding::new(Severity::Damage, path, Damage::Number { of: "version", expected, found }))
            }
            DatabaseError::Io { path, source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                Ok(Finding::new(Severity::Damage, path, Damage::MISSING))
            }
            other => Err(other),
        }
    }
}

impl From<pipeline::Error> for DatabaseError {
    fn from(error: pipeline::Error) -> DatabaseError {
        match error {
            pipeline::Error::Corrupt { path, offset, damage } => DatabaseError::Corrupt { path, offset, damage },
            pipeline::Error::Io { operation, path, source, .. } => DatabaseError::Io { operation, path, source },
            other => DatabaseError::Storage(other),
        }
    }
}
