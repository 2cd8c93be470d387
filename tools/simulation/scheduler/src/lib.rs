//! Threads, locks and channels of the engine, run on one thread in an order that a seed decides.
//!
//! The package `pipeline` takes its threads, mutexes, condition variables and channels from one module (`sync`). Compiled for simulation, that
//! module takes them from here: a *thread* is a coroutine, and at every point where it could wait for, wake or be overtaken by another one, the
//! next to run is chosen by a random number. One seed is one interleaving, repeatable, at the price of a function call.
//!
//! # Shape
//! [`run`] is a simulated process: its closure is the first thread, [`scope`] makes more. The points of choice are: taking a lock, waiting on
//! and notifying a condition variable, sending to and receiving from a channel, spawning, ending, and [`pause`], which the simulated disk calls
//! before every operation. A wait with a time limit ends when what it waits for happens, or at a point of choice that the seed picks, or when
//! nobody can go on otherwise: time is whatever the seed wants.
//!
//! # Invariants
//! 1. Exactly one thread runs; between two points of choice nobody else does.
//! 2. When no thread can go on and none waits with a limit, the process is [`Stuck`]; so it is after [`POINTS_AT_MOST`] points.
//! 3. Outside of [`run`] locks and channels work as long as nobody has to wait.
//!
//! # Cost
//! A point without a switch: some nanoseconds; a switch: some tens. Stacks are kept from process to process.
//!
//! # Not here
//! Weak memory: every atomic is seen by all at once. Interleavings inside of code that meets no point of choice, which shares nothing but
//! counters. The real mutexes and channels: they have tests with real threads (`pipeline/tests/crash.rs`).

mod channel;
mod locks;
mod threads;
mod world;

pub use channel::{Receiver, Sender, bounded};
pub use crossbeam::channel::{RecvError, RecvTimeoutError, SendError};
pub use locks::{Condvar, Mutex, MutexGuard};
pub use threads::{Scope, scope};
pub use world::{POINTS_AT_MOST, Stuck, Timing, pause, run};
