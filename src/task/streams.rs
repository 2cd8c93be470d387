//! Streams of blocks that a process which computes task after task holds in memory, decoded, for
//! the targets that will need them.
//!
//! Nobody says which tasks come, but where these are blocks alone, the driver takes them in the
//! order of the blocks as far as it can. So a stream's next use is taken to be its first target
//! behind the task that began last, and the stream whose next use is furthest away makes room.
//!
//! # Invariants
//! 1. No more streams are held or awaited than there is room for. One that is in use does not make
//!    room: its memory is not free yet ([`Bitmaps`](pipeline::care::bitmaps) counts it).
//! 2. Nothing here changes a byte: a stream that is not held is read and decoded again.

use pipeline::BlockId;
use pipeline::care::bitmaps::PooledBitmap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The streams, and who still needs them.
pub(super) struct Streams {
    /// Most streams at a time.
    at_most: usize,
    held: BTreeMap<BlockId, HeldStream>,
    /// Streams that a thread is decoding to hold them.
    awaited: BTreeSet<BlockId>,
    /// The place in the order of the blocks of the task that began last.
    front: u32,
}

struct HeldStream {
    stream: Arc<PooledBitmap>,
    /// The places in the order of the blocks, ascending, of its targets that are not done.
    targets: Vec<u32>,
}

impl Streams {
    pub(super) fn new(at_most: usize) -> Streams {
        Streams { at_most, held: BTreeMap::new(), awaited: BTreeSet::new(), front: 0 }
    }

    /// Begins a task at this place in the order of the blocks.
    pub(super) fn begin(&mut self, front: u32) {
        self.front = front;
    }

    /// Takes room for at most this many bitmaps away from the streams, and returns for how many.
    /// Streams that no thread uses make room.
    pub(super) fn reserve(&mut self, wanted: usize) -> usize {
        while self.count() + wanted > self.at_most
            && let Some(least) = self.least()
        {
            self.held.remove(&least);
        }
        assert!(self.count() <= self.at_most, "held streams, invariant 1: {} have no room", self.count());
        let reserved = wanted.min(self.at_most - self.count());
        self.at_most -= reserved;
        reserved
    }

    /// Gives room back to the streams.
    pub(super) fn give_back(&mut self, reserved: usize) {
        self.at_most += reserved;
    }

    /// Returns whether there is no room for any stream.
    pub(super) fn is_closed(&self) -> bool {
        self.at_most == 0
    }

    pub(super) fn has(&self, block: BlockId) -> bool {
        self.held.contains_key(&block)
    }

    pub(super) fn get(&self, block: BlockId) -> Option<Arc<PooledBitmap>> {
        self.held.get(&block).map(|held| Arc::clone(&held.stream))
    }

    /// Returns whether there is room for a stream with these targets. If it is used no later than
    /// the one that makes room, that goes.
    pub(super) fn make_room(&mut self, targets: &[u32]) -> bool {
        if targets.is_empty() || self.count() < self.at_most {
            return !targets.is_empty();
        }
        let least = self.least().filter(|least| self.next(targets) <= self.next(&self.held[least].targets));
        least.is_some_and(|least| self.held.remove(&least).is_some())
    }

    /// Holds a stream with these targets; there is room for it.
    pub(super) fn hold(&mut self, block: BlockId, stream: Arc<PooledBitmap>, targets: Vec<u32>) {
        self.awaited.remove(&block);
        // One that is held already stays, because it may be in use.
        self.held.entry(block).or_insert(HeldStream { stream, targets });
        assert!(self.count() <= self.at_most, "held streams, invariant 1: {block} has no room");
    }

    /// Notes that a thread decodes a stream to hold it; there is room for it.
    pub(super) fn expect(&mut self, block: BlockId) {
        self.awaited.insert(block);
        assert!(self.count() <= self.at_most, "held streams, invariant 1: {block} has no room");
    }

    /// Returns whether a thread is decoding a stream to hold it.
    pub(super) fn is_awaited(&self, block: BlockId) -> bool {
        self.awaited.contains(&block)
    }

    /// Notes that a stream which was awaited is held, or will not come.
    pub(super) fn settle(&mut self, block: BlockId) {
        self.awaited.remove(&block);
    }

    /// Notes that the block at a place is done. A stream without further targets makes room at
    /// once: memory that was used costs less than memory that the system has yet to give.
    pub(super) fn release(&mut self, place: u32) {
        self.held.retain(|_, held| {
            held.targets.retain(|target| *target != place);
            !held.targets.is_empty() || Arc::strong_count(&held.stream) > 1
        });
    }

    /// Returns how many streams are held or awaited.
    fn count(&self) -> usize {
        self.held.len() + self.awaited.len()
    }

    /// Returns the first of some targets behind the task that began last.
    fn next(&self, targets: &[u32]) -> u32 {
        targets.get(targets.partition_point(|target| *target <= self.front)).copied().unwrap_or(u32::MAX)
    }

    /// Returns the stream that makes room: of those that no thread uses, the one whose next use is
    /// furthest away.
    fn least(&self) -> Option<BlockId> {
        let free = self.held.iter().filter(|(_, held)| Arc::strong_count(&held.stream) == 1);
        free.max_by_key(|(_, held)| self.next(&held.targets)).map(|(block, _)| *block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipeline::care::bitmaps::Bitmaps;

    /// Streams, and the bitmaps for them.
    struct Test {
        streams: Streams,
        bitmaps: Bitmaps,
    }

    impl Test {
        fn new(at_most: usize) -> Test {
            Test { streams: Streams::new(at_most), bitmaps: Bitmaps::new(64, at_most) }
        }

        /// Holds a stream if there is room; returns what is held then.
        fn hold(&mut self, block: u32, targets: &[u32]) -> Vec<u32> {
            if self.streams.make_room(targets) {
                self.streams.hold(BlockId(block), Arc::new(self.bitmaps.take().unwrap()), targets.to_vec());
            }
            self.held()
        }

        fn held(&self) -> Vec<u32> {
            self.streams.held.keys().map(|block| block.0).collect()
        }
    }

    #[test]
    fn streams_make_room_unless_a_thread_uses_them() {
        let mut test = Test::new(5);
        for block in [1, 2, 3] {
            test.hold(block, &[9]);
        }
        assert_eq!((test.streams.reserve(2), test.held()), (2, vec![1, 2, 3]));
        let used = test.streams.get(BlockId(1));
        assert_eq!((test.streams.reserve(9), test.held()), (2, vec![1]));
        assert!(!test.streams.make_room(&[1]));
        assert_eq!((test.streams.reserve(9), test.held()), (0, vec![1]));
        drop(used);
        assert_eq!((test.streams.reserve(9), test.held()), (1, vec![]));
        test.streams.give_back(5);
        assert_eq!(test.hold(2, &[1]), [2]);
    }

    #[test]
    fn what_is_awaited_takes_room() {
        let mut test = Test::new(2);
        test.streams.expect(BlockId(1));
        assert!(test.streams.is_awaited(BlockId(1)) && !test.streams.has(BlockId(1)));
        assert_eq!(test.hold(2, &[9]), [2]);
        let used = test.streams.get(BlockId(2));
        assert!(!test.streams.make_room(&[1]));
        assert_eq!(test.streams.reserve(1), 0);
        // It did not come.
        test.streams.settle(BlockId(1));
        assert_eq!(test.hold(3, &[1]), [2, 3]);
        assert!(used.is_some() && !test.streams.is_awaited(BlockId(1)));
    }

    #[test]
    fn what_is_used_last_makes_room_and_what_is_used_later_finds_none() {
        let mut test = Test::new(2);
        test.streams.begin(4);
        test.hold(1, &[2, 9]);
        test.hold(2, &[4, 8]);
        assert_eq!(test.hold(3, &[3, 10]), [1, 2]);
        assert_eq!(test.hold(5, &[5]), [2, 5]);
        // Behind the task at place 5, nothing needs block 5.
        test.streams.begin(5);
        assert_eq!(test.hold(6, &[7]), [2, 6]);
        assert_eq!(test.hold(7, &[]), [2, 6]);
        let mut none = Test::new(0);
        assert_eq!(none.hold(1, &[1]), [0; 0]);
    }

    #[test]
    fn a_stream_goes_with_its_last_target() {
        let mut test = Test::new(9);
        test.hold(1, &[3, 5]);
        test.hold(2, &[5, 6]);
        test.streams.release(3);
        assert_eq!(test.held(), [1, 2]);
        let used = test.streams.get(BlockId(1));
        test.streams.release(5);
        assert_eq!(test.held(), [1, 2]);
        drop(used);
        test.streams.release(7);
        assert_eq!(test.held(), [2]);
    }
}
