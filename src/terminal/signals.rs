//! Signals, and the limits of a process. SIGINT, SIGTERM or SIGHUP ends a command with its
//! documented exit code: a short command at once, a long one after an orderly stop, or at once at
//! the second signal. SIGXCPU acts like a time limit. SIGUSR1 requests a status line.
//!
//! # Invariants
//! 1. The handlers are the first thing that main sets up. From then on no signal kills the program
//!    directly, which a supervisor would take for a crash.

use crate::exit::{Exit, Stopped};
use crate::streams;
use pipeline::Stopwatch;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXCPU, SIGXFSZ};
use signal_hook::flag;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Requests by signals so far.
#[derive(Clone, Default)]
pub struct Signals {
    /// Stop at the next opportunity.
    pub stop: Arc<AtomicBool>,
    /// Print a status line.
    pub status: Arc<AtomicBool>,
    /// Whether a signal quits at once: until a long command begins, and after its first signal.
    quits: Arc<AtomicBool>,
    /// Whether no long command is at work.
    is_short: Arc<AtomicBool>,
    first: Arc<AtomicUsize>,
    /// The clock, and the time after which it requests a stop, as a signal does.
    limit: Arc<OnceLock<(Stopwatch, Duration)>>,
}

/// The handlers of this process, or the system's reason for refusing one.
static INSTALLED: OnceLock<Result<Signals, String>> = OnceLock::new();

/// Installs the handlers and returns them, or the error that [`Signals::register`] reports. A
/// handler only sets a flag or exits, so no thread and no lock is involved.
pub fn install() -> &'static Result<Signals, String> {
    streams::check_stops_with(check);
    INSTALLED.get_or_init(|| Signals::installed().map_err(|error| error.to_string()))
}

/// Checks that neither a signal nor the time limit has requested a stop.
///
/// # Errors
/// [`Stopped`].
fn check() -> io::Result<()> {
    let Some(Ok(signals)) = INSTALLED.get() else { return Ok(()) };
    signals.look_at_clock();
    if signals.stopped() { Err(io::Error::other(Stopped::from_the_start(signals.exit()))) } else { Ok(()) }
}

impl Signals {
    fn installed() -> io::Result<Signals> {
        let yes = || Arc::new(AtomicBool::new(true));
        let signals = Signals { quits: yes(), is_short: yes(), ..Signals::default() };
        let stops = [(SIGINT, Exit::Interrupted), (SIGTERM, Exit::Terminated), (SIGHUP, Exit::HungUp)];
        for (signal, exit) in stops.into_iter().filter(|(signal, _)| !streams::is_ignored(*signal)) {
            // In this order: at the first signal of a long command, the shutdown handler must still
            // find the flag unset.
            flag::register_conditional_shutdown(signal, exit as i32, signals.quits.clone())?;
            flag::register_usize(signal, signals.first.clone(), exit as usize)?;
            flag::register(signal, signals.stop.clone())?;
            flag::register(signal, signals.quits.clone())?;
        }
        // A warning that the processor time is nearly used up. It repeats every second, so a second
        // one must not quit.
        flag::register_conditional_shutdown(SIGXCPU, Exit::TimeUp as i32, signals.is_short.clone())?;
        flag::register_usize(SIGXCPU, signals.first.clone(), Exit::TimeUp as usize)?;
        flag::register(SIGXCPU, signals.stop.clone())?;
        flag::register(SIGUSR1, signals.status.clone())?;
        // Turns a write beyond the file size limit into an error instead of a fatal signal.
        flag::register(SIGXFSZ, Arc::default())?;
        Ok(signals)
    }

    /// Begins a long command, which watches [`Signals::stop`]: from now on the first signal
    /// requests an orderly stop.
    ///
    /// # Errors
    /// Returns an error if the system refused a handler.
    pub fn register() -> anyhow::Result<Signals> {
        let signals = install().as_ref().map_err(|error| anyhow::anyhow!("cannot handle signals: {error}"))?;
        signals.hold();
        Ok(signals.clone())
    }

    /// Resumes a long command after [`Signals::release`].
    pub fn hold(&self) {
        self.quits.store(false, Ordering::Relaxed);
        self.is_short.store(false, Ordering::Relaxed);
    }

    /// Ends a long command: from now on a signal quits at once again.
    pub fn release(&self) {
        self.quits.store(true, Ordering::Relaxed);
        self.is_short.store(true, Ordering::Relaxed);
    }

    /// Returns whether a stop was requested.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Adds a stop after a time limit, which begins now, once for a process.
    #[must_use]
    pub fn with_limit(self, limit: Option<Duration>) -> Signals {
        if let Some(limit) = limit {
            self.limit.get_or_init(|| (Stopwatch::start(), limit));
        }
        self
    }

    /// Returns the time until [`Signals::look_at_clock`] must be called; `Duration::MAX` without a
    /// limit or once a stop was requested.
    pub fn time_left(&self) -> Duration {
        let limit = self.limit.get().filter(|_| !self.stopped());
        limit.map_or(Duration::MAX, |(clock, limit)| limit.saturating_sub(clock.elapsed()))
    }

    /// Requests a stop if the time is up and none was requested before.
    pub fn look_at_clock(&self) {
        if self.time_left() == Duration::ZERO {
            let time_up = Exit::TimeUp as usize;
            // A signal that arrives first wins.
            let _ = self.first.compare_exchange(0, time_up, Ordering::Relaxed, Ordering::Relaxed);
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the exit code for the cause of the stop.
    pub fn exit(&self) -> Exit {
        let first = self.first.load(Ordering::Relaxed);
        [Exit::Terminated, Exit::HungUp, Exit::TimeUp]
            .into_iter()
            .find(|exit| *exit as usize == first)
            .unwrap_or(Exit::Interrupted)
    }
}

/// Raises the limit of open files as far as the system allows: a session with many blocks keeps up
/// to about three thousand open, and the usual limit is 1,024.
pub fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    // A refused call leaves zeros. If this fails, a run that needs more files ends with an error
    // about it.
    if limit.maximum != Some(0) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    }
}
