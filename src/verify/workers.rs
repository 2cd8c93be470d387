//! Threads over a list of tasks, until all are done, one fails or somebody says stop.

use crate::database::DatabaseError;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Why a task ended early.
pub(crate) enum Halt {
    /// It was asked to.
    Stopped,
    /// It failed.
    Failed(DatabaseError),
}

impl From<DatabaseError> for Halt {
    fn from(error: DatabaseError) -> Halt {
        Halt::Failed(error)
    }
}

/// What every task watches and reports to.
pub(crate) struct Watch<'a> {
    stop: &'a AtomicBool,
    /// Set when another worker failed.
    failed: AtomicBool,
    progress: super::Progress<'a>,
    all: u64,
    done: Mutex<u64>,
}

impl<'a> Watch<'a> {
    /// A watch over `all` units of work.
    pub(crate) fn new(stop: &'a AtomicBool, progress: super::Progress<'a>, all: u64) -> Watch<'a> {
        Watch { stop, failed: AtomicBool::new(false), progress, all, done: Mutex::new(0) }
    }

    /// Goes on unless told to stop; `units` more of the work are done.
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

/// Runs the tasks 0 to `tasks` on `threads` threads, each with its own scratch memory. Whether all were done; `false` means stopped.
pub(crate) fn run<S>(
    threads: usize,
    tasks: usize,
    watch: &Watch<'_>,
    scratch: impl Fn() -> Result<S, DatabaseError> + Sync,
    task: impl Fn(&mut S, usize) -> Result<(), Halt> + Sync,
) -> Result<bool, DatabaseError> {
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    let work = || -> Result<(), Halt> {
        let mut scratch = scratch()?;
        loop {
            watch.advance(0)?;
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= tasks {
                return Ok(());
            }
            task(&mut scratch, index)?;
        }
    };
    let stopped = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, tasks.max(1)) {
            scope.spawn(|| match work() {
                Ok(()) => {}
                Err(Halt::Stopped) => stopped.store(true, Ordering::Relaxed),
                Err(Halt::Failed(error)) => {
                    watch.failed.store(true, Ordering::Relaxed);
                    failure.lock().get_or_insert(error);
                }
            });
        }
    });
    match failure.into_inner() {
        Some(error) => Err(error),
        None => Ok(!stopped.into_inner()),
    }
}
