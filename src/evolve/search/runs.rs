//! Many independent runs on several threads.
//!
//! # Invariants
//! 1. The results of finished runs are the same for any number of threads.
//! 2. Once `stop` is set no run starts, and active runs end with their best so far and
//!    [`Run::finished`] false.
#![expect(clippy::disallowed_methods, reason = "runs of the evolution, in parallel")]

use crate::engine::{Problem, Run, run};
use crate::settings::Settings;
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// A batch of runs.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Seed of all runs.
    pub seed: u64,
    /// Run numbers.
    pub runs: Range<u64>,
    /// Number of threads, each with its own columns.
    pub threads: usize,
}

/// Runs a batch; `done` counts the runs that finish. Returns every run that started, in the order
/// of the numbers.
pub fn run_all(problem: &Problem, settings: &Settings, batch: &Batch, stop: &AtomicBool, done: &AtomicU64) -> Vec<Run> {
    let (begun, next) = (Mutex::new(Vec::new()), AtomicU64::new(batch.runs.start));
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= batch.runs.end {
                break;
            }
            let result = run(problem, settings, batch.seed, number, stop);
            done.fetch_add(u64::from(result.finished), Ordering::Relaxed);
            begun.lock().push(result);
        }
    };
    let runs = batch.runs.end.saturating_sub(batch.runs.start);
    thread::scope(|scope| {
        for _ in 1..runs.min(batch.threads as u64) {
            // If the system refuses a thread, the others do its share.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let mut begun = begun.into_inner();
    begun.sort_unstable_by_key(|result| result.run);
    begun
}
