//! Checks and repairs the files of a solve: checks every byte against its hash and recomputes what
//! is damaged.
//!
//! There are two kinds of folders. A *run* has a journal with the hash of every log entry and block
//! and the summary of every block; they determine the manifest and `SUMS` to the last byte. A
//! *database alone*, a `db` folder moved elsewhere, checks itself: blocks have a hash for each
//! frame, the manifest has the digest of every block's bitmap, and `SUMS` covers all files.
//!
//! | authority on | run | database alone |
//! |---|---|---|
//! | a log entry | journal | - |
//! | a block | journal | its own hashes together with its digest in the manifest; `SUMS` before these are read, or if it does not confirm the manifest |
//! | the manifest | the summaries in the journal | `SUMS`; if its line is wrong, the totals of all blocks, and for the audit, which they do not show, the manifest itself |
//! | `SUMS` | all of these | all of these |
//!
//! Where only the counts or a book are kept, there are no blocks: a damaged log, part or book has
//! no source, and without the run only `SUMS` confirms the manifest. A book is compared with its
//! own digest and with the census.
//!
//! # Invariants
//! 1. [`check()`] only reads and takes no lock. It can run beside a solve or repair and never
//!    reports sound data as damaged: files that may be changing are read again, in the opposite
//!    order of writing.
//! 2. [`Repair`] announces its work before it changes a file (it has only timed a file of its own),
//!    and replaces a file only by bytes that an authority in the table above confirms.
//! 3. The same command restarts a repair that was stopped, killed or failed. A repaired folder has
//!    the bytes that an undisturbed solve would have left.
//!
//! A check reads each file once. A repair begins with a check of all hashes; [`Estimate`] has the
//! rest of its cost. `pipeline::maintenance` checks and repairs logs and journal; [`verify`] checks
//! the values.

mod alone;
mod lists;
mod repair;
mod run;
pub mod verify;
mod workers;

pub use pipeline::maintenance::check::Depth;
pub use pipeline::{Damage, Expected, Finding, Severity};
pub use repair::{Estimate, Repair};
pub use workers::Request;

use crate::database::{DatabaseError, MANIFEST, SUMS, is_database_file};
use pipeline::checkpoint::{self, FORMAT, METADATA, PUBLISHED, without_temporary};
use pipeline::{RealStorage, Storage, sort_findings};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// An error in checking or repairing a folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the engine.
    #[error(transparent)]
    Run(#[from] pipeline::Error),
    /// An error of the database.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The folder contains neither a run nor a database.
    #[error("{} contains neither a run nor a database", path.display())]
    Nothing {
        /// The folder.
        path: PathBuf,
    },
    /// The run has parameters unknown to this program.
    #[error("{} has parameters unknown to this program", path.display())]
    Foreign {
        /// The file with the parameters.
        path: PathBuf,
    },
    /// No source is left for the right bytes, or for hashes to confirm them. The file is unchanged.
    #[error("{} cannot be repaired: {reason}", path.display())]
    Irreparable {
        /// The damaged file.
        path: PathBuf,
        /// The missing source.
        reason: String,
    },
}

/// The kind of a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    /// A run, finished or not.
    #[default]
    Run,
    /// A database without its run.
    Database,
}

/// The result of a check.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// The kind of the folder.
    pub subject: Subject,
    /// The findings, damage first, leftovers last; each by path and offset.
    #[serde(serialize_with = "serialize_findings")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<FindingRow<'_>>"))]
    pub findings: Vec<Finding>,
    /// Number of canonical blocks of the board; 0 if the board is unknown.
    pub blocks: u64,
    /// Number of finished blocks.
    pub finished_blocks: u64,
    /// Generation of the run; 0 for a database without a run.
    pub generation: u64,
    /// Number of files checked.
    pub files: u64,
    /// Number of bytes compared with their hashes.
    pub bytes: u64,
    /// Whether all blocks are finished but `SUMS`, which is written last, is missing: a solve is
    /// finishing the database, or was stopped and finishes it when run again.
    pub unsealed: bool,
}

/// A finding as other programs get it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindingRow<'a> {
    /// `damage`, `copy` (one of two copies) or `leftover`.
    kind: &'a str,
    /// The file.
    path: Cow<'a, str>,
    /// Where in the file, in bytes; 0 if unknown.
    offset: u64,
    /// The kind of damage, one word.
    damage: &'a str,
    /// What was checked.
    what: String,
    /// What it should be.
    expected: String,
    /// What it is.
    got: String,
    /// All of this in a sentence.
    message: String,
}

/// Serializes findings as [`FindingRow`]s.
///
/// # Errors
/// Those of the serializer.
pub fn serialize_findings<S: Serializer>(findings: &[Finding], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(findings.iter().map(|finding| {
        let [what, expected, got] = finding.damage.in_words();
        FindingRow {
            kind: finding.severity.name(),
            path: finding.path.to_string_lossy(),
            offset: finding.offset.unwrap_or(0),
            damage: finding.damage.name(),
            what,
            expected,
            got,
            message: finding.to_string(),
        }
    }))
}

impl Report {
    /// Returns whether every copy of everything that counts has its original bytes.
    pub fn is_sound(&self) -> bool {
        self.findings.iter().all(|finding| !finding.severity.is_damage())
    }
}

/// Checks a run folder, a database, or the `db` folder of a run, and reports all damage. Progress
/// is counted in bytes.
///
/// # Errors
/// [`Error::Nothing`], [`Error::Foreign`]; an unsupported version; [`pipeline::Error::Interrupted`]
/// after `stop` was set; errors of the operating system. Damage is a finding, not an error.
pub fn check(folder: &Path, depth: Depth, request: &Request<'_>) -> Result<Report, Error> {
    match Place::open(folder)? {
        Place::Run(storage) => Ok(run::check_run(&storage, depth, request)?.report),
        Place::Database(storage) => Ok(alone::check_database(&storage, depth, request)?.report),
    }
}

/// The kind of a folder, with access to its files.
enum Place {
    Run(RealStorage),
    /// The files of a database, without its run.
    Database(RealStorage),
}

impl Place {
    fn open(folder: &Path) -> Result<Place, Error> {
        let nothing = || Error::Nothing { path: folder.into() };
        if !folder.is_dir() {
            return Err(nothing());
        }
        let storage = RealStorage::open(folder)?;
        if storage.has(FORMAT) || storage.has(METADATA) {
            return Ok(Place::Run(storage));
        }
        let is_database = |storage: &RealStorage| storage.has(MANIFEST) || storage.has(SUMS);
        if is_database(&storage) {
            return Ok(Place::Database(storage));
        }
        let inner = storage.inner(PUBLISHED).ok().filter(is_database);
        inner.map(Place::Database).ok_or_else(nothing)
    }
}

/// Returns the foreign files in the folder of a run or a database: names, relative to it, that none
/// of its own files has. No command reads, judges or removes them.
///
/// # Errors
/// [`Error::Nothing`]; errors of the operating system.
pub fn foreign(folder: &Path) -> Result<Vec<String>, Error> {
    match Place::open(folder)? {
        Place::Run(storage) => Ok(checkpoint::foreign(&storage, &is_database_file)?),
        Place::Database(storage) => {
            let names = storage.list("")?.into_iter().map(|entry| entry.name);
            let mut names: Vec<String> = names.filter(|name| !is_database_file(without_temporary(name))).collect();
            names.sort_unstable();
            Ok(names)
        }
    }
}

/// Returns the run folder around a `db` folder, if that is there.
fn run_around(database: &RealStorage) -> Option<RealStorage> {
    // A `db` folder that is a link is in the run by its name alone.
    let named = database.root().parent().and_then(|run| RealStorage::open(run).ok());
    [database.outer(), named].into_iter().flatten().find(|run| run.length(FORMAT).is_ok_and(|format| format.is_some()))
}
