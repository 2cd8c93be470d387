//! The engine and the solver through every failure of a simulated disk, under seeded interleavings of their threads.
//!
//! Real sources, compiled once more: `pipeline-simulated` and `trinim-simulated` are the packages of the repository with the threads and locks of
//! `scheduler`. A session of the engine is then an ordinary function of disk, options and seed, without a single thread being made, and takes a
//! fraction of a millisecond; see [`explore`] for what a state is and how many there are.
//!
//! # Not here
//! The real disk, the real threads, the whole program (`tools`, `pipeline/tests/crash.rs`, `tests/cli.rs`).

pub mod damage;
pub mod explore;
pub mod judge;
pub mod random;
pub mod session;
pub mod sloppy;
pub mod subject;
