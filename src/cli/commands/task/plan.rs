//! `trinim task plan`: the blocks of a store and what each needs, for a scheduler.

use super::store;
use crate::cli::face::exit::Exit;
use crate::cli::face::output::Out;
use clap::Args;
use trinim::task;

const EXAMPLES: &str = "\
Examples:
  trinim task plan --store k5
  trinim task plan --store k5 --batches 4

One JSON object a line, sources before their targets.";

/// List the blocks of a store and what each needs, as JSON lines
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PlanArgs {
    /// Store: a folder that all machines share, or s3://BUCKET/PREFIX; trinim task init begins it
    #[arg(long, value_name = "STORE")]
    store: String,

    /// Group neighbouring blocks into about so many batches
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    batches: Option<u32>,
}

/// Runs the subcommand.
pub fn run(args: PlanArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let store = store::open(&args.store)?;
    let (definition, game, _) = task::open(&*store)?;
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
