//! Threads, locks and channels of a run: only this module chooses their implementation. The lock of
//! [`crate::bitmaps`] is a plain one, because no thread waits or is switched while it is held.
//!
//! They come from the standard library, `parking_lot` and `crossbeam-channel`. The package
//! `pipeline-simulated` compiles the same sources with `cfg(simulated)` and takes them from
//! `scheduler`, where a run is one thread whose order follows from a seed and can be repeated.
//!
//! `checkpoint` syncs many files in parallel; the simulated disk syncs them one after another.

use crate::error::Error;

#[cfg(not(simulated))]
mod here {
    use super::Error;
    pub(crate) use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
    pub(crate) use parking_lot::{Condvar, Mutex};
    pub(crate) use std::thread::scope;
    use std::thread::{Builder, Scope};

    /// Starts a thread of a scope.
    ///
    /// # Errors
    /// [`Error::Thread`] if the system refuses one.
    #[expect(clippy::disallowed_methods, reason = "here threads are started")]
    pub(crate) fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        work: impl FnOnce() + Send + 'scope,
    ) -> Result<(), Error> {
        Builder::new().spawn_scoped(scope, work).map(drop).map_err(|source| Error::Thread { source })
    }

    /// Does nothing here; the simulation replaces it.
    pub fn pause() {}
}

#[cfg(simulated)]
mod here {
    use super::Error;
    pub use scheduler::{Condvar, Mutex, Receiver, RecvTimeoutError, Scope, Sender, bounded, pause, scope};

    /// Starts a thread of a scope; the simulation refuses none.
    pub(crate) fn start<'env>(scope: &Scope<'env>, work: impl FnOnce() + 'env) -> Result<(), Error> {
        scope.spawn(work);
        Ok(())
    }
}

/// A point at which a simulated run can switch to another thread; a no-op in a real run.
#[doc(hidden)]
pub use here::pause;
pub(crate) use here::*;
