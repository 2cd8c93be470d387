//! `trinim task sweep`: removes what nothing needs any more.

use super::store;
use crate::cli::face::exit::Exit;
use crate::cli::face::output::{Out, counted};
use crate::cli::words::args::{JsonArgs, Size};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;
use trinim::task;

const EXAMPLES: &str = "\
Examples:
  trinim task sweep --store k5
  trinim task sweep --store k5 --older-than 1d --json

In a store that keeps only counts, the file of a block goes once the blocks that read it are committed. A \
temporary file is what a killed task left; a task at work needs its own.";

/// Remove files of a store that nothing needs any more
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct SweepArgs {
    /// Store: a folder that all machines share, or s3://BUCKET/PREFIX; trinim task init begins it
    #[arg(long, value_name = "STORE")]
    store: String,

    /// Age of a temporary file that is removed, like 1h, 2d, or 0s for all
    #[arg(long, value_name = "TIME", value_parser = super::pause, default_value = "1h")]
    older_than: Duration,

    #[command(flatten)]
    json: JsonArgs,
}

/// What `trinim task sweep` prints.
#[derive(Serialize, JsonSchema)]
pub struct Report {
    /// Files of blocks that were removed.
    blocks: u64,
    /// Their size.
    block_bytes: u64,
    /// Temporary files that were removed.
    temporary_files: u64,
}

/// Runs the subcommand.
pub fn run(args: SweepArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let store = store::open(&args.store)?;
    let (game, terms) = task::open(&*store)?;
    let swept = task::sweep(&*store, terms.task(&game), args.older_than)?;
    let report = Report { blocks: swept.blocks, block_bytes: swept.block_bytes, temporary_files: swept.temporaries };
    if args.json.json {
        out.json("trinim.task.sweep/1", &report)?;
        return Ok(Exit::Done);
    }
    out.table(&[
        ("removed", format!("{}, {}", counted(report.blocks, "file"), Size(report.block_bytes))),
        ("temporary", counted(report.temporary_files, "file")),
    ])?;
    Ok(Exit::Done)
}
