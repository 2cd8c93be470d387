//! The error type of the package.
//!
//! Every variant says *where*: an I/O error carries its operation, its path and, for a read or a
//! write, its offset; damage carries path, offset and a [`Damage`]. Texts are lower-case fragments
//! for the caller to join into a chain. The command line adds exit codes and hints.

use crate::finding::{Damage, Finding, Severity};
use crate::ids::BlockId;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// An error of the package.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused an operation. The engine never retries it; only interrupted and
    /// short calls are repeated, and they cause no error.
    #[error("cannot {operation} {}{}", path.display(), at(*offset))]
    Io {
        /// The operation: `open`, `read`, `write`, `sync`, ...
        operation: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The byte offset of a read or a write.
        offset: Option<u64>,
        /// The operating system's error.
        source: io::Error,
    },
    /// The disk became full, and the finished blocks could not be committed either.
    #[error("{full_disk}; the work since the last checkpoint could not be saved")]
    Unsaved {
        /// The first call that found the disk full.
        full_disk: Box<Error>,
    },
    /// Bytes on disk are wrong: changed, cut, missing, swapped or from another run.
    #[error("{}", DamageText { path, offset: *offset, damage })]
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// Offset of the damage in bytes; `None` for the whole file.
        offset: Option<u64>,
        /// What is wrong.
        damage: Damage,
    },
    /// Another process owns the run folder.
    #[error("{} is locked by another process", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// The run folder was started with a different value of a parameter.
    #[error("{} records {name} = {found}, not {wanted}", path.display())]
    Parameters {
        /// The file with the parameters.
        path: PathBuf,
        /// The first parameter that differs.
        name: String,
        /// Its value in the folder.
        found: String,
        /// The requested value.
        wanted: String,
    },
    /// The run folder has another format version.
    #[error("{} has format version {found}, but this program reads version {supported}", path.display())]
    Version {
        /// The file with the version.
        path: PathBuf,
        /// The version found.
        found: u32,
        /// The version this program reads and writes.
        supported: u32,
    },
    /// The run folder has a log in a codec that this version does not support; nothing was changed.
    #[error("{} uses the codec {codec} of another version, which this program cannot read", path.display())]
    Codec {
        /// The log file.
        path: PathBuf,
        /// Name of the codec.
        codec: &'static str,
    },
    /// The folder holds files that do not belong to a run; nothing was changed.
    #[error("{} is neither empty nor a run folder: it contains {name}", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
        /// One of the foreign names.
        name: String,
    },
    /// The folder does not hold a run.
    #[error("{} is not a run folder", path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
    },
    /// The system refused memory that is within the budget.
    #[error("cannot allocate {} MiB of memory", needed_bytes.div_ceil(1 << 20))]
    OutOfMemory {
        /// Size of the refused request, in bytes.
        needed_bytes: u64,
    },
    /// The memory budget is too small for the work.
    #[error("the work needs {} MiB of memory, but the budget is {} MiB", needed_bytes.div_ceil(1 << 20), budget_bytes >> 20)]
    Memory {
        /// The smallest sufficient budget, in bytes.
        needed_bytes: u64,
        /// The budget, in bytes.
        budget_bytes: u64,
    },
    /// The process cannot open enough files for the work.
    #[error("the run needs {needed} open files, but the limit is {limit}")]
    OpenFiles {
        /// The smallest sufficient limit.
        needed: u64,
        /// The limit.
        limit: u64,
    },
    /// The system refused a thread.
    #[error("cannot start a thread")]
    Thread {
        /// The operating system's error.
        source: io::Error,
    },
    /// The journal of this session is full; the next session begins another one.
    #[error("the journal would grow to {length} bytes, but the limit is {limit}")]
    JournalFull {
        /// Its length with the next record, in bytes.
        length: u64,
        /// Its largest allowed length, in bytes.
        limit: u64,
    },
    /// A quantity is larger than the format allows.
    #[error("{what} is {value}, but the limit is {limit}")]
    Limit {
        /// The quantity.
        what: &'static str,
        /// Its value.
        value: u64,
        /// Its largest allowed value.
        limit: u64,
    },
    /// The workload contradicts itself or the folder: its order is not topological, or an edge has
    /// no log.
    #[error("the workload contradicts its block graph: {what}")]
    Workload {
        /// The contradiction.
        what: String,
    },
    /// The audit of a block contradicts what was computed; the block was not saved.
    #[error("the audit of block {block} failed: {what}")]
    Audit {
        /// The block.
        block: BlockId,
        /// The contradiction.
        what: String,
    },
    /// An earlier write or sync failed; the bytes on disk are unknown until the folder is reopened.
    #[error("an earlier write or sync failed; reopen the run")]
    Poisoned,
    /// The run stopped after a checkpoint, as requested.
    #[error("stopped on request")]
    Interrupted,
}

/// Damage as the text of an error: `db/000003.blk is damaged at byte 88: ..`.
pub struct DamageText<'a> {
    /// The file.
    pub path: &'a Path,
    /// Offset of the damage in bytes; `None` for the whole file.
    pub offset: Option<u64>,
    /// What is wrong.
    pub damage: &'a Damage,
}

impl fmt::Display for DamageText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.damage.write(f, self.path, self.offset, " is damaged")
    }
}

fn at(offset: Option<u64>) -> String {
    offset.map_or_else(String::new, |offset| format!(" at byte {offset}"))
}

impl Error {
    /// Builds an I/O error for `operation` on `path`.
    pub fn io(operation: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Io { operation, path: path.into(), offset: None, source }
    }

    /// Builds an I/O error for `operation` on `path` at byte `offset`.
    pub fn io_at(operation: &'static str, path: impl Into<PathBuf>, offset: u64, source: io::Error) -> Self {
        Self::Io { operation, path: path.into(), offset: Some(offset), source }
    }

    /// Builds an error for a workload that contradicts itself or the folder.
    pub fn workload(what: impl Into<String>) -> Self {
        Self::Workload { what: what.into() }
    }

    /// Builds an error for damage in `path`, at a byte or, with `None`, of the whole file.
    pub fn corrupt(path: impl Into<PathBuf>, offset: impl Into<Option<u64>>, damage: impl Into<Damage>) -> Self {
        Self::Corrupt { path: path.into(), offset: offset.into(), damage: damage.into() }
    }

    /// Builds an error for `path` ending before the `needed_bytes` bytes at `offset`.
    pub fn early_end(path: &Path, offset: u64, needed_bytes: u64) -> Self {
        Self::corrupt(path, offset, Damage::Ends { needed_bytes })
    }

    /// Returns whether the cause is a full disk, an exhausted quota or a file size limit.
    pub fn is_full_disk(&self) -> bool {
        match self {
            Self::Io { source, .. } => matches!(
                source.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
            ),
            Self::Unsaved { .. } => true,
            _ => false,
        }
    }

    /// Returns whether the process or the system has too many files open.
    pub fn is_too_many_files(&self) -> bool {
        // EMFILE, ENFILE
        matches!(self, Self::Io { source, .. } if matches!(source.raw_os_error(), Some(23 | 24)))
    }

    /// Returns whether a file or folder did not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Returns whether a name that should be new already exists.
    pub fn is_taken(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::AlreadyExists)
    }

    /// Returns whether the file system does not support the operation.
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::Unsupported)
    }
}

impl Finding {
    /// Converts an error about a checked file to a finding.
    ///
    /// # Errors
    /// Returns the error itself if it has another subject, such as a format version or an
    /// unreadable folder.
    pub fn from_error(severity: Severity, error: Error) -> Result<Finding, Error> {
        match error {
            Error::Corrupt { path, offset, damage } => Ok(Finding { severity, path, offset, damage }),
            Error::Io { ref path, .. } if error.is_not_found() => Ok(Finding::new(severity, path, Damage::MISSING)),
            Error::Io { operation: "read", path, offset, source } => {
                Ok(Finding { severity, path, offset, damage: Damage::Unreadable(source.to_string()) })
            }
            other => Err(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_disks_are_recognised_by_number() {
        let of = |number| Error::io("write", "x", io::Error::from_raw_os_error(number));
        for number in [28, 122, 27] {
            assert!(of(number).is_full_disk(), "{number}"); // ENOSPC, EDQUOT, EFBIG
        }
        assert!(!of(5).is_full_disk());
        assert!(of(2).is_not_found());
        assert!(of(23).is_too_many_files() && of(24).is_too_many_files() && !of(5).is_too_many_files());
    }

    #[test]
    fn texts_name_the_place() {
        let error = Error::io_at("write", "m/x", 4096, io::Error::from_raw_os_error(5));
        assert_eq!(error.to_string(), "cannot write m/x at byte 4096");
    }

    #[test]
    fn an_error_about_a_file_is_a_finding_and_any_other_stays_an_error() {
        let of = |error| Finding::from_error(Severity::Damage, error);
        let io = |operation, code| Error::io(operation, "x", std::io::Error::from_raw_os_error(code));
        assert_eq!(of(io("open", 2)).unwrap().damage, Damage::MISSING);
        assert!(matches!(of(io("read", 5)).unwrap().damage, Damage::Unreadable(_)));
        assert!(matches!(of(io("open", 13)), Err(Error::Io { .. })));
        assert!(matches!(of(Error::Interrupted), Err(Error::Interrupted)));
    }
}
