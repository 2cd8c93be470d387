//! Breaks the real program on real disks and checks that nothing is lost, wrong, left over or badly
//! reported.
//!
//! ```text
//! cargo run --release -p tools --bin faults -- [--part NAME..] [--ci] [--trinim PATH] [--effort N]
//!     [--seed N] [--scratch FOLDER] [--out STEM]
//! ```
//!
//! Builds `trinim`, unless `--trinim` names one, and the library for LD_PRELOAD, runs the parts,
//! prints an account and, with `--out`, writes `STEM.md` and `STEM.json`. Exits with 0 if
//! everything held, 1 if something failed, 3 if nothing failed but something could not run here
//! (root, loop devices), 130 after Ctrl-C. `--ci` bounds the run, and exits with 0 if something
//! could not run; the output lists it.

mod disks;
mod errno;
mod full;
mod group;
mod kill;
mod lost;
mod memory;
mod power;
mod report;
mod setup;
mod storm;
mod subject;
mod surroundings;
mod system;
mod tree;

use anyhow::{Context, Result};
use clap::builder::PossibleValuesParser;
use clap::{Parser, value_parser};
use report::{Report, Sheet};
use setup::Setup;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

type Run = fn(&Setup, &Sheet) -> Result<()>;

/// Name, claim and function of each part.
const PARTS: [(&str, &str, Run); 8] = [
    ("kill", "a run resumes after any prefix of its file calls; same bytes, nothing lost or left over", kill::run),
    ("errno", "every failing call ends with its code, names its path, and a clean run resumes", errno::run),
    ("full", "a full disk, quota or size limit stops cleanly; with room the run resumes", full::run),
    ("power", "acknowledged blocks survive power cuts; without syncs they do not", power::run),
    ("lost", "failed syncs, a vanished disk and bad sectors never count as success", lost::run),
    ("memory", "peak memory stays within the budget plus 64 MiB", memory::run),
    ("storm", "all commands beside each other report no damage of sound data", storm::run),
    ("surroundings", "limits, namespaces and file systems of others harm no run", surroundings::run),
];

/// Breaks the real program on real disks, and checks that nothing is lost or wrong.
///
/// Exits with 0 if everything held, 1 if something failed, 3 if nothing failed but something could
/// not run here (root, loop devices), 130 after Ctrl-C.
#[derive(Parser)]
#[command(name = "faults")]
struct Options {
    /// Parts to run; may be repeated [default: all]
    #[arg(long = "part", value_name = "NAME", value_parser = PossibleValuesParser::new(PARTS.map(|(name, ..)| name)))]
    parts: Vec<String>,

    /// Bound the run, and exit with 0 if something could not run; the output lists it
    #[arg(long)]
    ci: bool,

    /// Program to break [default: the release build, which is made]
    #[arg(long, value_name = "PATH")]
    trinim: Option<PathBuf>,

    /// Repeats of what is drawn at random
    #[arg(long, value_name = "N", default_value = "1", value_parser = value_parser!(u64).range(1..))]
    effort: u64,

    /// Seed of what is drawn at random
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,

    /// Folder for scratch files [default: that of the system]
    #[arg(long, value_name = "FOLDER")]
    scratch: Option<PathBuf>,

    /// Write the account to STEM.md and STEM.json
    #[arg(long, value_name = "STEM")]
    out: Option<PathBuf>,
}

fn main() -> Result<ExitCode> {
    let options = Options::parse();
    let scratch = options.scratch.clone().unwrap_or_else(std::env::temp_dir);
    let begin = Instant::now();
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, stop.clone())?;
    }
    let setup = Setup::new(options.trinim.clone(), (options.ci, options.effort, options.seed), &scratch, stop)?;
    let chosen = |name: &str| match options.parts.as_slice() {
        [] => true,
        parts => parts.iter().any(|part| part == name),
    };
    let mut sheets = Vec::new();
    for (name, proves, run) in PARTS.into_iter().filter(|(name, ..)| chosen(name)) {
        if setup.stopped() {
            break;
        }
        eprintln!("== {name}: {proves}");
        let sheet = Sheet::new(name, proves);
        let ended = run(&setup, &sheet);
        if setup.stopped() {
            sheet.not_run("the rest", "stopped by a signal");
        } else if let Err(error) = ended {
            sheet.fail(format!("the part ended early: {error:#}"));
        }
        sheet.finish();
        sheets.push(sheet);
    }
    let report = Report {
        date: today()?,
        command: std::iter::once("faults".to_owned()).chain(std::env::args().skip(1)).collect::<Vec<_>>().join(" "),
        machine: machine(),
        seconds: begin.elapsed().as_secs_f64(),
        sheets: &sheets,
    };
    println!("{}", report.markdown());
    if let Some(stem) = &options.out {
        report.write(stem).with_context(|| stem.display().to_string())?;
    }
    let code = if setup.stopped() {
        130
    } else if sheets.iter().any(Sheet::failed) {
        1
    } else if !options.ci && sheets.iter().any(Sheet::has_gaps) {
        3
    } else {
        0
    };
    Ok(ExitCode::from(code))
}

fn today() -> Result<String> {
    Ok(disks::system_program("date", &["-u", "+%Y-%m-%d"])?.trim().to_owned())
}

fn machine() -> String {
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or(": unknown processor");
    let kernel = Command::new("uname").arg("-sr").output();
    let kernel = kernel.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {threads} threads, {kernel}", model.trim_start_matches([' ', '\t', ':']))
}
