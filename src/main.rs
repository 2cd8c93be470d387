//! The program: `commands`, a file or folder each, use what several of them share (`trinim::cli`),
//! and both speak to the user through the package `terminal`.
//!
//! Data goes to standard output, everything else to standard error. Every report has `--json`:
//! JSON.md lists all fields, and later versions only add some.
//! [`Exit`] lists the exit codes. Whatever a library caller could need is in the library.
//!
//! # Invariants
//! 1. No argument, file or signal makes the program panic.
//! 2. Only these files print, read clocks and handle signals.

mod commands;
#[cfg(test)]
mod tests;

use clap::{Parser, Subcommand};
use commands::schema::SCHEMAS;
use commands::*;
use pipeline::checkpoint::FORMAT_VERSION;
use std::process::ExitCode;
use terminal::exit::Exit;
use terminal::manual;
use terminal::manual::SchemaArgs;
use terminal::output::Out;
use trinim::cli::program::{self, GlobalArgs, Program};
use trinim::database::VERSION as DATABASE_VERSION;
use trinim::kernel::{Isa, Kernel};

/// Solve Triangular Nim completely, and look up every position.
///
/// A solve computes the value of every position of a board, in normal or misère play, within a
/// memory budget. It resumes after any interruption and leaves a database.
#[derive(Parser)]
#[command(name = "trinim", version, max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
struct Cli {
    #[command(flatten)]
    global: GlobalArgs,

    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  trinim solve --layers 7            solve the misère game in ./trinim-k7-misere
  trinim probe trinim-k7-misere 1/11/101/0000/00000/000000/0000000
  trinim play --layers 4             play against the program";

#[derive(Subcommand)]
enum Command {
    Solve(Box<solve::SolveArgs>),
    Resume(solve::resume::ResumeArgs),
    Stats(stats::StatsArgs),
    Probe(probe::ProbeArgs),
    Play(play::PlayArgs),
    Export(export::ExportArgs),
    Verify(verify::VerifyArgs),
    Status(status::StatusArgs),
    Check(check::CheckArgs),
    Repair(repair::RepairArgs),
    Plan(plan::PlanArgs),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
    Schema(SchemaArgs),
}

fn main() -> ExitCode {
    program::main::<Cli>()
}

impl Program for Cli {
    const NAME: &str = "";

    fn dressed(command: clap::Command) -> clap::Command {
        command.long_version(version()).after_help(EXAMPLES)
    }

    fn global(&self) -> &GlobalArgs {
        &self.global
    }

    // When they are run again.
    fn continues(&self) -> bool {
        matches!(self.command, Command::Solve(_) | Command::Resume(_))
    }

    fn run(self, out: &mut Out) -> anyhow::Result<Exit> {
        match self.command {
            Command::Solve(args) => solve::run(*args, out),
            Command::Resume(args) => solve::resume::run(args, out),
            Command::Stats(args) => stats::run(args, out),
            Command::Probe(args) => probe::run(args, out),
            Command::Play(args) => play::run(args, out),
            Command::Export(args) => export::run(args, out),
            Command::Verify(args) => verify::run(args, out),
            Command::Status(args) => status::run(args, out),
            Command::Check(args) => check::run(args, out),
            Command::Repair(args) => repair::run(args, out),
            Command::Plan(args) => plan::run(args, out),
            Command::Completions(args) => manual::complete(args, program::command::<Cli>(), Cli::NAME, out),
            Command::Man(args) => manual::run(args, program::command::<Cli>(), Cli::NAME, out),
            Command::Schema(args) => manual::schema(args, SCHEMAS, out),
        }
    }
}

/// Returns the text of `--version`, without the name of the program. It does not name the commit:
/// only a script that runs at every build would know that.
fn version() -> String {
    let names = |names: Vec<String>| names.join(", ");
    let kernels = Isa::available().iter().map(ToString::to_string).collect();
    let codecs = pipeline::codec::all().iter().map(|codec| codec.name().to_owned()).collect();
    let build = if cfg!(debug_assertions) { "with debug assertions" } else { "optimised" };
    format!(
        "{}\n\
         built    for {} on {}, {build}\n\
         formats  database {DATABASE_VERSION}, run folder {FORMAT_VERSION}\n\
         kernels  {} on this machine; auto takes {}\n\
         codecs   {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS,
        names(kernels),
        Kernel::detect().isa(),
        names(codecs),
    )
}
