//! Strongly solves impartial removal games, first of all Triangular Nim, on disk-sized state spaces, and leaves a database of every position's
//! value.
//!
//! ```
//! use std::sync::Arc;
//! use trinim::{database::{Database, Game}, game::{Rule, Value}, kernel::Kernel, solve};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let game = Game::triangle(5, Rule::Misere, 12)?;
//! let folder = tempfile::tempdir()?;
//! let storage: Arc<dyn pipeline::storage::Storage> = Arc::new(pipeline::storage::RealStorage::create(folder.path())?);
//! let options = pipeline::run::Options {
//!     threads: 2,
//!     memory_bytes: 64 << 20,
//!     placement: pipeline::run::Placement::Dedicated,
//!     codec: pipeline::CodecChoice::Auto,
//!     commit_interval: std::time::Duration::from_secs(5),
//!     run_id: pipeline::RunId(1),
//!     stop: Arc::default(),
//! };
//! let solved = solve::solve(&game, Kernel::detect(), &storage, &options, &Default::default(), &|_| {})?;
//! assert_eq!(solved.manifest.census.losses(), 3902);
//!
//! let database = Database::open(folder.path())?;
//! assert_eq!(database.value(game.board.full())?, Value::Loss);
//! # Ok(())
//! # }
//! ```
//!
//! # Words
//!
//! - A *board* is a set of *cells*, each empty or with one *piece*; a *line* is a row of cells along which a *move* takes one or more consecutive
//!   pieces. A *position* is the set of pieces present. A move leads to a *child*; the position before it is a *parent* of that child.
//! - A *win* is a position in which the player to move wins (N-position), a *loss* one in which that player loses (P-position). In *normal* play who takes the
//!   last piece wins, in *misère* play that player loses. A game is *strongly solved* when the value of every position is known; *retrograde* work
//!   goes from a loss to its parents, all of which are wins.
//! - Some cells, the *BID cells*, are the high bits of a position: they name its *block*; the other bits are the *offset* inside it. An *inter-block
//!   update* is what the losses of one block say about another. Blocks that a symmetry maps onto each other form an *isomorphic group*; its smallest
//!   member is the *canonical block*, the only one that is solved; an *orientation* is a symmetry that takes it to another member.
//! - The *loss stream* of a finished block is the bitmap of its losses. An *update log* is a loss stream with the operations to do with it; it is kept as an
//!   *entry* of independently encoded *frames*. The *bucket* of a block is all logs that wait for it. A block is *settled* once everything that was *applied*
//!   to it is in; it then *emits* its logs; the writer gathers and writes, or *spills*, them; the reader *merges* a bucket.
//! - A *checkpoint* is what survives a stop: a *manifest* with everything known when a *generation* began, and a journal since.
//! - A *census* is the counts of losses, a *loss rate* their share. To *probe* is to look a position up; to *verify*, to check a database against the rules; a
//!   *plan* says what a solve will cost.
//! - *Nim on the plane* is another game with words of its own, on the page of [`plane`].
//! - A *strategy* is a way to solve: by update logs, or by one of the *baselines*, the papers' ways.
#![deny(unsafe_code)]

pub mod bench;
pub mod care;
pub mod database;
pub mod draw;
pub mod evolve;
pub mod game;
pub mod kernel;
pub mod layout;
pub mod papers;
pub mod plan;
pub mod plane;
pub mod random;
pub mod report;
pub mod solve;
pub mod verify;
