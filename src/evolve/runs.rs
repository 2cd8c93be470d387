//! Several runs side by side.
//!
//! # What and why
//! Runs share nothing but the problem, so any number of threads may work on them, and results do not depend on how many do.
//!
//! # Shape
//! Threads take the next number until all are taken; results come back in the order of the numbers.
//!
//! # Invariants
//! 1. The results of finished runs are the same for any number of threads.
//! 2. Once `stop` is set no run is begun, and the running ones end with what they have found, [`Run::finished`] being false.
//!
//! # Cost
//! One thread for each of `threads`, each with its own columns.
//!
//! # Not here
//! One run: `engine`.

use super::engine::{Problem, Run, run};
use super::settings::Settings;
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What is run.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The seed of all runs.
    pub seed: u64,
    /// Their numbers.
    pub runs: Range<u64>,
    /// Threads to run on.
    pub threads: usize,
}

/// Runs a batch; `done` counts the runs that come to their end. All runs that were begun, in order.
pub fn run_all(problem: &Problem, settings: &Settings, batch: &Batch, stop: &AtomicBool, done: &AtomicU64) -> Vec<Run> {
    let next = AtomicU64::new(batch.runs.start);
    let begun: Mutex<Vec<Run>> = Mutex::new(Vec::new());
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= batch.runs.end {
                return;
            }
            let result = run(problem, settings, batch.seed, number, stop);
            done.fetch_add(u64::from(result.finished), Ordering::Relaxed);
            begun.lock().push(result);
        }
    };
    std::thread::scope(|scope| {
        let runs = batch.runs.end.saturating_sub(batch.runs.start).clamp(1, 1024) as usize;
        for _ in 1..batch.threads.clamp(1, runs) {
            scope.spawn(work);
        }
        work();
    });
    let mut begun = begun.into_inner();
    begun.sort_unstable_by_key(|result| result.run);
    begun
}
