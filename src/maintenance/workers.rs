//! What checks, verifications and repairs share: their options besides the folder, and worker
//! threads for a list of tasks, until all are done, one fails or a stop is requested.
//!
//! It uses nothing of the solver, so that [`verify`](super::verify) shares nothing with it.

use parking_lot::Mutex;
use pipeline::parallel;
use std::sync::atomic::{AtomicBool, Ordering};

/// How a check, a verification or a repair runs; these options do not change its result.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The number of threads.
    pub threads: usize,
    /// Ends the work early when set.
    pub stop: &'a AtomicBool,
    /// Receives (done, all), in bytes of files while these are checked. Called from any thread.
    pub progress: &'a (dyn Fn(u64, u64) + Sync),
}

impl Request<'static> {
    /// Returns the request for work on this many threads, without a stop.
    pub fn on(threads: usize) -> Request<'static> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Request { threads, stop: &NEVER, progress: &|_, _| {} }
    }
}

/// The reason why a task ended early.
pub(super) enum Halt<E> {
    Stopped,
    Failed(E),
}

impl<E> From<E> for Halt<E> {
    fn from(error: E) -> Halt<E> {
        Halt::Failed(error)
    }
}

/// The stop flags and progress that tasks share.
pub(super) struct Watch<'a> {
    request: Request<'a>,
    failed: AtomicBool,
    all: u64,
    done: Mutex<u64>,
}

impl<'a> Watch<'a> {
    /// Creates a watch over `all` units of work.
    pub(super) fn new(request: &Request<'a>, all: u64) -> Watch<'a> {
        Watch { request: *request, failed: AtomicBool::new(false), all, done: Mutex::new(0) }
    }

    /// Reports `units` more of the work as done, and returns an error if the task must stop.
    pub(super) fn advance<E>(&self, units: u64) -> Result<(), Halt<E>> {
        if units > 0 {
            let mut done = self.done.lock();
            *done += units;
            (self.request.progress)(*done, self.all);
        }
        if self.request.stop.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed) {
            Err(Halt::Stopped)
        } else {
            Ok(())
        }
    }

    /// Runs the tasks 0 to `tasks` on the threads of the request, each with its own scratch memory.
    /// Returns `false` if stopped before the end.
    pub(super) fn run<S: Send, E: Send>(
        &self,
        tasks: usize,
        scratch: impl Fn() -> Result<S, E> + Sync,
        task: impl Fn(&mut S, usize) -> Result<(), Halt<E>> + Sync,
    ) -> Result<bool, E> {
        let worked = parallel::for_each(
            self.request.threads,
            tasks,
            || scratch().map_err(Halt::Failed),
            |scratch, index| {
                let worked = self.advance(0).and_then(|()| task(scratch, index));
                if matches!(worked, Err(Halt::Failed(_))) {
                    self.failed.store(true, Ordering::Relaxed);
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
}
