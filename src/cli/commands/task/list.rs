//! `trinim task list` and `trinim task plan`: what is committed in a store, and what each block
//! needs, for a scheduler.

use super::store;
use crate::cli::face::exit::Exit;
use crate::cli::face::output::{Out, counted};
use crate::cli::words::args::JsonArgs;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Write;
use trinim::task;

const EXAMPLES: &str = "\
Examples:
  trinim task list --store k5
  trinim task list --store k5 --json

Names are listed, no block is read. A shared file system or an object store may show new names late.";

/// List the committed blocks of a store
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ListArgs {
    /// Store: a folder that all machines share, or s3://BUCKET/PREFIX; trinim task init begins it
    #[arg(long, value_name = "STORE")]
    store: String,

    #[command(flatten)]
    json: JsonArgs,
}

/// A committed block, on a line of its own.
#[derive(Serialize, JsonSchema)]
pub struct Row {
    /// The block.
    block: u32,
}

/// Runs the subcommand.
pub fn run(args: ListArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let store = store::open(&args.store)?;
    let (game, terms) = task::open(&*store)?;
    let task = terms.task(&game);
    let committed = task::committed(&*store, task)?;
    if args.json.json {
        for block in committed {
            out.json_line("trinim.task.list/1", &Row { block: block.0 })?;
        }
        return Ok(Exit::Done);
    }
    let all = counted(task.blocks().into(), "block");
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
    /// Store: a folder that all machines share, or s3://BUCKET/PREFIX; trinim task init begins it
    #[arg(long, value_name = "STORE")]
    store: String,

    /// Group neighbouring blocks into about so many batches
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    batches: Option<u32>,
}

/// Runs the subcommand.
pub fn run_plan(args: PlanArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let store = store::open(&args.store)?;
    let (game, terms) = task::open(&*store)?;
    match args.batches {
        None => {
            for row in task::plan(terms.task(&game)) {
                out.json_line("trinim.task.plan/1", &row)?;
            }
        }
        Some(wanted) => {
            for row in task::batches(terms.task(&game), wanted) {
                out.json_line("trinim.task.plan.batches/1", &row)?;
            }
        }
    }
    Ok(Exit::Done)
}
