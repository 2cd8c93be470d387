//! Long work through many files: threads, JSON, progress, findings, and how commands end.

use crate::cli::args::{JsonArgs, ThreadsArgs};
use crate::cli::owner;
use crate::maintenance::{self, Finding, Request, Severity};
use crate::verify;
use clap::Args;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use terminal::exit::{Exit, Stopped};
use terminal::output::{Out, grouped};
use terminal::progress::{self, ProgressArgs};
use terminal::signals::Signals;
use terminal::watch::Reading;

/// How such a command works and tells.
#[derive(Args)]
pub struct WorkArgs {
    #[command(flatten)]
    pub threads: ThreadsArgs,

    #[command(flatten)]
    pub json: JsonArgs,

    #[command(flatten)]
    pub progress: ProgressArgs,
}

impl WorkArgs {
    /// Does work whose parts these counters count one after the other, and shows its progress.
    pub fn counted<T>(
        &self,
        counters: &[&Counter],
        signals: &Signals,
        out: &Out,
        work: impl FnOnce(&Request<'_>) -> T,
    ) -> anyhow::Result<T> {
        let count = |done: u64, all: u64| {
            let at = counters.iter().find(|counter| !counter.is_complete()).or(counters.last());
            at.into_iter().for_each(|counter| counter.set(done, all));
        };
        let shown = self.progress.on(out)?;
        let request = Request { threads: self.threads.count(), stop: &signals.stop, progress: &count };
        Ok(progress::during(&|elapsed| status(counters, elapsed), signals, &shown, |_| work(&request))?)
    }
}

pub struct Counter {
    doing: &'static str,
    unit: &'static str,
    done: AtomicU64,
    all: AtomicU64,
}

/// Returns the status of the last counter that has begun, after `elapsed` seconds.
pub fn status(counters: &[&Counter], elapsed: f64) -> Reading {
    let begun = counters.iter().rev().find(|counter| counter.all.load(Ordering::Relaxed) > 0);
    begun.or(counters.first()).map_or_else(Reading::default, |counter| counter.status(elapsed))
}

impl Counter {
    /// Returns a counter that has not begun; `unit` is what it counts, in the plural.
    pub fn new(doing: &'static str, unit: &'static str) -> Counter {
        Counter { doing, unit, done: AtomicU64::new(0), all: AtomicU64::new(0) }
    }

    /// Sets the work done and the total; later calls never lower the former.
    pub fn set(&self, done: u64, all: u64) {
        self.all.store(all, Ordering::Relaxed);
        self.done.fetch_max(done, Ordering::Relaxed);
    }

    fn is_complete(&self) -> bool {
        let all = self.all.load(Ordering::Relaxed);
        all > 0 && self.done.load(Ordering::Relaxed) == all
    }

    fn status(&self, elapsed: f64) -> Reading {
        let Counter { doing, unit, .. } = self;
        let (done, all) = (self.done.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed));
        let share = (done as f64 / all.max(1) as f64).min(1.0);
        progress::at_share(share, elapsed, |left| {
            format!("{doing}  ETA {left}  {} of {} {unit}", grouped(done), grouped(all))
        })
    }
}

/// Returns the exit code of a verification: damage takes precedence, because it explains wrong
/// values.
pub fn exit_of(report: &verify::Report) -> Exit {
    match (report.is_clean(), report.damaged) {
        (true, _) => Exit::Done,
        (false, true) => Exit::Corrupt,
        (false, false) => Exit::Refuted,
    }
}

pub fn print_finding(finding: &Finding, out: &mut Out) -> std::io::Result<()> {
    let label = match finding.severity {
        Severity::Damage => out.paint.bad("damaged:"),
        Severity::Copy => out.paint.mark("damaged copy:"),
        Severity::Leftover => out.paint.faint("left over:"),
    };
    out.line(format_args!("{label} {finding}"))
}

/// Turns an interruption into the command line's error for a stop, and names the owner of a locked
/// folder; leaves other errors as they are.
pub fn failed(error: maintenance::Error, folder: &Path, signals: &Signals, so_far: &'static str) -> anyhow::Error {
    match error {
        maintenance::Error::Run(error @ pipeline::Error::Locked { .. }) => owner::in_use(error, folder),
        maintenance::Error::Run(pipeline::Error::Interrupted) => {
            anyhow::Error::new(Stopped::from_the_start(signals.exit())).context(so_far)
        }
        other => other.into(),
    }
}
