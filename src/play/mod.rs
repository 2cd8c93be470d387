//! Playing a removal game against the solver: what a terminal, a server and a page share.
//!
//! [`Answers`] provide values: a database, a book, a board in memory ([`Table`]), or any of them
//! completed by positions solved on demand ([`OnTheSpot`]). A [`Session`] is one game between a
//! person and the program, with undo, redo, exchanged sides and set-up positions; [`transcript`]
//! writes and reads it. [`level`] chooses the program's moves. [`report`] is a position in
//! machine-readable form.
//!
//! # Invariants
//! 1. A move of the program is a function of answers, position, level and seed, so a game can be
//!    repeated, and after an undo the program plays the same move.
//! 2. A value is reported only if the answers hold it: unknown stays unknown, unless a known move
//!    proves it.
//!
//! # Not here
//! Files, clocks and printing: `src/commands/play` and `trinim-serve` have them.

pub mod answers;
pub mod level;
pub mod names;
pub mod report;
pub mod session;
pub mod survey;
pub mod transcript;

pub use answers::{AnswerError, Answers, OnTheSpot, Table};
pub use level::Level;
pub use names::Names;
pub use session::{Player, Session};
pub use survey::{Choice, Survey, survey};
