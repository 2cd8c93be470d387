//! The workload: what the engine is asked to compute, as seen by the engine.
//!
//! A workload cuts its state space into *blocks* of equal size. A finished block is a bitmap, its *stream*. The stream of a block
//! updates other blocks along the edges of an acyclic block graph; an [`Edge`] names the orientation in which the target wants the
//! stream and the operations it wants done with it. The engine moves streams; only the workload knows what an operation means.
//!
//! # Life of a block
//! [`begin`](Workload::begin) → [`apply`](Workload::apply) for each edge into it → [`finish`](Workload::finish): the bitmap is its
//! stream → [`summarise`](Workload::summarise), [`publish`](Workload::publish) → for each edge from it, [`orient`](Workload::orient).
//!
//! # Shape
//! Every bitmap has [`Workload::stream_words`] 64-bit words. Blocks are numbered `0..blocks()`.
//!
//! # Invariants
//! 1. Every method is a pure function of the workload's parameters and its arguments: the engine calls them from any thread, in any order
//!    that respects the block graph, and again after a crash, and the results must not differ.
//! 2. `apply` only sets bits. It is therefore commutative and idempotent across the edges of one target, and the order of merging
//!    cannot matter. The engine nevertheless merges in ascending order of source.
//! 3. [`Workload::order`] is topological: every source stands before its targets.
//!
//! # Not here
//! No file, no thread, no codec: those belong to the engine.

use crate::finding::Damage;
use crate::ids::BlockId;
use std::sync::Arc;

/// An inter-block update: the stream of `source`, turned to `orientation`, updates `target` by `operations`.
///
/// No two edges of a workload are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Block whose stream is logged.
    pub source: BlockId,
    /// Block whose bitmap is updated.
    pub target: BlockId,
    /// Orientation the target needs; 0 is the stream as it was finished.
    pub orientation: u8,
    /// Opaque to the engine: which part of the stream the operations can use at all; 0 means the whole stream. A log of its own for
    /// one target then holds fewer ones and compresses better. Edges of one source with equal orientation and restriction carry the
    /// same log.
    pub restriction: u64,
    /// Opaque to the engine, which writes it into the header of the log entry and compares it when the entry is read. May be empty
    /// where source and target say everything.
    pub operations: Arc<[u64]>,
}

impl Edge {
    /// An edge along which the whole stream goes as it is, without operations.
    pub fn new(source: BlockId, target: BlockId) -> Edge {
        Edge { source, target, orientation: 0, restriction: 0, operations: Arc::default() }
    }
}

/// A file that the workload wants kept for a finished block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publication {
    /// File name inside the `db` folder, without slash.
    pub name: String,
    /// Whole content.
    pub bytes: Vec<u8>,
}

/// What the engine needs to know of a computation; see the page of the crate for an example.
///
/// What holds for all methods:
/// 1. They are pure functions of the parameters and their arguments.
/// 2. [`apply`](Workload::apply) only sets bits.
/// 3. [`order`](Workload::order) is topological.
pub trait Workload: Sync {
    /// Named parameters that decide the result. A resume with other values is refused, naming the parameter.
    fn parameters(&self) -> Vec<(String, String)>;

    /// Number of blocks.
    fn blocks(&self) -> u32;

    /// All blocks in a topological order of the block graph; earlier ones are preferred. Unless overridden, ascending.
    fn order(&self) -> Vec<BlockId> {
        BlockId::all(self.blocks()).collect()
    }

    /// Length of a block's bitmap in 64-bit words, the same for every block.
    fn stream_words(&self) -> usize;

    /// Edges whose target is `target`.
    fn edges_into(&self, target: BlockId) -> Vec<Edge>;

    /// Edges whose source is `source`: the same edges as those of [`edges_into`](Workload::edges_into), seen from the other end.
    fn edges_from(&self, source: BlockId) -> Vec<Edge>;

    /// Prepares the zeroed bitmap of a block before any update. Unless overridden, it stays zero.
    fn begin(&self, block: BlockId, bitmap: &mut [u64]) {
        let _ = (block, bitmap);
    }

    /// Writes `stream` turned to `orientation`, less what `restriction` excludes, into `oriented` (every word of it).
    ///
    /// Orientation 0 turns nothing and restriction 0 excludes nothing: with both, `oriented` is a copy. An entry for one target is
    /// turned and restricted by its source; a shared entry is turned by each target, with restriction 0. So a restriction only saves
    /// room in the logs: [`apply`](Workload::apply) must do the same whether or not the excluded bits are there.
    ///
    /// Unless overridden, it copies, which is right for workloads whose edges all have orientation 0.
    ///
    /// # Panics
    /// Unless overridden, if `orientation` is another one.
    fn orient(&self, orientation: u8, restriction: u64, stream: &[u64], oriented: &mut [u64]) {
        let _ = restriction;
        assert_eq!(orientation, 0, "a workload whose edges have orientations says how a stream is turned");
        oriented.copy_from_slice(stream);
    }

    /// Applies the operations of `edge` to the target's bitmap; `stream` is oriented already. It only sets bits, and reads none that
    /// another edge may set.
    fn apply(&self, edge: &Edge, stream: &[u64], bitmap: &mut [u64]);

    /// Turns the fully updated bitmap of `block` into its stream, in place.
    fn finish(&self, block: BlockId, bitmap: &mut [u64]);

    /// Short account of a finished block that the engine keeps in its journal (at most 64 KiB). Unless overridden, empty.
    fn summarise(&self, block: BlockId, stream: &[u64]) -> Vec<u8> {
        let _ = (block, stream);
        Vec::new()
    }

    /// The file to keep for a finished block, if any. The same bytes for the same block, always.
    ///
    /// Unless overridden, the words of the stream in little-endian order, in `db/BBBBBBBB.stream`, `BBBBBBBB` being the number of the
    /// block in hexadecimal. A workload overrides this and [`recall`](Workload::recall) together.
    fn publish(&self, block: BlockId, stream: &[u64]) -> Option<Publication> {
        let bytes = stream.iter().flat_map(|word| word.to_le_bytes()).collect();
        Some(Publication { name: format!("{:08x}.stream", block.0), bytes })
    }

    /// The inverse of [`publish`](Workload::publish): reads the stream of a block (every word of it) back from the file it published.
    /// It is what damaged logs and files are computed from again, and what [`Finished::stream`](crate::Finished::stream) answers.
    ///
    /// # Errors
    /// [`Unreadable`] when the file is not one that this block published.
    fn recall(&self, block: BlockId, published: &[u8], stream: &mut [u64]) -> Result<(), Unreadable> {
        let _ = block;
        let (words, rest) = published.as_chunks::<8>();
        if words.len() != stream.len() || !rest.is_empty() {
            let what = format!("{} bytes in place of {} words", published.len(), stream.len());
            return Err(Unreadable { offset: None, damage: what.into() });
        }
        stream.iter_mut().zip(words).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
        Ok(())
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
