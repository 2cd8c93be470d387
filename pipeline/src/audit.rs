//! The audit: compares the states of a block with the streams that they depend on. The reader of
//! these streams shares nothing with the kernels.
//!
//! A worker asks the workload for an [`Auditor`] before it gathers a block. It shows the auditor
//! each decoded stream before orienting it, and then the finished block. The auditor therefore sees
//! every stream that an update uses. Updates without orientation may have used it already.
//!
//! Auditors see streams in the orientation of the source. The source of a dedicated log has already
//! oriented it, so an audited block with such a log ends the run ([`Error::Workload`]).
//!
//! [`Error::Workload`]: crate::Error::Workload

use crate::codec::FRAME_WORDS;
use crate::ids::BlockId;
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// The auditors of a workload's blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Auditors {
    /// The memory of one auditor, in bytes.
    pub bytes: u64,
    /// Whether every block has an auditor. If so, memory is set aside for each worker; otherwise
    /// the few auditors borrow it from the writer's queue.
    pub are_everywhere: bool,
}

/// The stream of a source, which updates a target.
#[derive(Debug)]
pub struct SourceStream<'a> {
    /// The block that finished the stream.
    pub source: BlockId,
    /// The words of the stream. [Skipped](Self::skipped) words have no meaning.
    pub words: &'a [u64],
    /// The ranges of words that no edge needs and that were not decoded, ascending.
    pub skipped: &'a [Range<usize>],
}

impl<'a> SourceStream<'a> {
    /// Wraps words that came from `source`, except those that were skipped.
    pub fn new(source: BlockId, words: &'a [u64], skipped: &'a [Range<usize>]) -> SourceStream<'a> {
        SourceStream { source, words, skipped }
    }

    /// Returns the XXH3 of each part of [`FRAME_WORDS`](crate::codec::FRAME_WORDS) words, or `None`
    /// for a part that begins with skipped words. It is computed here because this package is
    /// compiled as one unit, in which the hash is twice as fast.
    pub fn hashes(&self) -> Vec<Option<u64>> {
        let is_shown = |first: usize| !self.skipped.iter().any(|words| words.contains(&first));
        let parts = self.words.chunks(FRAME_WORDS).enumerate();
        parts.map(|(part, words)| is_shown(part * FRAME_WORDS).then(|| xxh3_64(bytemuck::cast_slice(words)))).collect()
    }
}

/// The states of one block, derived from the workload's rules independently of the kernels.
pub trait Auditor: Send {
    /// Takes in a stream that updates the block; each stream passes once. `spare` has
    /// the same length and any contents, and can be overwritten.
    fn see(&mut self, stream: &SourceStream<'_>, spare: &mut [u64]);

    /// Compares the finished block with the streams that passed.
    ///
    /// # Errors
    /// The first contradiction, in words: the state, its value in the block, and the value that
    /// follows from the streams. It stops the run.
    fn judge(&mut self, finished: &[u64]) -> Result<(), String>;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each part has a hash of its own words, and one that was skipped has none.
    #[test]
    fn each_part_has_its_hash() {
        let mut words = vec![0; 3 * FRAME_WORDS];
        let hashes = |words: &[u64], skipped: &[Range<usize>]| SourceStream::new(BlockId(0), words, skipped).hashes();
        let empty = hashes(&words, &[]);
        assert!(empty.len() == 3 && empty.iter().all(Option::is_some));
        for part in 0..3 {
            words[(part + 1) * FRAME_WORDS - 1] ^= 1;
            let found = hashes(&words, &[]);
            assert!((0..3).all(|other| (found[other] == empty[other]) == (other != part)), "{part}");
            let skipped = part * FRAME_WORDS..(part + 1) * FRAME_WORDS;
            let expected: Vec<_> = (0..3).map(|other| empty[other].filter(|_| other != part)).collect();
            assert_eq!(hashes(&words, &[skipped]), expected);
            words[(part + 1) * FRAME_WORDS - 1] ^= 1;
        }
    }
}
