//! `trinim check`: whether every byte of a folder is still what was written.

use super::args::{JsonArgs, Size, ThreadsArgs};
use super::exit::{Exit, Stopped};
use super::output::{Out, counted, grouped, seconds};
use super::owner::{self, Owner};
use super::progress::{self, time_left};
use super::signals::Signals;
use clap::{Args, ValueEnum};
use pipeline::Stopwatch;
use pipeline::checkpoint::LOCK;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use trinim::care::{self, Depth, Finding, Request, Subject, Weight};

const EXAMPLES: &str = "\
Examples:
  trinim check trinim-k8-misere                     every hash of everything that is needed
  trinim check trinim-k8-misere --depth metadata    journal, names and lengths: well under a second
  trinim check trinim-k8-misere --depth full        every hash, and that every frame decodes
  trinim check trinim-k8-misere/db                  a database without its run

Reads only, takes no lock and may run beside a solve. The exit code is 0 when nothing that counts is damaged, else 3. Files left by a stop or \
a kill do not count as damage. Whether the values are right is asked with trinim verify.";

/// Files left over by a stop are listed if there are no more than this; `--json` has all.
const LEFTOVERS_SHOWN: usize = 10;

/// How closely a folder is looked at
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DepthName {
    /// Journal, names and lengths
    Metadata,
    /// Every hash, too
    Sums,
    /// And that every frame decodes
    Full,
}

/// Check a run folder or a database for damaged files
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CheckArgs {
    /// Folder of a solve, finished or not, or its db folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// How closely
    #[arg(long, value_name = "DEPTH", value_enum, default_value = "sums")]
    depth: DepthName,

    #[command(flatten)]
    threads: ThreadsArgs,

    #[command(flatten)]
    json: JsonArgs,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    depth: DepthName,
    #[serde(flatten)]
    found: &'a care::Report,
    /// Whether somebody was at work in the folder: what is left over then is what is being written.
    owned: bool,
    elapsed_s: f64,
}

/// One line for a finding.
pub fn print_finding(finding: &Finding, out: &mut Out) -> std::io::Result<()> {
    let label = match finding.weight {
        Weight::Damage => out.paint.bad("damaged:"),
        Weight::Copy => out.paint.mark("damaged copy:"),
        Weight::Leftover => out.paint.faint("left over:"),
    };
    writeln!(out, "{label} {finding}")
}

/// Counts what a check is told, for progress.
#[derive(Default)]
pub struct Counter {
    done: AtomicU64,
    all: AtomicU64,
}

impl Counter {
    /// Takes (done, all).
    pub fn set(&self, done: u64, all: u64) {
        self.all.store(all, Ordering::Relaxed);
        self.done.fetch_max(done, Ordering::Relaxed);
    }

    /// Share and line after `elapsed` seconds.
    pub fn status(&self, doing: &str, unit: &str, elapsed: f64) -> (f64, String) {
        let (done, all) = (self.done.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed));
        let share = (done as f64 / all.max(1) as f64).min(1.0);
        (share, format!("{doing}  {} of {} {unit}  ETA {}", grouped(done), grouped(all), time_left(elapsed, share)))
    }
}

/// A stop that was asked for as the command line reports it; other errors as they are.
pub fn of_care(error: care::Error, signals: &Signals, so_far: &'static str) -> anyhow::Error {
    match error {
        care::Error::Run(pipeline::Error::Interrupted) => {
            anyhow::Error::new(Stopped::from_the_start(signals.exit())).context(so_far)
        }
        other => other.into(),
    }
}

/// Runs the subcommand.
pub fn run(args: CheckArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let watch = Stopwatch::start();
    let signals = Signals::register()?;
    let depth = match args.depth {
        DepthName::Metadata => Depth::Metadata,
        DepthName::Sums => Depth::Sums,
        DepthName::Full => Depth::Full,
    };
    let counter = Counter::default();
    let request = Request {
        depth,
        threads: args.threads.count(),
        stop: &signals.stop,
        progress: &|done, all| counter.set(done, all),
        is_owned: matches!(owner::of(&args.folder.join(LOCK)), Owner::Held(_)),
    };
    let status = |elapsed: f64| counter.status("checking", "bytes", elapsed);
    let work = || care::check(&args.folder, &request);
    let found = progress::during(&status, &signals, out.quiet, out.error_paint, work)
        .map_err(|error| of_care(error, &signals, "nothing is known of what was not looked at"))?;
    let report = Report {
        ok: found.is_sound(),
        depth: args.depth,
        found: &found,
        owned: request.is_owned,
        elapsed_s: watch.elapsed().as_secs_f64(),
    };
    if args.json.json {
        out.json(&report)?
    } else {
        print(&report, out)?
    }
    if !report.ok {
        out.remark(format_args!("hint: trinim repair {} mends what can be mended", args.folder.display()));
    }
    Ok(Exit::of_check(&found))
}

fn print(report: &Report<'_>, out: &mut Out) -> anyhow::Result<()> {
    let found = report.found;
    let (damage, left): (Vec<&Finding>, Vec<&Finding>) =
        found.findings.iter().partition(|finding| finding.weight.is_damage());
    let few = if report.owned || left.len() > LEFTOVERS_SHOWN { &[][..] } else { &left };
    for finding in damage.iter().chain(few) {
        print_finding(finding, out)?;
    }
    let (damaged, left) = (damage.len() as u64, left.len() as u64);
    let verdict = match damaged {
        0 => out.paint.good("sound"),
        damaged => out.paint.bad(counted(damaged, "finding")),
    };
    let mut rows = vec![("verdict", verdict)];
    if found.blocks > 0 {
        let (finished, blocks) = (grouped(found.finished_blocks), counted(found.blocks, "block"));
        let (subject, how) = match found.subject {
            Subject::Run => ("run", "finished"),
            Subject::Database => ("database", "sound"),
        };
        rows.push((subject, format!("{finished} of {blocks} {how}")));
    }
    rows.push(("files", counted(found.files, "file")));
    if report.depth != DepthName::Metadata {
        rows.push(("hashes", format!("of {}", Size(found.bytes))));
    }
    if left > 0 {
        let what = if report.owned { "being written by the solve at work" } else { "the next solve clears them away" };
        rows.push(("left over", format!("{}, {what}", counted(left, "file"))));
    }
    rows.push(("time", seconds(report.elapsed_s)));
    out.table(&rows)?;
    Ok(())
}
