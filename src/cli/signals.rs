//! Signals of a long run: the first SIGINT or SIGTERM asks for an orderly stop, the second leaves at once; SIGUSR1 asks for a status line. And the
//! limits that the system puts on a process.

use super::exit::Exit;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// What the signals have asked for so far.
#[derive(Clone, Default)]
pub struct Signals {
    /// Stop at the next opportunity.
    pub stop: Arc<AtomicBool>,
    /// Print a status line.
    pub status: Arc<AtomicBool>,
    first: Arc<AtomicUsize>,
    /// Time after which a stop is asked for, as by a signal.
    limit: Option<Duration>,
}

impl Signals {
    /// Registers the handlers. All that a handler does is to set a flag or to leave, so no thread and no lock is involved.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn register() -> anyhow::Result<Signals> {
        let signals = Signals::default();
        let register = || {
            for (signal, exit) in [(SIGINT, Exit::Interrupted), (SIGTERM, Exit::Terminated)] {
                // In this order: the flag is still unset when the first signal is looked at.
                flag::register_conditional_shutdown(signal, exit as i32, signals.stop.clone())?;
                flag::register_usize(signal, signals.first.clone(), exit as usize)?;
                flag::register(signal, signals.stop.clone())?;
            }
            flag::register(SIGUSR1, signals.status.clone())
        };
        register().map_err(|error| anyhow::Error::msg(format!("signals cannot be handled: {error}")))?;
        Ok(signals)
    }

    /// Whether a stop was asked for.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The same signals, and a stop when so much time has passed.
    #[must_use]
    pub fn with_limit(self, limit: Option<Duration>) -> Signals {
        Signals { limit, ..self }
    }

    /// Time until [`Signals::look_at_clock`] has something to do; very long without a limit, and once a stop was asked for.
    pub fn time_left(&self, elapsed: Duration) -> Duration {
        let limit = self.limit.filter(|_| !self.stopped());
        limit.map_or(Duration::MAX, |limit| limit.saturating_sub(elapsed))
    }

    /// Asks for a stop if the time is up and nobody has asked before.
    pub fn look_at_clock(&self, elapsed: Duration) {
        if self.limit.is_some_and(|limit| elapsed >= limit) && !self.stopped() {
            let time_up = Exit::TimeUp as usize;
            // A signal that comes in between has the word.
            let _ = self.first.compare_exchange(0, time_up, Ordering::Relaxed, Ordering::Relaxed);
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// The exit code for what asked for the stop.
    pub fn exit(&self) -> Exit {
        let first = self.first.load(Ordering::Relaxed);
        [Exit::Terminated, Exit::TimeUp].into_iter().find(|exit| *exit as usize == first).unwrap_or(Exit::Interrupted)
    }
}

/// Makes a write beyond the limit of file sizes an error instead of the end of the process.
pub fn survive_size_limit() {
    // If that fails, the only loss is a nicer message.
    let _ = flag::register(SIGXFSZ, Arc::default());
}

/// Asks for as many open files as the system allows: a session of many blocks has up to some three thousand, and the usual limit is 1,024.
pub fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    // If that fails, a run that needs more ends with a message that says so.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
