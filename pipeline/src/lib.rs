//! An external-memory engine for computations on blocks of bits that update each other.
//!
//! You describe the computation as a [`Workload`]: its blocks, an acyclic graph of [`Edge`]s
//! between them, and what to do with a block. The engine stays within a memory budget, moves the
//! updates through compressed logs on disk, and survives any interruption: the same call continues
//! where the last one stopped and ends with the same bytes.
//!
//! # Example
//! A sieve. A block is 64 numbers, one bit each; its stream marks the primes. Primes strike out
//! their multiples in later blocks.
//!
//! ```
//! # extern crate trinim_pipeline as pipeline;
//! use pipeline::{BlockId, Edge, RealStorage, Run, Workload};
//! use std::sync::Arc;
//!
//! struct Sieve {
//!     blocks: u32,
//! }
//!
//! /// Sets the bits of the multiples of `prime` in a block, starting at its square.
//! fn strike(prime: u64, block: BlockId, bitmap: &mut [u64]) {
//!     let first = u64::from(block.0) * 64;
//!     let start = first.next_multiple_of(prime).max(prime * prime);
//!     (start..first + 64).step_by(prime as usize).for_each(|number| bitmap[0] |= 1 << (number - first));
//! }
//!
//! /// Returns whether the first square of `source` comes before the end of `target`.
//! fn updates(source: BlockId, target: BlockId) -> bool {
//!     source < target && u64::from(source.0).pow(2) * 64 <= u64::from(target.0)
//! }
//!
//! impl Workload for Sieve {
//!     fn parameters(&self) -> Vec<(String, String)> {
//!         vec![("blocks".to_owned(), self.blocks.to_string())]
//!     }
//!     fn blocks(&self) -> u32 {
//!         self.blocks
//!     }
//!     fn stream_words(&self) -> usize {
//!         1
//!     }
//!     fn edges_into(&self, target: BlockId) -> Vec<Edge> {
//!         let sources = BlockId::all(self.blocks).filter(|source| updates(*source, target));
//!         sources.map(|source| Edge::new(source, target)).collect()
//!     }
//!     fn apply(&self, edge: &Edge, primes: &[u64], bitmap: &mut [u64]) {
//!         let is_prime = |bit: &u64| primes[0] >> bit & 1 == 1;
//!         (0..64).filter(is_prime).for_each(|bit| strike(u64::from(edge.source.0) * 64 + bit, edge.target, bitmap));
//!     }
//!     fn finish(&self, block: BlockId, bitmap: &mut [u64]) {
//!         if block == BlockId(0) {
//!             bitmap[0] |= 0b11; // 0 and 1 are not primes
//!             (2..8).for_each(|number| strike(number, block, bitmap));
//!         }
//!         bitmap[0] = !bitmap[0];
//!     }
//! }
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let (sieve, folder) = (Sieve { blocks: 100 }, tempfile::tempdir()?);
//!     let storage = Arc::new(RealStorage::create(folder.path())?);
//!     let run = Run::new(&sieve, storage).memory_bytes(64 << 20).start()?;
//!     let mut primes = 0; // below 6400
//!     for block in BlockId::all(sieve.blocks) {
//!         primes += run.stream(block)?[0].count_ones();
//!     }
//!     assert_eq!(primes, 834);
//!     Ok(())
//! }
//! ```
//!
//! # Map
//! | | |
//! |---|---|
//! | computing | [`Workload`], [`Edge`], [`Auditor`], [`Run`], [`Options`], [`Thresholds`], [`FinishedRun`] |
//! | watching | [`Event`], [`Metrics`], [`Counts`], [`Stage`], [`timeline`] |
//! | the run folder | [`checkpoint`]: what is finished, durably; [`care`]: check and repair; [`mod@format`]: every byte |
//! | foundations | [`storage`]: every file call; [`log`]: entries and frames; [`codec`]: their codecs |
//!
//! # Invariants
//! The pages of the modules number theirs. Each is asserted where it is made and where it is relied
//! on, the dear ones in debug builds only; the message names page and number. A panic in any thread
//! ends the run without another commit. What has no assertion is held by a type, or is an
//! [`Error`]: bytes of files and answers of the system are never asserted.
//!
//! With the feature `testing`, module `testing` provides a simulated disk that loses, tears and
//! corrupts writes.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![warn(unreachable_pub)]

mod audit;
mod bitmap;
mod bytes;
pub mod care;
pub mod checkpoint;
pub mod codec;
mod error;
mod finding;
mod ids;
pub mod log;
mod measure;
pub mod parallel;
mod run;
pub mod storage;
mod sync;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod thresholds;
mod workload;

#[cfg(doc)]
#[doc = include_str!("../FORMAT.md")]
pub mod format {}

pub use audit::{Auditor, SourceStream};
pub use bitmap::Bitmap;
pub use error::{DamageText, Error};
pub use finding::{Damage, Expected, Finding, Weight, persists, sort_findings};
pub use ids::{BlockId, RunId};
pub use log::choose::{Candidate, CodecChoice};
pub use log::place::{Extent, LogFile, Placement};
pub use measure::metrics::{Counts, Metrics, StageTimer, Stopwatch};
pub use measure::stage::Stage;
pub use measure::timeline;
pub use run::schedule::{Next, Schedule};
pub use run::{Event, FinishedRun, Options, Run, footprint_bytes, held_streams};
pub use storage::{LimitedStorage, RealStorage, Storage, StorageFile};
pub use thresholds::Thresholds;
pub use workload::{Edge, Publication, RecallError, Workload};
