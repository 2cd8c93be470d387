//! `trinim solve`: solves a board, or resumes an unfinished solve.
//!
//! The flags, or for `resume` the folder, become a [`Solve`]. In its folder that becomes a
//! [`Job`](trinim::job::Job), which decides from then on: [`session`] works, [`report`] prints.

mod report;
pub mod resume;
mod session;
mod trace;

use clap::Args;
use pipeline::checkpoint::{FORMAT, LOCK};
use pipeline::{Metrics, Stopwatch};
pub use report::Report;
use session::{Attempt, Outcome};
use std::path::{Path, PathBuf};
use std::time::Duration;
use terminal::exit::{Exit, Refused, Stopped};
use terminal::file::ParentsArgs;
use terminal::output::Out;
use terminal::progress::ProgressArgs;
use terminal::refusal::quoted;
use terminal::signals::Signals;
use trinim::Solve;
use trinim::cli::args::{self, JsonArgs, KernelArgs, Size};
use trinim::cli::board::default_folder;
use trinim::cli::folders::remark_on_foreign;
use trinim::cli::owner;
use trinim::cli::scenario::{ScenarioArgs, values};
use trinim::database::Values;
use trinim::job::Monitor;

/// Interval between attempts to take the lock with `--wait`.
const WAIT: Duration = Duration::from_millis(200);

const EXAMPLES: &str = "\
Examples:
  trinim solve --layers 7                         misère, in ./trinim-k7-misere
  trinim solve --layers 7 --rule normal --json    the result as JSON
  trinim solve --layers 5 --max-take 3            at most three pieces a move
  trinim solve --layers 8 --timeline k8.json      a timeline of all threads, for ui.perfetto.dev
  trinim solve --layers 9 --max-duration 8h --max-disk 200GiB
  trinim solve --layers 6 --keep counts --out k6  counts and winning first moves, no database
  trinim solve --layers 7 --values remoteness     in how many moves every position is won or lost

Run the same command again, or trinim resume DIR, to continue after any interruption. The first SIGINT, SIGTERM or \
SIGHUP stops after a checkpoint, the second quits at once; SIGUSR1 prints a status line. For a finished folder, the \
command reports the result again. An unfinished folder keeps the layout and the settings it was started with.";

/// Solve a board, or resume an unfinished solve
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct SolveArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,

    /// What to compute: outcomes (who wins), nimbers, or remoteness (moves to the end) [default: as
    /// in the folder, else outcomes]
    #[arg(long, help_heading = "Game", value_name = "VALUES", value_parser = values())]
    values: Option<Values>,

    #[command(flatten)]
    kernel: KernelArgs,

    /// Folder of the run [default: ./trinim-k<K>-<RULE>]
    #[arg(long, help_heading = "Output", short, value_name = "DIR")]
    out: Option<PathBuf>,

    #[command(flatten)]
    parents: ParentsArgs,

    #[command(flatten)]
    session: SessionArgs,
}

/// What a session may take and how it reports; a folder remembers none of it.
#[derive(Clone, Args)]
pub struct SessionArgs {
    /// Wait while another process uses the folder
    #[arg(long, help_heading = "Limits")]
    wait: bool,

    /// Stop at a checkpoint after this time, like 90s, 30m, 1h30m, 2d (exit code 5)
    #[arg(long, help_heading = "Limits", value_name = "TIME", value_parser = args::long_duration)]
    max_duration: Option<Duration>,

    /// Disk limit of the run folder: refuse larger plans, and stop safely when reached
    #[arg(long, help_heading = "Limits", value_name = "SIZE")]
    max_disk: Option<Size>,

    /// Start even if the plan needs more disk than is allowed or free
    #[arg(long, help_heading = "Limits")]
    force: bool,

    /// Write a timeline of all threads, as trace events for ui.perfetto.dev or chrome://tracing
    #[arg(long, help_heading = "Output", value_name = "FILE")]
    timeline: Option<PathBuf>,

    #[command(flatten)]
    json: JsonArgs,

    #[command(flatten)]
    progress: ProgressArgs,
}

/// Runs the subcommand.
pub fn run(args: SolveArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let solve = args.scenario.solve(args.values)?.kernel(args.kernel.kernel);
    let usual = || default_folder(solve.board(), args.scenario.rule, args.values.unwrap_or_default()).into();
    let folder = args.out.unwrap_or_else(usual);
    refuse_file(&folder)?;
    args.parents.check(&folder)?;
    carry_out(solve, &folder, &args.session, out)
}

/// Refuses a file in place of the run folder or of a folder above it.
fn refuse_file(folder: &Path) -> Result<(), Refused> {
    let Some(file) = folder.ancestors().find(|above| above.is_file()) else { return Ok(()) };
    let message = match file == folder {
        true => format!("--out {} is a file, not a folder", folder.display()),
        false => format!("--out {}: {} is a file, not a folder", folder.display(), file.display()),
    };
    Err(Refused::new(message, "nothing was written; choose a new folder, or the folder of an earlier solve"))
}

/// Solves in a folder, or continues a solve there, and reports the result.
fn carry_out(solve: Solve, folder: &Path, args: &SessionArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let watch = Stopwatch::start();
    let signals = Signals::register()?.with_limit(args.max_duration);
    if args.wait {
        wait(folder, &signals, out)?;
    }
    let job = solve.max_disk_bytes(args.max_disk.map(|limit| limit.0)).in_folder(folder)?;
    let timeline = trace::claim(args.timeline.as_deref())?;
    let metrics = if timeline.is_some() { Metrics::with_timeline() } else { Metrics::default() };
    let monitor = Monitor { metrics, stop: signals.stop.clone() };
    let outcome = match job.finished() {
        Some(solved) => {
            remark_on_foreign(folder, out);
            out.remark(format_args!("{} is already solved; results of the earlier run:", folder.display()));
            if job.format_damaged() {
                let (shown, quoted) = (folder.display(), quoted(&folder.to_string_lossy()));
                out.warn(format_args!("{shown}/{FORMAT} is damaged: run trinim repair {quoted} to restore it"));
            }
            args.progress.on(out)?; // Refuses a file of metrics that is not its own.
            if timeline.is_some() {
                out.remark("nothing is solved, so no timeline is written");
            }
            let resumed_blocks = job.spec().blocks().into();
            Outcome { solved: solved.clone(), resumed_blocks, session_positions: 0, workers: 0 }
        }
        None => {
            let outcome = Attempt { job: &job, args, monitor: &monitor, signals: &signals, out }.run();
            // Also for a run that was stopped or failed, where the timeline helps most.
            timeline.map(|file| trace::write(&file, &job, &monitor.metrics)).transpose()?;
            outcome?
        }
    };
    let report = report::report(&job, outcome, &monitor, watch.elapsed().as_secs_f64());
    args.json.report("trinim.solve/1", &report, out, report::print)
}

/// Waits until no process holds the lock of `folder`. If another process takes it first, the solve
/// is then refused as without `--wait`.
fn wait(folder: &Path, signals: &Signals, out: &Out) -> anyhow::Result<()> {
    let mut told = false;
    while let Some(process) = owner::of(&folder.join(LOCK)).process() {
        if !std::mem::replace(&mut told, true) {
            out.remark(format_args!("{}: waiting for {process}", folder.display()));
        }
        std::thread::sleep(WAIT);
        signals.look_at_clock();
        if signals.stopped() {
            let text = format!("{} is still in use", folder.display());
            return Err(anyhow::Error::new(Stopped::resumable(signals.exit())).context(text));
        }
    }
    Ok(())
}
