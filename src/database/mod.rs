//! What a finished solve leaves: the values of all positions, compressed, with random access.
//!
//! A database is the folder `db` of a run: one file for each canonical block ([`block`]), a manifest with the [`Game`], census and digest
//! ([`manifest`]), and `SUMS`, the BLAKE3 of every file, written last.
//!
//! # Shape
//! Bit `x` of a block's bitmap is 1 iff the player to move at (block, `x`) loses. A position is looked up in its canonical block: the layout's
//! symmetry that takes its block to the canonical one is applied to the whole position.
//!
//! # Not here
//! How a database is computed (`solve`) and its independent check (`verify`).

pub mod block;
pub mod census;
mod error;
#[doc = include_str!("../../FORMAT.md")]
pub mod format {}
pub mod frame;
mod game;
pub mod manifest;
mod map;
pub(crate) mod plain;
mod reader;
mod summary;
pub(crate) mod sums;

pub use block::{BLOCK_BYTES_MAX, block_file, block_file_name};
pub use error::DatabaseError;
pub use game::Game;
pub use manifest::{LIST_BYTES_MAX, MANIFEST, Manifest, SUMS};
pub use reader::{Access, CACHE_BYTES, Child, Database, Probe};
pub use summary::{BlockSummary, stream_digest};
pub use sums::Sums;
