//! Thresholds: how much accumulates before something is written, synced or closed.
//!
//! They bound the number of files that a run keeps open. [`Thresholds::within`] shrinks them to the
//! limit of the system. The simulation uses thresholds down to one, to reach every place that a
//! threshold guards.
//!
//! # Invariants
//! 1. No threshold can change a result.
//! 2. At most [`Thresholds::files`] log files and published files are open for writing at the same
//!    time. The writer gathers at most `gathered` unsynced files. At most `waiting - 1 + gathered`
//!    wait for the committer, which syncs at most as many. After surplus files are closed, `kept`
//!    synced ones stay open, and up to `gathered` published files follow before the next closing.
//!    In addition, each reader has one file open, and the checkpoint a few.

use crate::error::Error;
use rustix::process::{Resource, getrlimit};

/// Files that the program has open in addition to logs and published files: standard streams, lock,
/// journals, a folder that is being synced, and files of the caller.
const OTHER_FILES: u64 = 32;

/// How much accumulates before something is written, synced or closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Encoded bytes that the writer gathers before it writes them; less if the memory is small.
    pub gather_bytes: u64,
    /// Length of the longest single write of a log, in bytes.
    pub write_bytes: usize,
    /// Number of unsynced files in one gathering at which the writer syncs them itself. With blocks
    /// of a few KiB, one gathering has files of thousands of buckets.
    pub gathered: usize,
    /// Number of unsynced files at which an early commit is requested.
    pub requested: usize,
    /// Number of unsynced files at which the writer waits for the commit.
    pub waiting: usize,
    /// Number of synced log files that stay open for further entries.
    pub kept: usize,
    /// Number of finished streams that stay in memory for their targets; fewer if the memory is
    /// small.
    pub held: usize,
}

impl Thresholds {
    /// The thresholds of a process without a limit on open files.
    ///
    /// `benches/DECISIONS.md` has the measurement of a larger `gather_bytes`.
    pub const LARGEST: Thresholds = Thresholds {
        gather_bytes: 16 << 20,
        write_bytes: 4 << 20,
        gathered: 512,
        requested: 256,
        waiting: 640,
        kept: 128,
        held: usize::MAX,
    };
    /// The thresholds that keep the fewest files open: every file is synced and closed before the
    /// next one is opened.
    pub const SMALLEST: Thresholds =
        Thresholds { gathered: 1, requested: 1, waiting: 1, kept: 0, ..Thresholds::LARGEST };

    /// Returns the largest number of log files and published files that are open for writing at
    /// once.
    pub fn files(&self) -> u64 {
        (self.kept + 2 * self.waiting + 3 * self.gathered) as u64
    }

    /// Returns the largest thresholds for a run with `workers` workers in a process that can have
    /// `open_files` files open.
    ///
    /// # Errors
    /// Returns [`Error::OpenFiles`] if the smallest thresholds are too large.
    pub fn within(open_files: u64, workers: usize) -> Result<Thresholds, Error> {
        let (largest, others) = (Thresholds::LARGEST, OTHER_FILES + workers as u64);
        let room = open_files.saturating_sub(others).min(largest.files());
        if room < Thresholds::SMALLEST.files() {
            let needed = others + Thresholds::SMALLEST.files();
            return Err(Error::OpenFiles { needed, limit: open_files });
        }
        let share = |count: usize, least: usize| ((count as u64 * room / largest.files()) as usize).max(least);
        Ok(Thresholds {
            gathered: share(largest.gathered, 1),
            requested: share(largest.requested, 1),
            waiting: share(largest.waiting, 1),
            kept: share(largest.kept, 0),
            ..largest
        })
    }

    /// Returns the largest thresholds for a run with `workers` workers in this process, under the
    /// system's soft limit of open files (`ulimit -n`).
    ///
    /// # Errors
    /// Returns [`Error::OpenFiles`] if the limit is too low for any thresholds.
    pub fn for_process(workers: usize) -> Result<Thresholds, Error> {
        Thresholds::within(open_files(), workers)
    }
}

/// The limit of open files that is assumed where the system does not report one.
const UNKNOWN_LIMIT: u64 = 256;

/// Returns how many files this process can have open at the same time.
pub fn open_files() -> u64 {
    match getrlimit(Resource::Nofile).current {
        None => u64::MAX,
        // A refused call leaves zeros, and under a real limit of 0 this program could not have
        // started.
        Some(0) => UNKNOWN_LIMIT,
        Some(limit) => limit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_shrink_with_the_limit_and_always_fit_it() {
        for workers in [1, 2, 64] {
            let least = OTHER_FILES + workers as u64 + Thresholds::SMALLEST.files();
            let mut last = Thresholds::within(least, workers).unwrap();
            assert_eq!(last, Thresholds::SMALLEST);
            for limit in least..4000 {
                let next = Thresholds::within(limit, workers).unwrap();
                assert!(next.files() + OTHER_FILES + workers as u64 <= limit, "{limit}: {next:?}");
                assert!(next.files() >= last.files(), "{limit}: {next:?} after {last:?}");
                last = next;
            }
            assert_eq!(last, Thresholds::LARGEST);
            assert_eq!(Thresholds::within(u64::MAX, workers).unwrap(), Thresholds::LARGEST);
        }
    }

    #[test]
    fn a_limit_that_is_too_low_is_named_with_what_is_needed() {
        match Thresholds::within(20, 2) {
            Err(error @ Error::OpenFiles { needed: 39, limit: 20 }) => {
                assert_eq!(error.to_string(), "the run needs 39 open files, but the limit is 20");
            }
            other => panic!("{other:?}"),
        }
        assert!(Thresholds::within(38, 2).is_err() && Thresholds::within(39, 2).is_ok());
        assert!(Thresholds::within(0, 1).is_err());
    }
}
