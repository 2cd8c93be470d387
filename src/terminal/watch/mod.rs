//! Reports of a long command to other programs: a stream of JSON on standard error
//! (`--progress json`) and metrics in a file (`--metrics`).
//!
//! One command runs at a time, and one watcher makes all its reports, from the parsing of its
//! arguments to its exit code.
//!
//! # Invariants
//! 1. With `--progress json`, standard error always has only objects, one a line: texts for people
//!    become events too.
//! 2. The stream ends with `finished`, `stopped` or `failed`, and so does the file of metrics.
//! 3. A missing or sleeping reader never stops the work: failed writes are ignored, and lines of a
//!    stream without a reader are dropped.

mod metrics;

pub use metrics::{Blocks, Reading, check as check_metrics};

use crate::schema::tagged;
use crate::streams;
use metrics::Standing;
use parking_lot::Mutex;
use pipeline::Stopwatch;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

/// Schema of an event.
const SCHEMA: &str = "trinim.progress/1";

/// What happened.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event<'a> {
    /// The first event, unless the command is refused before its work.
    Started {
        /// Version of the program.
        version: &'a str,
        /// Number of the process.
        pid: u32,
    },
    /// Sent every `--progress-interval`.
    Progress(&'a Reading),
    /// Blocks became durable.
    Commit {
        /// Canonical blocks of the solve.
        blocks: u64,
        /// Finished blocks that a kill cannot undo.
        committed_blocks: u64,
    },
    /// A text for people.
    Note {
        /// The text.
        message: &'a str,
    },
    /// The last event: done.
    Finished(End<'a>),
    /// The last event: a signal or a limit ended the command.
    Stopped(End<'a>),
    /// The last event: an error.
    Failed(End<'a>),
}

/// How the command ended.
#[derive(Serialize, JsonSchema)]
struct End<'a> {
    /// The exit code, see the README.
    exit_code: u8,
    /// Why; null if it finished.
    reason: Option<&'a str>,
    /// What to do next; null if there is no advice.
    hint: Option<&'a str>,
}

/// An event of a long command with `--progress json`, on a line of standard error, which then has
/// nothing else: remarks and warnings are events, too. Unless the process is killed, the last event
/// is `finished`, `stopped` or `failed`. Only arguments that cannot be parsed are refused in plain
/// text.
#[derive(Serialize, JsonSchema)]
pub struct Line<'a> {
    /// When, in seconds since 1970-01-01 UTC.
    time_s: f64,
    /// Time since the command began.
    elapsed_s: f64,
    /// The command, like `solve` or `task init`.
    command: &'a str,
    #[serde(flatten)]
    event: Event<'a>,
}

/// The watcher of the command of this process.
struct Watcher {
    command: String,
    watch: Stopwatch,
    json: bool,
    /// The file of metrics.
    metrics: Option<PathBuf>,
    standing: Mutex<Standing>,
}

static WATCHER: OnceLock<Watcher> = OnceLock::new();

/// Begins to watch a command, once for its arguments.
pub fn begin(command: String, json: bool, metrics: Option<PathBuf>) {
    let watcher = Watcher {
        command,
        watch: Stopwatch::start(),
        json,
        metrics,
        standing: Mutex::new(Standing { state: "running", exit_code: None, reading: Reading::default() }),
    };
    let _ = WATCHER.set(watcher);
}

/// Whether standard error is a stream of JSON.
pub fn is_json() -> bool {
    WATCHER.get().is_some_and(|watcher| watcher.json)
}

/// Writes a text for people as an event; returns `false` if standard error is for people.
pub fn note(message: impl FnOnce() -> String) -> bool {
    match WATCHER.get().filter(|watcher| watcher.json) {
        Some(watcher) => {
            watcher.write(Event::Note { message: &message() });
            true
        }
        None => false,
    }
}

fn watched(act: impl FnOnce(&Watcher)) {
    if let Some(watcher) = WATCHER.get() {
        act(watcher);
    }
}

/// Reports that the work begins, once.
pub fn started() {
    static STARTED: AtomicBool = AtomicBool::new(false);
    if STARTED.swap(true, Ordering::Relaxed) {
        return;
    }
    watched(|watcher| {
        watcher.write(Event::Started { version: env!("CARGO_PKG_VERSION"), pid: std::process::id() });
        watcher.record();
    });
}

/// Time between two writes of the metrics.
pub const METRICS_INTERVAL: Duration = Duration::from_secs(5);

/// Writes a reading to the file of metrics.
pub fn record(reading: &Reading) {
    watched(|watcher| {
        watcher.standing.lock().reading.clone_from(reading);
        watcher.record();
    });
}

/// Writes the progress of the work.
pub fn progress(reading: &Reading) {
    watched(|watcher| watcher.write(Event::Progress(reading)));
}

/// Writes that blocks became durable.
pub fn commit(blocks: u64, committed_blocks: u64) {
    watched(|watcher| watcher.write(Event::Commit { blocks, committed_blocks }));
}

/// Writes how the command ended; the texts may be empty.
pub fn ended(exit_code: u8, is_stop: bool, reason: &str, hint: &str) {
    let Some(watcher) = WATCHER.get() else { return };
    let reason = Some(reason).filter(|text| !text.is_empty());
    let end = End { exit_code, reason, hint: Some(hint).filter(|text| !text.is_empty()) };
    let (state, event) = match reason {
        _ if is_stop => ("stopped", Event::Stopped(end)),
        Some(_) => ("failed", Event::Failed(end)),
        None => ("finished", Event::Finished(end)),
    };
    watcher.write(event);
    {
        let mut standing = watcher.standing.lock();
        assert!(standing.exit_code.is_none(), "watch, invariant 2: a command ends once");
        (standing.state, standing.exit_code) = (state, Some(exit_code));
    }
    watcher.record();
}

impl Watcher {
    fn write(&self, event: Event<'_>) {
        if !self.json {
            return;
        }
        let has_ended = self.standing.lock().exit_code.is_some();
        debug_assert!(!has_ended, "watch, invariant 2: nothing follows the last event");
        let (time_s, elapsed_s) = (metrics::now_s(), self.watch.elapsed().as_secs_f64());
        let line = Line { time_s, elapsed_s, command: &self.command, event };
        if let Ok(mut text) = tagged(SCHEMA, &line) {
            text.push('\n');
            streams::error(text);
        }
    }

    fn record(&self) {
        let Some(path) = &self.metrics else { return };
        // Writing into memory never fails.
        let text = self.standing.lock().text(&self.command, self.watch.elapsed().as_secs_f64()).unwrap_or_default();
        let _ = metrics::replace(path, &text);
    }
}

/// Returns the time, as `2026-11-23T02:50:30Z`.
pub fn utc_now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}
