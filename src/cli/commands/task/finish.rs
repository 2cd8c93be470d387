//! `trinim task finish`: makes the database of a store whose blocks are all committed.

use super::store;
use crate::cli::face::exit::Exit;
use crate::cli::face::output::{Out, counted, seconds};
use crate::cli::words::args::{JsonArgs, Size};
use crate::cli::words::machine::peak_rss_bytes;
use crate::cli::words::summary::Summary;
use clap::Args;
use pipeline::Stopwatch;
use schemars::JsonSchema;
use serde::Serialize;
use trinim::kernel::Kernel;
use trinim::task;

const EXAMPLES: &str = "\
Examples:
  trinim task init --store one --layers 3
  trinim task --store one --block 0
  trinim task finish --store one --json
  trinim verify one                       its db folder is that of a solve

Blocks that are missing are counted, and the exit code is 75.";

/// Make the database of a store whose blocks are all committed
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct FinishArgs {
    /// Store: a folder that all machines share, or s3://BUCKET/PREFIX; trinim task init begins it
    #[arg(long, value_name = "STORE")]
    store: String,

    #[command(flatten)]
    json: JsonArgs,
}

/// What `trinim task finish` prints.
#[derive(Serialize, JsonSchema)]
pub struct Report {
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

/// Runs the subcommand.
pub fn run(args: FinishArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let watch = Stopwatch::start();
    let store = store::open(&args.store)?;
    let (game, terms) = task::open(&*store)?;
    let sealed = task::finish(&*store, terms.task(&game), Kernel::detect())?;
    let report = Report {
        finished: true,
        summary: Summary::of(&sealed.manifest, &game),
        elapsed_s: watch.elapsed().as_secs_f64(),
        peak_rss_bytes: peak_rss_bytes(),
        database_bytes: sealed.database_bytes,
        out: args.store,
        offset_bits: game.layout.offset_bits(),
    };
    if args.json.json {
        out.json("trinim.task.finish/1", &report)?;
        return Ok(Exit::Done);
    }
    let mut rows = report.summary.rows(out.paint);
    let (name, what) = report.summary.kept();
    let blocks = counted(report.summary.canonical_blocks, "block");
    rows.push((name, format!("{what}{} in {blocks}, {}", Size(report.database_bytes), report.out)));
    rows.push(("time", seconds(report.elapsed_s)));
    out.table(&rows)?;
    Ok(Exit::Done)
}
