//! The workload: the computation, as the engine sees it.
//!
//! A workload divides its state space into *blocks* of equal size. A finished block is a bitmap,
//! its *stream*. Along the edges of an acyclic graph, the stream of a block updates other blocks.
//! An [`Edge`] has the orientation in which the target needs the stream, and the operations to
//! apply. The engine only moves streams; the workload interprets the operations.
//!
//! # Life of a block
//! [`begin`](Workload::begin) → for each edge into it, [`orient_needed`](Workload::orient_needed)
//! if the log is shared or the stream is [recalled](Workload::recall_needed) from a published file,
//! and [`apply`](Workload::apply) → [`finish`](Workload::finish): the bitmap is now its stream →
//! [`summarise`](Workload::summarise), [`publish`](Workload::publish) → for each edge from it,
//! [`orient`](Workload::orient) if the logs are dedicated. An [`audit`](Workload::audit) sees every
//! decoded stream, and the finished block before it is summarised.
//!
//! Every bitmap has [`Workload::stream_words`] 64-bit words. Blocks are numbered `0..blocks()`.

use crate::audit::{Auditor, Auditors};
use crate::error::Error;
use crate::finding::Damage;
use crate::ids::BlockId;
use std::ops::Range;
use std::sync::Arc;

/// An inter-block update: the stream of `source`, oriented for `target`, updates it by
/// `operations`.
///
/// No two edges of a workload are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Block whose stream is logged.
    pub source: BlockId,
    /// Block that is updated.
    pub target: BlockId,
    /// Orientation that the target needs; 0 is the stream as it was finished.
    pub orientation: u8,
    /// The part of the stream that the operations can use, opaque to the engine; 0 is the whole
    /// stream. A log with only this part has fewer ones and compresses better. Edges of one source
    /// with equal orientation and restriction share a log.
    pub restriction: u64,
    /// Opaque to the engine, which writes them into the header of the log entry and compares them
    /// when it reads the entry. Empty if source and target already determine the update.
    pub operations: Arc<[u64]>,
}

impl Edge {
    /// Creates an edge that sends the whole stream, without orientation or operations.
    pub fn new(source: BlockId, target: BlockId) -> Edge {
        Edge { source, target, orientation: 0, restriction: 0, operations: Arc::default() }
    }
}

/// A file that the workload publishes for a finished block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publication {
    /// File name inside the `db` folder, without slashes.
    pub name: String,
    /// The whole content.
    pub bytes: Vec<u8>,
}

/// A computation that the engine can run; see the crate page for an example.
///
/// # Invariants
/// 1. Every method is a pure function of the workload's parameters and its arguments: the engine
///    calls it from any thread, in any order that respects the block graph, and again after a
///    crash, and the results must be the same. Only an [auditor](Workload::audit) can remember what
///    earlier auditors saw: it changes no stream, and can only end the run.
/// 2. [`apply`](Workload::apply) only sets bits. It is therefore commutative and idempotent across
///    the edges of one target, so the order of merging cannot matter. The engine nevertheless
///    merges in ascending order of source.
/// 3. [`order`](Workload::order) is topological: every source comes before its targets.
pub trait Workload: Sync {
    /// Returns the named parameters that decide the result. A resume with another value is refused,
    /// and the error names the parameter.
    fn parameters(&self) -> Vec<(String, String)>;

    /// Returns the number of blocks.
    fn blocks(&self) -> u32;

    /// Returns all blocks in a topological order of the block graph; the engine prefers earlier
    /// ones. Ascending by default.
    fn order(&self) -> Vec<BlockId> {
        BlockId::all(self.blocks()).collect()
    }

    /// Returns the length of a block's bitmap in 64-bit words, the same for every block.
    fn stream_words(&self) -> usize;

    /// Returns the edges whose target is `target`.
    fn edges_into(&self, target: BlockId) -> Vec<Edge>;

    /// Returns the edges whose source is `source`: the edges of
    /// [`edges_into`](Workload::edges_into), seen from the other end. By default it searches those
    /// of every block.
    fn edges_from(&self, source: BlockId) -> Vec<Edge> {
        let all = BlockId::all(self.blocks()).flat_map(|target| self.edges_into(target));
        all.filter(|edge| edge.source == source).collect()
    }

    /// Prepares the zeroed bitmap of a block before any update. By default it stays zero.
    fn begin(&self, block: BlockId, bitmap: &mut [u64]) {
        let _ = (block, bitmap);
    }

    /// Writes `stream` in orientation `orientation`, without the part that `restriction` excludes,
    /// into every word of `oriented`.
    ///
    /// Orientation 0 changes nothing and restriction 0 excludes nothing: with both, `oriented` is a
    /// copy. The source orients and restricts an entry for one target; each target
    /// [orients](Workload::orient_needed) a shared entry. A restriction only saves space in the
    /// logs: [`apply`](Workload::apply) must give the same result with and without the excluded
    /// bits.
    ///
    /// The default copies, for workloads whose edges all have orientation 0.
    ///
    /// # Panics
    /// The default panics if `orientation` is not 0.
    fn orient(&self, orientation: u8, restriction: u64, stream: &[u64], oriented: &mut [u64]) {
        let _ = restriction;
        assert_eq!(orientation, 0, "a workload whose edges have orientations says how a stream is oriented");
        oriented.copy_from_slice(stream);
    }

    /// Returns the words of the source's stream that `edge` does not need from a shared entry:
    /// those whose number has a bit of this mask. They can have any value when the stream is
    /// oriented and applied, so the result must not depend on them. By default 0: every word is
    /// needed.
    fn unneeded(&self, edge: &Edge) -> u64 {
        let _ = edge;
        0
    }

    /// Writes the stream of a shared entry in the orientation of `edge`. Words that
    /// [`apply`](Workload::apply) ignores can be left unwritten. By default,
    /// [`orient`](Workload::orient) without a restriction.
    fn orient_needed(&self, edge: &Edge, stream: &[u64], oriented: &mut [u64]) {
        self.orient(edge.orientation, 0, stream, oriented);
    }

    /// Applies the operations of `edge` to the target's bitmap; `stream` already has the edge's
    /// orientation. It must only set bits, and must not read bits that another edge can set.
    fn apply(&self, edge: &Edge, stream: &[u64], bitmap: &mut [u64]);

    /// Does what [`begin`](Workload::begin) and then [`apply`](Workload::apply) do to a zeroed
    /// bitmap, but on a `bitmap` with any contents.
    fn apply_first(&self, edge: &Edge, stream: &[u64], bitmap: &mut [u64]) {
        bitmap.fill(0);
        self.begin(edge.target, bitmap);
        self.apply(edge, stream, bitmap);
    }

    /// Returns whether streams can be applied frame by frame while they are decoded and still in
    /// the cache ([`apply_frame`](Workload::apply_frame)). By default false.
    fn applies_frames(&self) -> bool {
        false
    }

    /// Does what [`apply`](Workload::apply) does for the words of frame `frame`, of
    /// [`FRAME_WORDS`](crate::codec::FRAME_WORDS) words each. All frames that the edge needs, in
    /// any order, have the same effect as `apply`. Called if
    /// [`applies_frames`](Workload::applies_frames).
    ///
    /// # Panics
    /// The default panics.
    fn apply_frame(&self, edge: &Edge, frame: usize, words: &[u64], bitmap: &mut [u64]) {
        let _ = (edge, frame, words, bitmap);
        unreachable!("a workload that applies frames says how");
    }

    /// Turns the fully updated bitmap of `block` into its stream, in place.
    fn finish(&self, block: BlockId, bitmap: &mut [u64]);

    /// Returns an auditor of a block if the block is to be audited; by default none is.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], or [`Error::Workload`] if the workload contradicts itself.
    fn audit(&self, block: BlockId) -> Result<Option<Box<dyn Auditor + '_>>, Error> {
        let _ = block;
        Ok(None)
    }

    /// Returns the memory of the auditors, and how many blocks have one. By default no memory.
    fn auditors(&self) -> Auditors {
        Auditors::default()
    }

    /// Returns a short summary of a finished block, which the engine keeps in its journal (at most
    /// 64 KiB). Empty by default.
    fn summarise(&self, block: BlockId, stream: &[u64]) -> Vec<u8> {
        let _ = (block, stream);
        Vec::new()
    }

    /// Returns the file to keep for a finished block, if any. The same block must always return the
    /// same bytes.
    ///
    /// By default, the words of the stream in little-endian order, in `db/BBBBBBBB.stream`, where
    /// `BBBBBBBB` is the block's number in hexadecimal. A workload overrides this and
    /// [`recall`](Workload::recall) together.
    fn publish(&self, block: BlockId, stream: &[u64]) -> Option<Publication> {
        let bytes = stream.iter().flat_map(|word| word.to_le_bytes()).collect();
        Some(Publication { name: format!("{:08x}.stream", block.0), bytes })
    }

    /// Returns whether a file of this name in the `db` folder belongs to the run: a name from
    /// [`publish`](Workload::publish), or of a file that the caller keeps there. A sweep removes,
    /// and a check reports, only such files. By default, the names of the default `publish`.
    fn owns(&self, name: &str) -> bool {
        let number = name.strip_suffix(".stream").and_then(|number| u32::from_str_radix(number, 16).ok());
        number.is_some_and(|number| name == format!("{number:08x}.stream"))
    }

    /// Inverts [`publish`](Workload::publish): reads the stream of a block (every word of it) back
    /// from its published file. Repair recomputes damaged logs and files from it, and
    /// [`FinishedRun::stream`](crate::FinishedRun::stream) returns it.
    ///
    /// # Errors
    /// Returns [`RecallError`] if this block cannot have published the file.
    fn recall(&self, block: BlockId, published: &[u8], stream: &mut [u64]) -> Result<(), RecallError> {
        let _ = block;
        let (words, rest) = published.as_chunks::<8>();
        if words.len() != stream.len() || !rest.is_empty() {
            let what = format!("{} bytes in place of {} words", published.len(), stream.len());
            return Err(RecallError { offset: None, damage: what.into() });
        }
        stream.iter_mut().zip(words).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
        Ok(())
    }

    /// Returns whether the published file of every block holds its whole stream in a form as fast
    /// to read as a log. If so, no shared logs are written: targets
    /// [`recall_needed`](Workload::recall_needed) the stream from the file. By default false.
    fn publishes_streams(&self) -> bool {
        false
    }

    /// Reads the stream of a block back, like [`recall`](Workload::recall), for edges that do not
    /// need all of it. `unneeded` has the mask of each edge ([`unneeded`](Workload::unneeded));
    /// words whose number has a bit of every mask can be left as they are. Returns the ranges of
    /// words that were left out for this reason, ascending. By default nothing is left out.
    ///
    /// # Errors
    /// Returns [`RecallError`] if this block cannot have published the file.
    fn recall_needed(
        &self,
        block: BlockId,
        published: &[u8],
        unneeded: &[u64],
        stream: &mut [u64],
    ) -> Result<Vec<Range<usize>>, RecallError> {
        let _ = unneeded;
        self.recall(block, published, stream)?;
        Ok(Vec::new())
    }

    /// Decodes a published file as far as possible, for a thorough check; `stream` has room for a
    /// stream and any contents. By default [`recall`](Workload::recall); a workload that publishes
    /// less than the stream, and cannot recall it, overrides this.
    ///
    /// # Errors
    /// Returns [`RecallError`] if this block cannot have published the file.
    fn examine(&self, block: BlockId, published: &[u8], stream: &mut [u64]) -> Result<(), RecallError> {
        self.recall(block, published, stream)
    }
}

/// Why a published file cannot be read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallError {
    /// Offset of the damage in bytes; `None` for the whole file.
    pub offset: Option<u64>,
    /// What is wrong there.
    pub damage: Damage,
}
