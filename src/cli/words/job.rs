//! What commands take that work through many files for a while: threads, JSON, progress,
//! findings, and how they end.

use crate::cli::face::exit::Stopped;
use crate::cli::face::output::{Out, grouped};
use crate::cli::face::owner;
use crate::cli::face::progress::{self, ProgressArgs};
use crate::cli::face::signals::Signals;
use crate::cli::face::watch::Reading;
use crate::cli::words::args::{JsonArgs, ThreadsArgs};
use clap::Args;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use trinim::care::{self, Finding, Weight};

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

/// Prints a finding on one line.
pub fn print_finding(finding: &Finding, out: &mut Out) -> std::io::Result<()> {
    let label = match finding.weight {
        Weight::Damage => out.paint.bad("damaged:"),
        Weight::Copy => out.paint.mark("damaged copy:"),
        Weight::Leftover => out.paint.faint("left over:"),
    };
    writeln!(out, "{label} {finding}")
}

/// Turns an interruption into the command line's error for a stop, and names who holds a locked
/// folder; leaves other errors as they are.
pub fn of_care(error: care::Error, folder: &Path, signals: &Signals, so_far: &'static str) -> anyhow::Error {
    match error {
        care::Error::Run(error @ pipeline::Error::Locked { .. }) => owner::in_use(error, folder),
        care::Error::Run(pipeline::Error::Interrupted) => {
            anyhow::Error::new(Stopped::from_the_start(signals.exit())).context(so_far)
        }
        other => other.into(),
    }
}
