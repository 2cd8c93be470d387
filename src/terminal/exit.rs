//! Exit codes, and the errors that carry their own.

use crate::refusal::{command_line, command_line_without};

/// Defines the exit codes with their meanings, which the manual pages list. The table is in
/// `src/maintenance/README.md`, too.
macro_rules! exits {
    ($($(#[$default:meta])? $exit:ident = $code:literal, $meaning:literal;)*) => {
        /// How the program ends.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Exit {
            $(#[doc = $meaning] $(#[$default])? $exit = $code,)*
        }

        /// The exit codes with their meanings.
        pub const MEANINGS: &[(Exit, &str)] = &[$((Exit::$exit, $meaning)),*];
    };
}

exits! {
    #[default]
    Done = 0, "success";
    Refuted = 1, "a check found an error in undamaged files: a wrong value (verify, audit of a solve), a wrong answer \
                  (papers bench), or a published value that does not hold (papers report, papers layout --paper)";
    Usage = 2, "usage error: a bad argument, position or folder";
    Corrupt = 3, "files are damaged, or a finished run lacks its list of files";
    System = 4, "input or output failed, or disk or memory ran out";
    TimeUp = 5, "stopped by --max-duration or SIGXCPU after a checkpoint; run the same command to continue";
    InUse = 6, "another process uses the folder; the message says which";
    OtherRun = 7, "the folder is from another version or was started with other parameters";
    TaskRefused = 65, "task: the store is from another run or version, damaged, or access is denied; nothing was overwritten";
    TaskAgain = 75, "task: a source is missing, or the store failed or is full; run the same command again";
    HungUp = 129, "stopped by SIGHUP after a checkpoint; run the same command to continue";
    Interrupted = 130, "stopped by SIGINT after a checkpoint; run the same command to continue";
    Terminated = 143, "stopped by SIGTERM after a checkpoint; run the same command to continue";
}

impl Exit {
    /// Returns whether this is the code of an orderly stop.
    pub fn is_stop(self) -> bool {
        matches!(self, Exit::TimeUp | Exit::Interrupted | Exit::Terminated | Exit::HungUp)
    }
}

/// A command that cannot be carried out as given, or whose error has a hint of its own.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// The exit code.
    pub exit: Exit,
    message: String,
    /// The hint; can be empty.
    pub hint: String,
}

impl Refused {
    /// Returns an error with its hint.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Refused {
        Refused::with(Exit::Usage, message, hint)
    }

    /// Returns an error with its hint and an exit code other than [`Exit::Usage`].
    pub fn with(exit: Exit, message: impl Into<String>, hint: impl Into<String>) -> Refused {
        Refused { exit, message: message.into(), hint: hint.into() }
    }
}

/// A stop by a signal or a time limit.
#[derive(Clone, Debug, thiserror::Error)]
#[error("stopped {}", if .exit == &Exit::TimeUp { "at the time limit" } else { "by a signal" })]
pub struct Stopped {
    /// Exit code for the cause of the stop.
    pub exit: Exit,
    /// The hint.
    pub hint: String,
}

impl Stopped {
    /// A stop after a checkpoint. The hint leaves out the limit that stopped the command.
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
