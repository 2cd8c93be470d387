//! Exit codes, the hint for each error, and the JSON of a failure.

use crate::cli::face::output::{Out, note};
use crate::cli::face::owner::InUse;
use crate::cli::face::refusal::{command_line, command_line_without};
use crate::cli::face::watch;
use clap::ArgMatches;
use pipeline::Error as RunError;
use pipeline::checkpoint::{LOGS, METADATA, PUBLISHED};
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;
use trinim::amount::binary_up;
use trinim::care::Error as UpkeepError;
use trinim::database::{DatabaseError, LAST_READER};
use trinim::game::BoardError;
use trinim::layout::LayoutError;
use trinim::layout::search::SearchError;
use trinim::plan::PlanError;
use trinim::verify;

/// How the program ends. The table is in `--help` and in `src/care/README.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    #[default]
    Done = 0,
    /// A check found something wrong in undamaged files: `verify` or the audit of a solve a value,
    /// `evolve verify` a formula, `bench` an answer, or `report`, `layout --paper`, `plane` and
    /// `evolve claims` a published value or claim.
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

    /// Returns the exit code of a verification: damage takes precedence, because it explains wrong
    /// values.
    pub fn of_verify(report: &verify::Report) -> Exit {
        match (report.is_clean(), report.damaged) {
            (true, _) => Exit::Done,
            (false, true) => Exit::Corrupt,
            (false, false) => Exit::Refuted,
        }
    }
}

/// Table of exit codes for `--help`; its lines fit 80 columns, so that none is broken elsewhere.
pub const TABLE: &str = "Exit codes:
    0  success
    1  a check found something wrong in undamaged files: verify or the audit of
       a solve a value, evolve verify a formula, bench an answer; report,
       layout --paper, plane and evolve claims a published value or claim that
       does not hold
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

/// A command that cannot be carried out as given.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    exit: Exit,
    message: String,
    hint: String,
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

/// A wrong answer of a measured solve.
#[derive(Debug, thiserror::Error)]
#[error("wrong answer of {command}: {what}")]
pub struct WrongAnswer {
    /// What was run.
    pub command: String,
    /// What is wrong with the answer.
    pub what: String,
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

/// Returns the exit code of an error and a hint, which may be empty; `None` if the reader of
/// standard output has closed it, which is not an error. Only the hint for a command that
/// `continues` from a checkpoint speaks of one.
pub fn classify(error: &anyhow::Error, continues: bool) -> Option<(Exit, String)> {
    if let Some(error) = error.downcast_ref::<io::Error>() {
        let gone = error.kind() == io::ErrorKind::BrokenPipe;
        return (!gone).then(|| (Exit::System, "standard output could not be written".to_owned()));
    }
    if let Some(refused) = error.downcast_ref::<Refused>() {
        return Some((refused.exit, refused.hint.clone()));
    }
    if error.is::<WrongAnswer>() {
        return Some((Exit::Refuted, "this is a bug in trinim: please report it with the command".to_owned()));
    }
    if let Some(Stopped { exit, hint }) = error.downcast_ref() {
        return Some((*exit, (*hint).to_owned()));
    }
    if let Some(InUse { folder, .. }) = error.downcast_ref() {
        let shown = folder.display();
        return Some((
            Exit::InUse,
            format!("trinim status {shown} shows how far it is; wait, or choose another --out"),
        ));
    }
    let known = error.downcast_ref::<RunError>().map(|error| of_run(error, continues));
    let known = known.or_else(|| error.downcast_ref::<UpkeepError>().map(|error| of_care(error, continues)));
    let known = known.or_else(|| error.downcast_ref::<DatabaseError>().map(of_database));
    let known = known.or_else(|| error.downcast_ref::<PlanError>().map(of_plan));
    let known = known.or_else(|| {
        let usage = error.is::<LayoutError>() || error.is::<SearchError>() || error.is::<BoardError>();
        usage.then_some((
            Exit::Usage,
            "rows and columns count from 0; trinim layout --layers K shows a layout that works".into(),
        ))
    });
    Some(known.map_or((Exit::System, String::new()), |(exit, hint)| (exit, hint.into_owned())))
}

/// Formats an error with its causes, on one line.
pub fn reason(error: &anyhow::Error) -> String {
    let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
    chain.join(": ")
}

/// Returns a text with paths below the current folder as they are named from here: the libraries
/// tell them in full.
fn from_here(text: &str) -> String {
    let here = std::env::current_dir().map(|here| format!("{}/", here.display())).unwrap_or_default();
    if here.len() < 2 {
        return text.to_owned();
    }
    let mut parts = text.split(&here);
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // Where no path begins, the name of the folder is a part of another one.
        let begins = shown.is_empty() || shown.ends_with([' ', '\'', '"', '(', '=']);
        shown += if begins { "" } else { &here };
        shown += part;
    }
    shown
}

/// Returns the hint for damaged files: the commands for the folder of the damaged file.
fn mend(path: &Path) -> Cow<'static, str> {
    let folder = path.parent().unwrap_or(path);
    let is_inner =
        folder.file_name().is_some_and(|name| [METADATA, LOGS, PUBLISHED].iter().any(|inner| name == *inner));
    let run = if is_inner { folder.parent().unwrap_or(folder) } else { folder }.display();
    format!("trinim check {run} lists all damage, trinim repair {run} restores the files").into()
}

fn of_care(error: &UpkeepError, continues: bool) -> (Exit, Cow<'static, str>) {
    match error {
        UpkeepError::Run(error) => of_run(error, continues),
        UpkeepError::Database(error) => of_database(error),
        UpkeepError::Nothing { .. } => {
            (Exit::Usage, "name the folder of a solve, or for check and repair a db folder".into())
        }
        UpkeepError::Foreign { .. } => (Exit::OtherRun, "use the version of trinim that wrote this folder".into()),
        UpkeepError::Irreparable { .. } => (
            Exit::Corrupt,
            "nothing was changed; keep the folder for inspection, or solve again with another --out".into(),
        ),
        _ => (Exit::System, "check that the folder can be read".into()),
    }
}

/// What the system refuses, with the hint for commands that start over when they are run again, and
/// for those that continue from a checkpoint.
type Refusal = (fn(&RunError) -> bool, [&'static str; 2]);

/// The first that fits counts.
const REFUSALS: [Refusal; 5] = [
    (
        |error| matches!(error, RunError::OutOfMemory { .. }),
        [MEMORY, "free memory on this machine, or use fewer --threads or smaller blocks with --block-bits"],
    ),
    (
        RunError::is_too_many_files,
        [
            "allow more open files (ulimit -n), then run the same command again",
            "allow more open files (ulimit -n) or use fewer --threads, then run the same command again to continue from \
             the last checkpoint",
        ],
    ),
    (
        RunError::is_full_disk,
        [
            "make room on this disk, or choose another, and run the same command again",
            "make room on this disk, or raise --max-disk, and run the same command again to continue from the last \
             checkpoint",
        ],
    ),
    (
        |error| matches!(error, RunError::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied),
        ["name another place, or change the permissions of this one"; 2],
    ),
    (
        |_| true,
        [
            "remove the cause and run the same command again",
            "remove the cause and run the same command again to continue from the last checkpoint, if there is one",
        ],
    ),
];

/// The hint if the system refuses memory to a command that only reads.
const MEMORY: &str = "free memory on this machine, or use fewer --threads";

/// The hint for a memory budget that is too small: smaller blocks help where these are not small.
fn more_memory(needed_bytes: u64, block_bytes: u64) -> Cow<'static, str> {
    let smaller = if block_bytes >= SMALL_BLOCK_BYTES { ", or smaller blocks with --block-bits" } else { "" };
    format!("give at least --memory {}{smaller}", binary_up(needed_bytes).to_string().replace(' ', "")).into()
}

/// A bitmap of this size is small beside the program itself.
const SMALL_BLOCK_BYTES: u64 = 1 << 20;

fn of_run(error: &RunError, continues: bool) -> (Exit, Cow<'static, str>) {
    match error {
        RunError::Corrupt { path, .. } => (Exit::Corrupt, mend(path)),
        RunError::Locked { .. } => (Exit::InUse, "wait for the other process, or choose another --out".into()),
        RunError::Parameters { .. } => {
            (Exit::OtherRun, "repeat the parameters this folder was begun with, or choose another --out".into())
        }
        RunError::Version { .. } => {
            (Exit::OtherRun, "use the version of trinim that wrote this folder, or choose another --out".into())
        }
        RunError::NotEmpty { .. } | RunError::NotARun { .. } => (
            Exit::Usage,
            "choose another --out: an empty folder, one that does not exist, or one of an earlier solve".into(),
        ),
        RunError::Memory { needed_bytes, .. } => (Exit::System, more_memory(*needed_bytes, SMALL_BLOCK_BYTES)),
        RunError::OpenFiles { needed, .. } => (
            Exit::System,
            format!("allow more open files, with ulimit -n {needed} or in the hard limit; nothing was written").into(),
        ),
        RunError::Limit { what: "length of the journal", .. } => {
            (Exit::System, "run the same command again: it continues with a new journal".into())
        }
        RunError::Limit { .. } => (Exit::Usage, "choose larger blocks with --block-bits".into()),
        RunError::Audit { .. } => (
            Exit::Refuted,
            "a bug in trinim, or a fault of this machine: the blocks saved so far are not to be trusted; solve again \
             with another --out, and report it with this message if it returns"
                .into(),
        ),
        RunError::Workload { .. } => {
            (Exit::Corrupt, "the folder contradicts itself; solve again with another --out".into())
        }
        error => {
            let hint =
                REFUSALS.iter().find(|(fits, _)| fits(error)).map_or("", |(_, hints)| hints[usize::from(continues)]);
            (Exit::System, hint.into())
        }
    }
}

fn of_database(error: &DatabaseError) -> (Exit, Cow<'static, str>) {
    match error {
        DatabaseError::Missing { .. } => {
            (Exit::Usage, "trinim solve --layers K --out DIR makes a database, or continues one".into())
        }
        DatabaseError::NotKept { .. } => {
            (Exit::Usage, "trinim solve --keep database --out DIR solves again and keeps every value".into())
        }
        DatabaseError::NotATriangle { path, .. } => {
            (Exit::Usage, format!("trinim stats {} shows its counts", path.display()).into())
        }
        DatabaseError::Version { .. } => (Exit::OtherRun, "use the version of trinim that wrote this database".into()),
        DatabaseError::Unreleased { .. } => (
            Exit::OtherRun,
            format!("build trinim from commit {LAST_READER}, or solve again with another --out").into(),
        ),
        DatabaseError::OutOfMemory { .. } => (Exit::System, MEMORY.into()),
        DatabaseError::Corrupt { path, .. } => (Exit::Corrupt, mend(path)),
        _ => (Exit::System, "check that the folder can be read".into()),
    }
}

fn of_plan(error: &PlanError) -> (Exit, Cow<'static, str>) {
    match error {
        PlanError::Memory { needed_bytes, block_bytes, .. } => {
            (Exit::System, more_memory(*needed_bytes, *block_bytes))
        }
        PlanError::Board { .. } => {
            (Exit::System, "give more --memory, or a strategy in blocks: block-pull, update-log".into())
        }
        PlanError::Disk { .. } => (
            Exit::System,
            "make room, choose --out on a larger disk, or compare --keep and --log-placement with trinim plan; nothing \
             was written"
                .into(),
        ),
        _ => (Exit::Usage, "choose larger blocks with --block-bits or fewer --bid-cells".into()),
    }
}

/// What any command with `--json` prints on one line if it fails or is stopped before its report.
/// Standard error says the same in words. Arguments that cannot be parsed (exit code 2) leave
/// standard output empty.
#[derive(Serialize, JsonSchema)]
pub struct Failure<'a> {
    /// False: there is no report.
    finished: bool,
    /// The command, like `solve` or `plane at`.
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

/// What is told at the end of a command.
#[derive(Default)]
pub struct Told {
    /// How it ends.
    pub exit: Exit,
    /// Why; empty if it is done.
    pub reason: String,
    /// What to do next; empty if there is no advice.
    pub hint: String,
}

impl Told {
    /// Tells an error; one that is none ends with [`Exit::Done`].
    pub fn of(error: &anyhow::Error, continues: bool) -> Told {
        let told = classify(error, continues).map(|(exit, hint)| Told {
            exit,
            reason: from_here(&reason(error)),
            hint: from_here(&hint),
        });
        told.unwrap_or_default()
    }

    /// Prints reason and hint, unless the last event has both.
    pub fn print(&self, out: &Out) {
        let Told { exit, reason, hint } = self;
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

    /// Writes the failure of `command` to standard output, after whatever it had written.
    pub fn write(&self, command: &str, out: &mut Out) {
        let Told { exit, reason, hint } = self;
        let hint = Some(hint.as_str()).filter(|hint| !hint.is_empty());
        let failure = Failure { finished: false, command, exit_code: *exit as u8, reason, hint };
        let _ = out.json_line("trinim.failure/1", &failure).and_then(|()| out.flush());
    }
}
