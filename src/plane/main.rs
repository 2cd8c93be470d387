//! The program `trinim-plane`.
//!
//! Results go to standard output, everything else to standard error. With `--json` a result is an
//! object, or one a line, that begins with the name and version of its schema; fields whose names
//! do not say enough are documented at the structs of the `commands`.
//!
//! # Invariants
//! 1. No argument, input or closed stream makes the program panic.
#![forbid(unsafe_code)]

mod commands;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use commands::{Exit, Refusal, json_line, note};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::process::ExitCode;
use terminal::ending::Failure;
use terminal::help;
use terminal::streams::{self, PatientWriter};

const EXAMPLES: &str = "\
Examples:
  trinim-plane at 2718282 3141593           show who wins, and every winning move
  trinim-plane at 10^1000 10^999 --json
  trinim-plane points --from 0 --count 26   list the lost points in order
  trinim-plane index 102                    find the one with a heap of 102
  trinim-plane precision --digits 6         show how exact the golden ratio must be
  trinim-plane verify --max 100 --flip none  check the formulas against the rules
  trinim-plane claims                       list every claim of the paper, with a verdict

There are two heaps; a move takes from one of them, or the same number from both. The player who reaches (0, 0) wins \
(normal) or loses (attrition).

Exit codes: 0 success; 1 a check or a claim fails; 2 usage; 4 input or output failed; 130 interrupted.";

/// Solve Nim on the plane (Wythoff's game) with heaps of any length
#[derive(Parser)]
#[command(version, max_term_width = 100, after_help = EXAMPLES)]
struct Cli {
    /// Report as JSON
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    At(commands::at::AtArgs),
    Points(commands::points::PointsArgs),
    Index(commands::points::IndexArgs),
    Precision(commands::precision::PrecisionArgs),
    Verify(commands::verify::VerifyArgs),
    Claims(commands::claims::ClaimsArgs),
}

impl Command {
    fn run(self, json: bool, out: &mut commands::Out) -> anyhow::Result<Exit> {
        match self {
            Command::At(args) => args.run(json, out),
            Command::Points(args) => args.run(json, out),
            Command::Index(args) => args.run(json, out),
            Command::Precision(args) => args.run(json, out),
            Command::Verify(args) => args.run(json, out),
            Command::Claims(args) => args.run(json, out),
        }
    }
}

fn main() -> ExitCode {
    let exit = carry_out();
    streams::finish();
    exit.into()
}

/// Shows the help, or why the arguments are refused.
fn usage(refusal: clap::Error) -> Exit {
    if refusal.use_stderr() {
        // The refusal names arguments.
        let refusal = Cli::try_parse_from(streams::shown_arguments()).err().unwrap_or(refusal);
        refusal.render().to_string().lines().for_each(note);
        return Exit::Usage;
    }
    help::print(&refusal).map_or_else(|error| failed(&error.into()), |()| Exit::Done)
}

fn carry_out() -> Exit {
    let parsed = Cli::command().try_get_matches().and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let (Cli { json, command }, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(refusal) => return usage(refusal),
    };
    let mut out = BufWriter::new(PatientWriter::stdout());
    let result = command.run(json, &mut out).and_then(|exit| Ok(out.flush().map(|()| exit)?));
    result.unwrap_or_else(|error| {
        let exit = failed(&error);
        if json && !error.is::<io::Error>() {
            let command = format!("plane {}", matches.subcommand_name().unwrap_or_default());
            let hint = error.downcast_ref::<Refusal>().map(|refusal| &*refusal.hint);
            let (command, reason) = (&*command, &*error.to_string());
            let failure = Failure { finished: false, command, exit_code: exit as u8, reason, hint };
            // Standard error already says the same.
            let _ = json_line("trinim.failure/1", &failure, &mut out).and_then(|()| out.flush());
        }
        exit
    })
}

/// Prints an error on standard error and returns its exit code. A reader that has closed standard
/// output is not an error.
fn failed(error: &anyhow::Error) -> Exit {
    match (error.downcast_ref::<io::Error>(), error.downcast_ref::<Refusal>()) {
        (Some(cause), _) if cause.kind() == ErrorKind::BrokenPipe => return Exit::Done,
        (Some(cause), _) => note(&format!("error: standard output: {cause}")),
        (None, Some(Refusal { reason, hint })) => {
            note(&format!("error: {reason}"));
            note(&format!("hint: {hint}"));
            return Exit::Usage;
        }
        (None, None) => note(&format!("error: {error}")),
    }
    Exit::System
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_well_formed() {
        Cli::command().debug_assert();
    }
}
