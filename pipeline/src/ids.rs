//! Typed numbers: blocks and runs.

use std::fmt;
use std::hash::{BuildHasher, RandomState};

/// Number of a block, in `0..Workload::blocks()`.
///
/// *Source*, *target* and *bucket* are roles of a block and use the same numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub u32);

impl BlockId {
    /// Returns the number as an index into a table with one entry per block.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the blocks `0..blocks` in ascending order.
    pub fn all(blocks: u32) -> impl DoubleEndedIterator<Item = BlockId> + ExactSizeIterator {
        BlockId::share(blocks, 0, 1)
    }

    /// Returns the blocks of share `index`, counted from 0, out of `of` shares of equal size. A
    /// share has consecutive blocks.
    pub fn share(blocks: u32, index: u32, of: u32) -> impl DoubleEndedIterator<Item = BlockId> + ExactSizeIterator {
        let bound = |index: u32| (u64::from(blocks) * u64::from(index) / u64::from(of.max(1))) as u32;
        (bound(index)..bound(index + 1)).map(BlockId)
    }
}

impl fmt::Display for BlockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Identity of a run. It salts every hash in its logs and affects no published byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub u128);

impl RunId {
    /// Returns a fresh identity.
    pub fn random() -> RunId {
        // The standard library keys its hash maps from the system's random numbers.
        let [high, low] = [0u8, 1].map(|half| RandomState::new().hash_one((half, std::process::id())));
        RunId(u128::from(high) << 64 | u128::from(low))
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
