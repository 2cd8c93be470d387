//! Exit codes, how a command ends, and the JSON of a failure.

use crate::cli::face::output::{Out, note};
use crate::cli::face::refusal::{command_line, command_line_without};
use crate::cli::face::watch;
use clap::ArgMatches;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Write;

/// How the program ends. The table is in the manual pages and in `src/care/README.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    #[default]
    Done = 0,
    /// A check found something wrong in undamaged files: `verify` or the audit of a solve a value,
    /// `bench` an answer, or `report` and `layout --paper` a published value.
    Refuted = 1,
    /// Usage error: a bad argument, position or folder.
    Usage = 2,
    /// Files are damaged, or a finished run lacks its list of files.
    Corrupt = 3,
    /// Input or output failed, or disk or memory ran out.
    System = 4,
    /// Stopped by `--max-duration` after a checkpoint.
    TimeUp = 5,
    /// Another process works in the folder.
    InUse = 6,
    /// The folder has another format version or was begun with other parameters.
    OtherRun = 7,
    /// A task in a store is refused: another run, another version, no permission, damage, or other
    /// bytes under a name.
    TaskRefused = 65,
    /// A task may succeed later: a source is missing, or the store failed or is full.
    TaskAgain = 75,
    /// Stopped by SIGHUP after a checkpoint.
    HungUp = 129,
    /// Stopped by SIGINT after a checkpoint.
    Interrupted = 130,
    /// Stopped by SIGTERM after a checkpoint.
    Terminated = 143,
}

impl Exit {
    /// Whether it is the code of an orderly stop.
    pub fn is_stop(self) -> bool {
        matches!(self, Exit::TimeUp | Exit::Interrupted | Exit::Terminated | Exit::HungUp)
    }
}

/// The exit codes with their meaning, for the manual pages.
pub const TABLE: &str = "Exit codes:
    0  success
    1  a check found something wrong in undamaged files: verify or the audit of
       a solve a value, bench an answer; report or layout --paper a published
       value that does not hold
    2  usage error: a bad argument, position or folder
    3  files are damaged, or a finished run lacks its list of files
    4  input or output failed, or disk or memory ran out
    5  stopped by --max-duration after a checkpoint; run the same command to
       continue
    6  another process works in the folder; the message names it
    7  the folder has another format version or was begun with other parameters
   65  task: the store is of another run or version, forbidden, or damaged;
       nothing was overwritten
   75  task: a source is missing, or the store failed or is full; run the same
       command again
  129  stopped by SIGHUP after a checkpoint; run the same command to continue
  130  stopped by SIGINT after a checkpoint; run the same command to continue
  143  stopped by SIGTERM after a checkpoint; run the same command to continue";

/// A command that cannot be carried out as given, or whose error has a hint of its own.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// The exit code.
    pub exit: Exit,
    message: String,
    /// What to do next; may be empty.
    pub hint: String,
}

impl Refused {
    /// Returns an error with its hint.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Refused {
        Refused::with(Exit::Usage, message, hint)
    }

    /// Returns an error with its hint and another exit code than [`Exit::Usage`].
    pub fn with(exit: Exit, message: impl Into<String>, hint: impl Into<String>) -> Refused {
        Refused { exit, message: message.into(), hint: hint.into() }
    }
}

/// A stop by a signal, or because the time was up.
#[derive(Clone, Debug, thiserror::Error)]
#[error("stopped {}", if .exit == &Exit::TimeUp { "because the time is up" } else { "by a signal" })]
pub struct Stopped {
    /// Exit code for the cause of the stop.
    pub exit: Exit,
    /// What to do next.
    pub hint: String,
}

impl Stopped {
    /// A stop after a checkpoint. The limit that stopped the command is not a part of the advice.
    pub fn resumable(exit: Exit) -> Stopped {
        let limit = if exit == Exit::TimeUp { "--max-duration" } else { "" };
        Stopped { exit, hint: format!("resume with: {}", command_line_without(limit)) }
    }

    /// A stop of a command without checkpoints.
    pub fn from_the_start(exit: Exit) -> Stopped {
        Stopped { exit, hint: format!("start over with: {}", command_line()) }
    }
}

/// Formats an error with its causes, on one line.
pub fn reason(error: &anyhow::Error) -> String {
    let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
    chain.join(": ")
}

/// Returns a text with paths below the current folder made relative: the libraries name them in
/// full.
fn from_here(text: &str) -> String {
    let here = std::env::current_dir().map(|here| format!("{}/", here.display())).unwrap_or_default();
    if here.len() < 2 {
        return text.to_owned();
    }
    let mut parts = text.split(&here);
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // Where no path begins, the name of the folder is part of another one.
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
    finished: bool,
    /// The command, like `solve` or `task list`.
    command: &'a str,
    /// The exit code, see the README.
    exit_code: u8,
    /// What went wrong, as on standard error.
    reason: &'a str,
    /// What to do next; null if there is no advice.
    hint: Option<&'a str>,
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

/// How a command ends: its exit code, and what it says.
#[derive(Default)]
pub struct Ending {
    /// The exit code.
    pub exit: Exit,
    /// Why; empty if it is done.
    pub reason: String,
    /// What to do next; empty if there is no advice.
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
