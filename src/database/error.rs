//! The errors of the database.

use std::path::PathBuf;

/// Why a database cannot be opened, read or trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The operating system refused an operation.
    #[error("{operation} {} failed", path.display())]
    Io {
        /// What was tried.
        operation: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The folder holds no finished database.
    #[error("{} holds no finished database: {reason}", path.display())]
    Missing {
        /// The folder.
        path: PathBuf,
        /// What is not there.
        reason: String,
    },
    /// The database is of a version this program does not read.
    #[error("{} has database version {found}, this program reads version {supported}", path.display())]
    Version {
        /// The manifest.
        path: PathBuf,
        /// Version in the file.
        found: u64,
        /// Version this program reads.
        supported: u64,
    },
    /// A byte is not what it must be.
    #[error("{} is damaged at byte {offset}: {what}", path.display())]
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// Where in the file, in bytes; 0 for the whole file.
        offset: u64,
        /// What is wrong.
        what: String,
    },
}

impl DatabaseError {
    pub(super) fn io(operation: &'static str, path: impl Into<PathBuf>, source: std::io::Error) -> DatabaseError {
        DatabaseError::Io { operation, path: path.into(), source }
    }

    pub(super) fn corrupt(path: impl Into<PathBuf>, offset: u64, what: impl Into<String>) -> DatabaseError {
        DatabaseError::Corrupt { path: path.into(), offset, what: what.into() }
    }
}
