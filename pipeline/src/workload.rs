//! The workload: what the engine is asked to compute, as seen by the engine.
//!
//! A workload cuts its state space into `blocks` of equal size. A finished block is a bitmap, its *loss stream*. The stream of a block
//! updates other blocks along the edges of an acyclic block graph; an [`Edge`] names the orientation in which the target wants the
//! stream and the operations it wants done with it. The engine moves streams; only the workload knows what an operation means.
//!
//! # Shape
//! Every bitmap has [`Workload::stream_words`] 64-bit words. Blocks are numbered `0..blocks()`.
//!
//! # Invariants
//! 1. Every method is a pure function of the workload's parameters and its arguments: the engine calls them from any thread, in any order
//!    that respects the block graph, and again after a crash, and the results must not differ.
//! 2. `apply` is commutative and idempotent across the edges of one target (set bits only), so the order of merging cannot matter. The
//!    engine nevertheless merges in ascending order of source and orientation.
//! 3. [`Workload::order`] is topological: every source stands before its targets.
//!
//! # Not here
//! No file, no thread, no codec: those belong to the engine.

use crate::finding::Damage;
use crate::ids::BlockId;
use std::sync::Arc;

/// An inter-block update: the loss stream of `source`, turned to `orientation`, updates `target` by `operations`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Block whose loss stream is logged.
    pub source: BlockId,
    /// Block whose bitmap is updated.
    pub target: BlockId,
    /// Orientation the target needs; 0 is the stream as it was settled.
    pub orientation: u8,
    /// Opaque to the engine: which part of the stream the operations can use at all. Edges of one source with equal orientation and
    /// restriction carry the same log. 0 means the whole stream.
    pub restriction: u64,
    /// Opaque to the engine; written into the header of the log entry and compared when it is read.
    pub operations: Arc<[u64]>,
}

/// A file that the workload wants kept for a finished block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publication {
    /// File name inside the `db` folder, without slash.
    pub name: String,
    /// Whole content.
    pub bytes: Vec<u8>,
}

/// What the engine needs to know of a computation; see the module page for the invariants.
pub trait Workload: Sync {
    /// Named parameters that decide the result. A resume with other values is refused, naming the parameter.
    fn parameters(&self) -> Vec<(String, String)>;

    /// Number of blocks.
    fn blocks(&self) -> u32;

    /// All blocks in a topological order of the block graph (invariant 3); earlier ones are preferred.
    fn order(&self) -> Vec<BlockId>;

    /// Length of a block's bitmap in 64-bit words, the same for every block.
    fn stream_words(&self) -> usize;

    /// Edges whose target is `target`.
    fn edges_into(&self, target: BlockId) -> Vec<Edge>;

    /// Edges whose source is `source`.
    fn edges_from(&self, source: BlockId) -> Vec<Edge>;

    /// Prepares the zeroed bitmap of a block before any update.
    fn begin(&self, block: BlockId, bitmap: &mut [u64]);

    /// Writes `stream` turned to `orientation`, less what `restriction` excludes, into `oriented` (every word of it).
    fn orient(&self, orientation: u8, restriction: u64, stream: &[u64], oriented: &mut [u64]);

    /// Applies the operations of `edge` to the target's bitmap; `stream` is oriented already.
    fn apply(&self, edge: &Edge, stream: &[u64], bitmap: &mut [u64]);

    /// Turns the fully updated bitmap of `block` into its loss stream, in place.
    fn finish(&self, block: BlockId, bitmap: &mut [u64]);

    /// Short account of a finished block that the engine keeps in its journal (at most 64 KiB).
    fn summarise(&self, block: BlockId, stream: &[u64]) -> Vec<u8>;

    /// The file to keep for a finished block, if any. The same bytes for the same block, always.
    fn publish(&self, block: BlockId, stream: &[u64]) -> Option<Publication>;

    /// The inverse of `publish`: reads the stream of a block (every word of it) back from the file it published.
    ///
    /// # Errors
    /// [`Unreadable`] when the file is not one, or when the workload does not publish streams: then damaged logs cannot be written anew.
    fn recall(&self, block: BlockId, published: &[u8], stream: &mut [u64]) -> Result<(), Unreadable> {
        let _ = (block, published, stream);
        Err(Unreadable { offset: None, damage: "this workload publishes no streams".into() })
    }
}

/// Why a published file cannot be read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Where in the file, in bytes; `None` when the file as a whole is meant.
    pub offset: Option<u64>,
    /// What is wrong there.
    pub damage: Damage,
}
