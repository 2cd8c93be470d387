//! Playing a removal game against the solver: what a terminal, a server and a page share.
//!
//! [`Answers`] know values: a database, a book, a board in memory ([`Table`]), or any of them
//! completed by positions solved on demand ([`OnTheSpot`]). A [`Session`] is one game
//! between a person and the program, with undo, redo, sides exchanged and positions set up;
//! [`transcript`] writes and reads it. [`level`] chooses the program's moves. [`report`] is a
//! position as programs read it.
//!
//! # Invariants
//! 1. A move of the program is a function of answers, position, level and seed, so a game can be
//!    repeated, and taken back moves come again.
//! 2. Nothing claims a value that the answers do not hold: unknown stays unknown, unless a known
//!    move proves it.
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
