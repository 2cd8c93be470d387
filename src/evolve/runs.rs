//! Many independent runs on several threads.
//!
//! # Invariants
//! 1. The results of finished runs are the same for any number of threads.
//! 2. Once `stop` is set no run starts, and active runs end with their best so far and
//!    [`Run::finished`] false.

use super::engine::{Problem, Run, run};
use super::settings::Settings;
use parking_lot::Mutex;
use pipeline::parallel;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

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
    let begun: Mutex<Vec<Run>> = Mutex::new(Vec::new());
    let runs = usize::try_from(batch.runs.end.saturating_sub(batch.runs.start)).unwrap_or(usize::MAX);
    // An error only means that `stop` was set.
    let _ = parallel::for_each(
        batch.threads,
        runs,
        || Ok(()),
        |(), index| {
            if stop.load(Ordering::Relaxed) {
                return Err(());
            }
            let result = run(problem, settings, batch.seed, batch.runs.start + index as u64, stop);
            done.fetch_add(u64::from(result.finished), Ordering::Relaxed);
            begun.lock().push(result);
            Ok(())
        },
    );
    let mut begun = begun.into_inner();
    begun.sort_unstable_by_key(|result| result.run);
    begun
}
