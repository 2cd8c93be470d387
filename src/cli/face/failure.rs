//! The JSON that a command with `--json` writes if it fails or is stopped.

use crate::cli::face::exit::{self, Exit};
use crate::cli::face::output::Out;
use clap::ArgMatches;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};

/// What any command with `--json` prints on one line if it fails or is stopped before its report.
/// Standard error says the same in words. Arguments that cannot be parsed (exit code 2) leave
/// standard output empty.
#[derive(Serialize, JsonSchema)]
pub struct Failure<'a> {
    /// False.
    finished: bool,
    /// The command, like `solve` or `plane at`.
    command: &'a str,
    /// The exit code, see the README.
    exit_code: u8,
    /// What went wrong, as on standard error.
    reason: String,
    /// What to do next.
    hint: Option<String>,
}

/// Returns the command of these arguments, with its subcommands, if it has `--json`.
pub fn json_command(matches: &ArgMatches) -> Option<String> {
    let (command, at) = innermost(matches);
    let has_json = at.try_get_one::<bool>("json").ok().flatten() == Some(&true);
    has_json.then_some(command)
}

/// Returns the command of these arguments, with its subcommands, and its own arguments.
pub fn innermost(matches: &ArgMatches) -> (String, &ArgMatches) {
    let (mut path, mut at) = (Vec::new(), matches);
    while let Some((name, inner)) = at.subcommand() {
        path.push(name);
        at = inner;
    }
    (path.join(" "), at)
}

/// Writes the failure of `command` to standard output, after whatever it had written.
pub fn write(command: &str, exit: Exit, error: &anyhow::Error, out: &mut Out) {
    // Nobody reads on, or nothing can be written: standard error has said so.
    if error.is::<io::Error>() {
        return;
    }
    let reason = exit::reason(error);
    let hint = exit::classify(error).map(|(_, hint)| hint).filter(|hint| !hint.is_empty());
    let failure = Failure { finished: false, command, exit_code: exit as u8, reason, hint };
    let _ = out.json_line("trinim.failure/1", &failure).and_then(|()| out.flush());
}
