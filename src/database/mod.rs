//! Databases: the values of all positions that a finished solve leaves, compressed, with random
//! access.
//!
//! A database is the folder `db` of a run: one file for each canonical block ([`block`]), a
//! manifest with the [`Game`], census and digest ([`manifest`]), and `SUMS`, the BLAKE3 of every
//! file, written last. A folder that keeps less ([`Keep`]) has the manifest, with the winning first
//! moves, and `SUMS`.
//!
//! Bit `x` of a block's bitmap is 1 iff the player to move at (block, `x`) loses. A database of
//! nimbers or distances has such a bitmap for each of them ([`Values`]), the losses first. A lookup
//! applies to the position the layout's symmetry that takes its block to the canonical block, and
//! reads the bit there.

mod audit;
mod batch;
pub mod block;
pub mod book;
mod built_in;
mod by_layers;
pub mod census;
mod error;
mod files;
mod first_moves;
#[doc = include_str!("../../FORMAT.md")]
pub mod format {}
mod game;
mod keep;
pub mod listing;
pub mod manifest;
mod numbers;
mod probe;
mod reader;
mod summary;
pub(crate) mod sums;
mod tally;
mod values;

pub use audit::{Audit, AuditResult, BlockShare, ParseAuditError, ParseShareError};
pub use block::{BLOCK_BYTES_MAX, BlockForm, block_file_name, is_database_file};
pub use book::{BOOK, Book};
pub use built_in::BuiltIn;
pub use by_layers::{LayerCount, SmallerBoards};
pub use error::DatabaseError;
pub(crate) use files::below;
pub use first_moves::FirstMoves;
pub use game::Game;
pub use keep::{Keep, ParseKeepError, SolveSpec, Terms, VERSION};
pub use listing::Listing;
pub use manifest::{LIST_BYTES_MAX, MANIFEST, Manifest, SUMS};
pub use probe::{Child, Evaluation, Probe, infer};
pub use reader::Database;
pub use summary::{BlockSummary, stream_digest};
pub use sums::Sums;
pub use tally::Tally;
pub use values::{DistanceCount, NimberCount, ParseValuesError, Values, value_at};
