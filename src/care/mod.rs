//! Upkeep of what a solve leaves on disk: is every byte still what was written, and making again what is not.
//!
//! # Shape
//! Two kinds of folders. A *run* has a journal, which knows the hash of every log entry and of every block, and the summary of every block:
//! from it manifest and `SUMS` follow to the last byte. A *database alone*, a `db` folder that was moved away, has what checks itself: blocks
//! with a hash for each frame, a manifest with the digest of every block's bitmap, and `SUMS` over all files.
//!
//! | who says what is right | run | database alone |
//! |---|---|---|
//! | of a log entry | journal | - |
//! | of a block | journal | `SUMS`; where its line is wrong, the block's own hashes together with its digest in the manifest |
//! | of the manifest | the summaries in the journal | `SUMS`; where its line is wrong, what all blocks add up to |
//! | of `SUMS` | all of these | all of these |
//!
//! # Invariants
//! 1. [`check()`] reads only and takes no lock, also beside a run that goes on.
//! 2. [`Repair`] writes nothing before it has said what it is going to do, and replaces a file only by bytes that somebody in the table
//!    above vouches for.
//! 3. A repair that was stopped, killed or failed is begun again by the same command; a repaired folder has the bytes that an undisturbed solve
//!    would have left.
//!
//! # Cost
//! A check reads what it looks at once. A repair begins with a check of all hashes; the rest is in [`Estimate`].
//!
//! # Not here
//! Whether the values are right: [`verify`](crate::verify). How logs and journal are checked and repaired: `pipeline::care::check`, `pipeline::care::repair`.

mod alone;
mod lists;
mod repair;
mod run;

pub use pipeline::care::check::Depth;
pub use pipeline::{Damage, Expected, Finding, Weight};
pub use repair::{Estimate, Repair};

use crate::database::{DatabaseError, MANIFEST, SUMS};
use pipeline::checkpoint::{FORMAT, METADATA, PUBLISHED};
use pipeline::{RealStorage, sort_findings};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Why a folder cannot be looked after.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What the engine says.
    #[error(transparent)]
    Run(#[from] pipeline::Error),
    /// What the database says.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The folder holds neither a run nor a database.
    #[error("{} holds neither a run nor a database", path.display())]
    Nothing {
        /// The folder.
        path: PathBuf,
    },
    /// A run with parameters that this program does not know.
    #[error("{} was begun with parameters that this program does not know", path.display())]
    Foreign {
        /// The file that names the parameters.
        path: PathBuf,
    },
    /// Nothing is left that says what the right bytes are, or from which to make them. Nothing was written.
    #[error("{} cannot be repaired: {reason}", path.display())]
    Irreparable {
        /// The damaged file.
        path: PathBuf,
        /// What is missing.
        reason: String,
    },
}

/// What is asked of a check.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// How closely.
    pub depth: Depth,
    /// Threads.
    pub threads: usize,
    /// Set from outside to end early.
    pub stop: &'a AtomicBool,
    /// Told (done, all) in bytes, from any thread.
    pub progress: &'a (dyn Fn(u64, u64) + Sync),
    /// Whether somebody is at work in the folder: then a database that is not sealed yet is no damage.
    pub is_owned: bool,
}

/// What a folder was found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    /// A run, finished or not.
    Run,
    /// A database without its run.
    Database,
}

/// What was looked at and found.
#[derive(Debug, Serialize)]
pub struct Report {
    /// What the folder is.
    pub subject: Subject,
    /// Damage first, leftovers last; each by path and offset.
    #[serde(serialize_with = "serialize_findings")]
    pub findings: Vec<Finding>,
    /// Canonical blocks of the board; 0 when nothing says which board it is.
    pub blocks: u64,
    /// Those that are finished.
    pub finished_blocks: u64,
    /// Generation of the run; 0 of a database alone.
    pub generation: u64,
    /// Files looked at.
    pub files: u64,
    /// Bytes whose hashes were compared.
    pub bytes: u64,
}

/// Findings as programs in other languages read them; `message` is the whole sentence.
///
/// # Errors
/// Those of the serializer.
pub fn serialize_findings<S: Serializer>(findings: &[Finding], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Row<'a> {
        kind: &'a str,
        path: Cow<'a, str>,
        offset: u64,
        damage: &'a str,
        what: String,
        expected: String,
        got: String,
        message: String,
    }
    serializer.collect_seq(findings.iter().map(|finding| {
        let [what, expected, got] = finding.damage.in_words();
        Row {
            kind: finding.weight.name(),
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
    /// Whether everything that counts is as it was written, in every copy.
    pub fn is_sound(&self) -> bool {
        self.findings.iter().all(|finding| !finding.weight.is_damage())
    }
}

/// Looks at a run folder, a database, or the `db` folder of a run, for everything that is wrong.
///
/// # Errors
/// [`Error::Nothing`], [`Error::Foreign`]; versions that this program does not read; [`pipeline::Error::Interrupted`] after `stop` was set;
/// what the operating system refuses. Damage is a finding, not an error.
pub fn check(folder: &Path, request: &Request<'_>) -> Result<Report, Error> {
    match Place::of(folder)? {
        Place::Run(storage) => Ok(run::check_run(&storage, request)?.report),
        Place::Database(storage) => Ok(alone::check_database(&storage, request)?.report),
    }
}

/// What a folder is.
enum Place {
    /// A run folder.
    Run(RealStorage),
    /// The files of a database, without its run.
    Database(RealStorage),
}

impl Place {
    fn of(folder: &Path) -> Result<Place, Error> {
        let nothing = || Error::Nothing { path: folder.into() };
        let has = |name: &str| folder.join(name).exists();
        if !folder.is_dir() {
            return Err(nothing());
        }
        if has(FORMAT) || has(METADATA) {
            return Ok(Place::Run(RealStorage::open(folder)?));
        }
        if has(MANIFEST) || has(SUMS) {
            return Ok(Place::Database(RealStorage::open(folder)?));
        }
        let inner = folder.join(PUBLISHED);
        if inner.join(MANIFEST).exists() || inner.join(SUMS).exists() {
            return Ok(Place::Database(RealStorage::open(inner)?));
        }
        Err(nothing())
    }
}
