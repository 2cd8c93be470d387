//! How a command ends: the last lines that it prints, and the JSON of a failure.

use crate::exit::{Exit, reason};
use crate::output::{Out, note};
use crate::watch;
use clap::ArgMatches;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Write;

/// Returns a text with paths below the current folder made relative; the libraries report them in
/// full.
fn from_here(text: &str) -> String {
    let here = std::env::current_dir().map(|here| format!("{}/", here.display())).unwrap_or_default();
    if here.len() < 2 {
        return text.to_owned();
    }
    let mut parts = text.split(&here);
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // In the middle of a path, the folder's name belongs to another path.
        let begins = shown.is_empty() || shown.ends_with([' ', '\'', '"', '(', '=']);
        shown += if begins { "" } else { &here };
        shown += part;
    }
    shown
}

/// What any command with `--json` prints on one line if it fails or is stopped before its report.
/// Standard error says the same in words. Arguments that cannot be parsed (exit code 2) leave
/// standard output empty.
#[derive(Serialize, JsonSchema)]
pub struct Failure<'a> {
    /// False: there is no report.
    pub finished: bool,
    /// The command, like `solve` or `task list`.
    pub command: &'a str,
    /// The exit code, see the README.
    pub exit_code: u8,
    /// What went wrong, as on standard error.
    pub reason: &'a str,
    /// What to do next; null if there is no advice.
    pub hint: Option<&'a str>,
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

/// How a command ends: its exit code and its last lines.
#[derive(Default)]
pub struct Ending {
    /// The exit code.
    pub exit: Exit,
    /// Why it ended; empty if it succeeded.
    pub reason: String,
    /// The hint; can be empty.
    pub hint: String,
}

impl Ending {
    /// The end by an error, with its exit code and hint.
    pub fn failed(error: &anyhow::Error, exit: Exit, hint: &str) -> Ending {
        Ending { exit, reason: from_here(&reason(error)), hint: from_here(hint) }
    }

    /// Prints reason and hint, unless the last event has both.
    pub fn print(&self, out: &Out) {
        let Ending { exit, reason, hint } = self;
        if watch::is_json() || *exit == Exit::Done {
            return;
        }
        match exit.is_stop() {
            true => note(reason),
            false => note(format_args!("{} {reason}", out.error_paint.bad("error:"))),
        }
        if !hint.is_empty() {
            note(format_args!("hint: {hint}"));
        }
    }

    /// Writes the failure of `command` to standard output, after any earlier output.
    pub fn write(&self, command: &str, out: &mut Out) {
        let Ending { exit, reason, hint } = self;
        let hint = Some(hint.as_str()).filter(|hint| !hint.is_empty());
        let failure = Failure { finished: false, command, exit_code: *exit as u8, reason, hint };
        let _ = out.json_line("trinim.failure/1", &failure).and_then(|()| out.flush());
    }
}
