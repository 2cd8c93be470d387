//! The commands, one file each, and their common parts: arguments ([`args`], [`settings`]) and
//! output ([`output`]).
//!
//! # Invariants
//! 1. A formula is called a strategy only after it was checked on more positions than it was found
//!    on.
//! 2. Finding no formula is a result, not a failure.

mod args;
mod experiment;
mod export;
mod output;
mod run;
mod score;
mod settings;
mod verify;

use clap::Subcommand;
pub use output::{Refusal, USAGE};
pub use settings::SETTINGS;
use std::io::Write;

/// What the program does.
#[derive(Subcommand)]
pub enum Command {
    Run(Box<run::RunArgs>),
    Score(score::ScoreArgs),
    Verify(verify::VerifyArgs),
    Experiment(Box<experiment::ExperimentArgs>),
    Claims(experiment::ClaimsArgs),
    Export(export::ExportArgs),
}

impl Command {
    /// Returns the name in reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Command::Run(_) => "evolve run",
            Command::Score(_) => "evolve score",
            Command::Verify(_) => "evolve verify",
            Command::Experiment(_) => "evolve experiment",
            Command::Claims(_) => "evolve claims",
            Command::Export(_) => "evolve export",
        }
    }

    /// Runs the command and returns its exit code.
    /// An error is a [`Refusal`] of the arguments, or an `io::Error` where writing failed.
    pub fn run(self, json: bool, out: &mut dyn Write) -> anyhow::Result<u8> {
        match self {
            Command::Run(args) => run::run(&args, json, out),
            Command::Score(args) => score::run(&args, json, out),
            Command::Verify(args) => verify::run(&args, json, out),
            Command::Experiment(args) => experiment::run(&args, json, out),
            Command::Claims(args) => experiment::claims(&args, json, out),
            Command::Export(args) => export::run(&args, json, out),
        }
    }
}
