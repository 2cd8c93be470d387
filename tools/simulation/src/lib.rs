//! The engine and the solver through every failure of a simulated disk, under seeded interleavings
//! of their threads.
//!
//! `pipeline-simulated`, `trinim-simulated` and `trinim-task-simulated` compile the real sources of
//! the repository with the threads and locks of `scheduler`. A session of the engine is then an
//! ordinary function of disk, options and seed, creates no thread, and takes a fraction of a
//! millisecond; [`explore`] defines its states.
//!
//! The real disk, real threads and the whole program have their own tests (`tools`,
//! `pipeline/tests/engine/crash.rs`, `tests/cli/signals.rs`).

pub mod controls;
pub mod damage;
pub mod explore;
pub mod judge;
pub mod omitting;
pub mod session;
pub mod subject;
#[path = "../../../tests/common/sweep.rs"]
pub mod sweep;
