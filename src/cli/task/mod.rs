//! `trinim task`: one block, or a batch of neighbours, of a solve on many machines; and what is to
//! be done before, between and after.
//!
//! Exit codes are made for a driver: 0 done, 75 try again, 65 stop and report, 2 for arguments.

mod copy;
mod finish;
mod init;
mod list;
mod plan;
mod store;
mod sweep;
mod verify;

use super::args::{self, JsonArgs, KernelArgs, Size};
use super::exit::{Exit, Refused};
use super::output::{Out, counted, seconds};
use clap::{Args, Subcommand};
use pipeline::{BlockId, Stopwatch};
use serde::Serialize;
use std::time::Duration;
use store::refusal;
use trinim::task::{self, Options};

const EXAMPLES: &str = "\
Examples:
  trinim task init --store tasks --layers 6 --block-bits 18    begin: say what is solved
  trinim task plan --store tasks                                the blocks, and what each needs
  trinim task --store tasks --block 0                           compute a block from its sources
  trinim task --store tasks --batch 1,2,3 --json                compute neighbours in one process
  trinim task list --store tasks                                what is committed
  trinim task sweep --store tasks                               remove what nothing needs any more

Blocks may be computed by any number of processes on any machines that see the store, each by several at once: a \
file is created once and whole, and its bytes depend on nothing but the solve. A kill costs the block at work. \
tools/cluster runs the tasks; others can, from the plan.

A store is a folder, or s3://BUCKET/PREFIX in a program that was built with --features s3: a bucket of S3 or of a \
service that speaks its protocol and honours If-None-Match. Service, region and credentials are those of the usual \
variables: AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ALLOW_HTTP and others.

The exit code is 0 if the blocks are committed, 75 if the same command may succeed later, and 65 if it cannot: the \
store is of another run or version or may not be used, a file is damaged, or a name has other bytes. Nothing is ever \
overwritten.";

/// Time between two looks for a missing source.
const LOOK: Duration = Duration::from_millis(200);

/// Compute blocks of a solve on many machines
#[derive(Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct TaskArgs {
    #[command(subcommand)]
    command: Option<TaskCommand>,

    /// Store: a folder that all machines share, or s3://BUCKET/PREFIX; trinim task init begins it
    #[arg(long, value_name = "STORE", required = true)]
    store: Option<String>,

    /// Block to compute; its sources are committed
    #[arg(long, value_name = "N", required_unless_present = "batch", conflicts_with = "batch")]
    block: Option<u32>,

    /// Blocks to compute, with their inner edges in memory; other sources are committed
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    batch: Vec<u32>,

    /// Memory budget for the whole program, like 256MiB, 1GiB, 2GB, or 50% of this machine's
    #[arg(long, help_heading = "Resources", value_name = "SIZE", value_parser = args::memory, default_value = "1GiB")]
    memory: Size,

    /// Threads, 0 for all; fewer run if the memory is too small for all
    #[arg(long, help_heading = "Resources", value_name = "N", value_parser = args::threads, default_value = "1")]
    threads: usize,

    #[command(flatten)]
    kernel: KernelArgs,

    /// Time to wait for the file of a source, like 30s, 2m, 0s: shared file systems may show new
    /// names late
    #[arg(long, help_heading = "Limits", value_name = "TIME", value_parser = pause, default_value = "120s")]
    wait: Duration,

    /// End with the process that started this one, however that ends
    #[arg(long, help_heading = "Limits")]
    die_with_parent: bool,

    #[command(flatten)]
    json: JsonArgs,
}

#[derive(Subcommand)]
enum TaskCommand {
    Init(init::InitArgs),
    Plan(plan::PlanArgs),
    List(list::ListArgs),
    Finish(finish::FinishArgs),
    Copy(copy::CopyArgs),
    Sweep(sweep::SweepArgs),
    Verify(verify::VerifyArgs),
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    computed: Vec<u32>,
    skipped: Vec<u32>,
    seconds: f64,
    read_bytes: u64,
    written_bytes: u64,
}

/// Parses a duration that may be nothing.
fn pause(text: &str) -> Result<Duration, String> {
    match text {
        "0" | "0s" => Ok(Duration::ZERO),
        other => args::long_duration(other),
    }
}

/// Runs the subcommand.
pub fn run(args: TaskArgs, out: &mut Out) -> anyhow::Result<Exit> {
    match args.command {
        None => compute(&args, out).map_err(refusal),
        Some(TaskCommand::Init(args)) => init::run(args, out).map_err(refusal),
        Some(TaskCommand::Plan(args)) => plan::run(args, out).map_err(refusal),
        Some(TaskCommand::List(args)) => list::run(args, out).map_err(refusal),
        Some(TaskCommand::Finish(args)) => finish::run(args, out).map_err(refusal),
        Some(TaskCommand::Copy(args)) => copy::run(args, out).map_err(refusal),
        Some(TaskCommand::Sweep(args)) => sweep::run(args, out).map_err(refusal),
        Some(TaskCommand::Verify(args)) => verify::run(args, out).map_err(refusal),
    }
}

fn compute(args: &TaskArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let watch = Stopwatch::start();
    if args.die_with_parent {
        store::die_with_parent()?;
    }
    let store = store::open(args.store.as_deref().unwrap_or_default())?;
    let (definition, game, terms) = task::open(&*store)?;
    let blocks: Vec<BlockId> = args.block.iter().chain(&args.batch).map(|block| BlockId(*block)).collect();
    let wait = || {
        let goes_on = watch.elapsed() < args.wait;
        if goes_on {
            std::thread::sleep(LOOK.min(args.wait));
        }
        goes_on
    };
    let options = Options {
        kernel: args.kernel.kernel.kernel(),
        threads: args::all_if_zero(args.threads),
        memory_bytes: args.memory.0,
        wait: &wait,
    };
    let done = task::compute(&*store, (&definition, &game, terms), &blocks, &options)?;
    let numbers = |blocks: Vec<BlockId>| blocks.into_iter().map(|block| block.0).collect();
    let report = Report {
        computed: numbers(done.computed),
        skipped: numbers(done.skipped),
        seconds: watch.elapsed().as_secs_f64(),
        read_bytes: done.read_bytes,
        written_bytes: done.written_bytes,
    };
    if args.json.json {
        out.json("trinim.task/1", &report)?;
        return Ok(Exit::Done);
    }
    let (computed, skipped) = (report.computed.len() as u64, report.skipped.len() as u64);
    out.table(&[
        ("computed", counted(computed, "block")),
        ("skipped", format!("{}, committed before", counted(skipped, "block"))),
        ("read", Size(report.read_bytes).to_string()),
        ("written", Size(report.written_bytes).to_string()),
        ("time", seconds(report.seconds)),
    ])?;
    Ok(Exit::Done)
}

/// A refusal of arguments.
fn usage(message: String, hint: &str) -> anyhow::Error {
    Refused::new(message, hint).into()
}
