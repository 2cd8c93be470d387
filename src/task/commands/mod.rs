//! `trinim task`: one block, or a batch, of a solve on many machines; and the commands before,
//! between and after.
//!
//! A driver acts on the exit codes: 0 done, 75 try again, 65 stop and report, 2 for arguments.

mod lines;
mod store;
pub mod verify;
pub mod whole;

use clap::{Args, Subcommand};
use lines::Batch;
use parking_lot::Mutex;
use pipeline::{BlockId, Stopwatch};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use store::{OpenStore, refusal, with_store};
use terminal::exit::{Exit, Refused, reason};
use terminal::output::{Out, counted, note, seconds};
use terminal::{ending, manual};
use trinim::cli::args::{self, JsonArgs, MemoryArgs, Size};
use trinim::cli::hints::classify;
use trinim::kernel::Kernel;
use trinim_task::{TaskOptions, TaskWork, Tasks};

const EXAMPLES: &str = "\
Examples:
  trinim task init --store tasks --layers 6 --block-bits 18    begin: say what is solved
  trinim task plan --store tasks                                the blocks, and what each needs
  trinim task --store tasks --batch 0                           compute a block from its sources
  trinim task --store tasks --batch 1,2 --json                  compute a batch in one process
  echo 3 | trinim task --store tasks --batch - --json           compute what comes on standard input
  trinim task list --store tasks                                what is committed
  trinim task sweep --store tasks                               remove what nothing needs any more
  trinim task finish --store tasks                              end: counts, manifest and digest

trinim stats, probe and verify accept a finished store like the folder of a solve.

Any number of processes can compute blocks, on any machines that see the store, even the same block at once: each file \
is created once and whole, and its bytes depend only on the solve. A kill costs only the block being computed. \
tools/cluster runs the tasks; other programs can run them from the plan. With --batch -, a process reads tasks from \
standard input, one per line, keeps decoded blocks as far as --memory allows, and answers each task with a line; any \
error ends it. With --at-once it computes several tasks at a time, and answers a failed task with a line, too.

A store is a folder, or s3://BUCKET/PREFIX: a bucket of S3 or of a compatible service that honours If-None-Match. The \
usual variables set service, region and credentials: AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, \
AWS_SECRET_ACCESS_KEY, AWS_ALLOW_HTTP and others.

The exit code is 0 if the blocks are committed, 75 if the same command may succeed later, and 65 if it cannot: the \
store belongs to another run or version, access is denied, or a file is damaged or has other contents. It is 2 for a \
bucket in another region or a service without ranges. Nothing is ever overwritten.";

/// The reports of the program, with their JSON schemas.
pub const SCHEMAS: &[manual::Report] = &[
    ("trinim.failure/1", &[ending::Failure::json_schema]),
    (SCHEMA, &[Report::json_schema]),
    (FAILED_SCHEMA, &[Failure::json_schema]),
    ("trinim.task.init/1", &[whole::InitReport::json_schema]),
    ("trinim.task.plan/1", &[trinim_task::BlockRow::json_schema]),
    ("trinim.task.plan.batches/1", &[trinim_task::BatchRow::json_schema]),
    ("trinim.task.list/1", &[whole::BlockRange::json_schema]),
    ("trinim.task.finish/1", &[whole::FinishReport::json_schema]),
    ("trinim.task.copy/1", &[whole::CopyReport::json_schema]),
    ("trinim.task.sweep/1", &[trinim_task::SweepWork::json_schema]),
    ("trinim.task.verify/1", &[verify::Report::json_schema]),
];

const SCHEMA: &str = "trinim.task/1";
const FAILED_SCHEMA: &str = "trinim.task.failed/1";

/// Interval between looks for a missing source.
const LOOK: Duration = Duration::from_millis(200);

/// Compute blocks of a solve on many machines
#[derive(Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct TaskArgs {
    #[command(subcommand)]
    command: Option<TaskCommand>,

    /// Folder that all machines share, or s3://BUCKET/PREFIX; trinim task init creates it
    #[arg(long, value_name = "STORE", required = true)]
    store: Option<String>,

    /// Blocks to compute, like 0 or 1,2; - reads standard input, one list per line
    ///
    /// Updates within a batch stay in memory; its other sources must be committed.
    #[arg(long, value_name = "N,..", value_parser = lines::batch, required = true)]
    batch: Option<Batch>,

    #[command(flatten)]
    memory: MemoryArgs,

    /// Threads, 0 for all; fewer run if the memory is too small for all
    #[arg(long, help_heading = "Resources", value_name = "N", value_parser = args::threads, default_value = "1",
          env = "TRINIM_THREADS", hide_env = true)]
    threads: usize,

    /// Time to wait for the file of a source, like 30s, 2m, 0s
    ///
    /// Shared file systems can show new names late.
    #[arg(long, help_heading = "Limits", value_name = "TIME", value_parser = pause, default_value = "120s")]
    wait: Duration,

    /// With --batch -: end after TIME without a line, like 30s, 5m [default: wait]
    #[arg(long, help_heading = "Limits", hide = true, value_name = "TIME", value_parser = args::long_duration)]
    idle: Option<Duration>,

    /// With --batch -: tasks at a time; --memory and --threads apply to each
    #[arg(long, help_heading = "Resources", hide = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), default_value = "1")]
    at_once: u16,

    /// End when the parent process ends, for any reason
    #[arg(long, help_heading = "Limits", hide = true)]
    die_with_parent: bool,

    #[command(flatten)]
    json: JsonArgs,
}

/// A failed task of `--batch -` with `--at-once`: the process accepts no more tasks, answers the
/// current ones, prints `trinim.failure/1` and ends.
#[derive(Serialize, JsonSchema)]
pub struct Failure<'a> {
    /// The task.
    blocks: &'a [u32],
    /// The exit code of a process with only this task.
    exit_code: u8,
    /// What went wrong.
    reason: String,
}

#[derive(Subcommand)]
enum TaskCommand {
    Init(whole::InitArgs),
    Plan(whole::PlanArgs),
    List(whole::ListArgs),
    Finish(whole::FinishArgs),
    Copy(whole::CopyArgs),
    Sweep(whole::SweepArgs),
    Verify(verify::VerifyArgs),
}

/// What `trinim task` prints; with `--batch -`, on a line for each task. With `--at-once`, answers
/// come in the order in which tasks are done, and a byte that was read counts for the task that is
/// answered next.
#[derive(Serialize, JsonSchema)]
pub struct Report {
    /// Blocks that were computed and committed.
    computed: Vec<u32>,
    /// Blocks that were committed before.
    skipped: Vec<u32>,
    /// Wall-clock time.
    seconds: f64,
    /// Read of the files of sources.
    read_bytes: u64,
    /// Written into files of blocks and summaries.
    written_bytes: u64,
}

/// Parses a duration that can be 0.
fn pause(text: &str) -> Result<Duration, String> {
    match text {
        "0" | "0s" => Ok(Duration::ZERO),
        other => args::long_duration(other),
    }
}

pub fn run(mut args: TaskArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let watch = Stopwatch::start();
    let ended = match args.command.take() {
        None => compute(&args, &watch, out),
        Some(TaskCommand::Init(args)) => whole::init(args, out),
        Some(TaskCommand::Plan(args)) => with_store(&args.store.name, |store| whole::plan(&args, store, out)),
        Some(TaskCommand::List(args)) => with_store(&args.store.name, |store| whole::list(&args, store, out)),
        Some(TaskCommand::Finish(args)) => {
            with_store(&args.store.name, |store| whole::finish(&args, store, &watch, out))
        }
        Some(TaskCommand::Copy(args)) => with_store(&args.store.name, |store| whole::copy(&args, store, out)),
        Some(TaskCommand::Sweep(args)) => with_store(&args.store.name, |store| whole::sweep(&args, store, out)),
        Some(TaskCommand::Verify(args)) => verify::run(&args, &watch, out),
    };
    ended.map_err(refusal)
}

fn compute(args: &TaskArgs, watch: &Stopwatch, out: &mut Out) -> anyhow::Result<Exit> {
    if args.die_with_parent {
        store::die_with_parent()?;
    }
    if !matches!(args.batch, Some(Batch::Lines)) && (args.idle.is_some() || args.at_once > 1) {
        return Err(usage("--idle and --at-once require --batch -".to_owned(), "trinim task --help"));
    }
    with_store(args.store.as_deref().unwrap_or_default(), |store| compute_in(store, args, watch, out))
}

fn compute_in(store: &OpenStore, args: &TaskArgs, watch: &Stopwatch, out: &mut Out) -> anyhow::Result<Exit> {
    // A driver knows what it waits for.
    let said = AtomicBool::new(out.quiet || args.batch == Some(Batch::Lines));
    let wait = |missing: Duration| {
        let goes_on = missing < args.wait;
        if goes_on {
            if !said.swap(true, Ordering::Relaxed) {
                let most = seconds(args.wait.as_secs_f64());
                note(format_args!("a source is not in the store yet: waiting up to {most} for it (--wait)"));
            }
            std::thread::sleep(LOOK.min(args.wait));
        }
        goes_on
    };
    let options = TaskOptions {
        kernel: Kernel::detect(),
        threads: args::all_if_zero(args.threads),
        memory_bytes: args.memory.bytes_of(args.at_once.into()),
        at_once: args.at_once.into(),
        keeps_streams: args.batch == Some(Batch::Lines),
        wait: &wait,
    };
    let tasks = Tasks::new(&*store.files, store.spec(), &options)?;
    let blocks = match &args.batch {
        Some(Batch::Lines) => {
            let out = Mutex::new(out);
            lines::each(args.idle, tasks.at_once(), |blocks| {
                let watch = Stopwatch::start();
                let computed = tasks.compute(&ids(blocks)).map_err(|error| refusal(error.into()));
                answer(args, &mut out.lock(), blocks, computed, &watch)
            })?;
            return Ok(Exit::Done);
        }
        Some(Batch::Blocks(blocks)) => ids(blocks),
        None => Vec::new(),
    };
    let report = Report::new(tasks.compute(&blocks)?, watch);
    args.json.report(SCHEMA, &report, out, |report, out| Ok(out.table(&report.cells())?))
}

/// Answers a task from standard input; returns the error if it failed.
fn answer(
    args: &TaskArgs,
    out: &mut Out,
    blocks: &[u32],
    computed: anyhow::Result<TaskWork>,
    watch: &Stopwatch,
) -> anyhow::Result<()> {
    match computed {
        Ok(done) if args.json.json => out.json_line(SCHEMA, &Report::new(done, watch))?,
        Ok(done) => {
            let cells = Report::new(done, watch).cells().map(|(label, text)| format!("{label} {text}"));
            writeln!(out, "{}", cells.join("; "))?;
        }
        Err(error) => {
            if args.json.json
                && args.at_once > 1
                && let Some((exit, _)) = classify(&error, true)
            {
                let failure = Failure { blocks, exit_code: exit as u8, reason: reason(&error) };
                out.json_line(FAILED_SCHEMA, &failure)?;
                out.flush()?;
            }
            return Err(error);
        }
    }
    // The sender may wait for this answer before it sends the next task.
    Ok(out.flush()?)
}

fn ids(blocks: &[u32]) -> Vec<BlockId> {
    blocks.iter().copied().map(BlockId).collect()
}

impl Report {
    fn new(done: TaskWork, watch: &Stopwatch) -> Report {
        let numbers = |blocks: Vec<BlockId>| blocks.into_iter().map(|block| block.0).collect();
        Report {
            computed: numbers(done.computed),
            skipped: numbers(done.skipped),
            seconds: watch.elapsed().as_secs_f64(),
            read_bytes: done.read_bytes,
            written_bytes: done.written_bytes,
        }
    }

    fn cells(&self) -> [(&'static str, String); 5] {
        let (computed, skipped) = (self.computed.len() as u64, self.skipped.len() as u64);
        [
            ("computed", counted(computed, "block")),
            ("skipped", format!("{}, committed before", counted(skipped, "block"))),
            ("read", Size(self.read_bytes).to_string()),
            ("written", Size(self.written_bytes).to_string()),
            ("time", seconds(self.seconds)),
        ]
    }
}

fn usage(message: String, hint: &str) -> anyhow::Error {
    Refused::new(message, hint).into()
}
