//! What a long command reports to other programs: a stream of JSON on standard error
//! (`--progress json`), metrics in a file (`--metrics`) and over HTTP (`--metrics-listen`), and a
//! service manager.
//!
//! One command runs at a time, and everything that it reports goes through one watcher, from the
//! parsing of its arguments to its exit code.
//!
//! # Invariants
//! 1. With `--progress json`, standard error always has one object a line and nothing else: texts
//!    for people become events too.
//! 2. The stream ends with `finished`, `stopped` or `failed`, and so does the file of metrics.
//! 3. A missing or sleeping reader never stops the work: a failed write to any of these is ignored,
//!    and of a stream that nobody reads, lines are dropped.

#[cfg(feature = "http")]
mod endpoint;
mod metrics;

pub use metrics::{Blocks, Reading};

use crate::schema::tagged;
use crate::streams;
use metrics::Standing;
use parking_lot::Mutex;
use pipeline::Stopwatch;
use schemars::JsonSchema;
use serde::Serialize;
use std::ffi::OsStr;
use std::io;
use std::net::SocketAddr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{self, UnixDatagram};
use std::path::PathBuf;
use std::sync::OnceLock;
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
        /// Where `--metrics-listen` serves the metrics, with the port; null without it.
        metrics_url: Option<String>,
    },
    /// As often as `--progress-interval` says.
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
/// nothing else: remarks and warnings are events, too. The last event is `finished`, `stopped` or
/// `failed`, whatever happens but a kill. Only an argument that cannot be parsed is refused in
/// plain text.
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
    /// Where the metrics are served, once they are.
    url: OnceLock<String>,
    notify: Option<Notify>,
    standing: Mutex<Standing>,
}

static WATCHER: OnceLock<Watcher> = OnceLock::new();

/// Begins to watch a command; for the arguments of a command, once.
pub fn begin(command: String, json: bool, metrics: Option<PathBuf>) {
    let watcher = Watcher {
        command,
        watch: Stopwatch::start(),
        json,
        metrics,
        url: OnceLock::new(),
        notify: Notify::from_environment(),
        standing: Mutex::new(Standing { state: "running", exit_code: None, reading: Reading::default() }),
    };
    let _ = WATCHER.set(watcher);
}

/// Serves the metrics on an address until the process ends, and returns where they are and the
/// address, with its port; `None` if they are served already.
///
/// # Errors
/// Returns the system's, if the address cannot be listened on.
#[cfg(feature = "http")]
pub fn listen(address: SocketAddr) -> io::Result<Option<(String, SocketAddr)>> {
    let Some(watcher) = WATCHER.get().filter(|watcher| watcher.url.get().is_none()) else { return Ok(None) };
    let address = endpoint::begin(address, move || watcher.text())?;
    let url = endpoint::url(address);
    let _ = watcher.url.set(url.clone());
    Ok(Some((url, address)))
}

/// Refuses: the packages that serve are not part of this program.
///
/// # Errors
/// Always returns one.
#[cfg(not(feature = "http"))]
pub fn listen(_: SocketAddr) -> io::Result<Option<(String, SocketAddr)>> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this program was built without the feature serve"))
}

/// Whether standard error is a stream of JSON.
pub fn is_json() -> bool {
    WATCHER.get().is_some_and(|watcher| watcher.json)
}

/// Writes a text for people as an event; `false` if standard error is for people.
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

/// Reports that the work begins.
pub fn started() {
    watched(|watcher| {
        let metrics_url = watcher.url.get().cloned();
        watcher.write(Event::Started { version: env!("CARGO_PKG_VERSION"), pid: std::process::id(), metrics_url });
        watcher.notify("READY=1\nSTATUS=started");
        watcher.record();
    });
}

/// Returns how often [`watching`] wants to be called, if at all.
pub fn interval() -> Option<Duration> {
    let watcher = WATCHER.get()?;
    let keepalive = watcher.notify.as_ref().and_then(Notify::keepalive);
    let metrics = watcher.metrics.as_ref().map(|_| METRICS_INTERVAL);
    keepalive.into_iter().chain(metrics).min()
}

/// Time between two writes of the metrics.
const METRICS_INTERVAL: Duration = Duration::from_secs(5);

/// Reports to the file of metrics and the service manager that the command is alive.
pub fn watching(reading: &Reading) {
    store(reading);
    watched(|watcher| {
        watcher.notify(&format!("WATCHDOG=1\nSTATUS={:.1} % {}", reading.share * 100.0, reading.line));
        watcher.record();
    });
}

/// Stores a reading for the next scrape.
pub fn store(reading: &Reading) {
    watched(|watcher| watcher.standing.lock().reading.clone_from(reading));
}

/// Writes how far the work is.
pub fn progress(reading: &Reading) {
    watched(|watcher| watcher.write(Event::Progress(reading)));
}

/// Writes that blocks became durable.
pub fn commit(blocks: u64, committed_blocks: u64) {
    watched(|watcher| watcher.write(Event::Commit { blocks, committed_blocks }));
}

/// Reports that a stop was requested.
pub fn stopping() {
    watched(|watcher| watcher.notify("STOPPING=1\nSTATUS=stopping at the next safe point"));
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
    watcher.notify(&format!("STOPPING=1\nSTATUS={state}, exit code {exit_code}"));
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

    fn notify(&self, state: &str) {
        if let Some(notify) = &self.notify {
            notify.send(state);
        }
    }

    /// The metrics as they are now.
    fn text(&self) -> String {
        let elapsed_s = self.watch.elapsed().as_secs_f64();
        // Writing into memory never fails.
        self.standing.lock().text(&self.command, elapsed_s).unwrap_or_default()
    }

    fn record(&self) {
        if let Some(path) = &self.metrics {
            let _ = metrics::replace(path, &self.text());
        }
    }
}

/// A service manager that expects notifications, as `sd_notify(3)` describes it: datagrams to the
/// socket that `NOTIFY_SOCKET` names.
struct Notify {
    socket: UnixDatagram,
    address: net::SocketAddr,
    watchdog: Option<Duration>,
}

impl Notify {
    /// Returns the service manager that started this process, if one did.
    fn from_environment() -> Option<Notify> {
        let address = socket_address(&std::env::var_os("NOTIFY_SOCKET")?)?;
        let socket = UnixDatagram::unbound().ok()?;
        // A manager that does not read must not hold up the work.
        socket.set_nonblocking(true).ok()?;
        let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
        // A watchdog may be for another process.
        let is_ours = number("WATCHDOG_PID").is_none_or(|pid| pid == u64::from(std::process::id()));
        let watchdog = number("WATCHDOG_USEC").filter(|micros| is_ours && *micros > 0).map(Duration::from_micros);
        Some(Notify { socket, address, watchdog })
    }

    /// Returns the time between two messages: half of what a watchdog waits, and two seconds
    /// without one.
    fn keepalive(&self) -> Option<Duration> {
        Some(self.watchdog.map_or(Duration::from_secs(2), |limit| limit / 2).min(Duration::from_secs(2)))
    }

    /// Sends a message; lines are assignments. A failure is ignored.
    fn send(&self, state: &str) {
        let _ = self.socket.send_to_addr(state.as_bytes(), &self.address);
    }
}

/// A path, or after `@` a name that is in no folder.
fn socket_address(name: &OsStr) -> Option<net::SocketAddr> {
    match name.as_bytes() {
        [b'@', name @ ..] => net::SocketAddr::from_abstract_name(name).ok(),
        [b'/', ..] => net::SocketAddr::from_pathname(name).ok(),
        _ => None,
    }
}

/// Returns the time, as `2026-11-23T02:50:30Z`.
pub fn utc_now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}
