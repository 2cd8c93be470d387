//! Signals of a long run, and the limits of a process. The first SIGINT or SIGTERM requests an
//! orderly stop, the second quits at once; SIGUSR1 requests a status line.

use super::exit::Exit;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Requests made by signals so far.
#[derive(Clone, Default)]
pub struct Signals {
    /// Stop at the next opportunity.
    pub stop: Arc<AtomicBool>,
    /// Print a status line.
    pub status: Arc<AtomicBool>,
    first: Arc<AtomicUsize>,
    /// Time after which a stop is requested, as by a signal.
    limit: Option<Duration>,
}

impl Signals {
    /// Registers the handlers. A handler only sets a flag or exits, so no thread and no lock is
    /// involved.
    ///
    /// # Errors
    /// Returns an error if the system refuses a handler.
    pub fn register() -> anyhow::Result<Signals> {
        let signals = Signals::default();
        let register = || {
            for (signal, exit) in [(SIGINT, Exit::Interrupted), (SIGTERM, Exit::Terminated)] {
                // In this order: at the first signal, the shutdown handler must still find the flag
                // unset.
                flag::register_conditional_shutdown(signal, exit as i32, signals.stop.clone())?;
                flag::register_usize(signal, signals.first.clone(), exit as usize)?;
                flag::register(signal, signals.stop.clone())?;
            }
            flag::register(SIGUSR1, signals.status.clone())
        };
        register().map_err(|error| anyhow::Error::msg(format!("signals cannot be handled: {error}")))?;
        Ok(signals)
    }

    /// Whether a stop was requested.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Adds a stop after a time limit.
    #[must_use]
    pub fn with_limit(self, limit: Option<Duration>) -> Signals {
        Signals { limit, ..self }
    }

    /// Returns the time until [`Signals::look_at_clock`] has to act; `Duration::MAX` without a
    /// limit or once a stop was requested.
    pub fn time_left(&self, elapsed: Duration) -> Duration {
        let limit = self.limit.filter(|_| !self.stopped());
        limit.map_or(Duration::MAX, |limit| limit.saturating_sub(elapsed))
    }

    /// Requests a stop if the time is up and none was requested before.
    pub fn look_at_clock(&self, elapsed: Duration) {
        if self.limit.is_some_and(|limit| elapsed >= limit) && !self.stopped() {
            let time_up = Exit::TimeUp as usize;
            // A signal that arrives first wins.
            let _ = self.first.compare_exchange(0, time_up, Ordering::Relaxed, Ordering::Relaxed);
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the exit code for the cause of the stop.
    pub fn exit(&self) -> Exit {
        let first = self.first.load(Ordering::Relaxed);
        [Exit::Terminated, Exit::TimeUp].into_iter().find(|exit| *exit as usize == first).unwrap_or(Exit::Interrupted)
    }
}

/// Turns a write beyond the file size limit into an error instead of a fatal signal.
pub fn survive_size_limit() {
    // If this fails, only the message gets worse.
    let _ = flag::register(SIGXFSZ, Arc::default());
}

/// Raises the limit of open files as far as the system allows: a session with many blocks keeps up
/// to about three thousand open, and the usual limit is 1,024.
pub fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    // If this fails, a run that needs more ends with an error that says so.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
