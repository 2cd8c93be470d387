//! Commands on a whole store: what is to be done in it, and what becomes of what was done: `trinim
//! task list`, `plan`, `finish`, `copy` and `sweep`.

use super::store::{self, Opened, StoreArgs};
use crate::cli::face::exit::Exit;
use crate::cli::face::output::{Out, counted, seconds};
use crate::cli::words::args::{JsonArgs, Size, ThreadsArgs};
use crate::cli::words::machine::peak_rss_bytes;
use crate::cli::words::summary::Summary;
use clap::Args;
use pipeline::Stopwatch;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Write;
use std::time::Duration;
use trinim::kernel::Kernel;
use trinim::task;

const LIST_EXAMPLES: &str = "\
Examples:
  trinim task list --store k5
  trinim task list --store k5 --json

Names are listed, no block is read. A shared file system or an object store may show new names late.";

/// List the committed blocks of a store
#[derive(Args)]
#[command(after_help = LIST_EXAMPLES)]
pub struct ListArgs {
    #[command(flatten)]
    store: StoreArgs,

    #[command(flatten)]
    json: JsonArgs,
}

/// A committed block, on a line of its own.
#[derive(Serialize, JsonSchema)]
pub struct Row {
    /// The block.
    block: u32,
}

/// Runs `list`.
pub fn list(args: ListArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let opened = Opened::of(&args.store.store)?;
    let committed = task::committed(&*opened.store, &opened.definition)?;
    if args.json.json {
        for block in committed {
            out.json_line("trinim.task.list/1", &Row { block: block.0 })?;
        }
        return Ok(Exit::Done);
    }
    let all = counted(opened.definition.blocks().into(), "block");
    writeln!(out, "{} of {all} committed", committed.len())?;
    Ok(Exit::Done)
}

const PLAN_EXAMPLES: &str = "\
Examples:
  trinim task plan --store k5
  trinim task plan --store k5 --batches 4

One JSON object a line, sources before their targets.";

/// List the blocks of a store and what each needs, as JSON lines
#[derive(Args)]
#[command(after_help = PLAN_EXAMPLES)]
pub struct PlanArgs {
    #[command(flatten)]
    store: StoreArgs,

    /// Group neighbouring blocks into about so many batches
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    batches: Option<u32>,
}

/// Runs `plan`.
pub fn plan(args: PlanArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let Opened { definition, game, .. } = Opened::of(&args.store.store)?;
    match args.batches {
        None => {
            for row in task::plan(&definition, &game) {
                out.json_line("trinim.task.plan/1", &row)?;
            }
        }
        Some(wanted) => {
            for row in task::batches(&definition, &game, wanted) {
                out.json_line("trinim.task.plan.batches/1", &row)?;
            }
        }
    }
    Ok(Exit::Done)
}

const FINISH_EXAMPLES: &str = "\
Examples:
  trinim task init --store one --layers 3
  trinim task --store one --block 0
  trinim task finish --store one --json
  trinim verify one                       its db folder is that of a solve

Blocks that are missing are counted, and the exit code is 75.";

/// Make the database of a store whose blocks are all committed
#[derive(Args)]
#[command(after_help = FINISH_EXAMPLES)]
pub struct FinishArgs {
    #[command(flatten)]
    store: StoreArgs,

    #[command(flatten)]
    json: JsonArgs,
}

/// What `trinim task finish` prints.
#[derive(Serialize, JsonSchema)]
pub struct Finished {
    /// True.
    finished: bool,
    #[serde(flatten)]
    summary: Summary,
    /// Wall-clock time of this command.
    elapsed_s: f64,
    /// Highest resident memory of this process.
    peak_rss_bytes: u64,
    /// Size of the database, or of what is kept of it.
    database_bytes: u64,
    /// The store.
    out: String,
    /// A block has 2^`offset_bits` positions.
    offset_bits: u32,
}

/// Runs `finish`.
pub fn finish(args: FinishArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let watch = Stopwatch::start();
    let opened = Opened::of(&args.store.store)?;
    let sealed = task::finish(&*opened.store, opened.solve(), Kernel::detect())?;
    let report = Finished {
        finished: true,
        summary: Summary::of(&sealed.manifest, &opened.game),
        elapsed_s: watch.elapsed().as_secs_f64(),
        peak_rss_bytes: peak_rss_bytes(),
        database_bytes: sealed.database_bytes,
        out: args.store.store,
        offset_bits: opened.game.layout.offset_bits(),
    };
    args.json.report("trinim.task.finish/1", &report, out, |report, out| {
        let mut rows = report.summary.rows(out.paint);
        rows.push(report.summary.kept(report.database_bytes, &report.out));
        rows.push(("time", seconds(report.elapsed_s)));
        Ok(out.table(&rows)?)
    })
}

const COPY_EXAMPLES: &str = "\
Examples:
  trinim task copy --store one --to here
  trinim task copy --store one --to here --json     again: what is there is only compared
  trinim verify here

Each file is compared with what was committed before it is written. The copy is a store of its own; its db folder is \
the database. From a bucket: trinim task copy --store s3://BUCKET/PREFIX --to DIR";

/// Copy a finished store, or continue a copy
#[derive(Args)]
#[command(after_help = COPY_EXAMPLES)]
pub struct CopyArgs {
    #[command(flatten)]
    store: StoreArgs,

    /// Where the copy goes: a new or empty folder or prefix, or that of a copy that was stopped
    #[arg(long, value_name = "STORE")]
    to: String,

    #[command(flatten)]
    threads: ThreadsArgs,

    #[command(flatten)]
    json: JsonArgs,
}

/// What `trinim task copy` prints.
#[derive(Serialize, JsonSchema)]
pub struct Copied {
    /// The store.
    store: String,
    /// Where the copy is.
    to: String,
    #[serde(flatten)]
    copied: task::Copied,
}

/// Runs `copy`.
pub fn copy(args: CopyArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let from = Opened::of(&args.store.store)?;
    // Before anything is created.
    task::require_sealed(&*from.store)?;
    let to = store::create(&args.to)?;
    let copied = task::copy(&*from.store, &*to, from.solve(), None, args.threads.count())?;
    let report = Copied { store: args.store.store, to: args.to, copied };
    args.json.report("trinim.task.copy/1", &report, out, |Copied { to, copied, .. }, out| {
        Ok(out.table(&[
            ("copied", format!("{}, {}, to {to}", counted(copied.files, "file"), Size(copied.bytes))),
            ("present", format!("{}, with the same bytes", counted(copied.present, "file"))),
        ])?)
    })
}

const SWEEP_EXAMPLES: &str = "\
Examples:
  trinim task sweep --store k5
  trinim task sweep --store k5 --older-than 1d --json

In a store that keeps only counts, the file of a block goes once the blocks that read it are committed. A \
temporary file is what a killed task left; a task at work needs its own.";

/// Remove files of a store that nothing needs any more
#[derive(Args)]
#[command(after_help = SWEEP_EXAMPLES)]
pub struct SweepArgs {
    #[command(flatten)]
    store: StoreArgs,

    /// Age of a temporary file that is removed, like 1h, 2d, or 0s for all
    #[arg(long, value_name = "TIME", value_parser = super::pause, default_value = "1h")]
    older_than: Duration,

    #[command(flatten)]
    json: JsonArgs,
}

/// Runs `sweep`.
pub fn sweep(args: SweepArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let opened = Opened::of(&args.store.store)?;
    let swept = task::sweep(&*opened.store, opened.solve(), args.older_than)?;
    args.json.report("trinim.task.sweep/1", &swept, out, |swept, out| {
        Ok(out.table(&[
            ("removed", format!("{}, {}", counted(swept.blocks, "file"), Size(swept.block_bytes))),
            ("temporary", counted(swept.temporary_files, "file")),
        ])?)
    })
}
