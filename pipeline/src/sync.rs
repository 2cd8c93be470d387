//! Threads, locks and channels: the only place that says whose they are.
//!
//! The package takes them from the standard library, `parking_lot` and `crossbeam`. The package `pipeline-simulated` of the same repository
//! compiles these sources once more, with `cfg(simulated)`, and takes them from `scheduler`: there a run is one thread, in an order that a seed
//! decides, so that it can be repeated exactly.
//!
//! # Not here
//! The syncs of many files side by side (`checkpoint`): the simulated disk wants them one after the other.

#[cfg(not(simulated))]
mod here {
    pub use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded};
    pub use parking_lot::{Condvar, Mutex};
    pub use std::thread::scope;

    /// A point at which a simulated run may turn to another thread; nothing.
    #[cfg(any(test, feature = "testing"))]
    pub fn pause() {}
}

#[cfg(simulated)]
mod here {
    pub use scheduler::{Condvar, Mutex, Receiver, RecvTimeoutError, Sender, bounded, pause, scope};
}

pub use here::*;
