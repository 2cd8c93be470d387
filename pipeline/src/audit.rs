//! The audit: states of a block, a sample or all, compared with the streams they depend on, by a
//! reader of these streams that shares nothing with the kernels.
//!
//! A worker asks the workload for an [`Auditor`] before it gathers a block, shows it every stream
//! as decoded, before the stream is turned or applied, and then the finished block. What the
//! auditor has not been shown when the block is finished, no update has used either.

use crate::codec::FRAME_WORDS;
use crate::ids::BlockId;
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// The stream of a source on its way into a target.
#[derive(Debug)]
pub struct SourceStream<'a> {
    /// The block that finished the stream.
    pub source: BlockId,
    /// The orientation of the words, in which the source wrote them for this target alone; `None`
    /// for a shared stream, in the source's own.
    pub orientation: Option<u8>,
    pub(crate) words: &'a [u64],
    /// The words of the frames that no edge needs and that were not decoded, ascending.
    pub(crate) skipped: &'a [Range<usize>],
}

impl<'a> SourceStream<'a> {
    /// Shows words that came from `source` in this orientation, but for those that were skipped.
    pub fn new(
        source: BlockId,
        orientation: Option<u8>,
        words: &'a [u64],
        skipped: &'a [Range<usize>],
    ) -> SourceStream<'a> {
        SourceStream { source, orientation, words, skipped }
    }

    /// Returns the words of the stream; those that were [skipped](Self::skipped) have no meaning.
    pub fn words(&self) -> &[u64] {
        self.words
    }

    /// Returns the ranges of words that were left out because no edge needs them, ascending.
    pub fn skipped(&self) -> &[Range<usize>] {
        self.skipped
    }

    /// Returns the XXH3 of each part of [`FRAME_WORDS`](crate::codec::FRAME_WORDS) words; `None` of
    /// one that begins with words that were skipped. It is here because this package is compiled
    /// in one unit, in which the hash is twice as fast.
    pub fn hashes(&self) -> Vec<Option<u64>> {
        let is_shown = |first: usize| !self.skipped.iter().any(|words| words.contains(&first));
        let parts = self.words.chunks(FRAME_WORDS).enumerate();
        parts.map(|(part, words)| is_shown(part * FRAME_WORDS).then(|| xxh3_64(bytemuck::cast_slice(words)))).collect()
    }

    /// Returns a bit of the stream; `None` in a frame that was skipped, because no edge needs it.
    ///
    /// # Panics
    /// Panics beyond the end of the stream.
    pub fn bit(&self, index: u64) -> Option<bool> {
        let word = (index / 64) as usize;
        let is_skipped = self.skipped.iter().any(|words| words.contains(&word));
        (!is_skipped).then(|| self.words[word] >> (index % 64) & 1 == 1)
    }
}

/// States of one block, as an independent account of the workload's rules sees them.
pub trait Auditor: Send {
    /// Looks at a stream that is about to update the block. Every stream passes at least once.
    fn see(&mut self, stream: &SourceStream<'_>);

    /// Compares the finished block with the streams that passed.
    ///
    /// # Errors
    /// The first contradiction, in words: the state, its value in the block, and the one that
    /// follows from the streams. It stops the run.
    fn judge(&mut self, finished: &[u64]) -> Result<(), String>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skipped_frame_has_no_bits() {
        let words = [1, 2, 4, 8];
        let skipped = [1..2, 3..4];
        let passing = SourceStream::new(BlockId(0), None, &words, &skipped);
        assert_eq!(
            [0, 1, 64, 65, 129, 130, 192].map(|bit| passing.bit(bit)),
            [Some(true), Some(false), None, None, Some(false), Some(true), None]
        );
    }
}
