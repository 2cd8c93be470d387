//! Threads, locks and channels: the only module that chooses their implementation.
//!
//! The package takes them from the standard library, `parking_lot` and `crossbeam`. The package
//! `pipeline-simulated` of the same repository compiles these sources with `cfg(simulated)` and
//! takes them from `scheduler`. There a run is one thread whose order a seed decides, so that it
//! can be repeated exactly.
//!
//! Syncs of many files side by side are in `checkpoint`: the simulated disk runs them one after
//! another.

#[cfg(not(simulated))]
mod here {
    pub(crate) use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded};
    pub(crate) use parking_lot::{Condvar, Mutex};
    pub(crate) use std::thread::scope;

    /// A point at which a simulated run may switch to another thread; does nothing here.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn pause() {}
}

#[cfg(simulated)]
mod here {
    pub use scheduler::{Condvar, Mutex, Receiver, RecvTimeoutError, Sender, bounded, pause, scope};
}

pub(crate) use here::*;
