//! Streams of blocks that a task holds in memory, decoded, for the targets that will need them.
//!
//! # Invariants
//! 1. No more streams are held than the budget has room for. A stream that is in use is not put
//!    out, so that none is counted as free while it still takes memory. The memory of one that is
//!    put out is used for the next.
//! 2. Nothing here changes a byte: a stream that is not held is read and decoded again.

use pipeline::{Bitmap, BlockId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The streams, and who still needs them.
#[derive(Default)]
pub(super) struct Streams {
    /// Most streams at a time.
    most: usize,
    /// Whether streams stay for later tasks.
    keeps: bool,
    held: BTreeMap<BlockId, Held>,
    /// By block: how many blocks of the task at hand that are not done need its stream.
    needs: BTreeMap<BlockId, usize>,
    /// Memory of streams that were put out.
    spare: Vec<Bitmap>,
    /// Counts the uses.
    clock: u64,
}

struct Held {
    stream: Arc<Bitmap>,
    /// When it was used last.
    used: u64,
}

impl Streams {
    /// Returns room for so many streams; with `keeps`, they stay when the task at hand no longer
    /// needs them, until others need the room.
    pub(super) fn new(most: usize, keeps: bool) -> Streams {
        Streams { most, keeps, ..Streams::default() }
    }

    /// Begins a task: these blocks are needed by so many of its own.
    pub(super) fn begin(&mut self, needs: BTreeMap<BlockId, usize>) {
        self.needs = needs;
    }

    /// Returns a stream that is held, and notes its use.
    pub(super) fn get(&mut self, block: BlockId) -> Option<Arc<Bitmap>> {
        self.clock += 1;
        let held = self.held.get_mut(&block)?;
        held.used = self.clock;
        Some(Arc::clone(&held.stream))
    }

    /// Returns whether the stream of a block, which one target is about to decode, should be held:
    /// another target needs it, or may.
    pub(super) fn wants(&self, block: BlockId) -> bool {
        let is_needed = self.keeps || self.needs.get(&block).is_some_and(|needs| *needs > 1);
        is_needed && self.has_room()
    }

    /// Returns whether the stream of a block that was just computed should be held.
    pub(super) fn wants_own(&self, block: BlockId) -> bool {
        let is_needed = self.keeps || self.needs.get(&block).is_some_and(|needs| *needs > 0);
        is_needed && self.has_room()
    }

    fn has_room(&self) -> bool {
        self.held.len() < self.most || self.oldest().is_some()
    }

    /// Returns the stream that was used the longest time ago, among those that nobody uses and that
    /// the task at hand does not need.
    fn oldest(&self) -> Option<BlockId> {
        let is_free = |block: &BlockId, held: &Held| {
            Arc::strong_count(&held.stream) == 1 && self.needs.get(block).is_none_or(|needs| *needs == 0)
        };
        let free = self.held.iter().filter(|(block, held)| is_free(block, held));
        free.min_by_key(|(_, held)| held.used).map(|(block, _)| *block)
    }

    /// Holds a stream, if there is room by now.
    pub(super) fn hold(&mut self, block: BlockId, stream: Arc<Bitmap>) {
        if self.held.len() >= self.most && !self.held.contains_key(&block) {
            match self.oldest() {
                Some(oldest) => self.put_out(oldest),
                None => return,
            }
        }
        self.clock += 1;
        self.held.insert(block, Held { stream, used: self.clock });
    }

    /// Puts out a stream. If somebody still reads it, its memory goes with them.
    fn put_out(&mut self, block: BlockId) {
        let stream = self.held.remove(&block).map(|held| held.stream);
        self.spare.extend(stream.and_then(Arc::into_inner));
    }

    /// Returns the memory of a stream that was put out.
    pub(super) fn spare(&mut self) -> Option<Bitmap> {
        self.spare.pop()
    }

    /// Notes that a target with these sources is done.
    pub(super) fn release(&mut self, sources: impl IntoIterator<Item = BlockId>) {
        for source in sources {
            let left = self.needs.get_mut(&source).map(|left| {
                *left = left.saturating_sub(1);
                *left
            });
            if left == Some(0) && !self.keeps {
                self.put_out(source);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Arc<Bitmap> {
        Arc::new(Bitmap::zeroed(64).unwrap())
    }

    fn held(streams: &Streams) -> Vec<u32> {
        streams.held.keys().map(|block| block.0).collect()
    }

    fn needs(needs: &[(u32, usize)]) -> BTreeMap<BlockId, usize> {
        needs.iter().map(|(block, needs)| (BlockId(*block), *needs)).collect()
    }

    #[test]
    fn one_task_holds_what_it_needs_again_and_nothing_else() {
        let mut streams = Streams::new(2, false);
        streams.begin(needs(&[(1, 1), (2, 2), (3, 3), (4, 2)]));
        // Its only target is the one that decodes it.
        assert!(!streams.wants(BlockId(1)) && streams.wants_own(BlockId(1)) && !streams.wants_own(BlockId(9)));
        for block in [2, 3, 4] {
            assert_eq!(streams.wants(BlockId(block)), block < 4);
            streams.hold(BlockId(block), stream());
        }
        assert_eq!(held(&streams), [2, 3]);
        streams.release([2, 3].map(BlockId));
        assert_eq!(held(&streams), [2, 3]);
        streams.release([2, 3].map(BlockId));
        assert_eq!(held(&streams), [3]);
        assert!(streams.spare().is_some() && streams.spare().is_none());
        assert!(streams.get(BlockId(3)).is_some() && streams.get(BlockId(2)).is_none());
    }

    #[test]
    fn many_tasks_hold_what_was_used_last() {
        let mut streams = Streams::new(2, true);
        for block in [1, 2] {
            streams.begin(needs(&[(block, 1)]));
            assert!(streams.wants(BlockId(block)));
            streams.hold(BlockId(block), stream());
            streams.release([BlockId(block)]);
        }
        assert!(streams.get(BlockId(1)).is_some());
        streams.hold(BlockId(3), stream());
        assert_eq!(held(&streams), [1, 3]);
        // What is in use, or needed, stays.
        let used = streams.get(BlockId(1));
        streams.begin(needs(&[(3, 1)]));
        assert!(!streams.wants(BlockId(4)) && !streams.wants_own(BlockId(4)));
        streams.hold(BlockId(4), stream());
        assert_eq!(held(&streams), [1, 3]);
        while streams.spare().is_some() {}
        streams.begin(needs(&[(3, 1), (1, 1)]));
        streams.put_out(BlockId(1));
        assert!(streams.spare().is_none() && used.is_some());
        drop(used);
        streams.hold(BlockId(4), stream());
        streams.begin(needs(&[(3, 1)]));
        streams.hold(BlockId(5), stream());
        assert_eq!(held(&streams), [3, 5]);
        assert!(streams.spare().is_some());
        let mut none = Streams::new(0, true);
        assert!(!none.wants(BlockId(1)));
        none.hold(BlockId(1), stream());
        assert_eq!(held(&none), [0_u32; 0]);
    }
}
