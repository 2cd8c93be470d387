//! Finished streams that stay in memory for the blocks that still need them.
//!
//! The order of the blocks is known, and with it the next use of every stream. If there is no room,
//! the stream whose next use is furthest away is evicted (Belady, 1966).
//!
//! Share of all streams found in memory, one worker, by the walk of the block graph:
//!
//! | blocks | streams needed at a time | held | evict furthest use | evict least recent use |
//! |---|---|---|---|---|
//! | 8 layers, 104 of 16 MiB | 50 | 16 | 0.76 | 0.57 |
//! | 8 layers, 752 of 2 MiB | 337 | 32 | 0.60 | 0.37 |
//! | 9 layers, 5,728 of 128 MiB | 2,246 | 16 | 0.31 | 0.10 |
//! | 9 layers, 5,728 of 128 MiB | 2,246 | 50 | 0.46 | 0.24 |
//! | 9 layers, 5,728 of 128 MiB | 2,246 | 200 | 0.66 | 0.46 |
//!
//! # Invariants
//! 1. No more streams are held than there is room for. A stream in use is not evicted: its memory
//!    is not free yet.
//! 2. A held stream is the finished stream of its block, every word of it.
//! 3. Only time depends on what is held: every stream can be read and decoded again.

use crate::bitmaps::PooledBitmap;
use crate::ids::BlockId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Streams, and the blocks that still need them.
pub struct StreamCache {
    /// Most streams at a time.
    at_most: usize,
    held: BTreeMap<BlockId, HeldStream>,
    /// The first place in the order of the blocks at which a use is expected.
    front: u32,
}

struct HeldStream {
    bitmap: Arc<PooledBitmap>,
    /// The places in the order of its targets that are not done, ascending.
    targets: Vec<u32>,
}

impl StreamCache {
    /// Creates a cache with room for this many streams.
    pub fn new(at_most: usize) -> StreamCache {
        StreamCache { at_most, held: BTreeMap::new(), front: 0 }
    }

    /// Expects no use before this place in the order.
    pub fn advance(&mut self, front: u32) {
        self.front = front;
    }

    /// Takes away room for at most this many streams; returns for how many. Idle ones make room.
    pub fn reserve(&mut self, wanted: usize) -> usize {
        while self.count() + wanted > self.at_most
            && let Some(last) = self.last()
        {
            self.held.remove(&last);
        }
        self.check_room();
        let reserved = wanted.min(self.at_most - self.count());
        self.at_most -= reserved;
        reserved
    }

    /// Gives room back.
    pub fn give_back(&mut self, reserved: usize) {
        self.at_most += reserved;
    }

    /// Returns whether the stream of a block is held.
    pub fn has(&self, block: BlockId) -> bool {
        self.held.contains_key(&block)
    }

    /// Returns the stream of a block if it is held. It stays at least until it is dropped.
    pub fn get(&self, block: BlockId) -> Option<Arc<PooledBitmap>> {
        self.held.get(&block).map(|held| held.bitmap.clone())
    }

    /// Returns whether there is room for a stream with these targets, or a stream that is used
    /// later would make room. A stream without targets needs none.
    pub fn has_room(&self, targets: &[u32]) -> bool {
        let is_later = |last: BlockId| self.next(&self.held[&last].targets) > self.next(targets);
        !targets.is_empty() && (self.count() < self.at_most || self.last().is_some_and(is_later))
    }

    /// Makes room for a stream if [`has_room`](StreamCache::has_room), and returns whether it did.
    pub fn make_room(&mut self, targets: &[u32]) -> bool {
        let has_room = self.has_room(targets);
        if has_room
            && self.count() >= self.at_most
            && let Some(last) = self.last()
        {
            self.held.remove(&last);
        }
        has_room
    }

    /// Holds a stream with these targets, for which there is room. One that is held already stays.
    pub fn hold(&mut self, block: BlockId, bitmap: Arc<PooledBitmap>, targets: Vec<u32>) {
        self.held.entry(block).or_insert(HeldStream { bitmap, targets });
        self.check_room();
    }

    /// Records that the target at this place has used its `sources`. A stream that no target needs
    /// any longer goes; if a thread still uses it, it is the first to make room.
    pub fn release(&mut self, place: u32, sources: impl IntoIterator<Item = BlockId>) {
        for source in sources {
            let Some(held) = self.held.get_mut(&source) else { continue };
            held.targets.retain(|target| *target != place);
            if held.targets.is_empty() && Arc::strong_count(&held.bitmap) == 1 {
                self.held.remove(&source);
            }
        }
    }

    /// Returns how many streams are held.
    pub fn count(&self) -> usize {
        self.held.len()
    }

    /// Returns the first place at which one of these targets is expected to use a stream.
    fn next(&self, targets: &[u32]) -> u32 {
        targets.get(targets.partition_point(|target| *target < self.front)).copied().unwrap_or(u32::MAX)
    }

    /// Returns the stream that is used last, of those that no thread uses.
    fn last(&self) -> Option<BlockId> {
        let idle = self.held.iter().filter(|(_, held)| Arc::strong_count(&held.bitmap) == 1);
        idle.max_by_key(|(_, held)| self.next(&held.targets)).map(|(block, _)| *block)
    }

    fn check_room(&self) {
        let (streams, at_most) = (self.count(), self.at_most);
        assert!(streams <= at_most, "cache, invariant 1: {streams} streams with room for {at_most}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitmaps::Bitmaps;

    /// Holds a stream if there is room; returns what is held then.
    fn hold(cache: &mut StreamCache, block: u32, targets: &[u32]) -> Vec<u32> {
        if cache.make_room(targets) {
            cache.hold(BlockId(block), Arc::new(Bitmaps::new(1, 1).take().unwrap()), targets.to_vec());
        }
        held(cache)
    }

    fn held(cache: &StreamCache) -> Vec<u32> {
        cache.held.keys().map(|block| block.0).collect()
    }

    #[test]
    fn streams_make_room_unless_a_thread_uses_them() {
        let mut cache = StreamCache::new(5);
        for block in [1, 2, 3] {
            hold(&mut cache, block, &[9]);
        }
        assert_eq!((cache.reserve(2), held(&cache)), (2, vec![1, 2, 3]));
        let used = cache.get(BlockId(1));
        assert_eq!((cache.reserve(9), held(&cache)), (2, vec![1]));
        assert!(!cache.make_room(&[1]));
        assert_eq!((cache.reserve(9), held(&cache)), (0, vec![1]));
        drop(used);
        assert_eq!((cache.reserve(9), held(&cache)), (1, vec![]));
        assert_eq!(hold(&mut cache, 2, &[1]), [0; 0]);
        cache.give_back(5);
        assert_eq!(hold(&mut cache, 2, &[1]), [2]);
    }

    /// As for a stream that a thread is decoding.
    #[test]
    fn what_is_reserved_has_its_room() {
        let mut cache = StreamCache::new(2);
        assert!(cache.make_room(&[1]));
        assert_eq!(cache.reserve(1), 1);
        assert_eq!(hold(&mut cache, 2, &[9]), [2]);
        let used = cache.get(BlockId(2));
        assert!(!cache.has_room(&[1]) && !cache.make_room(&[1]));
        assert_eq!(cache.reserve(1), 0);
        cache.give_back(1);
        assert_eq!(hold(&mut cache, 3, &[1]), [2, 3]);
        assert!(used.is_some() && cache.has(BlockId(3)) && !cache.has(BlockId(1)));
    }

    #[test]
    fn what_is_used_last_makes_room_and_what_is_used_no_sooner_finds_none() {
        let mut cache = StreamCache::new(2);
        cache.advance(5);
        hold(&mut cache, 1, &[2, 9]);
        hold(&mut cache, 2, &[4, 8]);
        assert_eq!(hold(&mut cache, 3, &[3, 10]), [1, 2]);
        assert_eq!(hold(&mut cache, 4, &[9]), [1, 2]);
        assert_eq!(hold(&mut cache, 5, &[5]), [2, 5]);
        // Behind place 5, nothing needs block 5.
        cache.advance(6);
        assert_eq!(hold(&mut cache, 6, &[7]), [2, 6]);
        assert_eq!(hold(&mut cache, 7, &[]), [2, 6]);
        assert_eq!(hold(&mut StreamCache::new(0), 1, &[1]), [0; 0]);
    }

    #[test]
    fn a_stream_goes_with_its_last_target() {
        let mut cache = StreamCache::new(2);
        hold(&mut cache, 1, &[3, 5]);
        hold(&mut cache, 2, &[5, 6]);
        let release = |cache: &mut StreamCache, place: u32| {
            cache.release(place, [1, 2, 3].map(BlockId));
            held(cache)
        };
        assert_eq!(release(&mut cache, 3), [1, 2]);
        let used = cache.get(BlockId(1));
        assert_eq!(release(&mut cache, 5), [1, 2]);
        assert_eq!(release(&mut cache, 6), [1]);
        drop(used);
        assert_eq!(hold(&mut cache, 2, &[7]), [1, 2]);
        assert_eq!(hold(&mut cache, 3, &[8]), [2, 3]);
    }
}
