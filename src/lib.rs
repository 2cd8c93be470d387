//! Strongly solves impartial removal games, above all Triangular Nim, on state spaces as large as a
//! disk, and keeps the value of every position in a database.
//!
//! ```
//! use trinim::{Board, Database, Rule, Solve, Value};
//!
//! let folder = tempfile::tempdir()?;
//! let board = Board::triangle(5, None)?; // five layers, any number of pieces a move
//! let solved = Solve::new(&board, Rule::Misere).run(folder.path())?;
//! assert_eq!(solved.manifest.census.losses(), 3902);
//!
//! let database = Database::open(folder.path())?;
//! assert_eq!(database.value(board.full())?, Value::Loss);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The root re-exports the names that a first program needs; the modules have the rest. `cli`
//! serves only the programs: these pages leave it out, and it can change at any time.
//! `trinim-task` makes the files of a database block by block; for it, [`database::block`],
//! [`database::BlockSummary`], [`database::Sums`], [`database::Tally`], [`plan::rates`],
//! [`solve::RemovalGame`] and [`verify::verify_share`] are public. [`database::format`] specifies
//! every byte of a database.
//!
//! # Words
//!
//! - A *board* is a set of *cells*. Each cell is empty or holds one *piece*. A *move* takes one or
//!   more consecutive pieces along a *line*, which is a row of cells.
//! - A *position* is the set of pieces present. A move leads from a *parent* to a *child*.
//! - In *normal* play the player who takes the last piece wins; in *misère* play that player loses.
//!   A *win* is a position that the player to move wins (N-position), a *loss* one that this player
//!   loses (P-position).
//! - A game is *strongly solved* when the value of every position is known. *Retrograde* work goes
//!   from a loss to its parents, all of which are wins.
//! - The *BID cells* are the high bits of a position and name its *block*; the other bits are the
//!   *offset* in it.
//! - Blocks that a symmetry maps onto each other form an *isomorphic group*. Its smallest member,
//!   the *canonical block*, is the only one solved. An *orientation* is a symmetry that maps it to
//!   another member.
//! - An *inter-block update* carries what the losses of one block imply for another. The *loss
//!   stream* of a finished block is the bitmap of its losses; an *update log* is a loss stream with
//!   the operations to apply.
//! - A log is stored as an *entry* of independently encoded *frames*. The *bucket* of a block holds
//!   all logs that wait for it. The reader *merges* a bucket; a block is *settled* once everything
//!   has been *applied* to it; then it *emits* its own logs, which the writer gathers and *spills*.
//! - A *checkpoint* is the state that survives a stop: a *manifest*, which records the state at the
//!   start of a *generation*, and a journal of what followed.
//! - A *census* counts losses; a *loss rate* is their share. The *digest* is a hash of all values
//!   in their layout, the *census digest* one of the counts. To *probe* is to look a position up,
//!   to *verify* is to check a database against the rules, and a *plan* predicts the cost of a
//!   solve.
//! - Nim on the plane, in the package `trinim-plane`, is another game with a vocabulary of its own.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![warn(unreachable_pub)]

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
pub mod database;
pub mod job;
pub mod layout;
pub mod maintenance;
pub mod plan;
pub mod play;
pub mod solve;
mod witness;

pub use database::{Database, Game};
pub use job::Solve;
pub use layout::Layout;
pub use maintenance::verify;
pub use trinim_game::{self as game, Board, Rule, Value, random};
pub use trinim_kernel::{self as kernel, Kernel};
