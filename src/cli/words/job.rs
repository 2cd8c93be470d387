//! What commands take that work through many files for a while: threads, JSON, progress.

use crate::cli::face::output::grouped;
use crate::cli::face::progress::{self, ProgressArgs};
use crate::cli::face::watch::Reading;
use crate::cli::words::args::{JsonArgs, ThreadsArgs};
use clap::Args;
use std::sync::atomic::{AtomicU64, Ordering};

/// How such a command works and tells.
#[derive(Args)]
pub struct Job {
    #[command(flatten)]
    pub threads: ThreadsArgs,

    #[command(flatten)]
    pub json: JsonArgs,

    #[command(flatten)]
    pub progress: ProgressArgs,
}

/// Counts progress.
#[derive(Default)]
pub struct Counter {
    done: AtomicU64,
    all: AtomicU64,
}

impl Counter {
    /// Sets the work done and the whole work; later calls never lower the former.
    pub fn set(&self, done: u64, all: u64) {
        self.all.store(all, Ordering::Relaxed);
        self.done.fetch_max(done, Ordering::Relaxed);
    }

    /// Forgets the work done, for another kind of work.
    pub fn restart(&self) {
        self.done.store(0, Ordering::Relaxed);
    }

    /// Whether all work is done.
    pub fn is_complete(&self) -> bool {
        let all = self.all.load(Ordering::Relaxed);
        all > 0 && self.done.load(Ordering::Relaxed) == all
    }

    /// Returns the share of work done and a status line after `elapsed` seconds.
    pub fn status(&self, doing: &str, unit: &str, elapsed: f64) -> Reading {
        let (done, all) = (self.done.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed));
        let share = (done as f64 / all.max(1) as f64).min(1.0);
        progress::at_share(share, elapsed, |left| {
            format!("{doing}  {} of {} {unit}  ETA {left}", grouped(done), grouped(all))
        })
    }
}
