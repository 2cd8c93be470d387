//! `trinim evolve`: formulas that tell wins from losses, found by evolution and checked.
//!
//! One file per subcommand; they share how games and formulas are named ([`args`]) and the settings
//! of the engine ([`settings`]).
//!
//! # Invariants
//! 1. A formula is called a strategy only after it was checked on more positions than it was found
//!    on.
//! 2. Finding nothing is a result, not a failure.

mod args;
mod check;
pub mod experiment;
pub mod export;
mod run;
pub mod run_report;
pub mod score;
mod settings;
mod sweep;
mod tree;
pub mod verify;

use crate::cli::face::exit::Exit;
use crate::cli::face::output::Out;
use clap::{Args, Subcommand};

const EXAMPLES: &str = "\
Examples:
  trinim evolve run --game nim:4,4,4,4 --preset best --runs 10
  trinim evolve run --game subtraction:1,2,3:40 --terminals 1
  trinim evolve score --game nim:2,1 --formula \"a1-a2*a1\" --tree
  trinim evolve verify --game nim:4,4,4,4 --formula \"(a1^a2^a3)-a4\" --max 15
  trinim evolve experiment 1 --svg sweep.svg
  trinim evolve claims
  trinim evolve export --game nim:4,4,4,4 --formula \"a1^a2^a3^a4\" --as python";

/// Find formulas that tell wins from losses, and check them
#[derive(Args)]
#[command(after_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub struct EvolveArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(Box<run::RunArgs>),
    Score(score::ScoreArgs),
    Verify(verify::VerifyArgs),
    Experiment(experiment::ExperimentArgs),
    Export(export::ExportArgs),
    Claims(experiment::ClaimsArgs),
}

/// Runs the subcommand.
pub fn run(args: EvolveArgs, out: &mut Out) -> anyhow::Result<Exit> {
    match args.command {
        Command::Run(args) => run::run(*args, out),
        Command::Score(args) => score::run(args, out),
        Command::Verify(args) => verify::run(args, out),
        Command::Experiment(args) => experiment::run(args, out),
        Command::Export(args) => export::run(args, out),
        Command::Claims(args) => experiment::claims(args, out),
    }
}
