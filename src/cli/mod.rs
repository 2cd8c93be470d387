//! The command line: one file or folder a subcommand.
//!
//! # Shape
//! Data goes to standard output, everything else to standard error. Every report has `--json`; fields are only ever added. Every flag can be set by
//! the environment: [`variables`]. The exit codes are those of [`exit::Exit`].
//!
//! # Invariants
//! 1. No argument, file or signal makes the program panic.
//! 2. Only these files print, read clocks (through the engine's stopwatch) and handle signals.
//!
//! # Not here
//! Whatever a library caller could need: it is in the library.

mod args;
mod bench;
mod check;
mod choice;
mod evolve;
mod exit;
mod export;
mod input;
mod layout;
mod manual;
mod output;
mod owner;
mod plan;
mod plane;
mod probe;
mod progress;
mod repair;
mod report;
mod signals;
mod solve;
mod stats;
mod status;
mod summary;
mod variables;
mod verify;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use exit::Exit;
use output::{ColorChoice, Out, note};
use std::io::Write;
use std::process::ExitCode;

/// Strongly solves Triangular Nim and answers every position.
///
/// Solving a board decides all its positions, normal or misère, within a memory budget, survives any interruption, and leaves a database.
#[derive(Parser)]
#[command(name = "trinim", version, max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
struct Cli {
    /// When to colour output
    #[arg(long, help_heading = "Output", global = true, value_name = "WHEN", value_enum, default_value = "auto")]
    color: ColorChoice,

    /// No progress and no remarks, only results, warnings and errors
    #[arg(long, help_heading = "Output", short, global = true)]
    quiet: bool,

    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  trinim solve --layers 7          solve the misère game in ./trinim-k7-misere
  trinim stats trinim-k7-misere    counts, value of the start, winning first moves
  trinim probe trinim-k7-misere 1/11/101/0000/00000/000000/0000000
  trinim verify trinim-k7-misere   every byte, every position against its children
  trinim status trinim-k7-misere   how far a solve is, from another shell
  trinim check trinim-k7-misere    whether every byte is still what was written; trinim repair mends it
  trinim plan --layers 9           what a solve would need
  trinim bench --layers 6,7        how long solves take
  trinim layout --layers 9         how the board is cut into blocks
  trinim report trinim-k*-* --out report
  trinim evolve run --game nim:4,4,4,4 --preset best    formulas that tell wins from losses, checked
  trinim plane at 2718282 3141593  Nim on the plane: who wins, by which moves";

#[derive(Subcommand)]
enum Command {
    Solve(solve::SolveArgs),
    Stats(stats::StatsArgs),
    Probe(probe::ProbeArgs),
    Verify(verify::VerifyArgs),
    Status(status::StatusArgs),
    Check(check::CheckArgs),
    Repair(repair::RepairArgs),
    Plan(plan::PlanArgs),
    Layout(layout::LayoutArgs),
    Report(report::ReportArgs),
    Bench(Box<bench::BenchArgs>),
    Evolve(evolve::EvolveArgs),
    Plane(plane::PlaneArgs),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
}

/// The program.
pub fn main() -> ExitCode {
    signals::survive_size_limit();
    signals::allow_many_files();
    let cli = match parse() {
        Ok(cli) => cli,
        Err(exit) => return ExitCode::from(exit as u8),
    };
    let mut out = Out::new(cli.color, cli.quiet);
    let result = run(cli.command, &mut out).and_then(|exit| {
        out.flush()?;
        Ok(exit)
    });
    let exit = match result {
        Ok(exit) => exit,
        Err(error) => report(&error, &out),
    };
    ExitCode::from(exit as u8)
}

fn run(command: Command, out: &mut Out) -> anyhow::Result<Exit> {
    match command {
        Command::Solve(args) => solve::run(args, out),
        Command::Stats(args) => stats::run(args, out),
        Command::Probe(args) => probe::run(args, out),
        Command::Verify(args) => verify::run(args, out),
        Command::Status(args) => status::run(args, out),
        Command::Check(args) => check::run(args, out),
        Command::Repair(args) => repair::run(args, out),
        Command::Plan(args) => plan::run(args, out),
        Command::Layout(args) => layout::run(args, out),
        Command::Report(args) => report::run(args, out),
        Command::Bench(args) => bench::run(*args, out),
        Command::Evolve(args) => evolve::run(args, out),
        Command::Plane(args) => plane::run(args, out),
        Command::Completions(args) => manual::completions(args, out),
        Command::Man(args) => manual::man(args, out),
    }
}

/// The command with all its subcommands.
fn command() -> clap::Command {
    variables::given(Cli::command()).after_help(format!("{EXAMPLES}\n\n{}", exit::TABLE))
}

/// Reads the arguments; a refusal is one line with the reason and one with the way out.
fn parse() -> Result<Cli, Exit> {
    use clap::error::ErrorKind;
    let parsed = command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    parsed.map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            match error.print().and_then(|()| std::io::stdout().flush()) {
                Ok(()) => Exit::Done,
                Err(error) => report(&error.into(), &Out::new(ColorChoice::Auto, false)),
            }
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            Exit::Usage
        }
        _ => {
            let text = error.render().to_string();
            let behind = |line: &&str| ["Usage:", "tip:", "For more"].iter().any(|start| line.starts_with(start));
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            let reason: Vec<&str> = lines.take_while(|line| !behind(line)).collect();
            note(reason.join(" "));
            let usage = text.lines().find_map(|line| line.trim().strip_prefix("tip: "));
            note(format_args!("hint: {}", usage.unwrap_or("try the same command with --help")));
            Exit::Usage
        }
    })
}

/// Says what went wrong, and the way out; returns the exit code.
fn report(error: &anyhow::Error, out: &Out) -> Exit {
    let Some((exit, hint)) = exit::classify(error) else { return Exit::Done };
    let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
    match exit {
        Exit::Interrupted | Exit::Terminated | Exit::TimeUp => note(chain.join(": ")),
        _ => note(format_args!("{} {}", out.error_paint.bad("error:"), chain.join(": "))),
    }
    if !hint.is_empty() {
        note(format_args!("hint: {hint}"));
    }
    exit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_well_formed() {
        command().debug_assert();
    }
}
