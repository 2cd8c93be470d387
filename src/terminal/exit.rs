//! Exit codes, and the errors that carry their own.

use crate::refusal::{command_line, command_line_without};

/// How the program ends. The table is in the manual pages and in `src/care/README.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    #[default]
    Done = 0,
    /// A check found something wrong in undamaged files: `verify` or the audit of a solve a value,
    /// `papers bench` an answer, or `papers report` and `papers layout --paper` a published value.
    Refuted = 1,
    /// Usage error: a bad argument, position or folder.
    Usage = 2,
    /// Files are damaged, or a finished run lacks its list of files.
    Corrupt = 3,
    /// Input or output failed, or disk or memory ran out.
    System = 4,
    /// Stopped by `--max-duration` or SIGXCPU after a checkpoint.
    TimeUp = 5,
    /// Another process works in the folder.
    InUse = 6,
    /// The folder is of another version or was started with other parameters.
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
    1  a check found an error in undamaged files: a wrong value (verify, audit of
       a solve), a wrong answer (papers bench), or a published value that does
       not hold (papers report, papers layout --paper)
    2  usage error: a bad argument, position or folder
    3  files are damaged, or a finished run lacks its list of files
    4  input or output failed, or disk or memory ran out
    5  stopped by --max-duration or SIGXCPU after a checkpoint; run the same
       command to continue
    6  another process uses the folder; the message says which
    7  the folder is from another version or was started with other parameters
   65  task: the store is from another run or version, damaged, or access is
       denied; nothing was overwritten
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
#[error("stopped {}", if .exit == &Exit::TimeUp { "at the time limit" } else { "by a signal" })]
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
