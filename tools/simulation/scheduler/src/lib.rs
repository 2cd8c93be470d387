//! Threads, locks and channels for the engine, run on one thread in an order that a seed decides.
//!
//! The package `pipeline` takes its threads, mutexes, condition variables and channels from one
//! module (`sync`). Compiled for simulation, that module takes them from here: a *thread* is a
//! coroutine, and at every point where it could wait for, wake or be overtaken by another one, a
//! random number chooses the next one to run. One seed is one repeatable interleaving, at the cost
//! of a function call.
//!
//! [`run`] is a simulated process: its closure is the first thread, [`scope`] adds more. The points
//! of choice are taking a lock, waiting on and notifying a condition variable, sending to and
//! receiving from a channel, spawning, ending, and [`pause`], which the simulated disk calls before
//! every operation. A wait with a time limit ends when its condition holds, at a point of choice
//! that the seed picks, or when no thread could continue otherwise. `README.md` of the simulation
//! lists what a seed does not control.
//!
//! # Invariants
//! 1. Exactly one thread runs, and no other runs between two of its points of choice.
//! 2. The process is [`Stuck`] when no thread can continue and none waits with a limit, or after
//!    [`POINTS_AT_MOST`] points.
//! 3. Outside of [`run`] locks and channels work unless a thread has to wait.
//!
//! # Cost
//! Some nanoseconds for a point without a switch, some tens for a switch. Processes reuse stacks.

mod channel;
mod locks;
mod threads;
mod world;

pub use channel::{Receiver, Sender, bounded};
pub use crossbeam_channel::{RecvError, RecvTimeoutError, SendError};
pub use locks::{Condvar, Mutex, MutexGuard};
pub use threads::{Scope, scope};
pub use world::{POINTS_AT_MOST, Stuck, Timing, pause, run};
