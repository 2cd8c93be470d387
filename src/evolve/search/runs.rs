//! Many independent runs on several threads.
//!
//! # Invariants
//! 1. The results of finished runs are the same for any number of threads.
//! 2. Once `stop` is set no run starts, and active runs end with their best so far and
//!    [`Run::finished`] false.
#![expect(clippy::disallowed_methods, reason = "runs of the evolution, in parallel")]

use crate::search::{Problem, Run, Settings, run};
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// How runs are made: their seed, their threads, and the caller's controls.
#[derive(Clone, Copy)]
pub struct Bench<'a> {
    /// Seed of all runs.
    pub seed: u64,
    /// Number of threads, each with its own columns.
    pub threads: usize,
    /// Ends all runs once it is set.
    pub stop: &'a AtomicBool,
    /// Called after each run that ended by itself.
    pub finished: &'a (dyn Fn() + Sync),
}

impl Bench<'_> {
    /// Makes the runs with these numbers. Returns every run that started, in the order of the
    /// numbers.
    pub fn run_all(&self, problem: &Problem, settings: &Settings, numbers: Range<u64>) -> Vec<Run> {
        let (begun, next) = (Mutex::new(Vec::new()), AtomicU64::new(numbers.start));
        let work = || {
            while !self.stop.load(Ordering::Relaxed) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= numbers.end {
                    break;
                }
                let result = run(problem, settings, self.seed, number, self.stop);
                if result.finished {
                    (self.finished)();
                }
                begun.lock().push(result);
            }
        };
        let runs = numbers.end.saturating_sub(numbers.start);
        thread::scope(|scope| {
            for _ in 1..runs.min(self.threads as u64) {
                // If the system refuses a thread, the others do its share.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        let mut begun = begun.into_inner();
        begun.sort_unstable_by_key(|result| result.run);
        begun
    }
}
