//! A session: the state that the threads of a run share, and how one thread ends the others.

use super::budget::Budget;
use super::commit_queue::CommitQueue;
use super::held::HeldStreams;
use super::ledger::Ledger;
use super::schedule::Schedule;
use super::{Observer, Options};
use crate::bitmaps::Bitmaps;
use crate::checkpoint::JournalRoom;
use crate::error::Error;
use crate::ids::RunId;
use crate::log::place::LogFile;
use crate::measure::metrics::Metrics;
use crate::storage::Storage;
use crate::sync::Mutex;
use crate::thresholds::Thresholds;
use crate::workload::Workload;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a thread of a session ended early.
pub(super) enum Halt {
    /// The session is over: it was stopped, or another thread has failed and kept the cause.
    GivenUp,
    Failed(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Halt {
        Halt::Failed(error)
    }
}

/// State that the threads of a session share.
pub(super) struct Session<'a> {
    pub(super) workload: &'a dyn Workload,
    pub(super) storage: &'a dyn Storage,
    pub(super) options: &'a Options,
    pub(super) metrics: &'a Metrics,
    pub(super) observer: Observer<'a>,
    pub(super) workers: usize,
    pub(super) thresholds: Thresholds,
    pub(super) run_id: RunId,
    /// Generation in the names of this session's files.
    pub(super) generation: u64,
    /// The memory beside the workers' own buffers and the held streams. It is a budget of its own:
    /// a piece that waits for room must not wait for buffers that are returned only at the end.
    pub(super) queue: Budget,
    /// For each worker, the memory of the published files that its reader has read ahead, or that
    /// it decodes.
    pub(super) read_ahead: Vec<Budget>,
    /// The bitmaps of workers and held streams.
    pub(super) bitmaps: Bitmaps,
    pub(super) schedule: Schedule,
    pub(super) held: HeldStreams,
    pub(super) ledger: Ledger,
    pub(super) commits: CommitQueue,
    /// Reserves space for the records of the queue.
    pub(super) journal: JournalRoom,
    /// Log files whose bucket is consumed: the writer may close their handles.
    pub(super) retired: Mutex<Vec<LogFile>>,
    /// The error that the run reports, once a thread has failed.
    pub(super) failure: Mutex<Option<Error>>,
    pub(super) panicked: AtomicBool,
}

impl Session<'_> {
    /// Keeps the cause of a failure and makes every thread give up.
    pub(super) fn guard(&self, result: Result<(), Error>) {
        if let Err(error) = result {
            keep_cause(&mut self.failure.lock(), error);
            self.give_up();
        }
    }

    /// Wakes every thread that waits for another one, so that it ends.
    fn give_up(&self) {
        self.schedule.stop();
        self.queue.close();
        self.read_ahead.iter().for_each(Budget::close);
        self.commits.end();
    }

    /// Returns whether no further commit is allowed. A full disk allows one, for the blocks that
    /// were written before.
    pub(super) fn has_failed(&self) -> bool {
        let is_fatal = |failure: &Error| !failure.is_full_disk();
        self.panicked.load(Ordering::SeqCst) || self.failure.lock().as_ref().is_some_and(is_fatal)
    }

    /// Keeps the failure of a commit. On a full disk, the error says that finished blocks are not
    /// saved.
    pub(super) fn guard_commit(&self, result: Result<(), Error>) {
        let Err(error) = result else { return };
        let mut failure = self.failure.lock();
        let full_disk = match failure.take() {
            Some(first) if first.is_full_disk() => first,
            None if error.is_full_disk() => error,
            first => {
                *failure = first;
                drop(failure);
                return self.guard(Err(error));
            }
        };
        *failure = Some(Error::Unsaved { full_disk: Box::new(full_disk) });
        drop(failure);
        self.give_up();
    }
}

/// Ends the other threads without another commit when this one panics; otherwise they would wait
/// for it for ever. The folder keeps the last commit.
pub(super) struct PanicGuard<'s, 'a>(pub(super) &'s Session<'a>);

impl Drop for PanicGuard<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.panicked.store(true, Ordering::SeqCst);
            self.0.give_up();
        }
    }
}

/// Keeps the first error, unless it only follows from another thread's failed sync.
fn keep_cause(kept: &mut Option<Error>, error: Error) {
    if kept.as_ref().is_none_or(|kept| matches!(kept, Error::Poisoned)) {
        *kept = Some(error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: a sync failed in the committer, but a worker that was about to write reported
    /// "an earlier write or sync failed" first, and the run ended with that, in 6 of 10,000 runs
    /// with a failing call. The error with path and reason is kept.
    #[test]
    fn the_cause_is_reported_whichever_thread_is_faster() {
        let cause = || Error::io("sync", "x", std::io::Error::from_raw_os_error(5));
        let is_cause = |kept: &Option<Error>| matches!(kept, Some(Error::Io { operation: "sync", .. }));
        let mut kept = None;
        keep_cause(&mut kept, Error::Poisoned);
        assert!(matches!(kept, Some(Error::Poisoned)));
        keep_cause(&mut kept, cause());
        assert!(is_cause(&kept));
        keep_cause(&mut kept, Error::Poisoned);
        keep_cause(&mut kept, Error::Interrupted);
        assert!(is_cause(&kept));
    }
}
