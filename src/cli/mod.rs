//! The command line: `commands`, a file or folder each, use the `words` that several of them share,
//! and these use the `face`, which speaks to the caller.
//!
//! Data goes to standard output, everything else to standard error. Every report has `--json`:
//! JSON.md lists all fields, and later versions only add some.
//! [`Exit`] lists the exit codes. Whatever a library caller could need is in the library.
//!
//! # Invariants
//! 1. No argument, file or signal makes the program panic.
//! 2. Only these files print, read clocks (through the engine's stopwatch) and handle signals.

mod commands;
mod face;
mod words;

use clap::builder::FalseyValueParser;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use commands::*;
use face::ending::{self, Ending};
use face::exit::Exit;
use face::output::{ColorChoice, Out, note};
use face::{help, programs, progress, refusal, signals, streams, watch};
use pipeline::checkpoint::FORMAT_VERSION;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use trinim::database::VERSION as DATABASE_VERSION;
use trinim::kernel::{Isa, Kernel};
use words::board::ranged;
use words::{folders, hints};

/// Strongly solves Triangular Nim and answers every position.
///
/// A solve decides every position of a board, in normal or misère play, within a memory budget. It
/// survives any interruption and leaves a database.
#[derive(Parser)]
#[command(name = "trinim", version, max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
struct Cli {
    /// When to colour output
    #[arg(long, help_heading = "Output", global = true, value_name = "WHEN", value_enum, default_value = "auto")]
    color: ColorChoice,

    /// Print only results, warnings and errors: no progress, no remarks
    #[arg(long, help_heading = "Output", short, global = true, value_parser = FalseyValueParser::new(),
          env = "TRINIM_QUIET", hide_env = true)]
    quiet: bool,

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
    #[cfg(feature = "serve")]
    Serve(serve::ServeArgs),
    Export(export::ExportArgs),
    Verify(verify::VerifyArgs),
    Status(status::StatusArgs),
    Check(check::CheckArgs),
    Repair(repair::RepairArgs),
    Plan(plan::PlanArgs),
    Layout(layout::LayoutArgs),
    Report(report::ReportArgs),
    Bench(Box<bench::BenchArgs>),
    Task(task::TaskArgs),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
    Schema(schema::SchemaArgs),
}

/// Runs the program.
pub fn main() -> ExitCode {
    let exit = run_program();
    streams::finish();
    ExitCode::from(exit as u8)
}

fn run_program() -> Exit {
    // First of all, so that no signal finds the program without them.
    signals::install();
    signals::allow_many_files();
    let (cli, json_command) = match parse() {
        Ok(parsed) => parsed,
        Err(exit) => return exit,
    };
    let mut out = Out::new(cli.color, cli.quiet);
    // When they are run again.
    let continues = matches!(cli.command, Command::Solve(_) | Command::Resume(_));
    let result = run(cli.command, &mut out).and_then(|exit| {
        out.flush()?;
        Ok(exit)
    });
    let ending = match result {
        Ok(exit) => Ending { exit, ..Ending::default() },
        Err(error) => {
            let error = folders::explain(error, &refusal::arguments());
            let ending = hints::ending(&error, continues);
            ending.print(&out);
            // No reader is left, or nothing can be written: standard error has said so.
            if let Some(command) = json_command.filter(|_| !error.is::<std::io::Error>()) {
                ending.write(&command, &mut out);
            }
            ending
        }
    };
    watch::ended(ending.exit as u8, ending.exit.is_stop(), &ending.reason, &ending.hint);
    ending.exit
}

fn run(asked: Command, out: &mut Out) -> anyhow::Result<Exit> {
    match asked {
        Command::Solve(args) => solve::run(*args, out),
        Command::Resume(args) => solve::resume::run(args, out),
        Command::Stats(args) => stats::run(args, out),
        Command::Probe(args) => probe::run(args, out),
        Command::Play(args) => play::run(args, out),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(args, out),
        Command::Export(args) => export::run(args, out),
        Command::Verify(args) => verify::run(args, out),
        Command::Status(args) => status::run(args, out),
        Command::Check(args) => check::run(args, out),
        Command::Repair(args) => repair::run(args, out),
        Command::Plan(args) => plan::run(args, out),
        Command::Layout(args) => layout::run(args, out),
        Command::Report(args) => report::run(args, out),
        Command::Bench(args) => bench::run(*args, &command(), out),
        Command::Task(args) => task::run(args, out),
        Command::Completions(args) => manual::complete(args, command(), out),
        Command::Man(args) => manual::run(args, command(), out),
        Command::Schema(args) => schema::run(args, out),
    }
}

/// Returns the command with all its subcommands.
fn command() -> clap::Command {
    help::dressed(ranged(Cli::command().long_version(version()), "")).after_help(EXAMPLES)
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
         codecs   {}\n\
         stores   {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS,
        names(kernels),
        Kernel::detect().isa(),
        names(codecs),
        if cfg!(feature = "s3") { "folder, s3" } else { "folder" },
    )
}

/// Parses the arguments; the second result is the command if it has to report as JSON. An unknown
/// command is handed over to its program, if there is one. A refusal prints two lines: the reason
/// and a hint.
fn parse() -> Result<(Cli, Option<String>), Exit> {
    use clap::error::ErrorKind;
    let given: Vec<OsString> = std::env::args_os().collect();
    let parsed = help::shown(command()).try_get_matches_from(&given).and_then(|matches| {
        let json_command = ending::json_command(&matches);
        progress::watch(&matches);
        Ok((Cli::from_arg_matches(&matches)?, json_command))
    });
    let failed = |error: anyhow::Error| {
        let ending = hints::ending(&error, false);
        ending.print(&Out::new(ColorChoice::Auto, false));
        ending.exit
    };
    parsed.map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match help::print(&error) {
            Ok(()) => Exit::Done,
            Err(error) => failed(error.into()),
        },
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            error.render().to_string().trim_end().lines().for_each(note);
            Exit::Usage
        }
        kind => {
            let unknown = kind == ErrorKind::InvalidSubcommand;
            if let Some(refused) = unknown.then(|| programs::hand_over(command(), &given)).flatten() {
                return failed(refused.into());
            }
            let (reason, hint) = refusal::explain(&error, &command(), &refusal::arguments());
            note(reason);
            note(format_args!("hint: {hint}"));
            Exit::Usage
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_well_formed() {
        command().debug_assert();
    }
}
