//! Worker threads for a list of tasks, until all are done, one fails or a stop is requested.

use crate::database::DatabaseError;
use parking_lot::Mutex;
use pipeline::parallel;
use std::sync::atomic::{AtomicBool, Ordering};

/// The reason why a task ended early.
pub(crate) enum Halt {
    /// A stop was requested.
    Stopped,
    /// The task failed.
    Failed(DatabaseError),
}

impl From<DatabaseError> for Halt {
    fn from(error: DatabaseError) -> Halt {
        Halt::Failed(error)
    }
}

/// The stop flags and progress that tasks share.
pub(crate) struct Watch<'a> {
    stop: &'a AtomicBool,
    /// Set when another worker failed.
    failed: AtomicBool,
    progress: super::verify::Progress<'a>,
    all: u64,
    done: Mutex<u64>,
}

impl<'a> Watch<'a> {
    /// Creates a watch over `all` units of work.
    pub(crate) fn new(stop: &'a AtomicBool, progress: super::verify::Progress<'a>, all: u64) -> Watch<'a> {
        Watch { stop, failed: AtomicBool::new(false), progress, all, done: Mutex::new(0) }
    }

    /// Reports `units` more of the work as done, and returns an error if the task must stop.
    pub(crate) fn advance(&self, units: u64) -> Result<(), Halt> {
        if units > 0 {
            let mut done = self.done.lock();
            *done += units;
            (self.progress)(*done, self.all);
        }
        if self.stop.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed) {
            Err(Halt::Stopped)
        } else {
            Ok(())
        }
    }
}

/// Runs the tasks 0 to `tasks` on `threads` threads, each with its own scratch memory. Returns
/// `false` if stopped before the end.
pub(crate) fn run<S>(
    threads: usize,
    tasks: usize,
    watch: &Watch<'_>,
    scratch: impl Fn() -> Result<S, DatabaseError> + Sync,
    task: impl Fn(&mut S, usize) -> Result<(), Halt> + Sync,
) -> Result<bool, DatabaseError> {
    let worked = parallel::for_each(
        threads,
        tasks,
        || Ok::<S, Halt>(scratch()?),
        |scratch, index| {
            let worked = watch.advance(0).and_then(|()| task(scratch, index));
            if matches!(worked, Err(Halt::Failed(_))) {
                watch.failed.store(true, Ordering::Relaxed);
            }
            worked
        },
    );
    let Err(halts) = worked else { return Ok(true) };
    // Workers stopped by another's failure do not count as stopped from outside.
    let failure = halts.into_iter().find_map(|halt| match halt {
        Halt::Failed(error) => Some(error),
        Halt::Stopped => None,
    });
    failure.map_or(Ok(false), Err)
}
