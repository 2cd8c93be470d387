//! `trinim-evolve`: formulas that distinguish wins from losses of Nim-like games, evolved, checked
//! and proved.
//!
//! Data goes to standard output, everything else to standard error.
//!
//! # Invariants
//! 1. No argument or signal makes the program panic, nor does a closed or full output.
#![forbid(unsafe_code)]

mod commands;

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser};
use commands::{Command, Refusal, SETTINGS, USAGE};
use std::fmt::Display;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use terminal::ending::Failure;
use terminal::help;
use terminal::refusal::by_variable;
use terminal::schema::tagged;
use terminal::streams::{self, PatientWriter};

const EXAMPLES: &str = "\
Examples:
  trinim-evolve run --game nim:4,4,4,4 --preset best --runs 10
  trinim-evolve run --game subtraction:1,2,3:40 --terminals 1
  trinim-evolve score --game nim:2,1 --formula \"a1-a2*a1\" --tree
  trinim-evolve verify --game nim:4,4,4,4 --formula \"(a1^a2^a3)-a4\" --max 15
  trinim-evolve experiment 1 --csv > points.csv
  trinim-evolve claims
  trinim-evolve export --game nim:4,4,4,4 --formula \"a1^a2^a3^a4\" --as python

Exit codes: 0 success; 1 a formula is wrong or a claim does not hold; 2 usage; 4 output failed; 130 stopped by Ctrl-C \
(143 by SIGTERM), with what was found until then.";

/// Find formulas that tell wins from losses of Nim-like games, check them and prove them
#[derive(Parser)]
#[command(name = "trinim-evolve", version, max_term_width = 100, after_help = EXAMPLES)]
struct Cli {
    /// Print the report as JSON
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    command: Command,
}

/// Exit code for failed output.
const SYSTEM: u8 = 4;

/// Removed flags of `trinim evolve`, and their replacements.
const GONE: [(&str, &str); 6] = [
    ("--svg", "use experiment --csv for a plot, score --dot | dot -Tsvg for the tree"),
    ("--progress", "progress is shown only on a terminal: omit it"),
    ("--progress-interval", "progress is shown only on a terminal: omit it"),
    ("--metrics", "there are no metrics: omit it"),
    ("--quiet", "redirect standard error: 2> /dev/null"),
    ("--color", "there are no colours: omit it"),
];

fn main() -> ExitCode {
    let code = carry_out();
    streams::finish();
    ExitCode::from(code)
}

/// Carries the command out and returns its exit code.
fn carry_out() -> u8 {
    let parsed = help::without_empty_variables(Cli::command()).try_get_matches();
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return usage(error),
    };
    let (name, json) = (cli.command.name(), cli.json);
    let mut out = BufWriter::new(PatientWriter::stdout());
    let done = cli.command.run(json, &mut out).and_then(|code| Ok(out.flush().map(|()| code)?));
    let error = match done {
        Ok(code) => return code,
        Err(error) => error,
    };
    let Some(Refusal { message, hint, exit }) = error.downcast_ref() else {
        return failed(error.downcast_ref().map_or(io::ErrorKind::Other, io::Error::kind), &error);
    };
    // A formula is shown below the error in it; an argument begins no line of its own.
    let label = if *exit == USAGE { "error: " } else { "" };
    for (number, part) in message.split("\n  ").enumerate() {
        streams::line(format_args!("{}{part}", [label, "  "][number.min(1)]));
    }
    let hint = Some(&**hint).filter(|hint| !hint.is_empty());
    if let Some(hint) = hint {
        streams::line(format_args!("hint: {hint}"));
    }
    if json {
        let failure = Failure { finished: false, command: name, exit_code: *exit, reason: message, hint };
        let line = tagged("trinim.failure/1", &failure).unwrap_or_default();
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }
    *exit
}

/// Returns the exit code for failed output; a closed pipe has no reader any more.
fn failed(kind: io::ErrorKind, error: impl Display) -> u8 {
    if kind == io::ErrorKind::BrokenPipe {
        return 0;
    }
    streams::line(format_args!("error: {error}"));
    SYSTEM
}

/// Shows the help, or why the arguments are refused, and returns the exit code.
fn usage(error: Error) -> u8 {
    if let (ErrorKind::UnknownArgument, Some(ContextValue::String(flag))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    {
        let gone = GONE.iter().find(|(gone, _)| gone == flag).map(|(_, advice)| (*advice).to_owned());
        let setting = SETTINGS.iter().find(|(name, _)| flag.strip_prefix("--") == Some(name));
        if let Some(advice) = gone.or_else(|| setting.map(|(name, _)| format!("use --set {name}=VALUE"))) {
            streams::line(format_args!("error: unknown option {flag}: {advice}"));
            return USAGE;
        }
    }
    if error.use_stderr() {
        // The error names arguments.
        let parsed = help::without_empty_variables(Cli::command()).try_get_matches_from(streams::shown_arguments());
        let error = parsed.err().unwrap_or(error);
        let (text, words) = (error.render().to_string(), streams::shown_arguments().skip(1).collect::<Vec<_>>());
        by_variable(&text, &error, &Cli::command(), &words).lines().for_each(streams::line);
        return USAGE;
    }
    help::print(&error).map_or_else(|failure| failed(failure.kind(), &failure), |()| 0)
}
