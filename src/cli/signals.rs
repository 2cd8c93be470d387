//! Signals of a long run: the first SIGINT or SIGTERM asks for an orderly stop, the second leaves at once; SIGUSR1 asks for a status line.

use super::exit::Exit;
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What the signals have asked for so far.
#[derive(Clone, Default)]
pub struct Signals {
    /// Stop at the next opportunity.
    pub stop: Arc<AtomicBool>,
    /// Print a status line.
    pub status: Arc<AtomicBool>,
    first: Arc<AtomicUsize>,
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

    /// The exit code for the signal that asked for the stop.
    pub fn exit(&self) -> Exit {
        if self.first.load(Ordering::Relaxed) == Exit::Terminated as usize {
            Exit::Terminated
        } else {
            Exit::Interrupted
        }
    }
}

/// Makes a write beyond the limit of file sizes an error instead of the end of the process.
pub fn survive_size_limit() {
    // If that fails, the only loss is a nicer message.
    let _ = flag::register(SIGXFSZ, Arc::default());
}
