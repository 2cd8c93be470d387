//! Streams of blocks that a task holds in memory, decoded, for the targets that will need them.
//!
//! # Invariants
//! 1. No more streams are held than the budget has room for. A stream that is in use is not put
//!    out, so that none is counted as free while it still takes memory. The memory of one that is
//!    put out is used for the next.
//! 2. Nothing here changes a byte: a stream that is not held is read and decoded again.
//! 3. What [`Streams::wants`] said yes to is awaited until [`Streams::settled`].

use pipeline::{Bitmap, BlockId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The streams, and who still needs them.
#[derive(Default)]
pub(super) struct Streams {
    /// Most streams at a time.
    most: usize,
    /// Whether streams stay for later tasks.
    keeps: bool,
    held: BTreeMap<BlockId, Held>,
    /// Streams that somebody is decoding to hold them.
    awaited: BTreeSet<BlockId>,
    /// By block: how many blocks of the tasks at hand that are not done need its stream.
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
    /// Its targets that were done since it is held.
    done: usize,
}

impl Streams {
    /// Returns room for this many streams; with `keeps`, they stay when the tasks at hand no longer
    /// need them, until others need the room.
    pub(super) fn new(most: usize, keeps: bool) -> Streams {
        Streams { most, keeps, ..Streams::default() }
    }

    /// Begins a task: these blocks are needed, each by this many of its own.
    pub(super) fn begin(&mut self, needs: BTreeMap<BlockId, usize>) {
        self.needs.retain(|_, left| *left > 0);
        for (block, more) in needs {
            *self.needs.entry(block).or_default() += more;
        }
    }

    /// Takes room for at most this many bitmaps away from the streams, and returns for how many,
    /// with memory that was used for some of them. Streams that nobody uses make room.
    pub(super) fn reserve(&mut self, wanted: usize) -> (usize, Vec<Bitmap>) {
        while self.held.len() + wanted > self.most
            && let Some(oldest) = self.oldest()
        {
            self.put_out(oldest);
        }
        let granted = wanted.min(self.most.saturating_sub(self.held.len()));
        self.most -= granted;
        let used = self.spare.split_off(self.spare.len().saturating_sub(granted));
        self.spare.truncate(self.most.saturating_sub(self.held.len()));
        (granted, used)
    }

    /// Gives room and memory back to the streams.
    pub(super) fn give_back(&mut self, granted: usize, used: Vec<Bitmap>) {
        self.most += granted;
        self.spare.extend(used);
    }

    /// Returns whether a stream is held.
    pub(super) fn has(&self, block: BlockId) -> bool {
        self.held.contains_key(&block)
    }

    /// Returns whether somebody is decoding a stream to hold it.
    pub(super) fn is_awaited(&self, block: BlockId) -> bool {
        self.awaited.contains(&block)
    }

    /// Notes that a stream which was awaited is held, or will not come.
    pub(super) fn settled(&mut self, block: BlockId) {
        self.awaited.remove(&block);
    }

    /// Returns a stream that is held, and notes its use.
    pub(super) fn get(&mut self, block: BlockId) -> Option<Arc<Bitmap>> {
        self.clock += 1;
        let held = self.held.get_mut(&block)?;
        held.used = self.clock;
        Some(Arc::clone(&held.stream))
    }

    /// Returns whether the stream of a block, which one target is about to decode, should be held:
    /// another target needs it, or may. If so, it is awaited.
    pub(super) fn wants(&mut self, block: BlockId) -> bool {
        let is_needed = self.keeps || self.needs.get(&block).is_some_and(|needs| *needs > 1);
        let wants = is_needed && self.has_room();
        if wants {
            self.awaited.insert(block);
        }
        wants
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
    /// the tasks at hand do not need.
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
        self.held.insert(block, Held { stream, used: self.clock, done: 0 });
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

    /// Notes that a target is done, by its sources, each with the number of its targets. A stream
    /// that no task can need any more makes room at once: memory that was used costs less than
    /// memory that the system has yet to give.
    pub(super) fn release(&mut self, sources: impl IntoIterator<Item = (BlockId, usize)>) {
        for (source, targets) in sources {
            let left = self.needs.get_mut(&source).map_or(0, |left| {
                *left = left.saturating_sub(1);
                *left
            });
            let is_done = self.held.get_mut(&source).is_some_and(|held| {
                held.done += 1;
                held.done >= targets
            });
            if left == 0 && (is_done || !self.keeps) {
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

    /// Many targets each, so that none is the last.
    fn sources(blocks: &[u32]) -> impl Iterator<Item = (BlockId, usize)> {
        blocks.iter().map(|block| (BlockId(*block), 9))
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
        streams.release(sources(&[2, 3]));
        assert_eq!(held(&streams), [2, 3]);
        streams.release(sources(&[2, 3]));
        assert_eq!(held(&streams), [3]);
        assert!(streams.spare().is_some() && streams.spare().is_none());
        assert!(streams.get(BlockId(3)).is_some() && streams.get(BlockId(2)).is_none());
    }

    #[test]
    fn streams_make_room_unless_somebody_uses_them() {
        let mut streams = Streams::new(5, true);
        for block in [1, 2, 3] {
            streams.hold(BlockId(block), stream());
        }
        let reserved = |streams: &mut Streams, wanted| {
            let (granted, memory) = streams.reserve(wanted);
            (granted, memory.len(), held(streams))
        };
        assert_eq!(reserved(&mut streams, 2), (2, 0, vec![1, 2, 3]));
        let used = streams.get(BlockId(1));
        assert_eq!(reserved(&mut streams, 9), (2, 2, vec![1]));
        assert!(streams.spare().is_none() && !streams.wants(BlockId(2)));
        assert_eq!(reserved(&mut streams, 9), (0, 0, vec![1]));
        drop(used);
        assert_eq!(reserved(&mut streams, 9), (1, 1, vec![]));
        streams.give_back(5, vec![Bitmap::zeroed(64).unwrap(), Bitmap::zeroed(64).unwrap()]);
        assert!(streams.wants(BlockId(2)));
        // Memory that was used is for streams, or for who takes room next.
        assert!(streams.spare().is_some());
        assert_eq!(reserved(&mut streams, 3), (3, 1, vec![]));
    }

    #[test]
    fn tasks_at_the_same_time_need_what_each_of_them_needs() {
        let mut streams = Streams::new(1, false);
        streams.begin(needs(&[(1, 1)]));
        assert!(!streams.wants(BlockId(1)) && !streams.is_awaited(BlockId(1)));
        streams.begin(needs(&[(1, 1), (2, 2)]));
        assert!(streams.wants(BlockId(1)) && streams.is_awaited(BlockId(1)) && !streams.has(BlockId(1)));
        streams.hold(BlockId(1), stream());
        streams.settled(BlockId(1));
        assert!(streams.has(BlockId(1)) && !streams.is_awaited(BlockId(1)));
        streams.release(sources(&[1]));
        assert!(streams.has(BlockId(1)) && !streams.wants(BlockId(2)));
        streams.release(sources(&[1]));
        assert!(!streams.has(BlockId(1)) && streams.wants(BlockId(2)));
    }

    #[test]
    fn a_stream_goes_with_its_last_target() {
        let mut streams = Streams::new(9, true);
        streams.hold(BlockId(1), stream());
        streams.begin(needs(&[(1, 1)]));
        streams.release([(BlockId(1), 2), (BlockId(2), 1)]);
        assert!(streams.has(BlockId(1)) && streams.spare().is_none());
        // Another task at hand needs it all the same.
        streams.begin(needs(&[(1, 2)]));
        streams.release([(BlockId(1), 2)]);
        assert!(streams.has(BlockId(1)));
        streams.release([(BlockId(1), 2)]);
        assert!(!streams.has(BlockId(1)) && streams.spare().is_some());
    }

    #[test]
    fn many_tasks_hold_what_was_used_last() {
        let mut streams = Streams::new(2, true);
        for block in [1, 2] {
            streams.begin(needs(&[(block, 1)]));
            assert!(streams.wants(BlockId(block)));
            streams.hold(BlockId(block), stream());
            streams.release(sources(&[block]));
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
        streams.begin(needs(&[(1, 1)]));
        streams.put_out(BlockId(1));
        assert!(streams.spare().is_none() && used.is_some());
        drop(used);
        streams.hold(BlockId(4), stream());
        streams.hold(BlockId(5), stream());
        assert_eq!(held(&streams), [3, 5]);
        assert!(streams.spare().is_some());
        let mut none = Streams::new(0, true);
        assert!(!none.wants(BlockId(1)));
        none.hold(BlockId(1), stream());
        assert_eq!(held(&none), [0_u32; 0]);
    }
}
