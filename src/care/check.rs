//! What a check is asked and what it answers.

use super::{Depth, Error, Finding, Kind, Place, alone, run};
use std::path::Path;
use std::sync::atomic::AtomicBool;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A run, finished or not.
    Run,
    /// A database without its run.
    Database,
}

/// What was looked at and found.
#[derive(Debug)]
pub struct Report {
    /// What the folder is.
    pub subject: Subject,
    /// Damage first, leftovers last; each by path and offset.
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

impl Report {
    /// Whether everything that counts is as it was written, in every copy.
    pub fn is_sound(&self) -> bool {
        self.findings.iter().all(|finding| finding.kind == Kind::Leftover)
    }
}

/// Looks at a run folder, a database, or the `db` folder of a run, for everything that is wrong.
///
/// # Errors
/// [`Error::Nothing`], [`Error::Foreign`]; versions that this program does not read; [`pipeline::Error::Interrupted`] after `stop` was set;
/// what the operating system refuses. Damage is a finding, not an error.
pub fn check(folder: &Path, request: &Request<'_>) -> Result<Report, Error> {
    match Place::of(folder)? {
        Place::Run(storage) => Ok(run::look(&storage, request)?.report),
        Place::Database(storage) => Ok(alone::look(&storage, request)?.report),
    }
}

/// Sorts findings as a report has them, each once.
pub(super) fn sort(findings: &mut Vec<Finding>) {
    findings.sort_by(|one, other| (one.kind, &one.path, one.offset).cmp(&(other.kind, &other.path, other.offset)));
    findings.dedup();
}
