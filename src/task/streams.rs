//! Streams of blocks that a task holds in memory, decoded, for the targets that will need them.
//!
//! A worker that computes task after task holds what it may need later. Nobody tells it which tasks
//! come, but where these are blocks alone, the driver takes them in the order of the blocks as far
//! as it can. So a stream's next use is taken to be its first target behind the task that began
//! last, and the stream whose next use is furthest away makes room. Of those without one, it is the
//! stream that was used the longest time ago.
//!
//! # Invariants
//! 1. No more streams are held than the budget has room for. A stream that is in use is not put
//!    out, so that none is counted as free while it still takes memory. The memory of one that is
//!    put out is used for the next.
//! 2. Nothing here changes a byte: a stream that is not held is read and decoded again.
//! 3. What [`Streams::wants`] said yes to is awaited until [`Streams::settled`].

use pipeline::{Bitmap, BlockId};
use std::cmp::Reverse;
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
    /// The place in the order of the blocks of the task that began last.
    front: u32,
}

struct Held {
    stream: Arc<Bitmap>,
    /// When it was used last.
    used: u64,
    /// The places of its targets in the order of the blocks, ascending; none if that is not known.
    targets: Vec<u32>,
    /// Its targets that were done since it is held.
    done: usize,
}

impl Streams {
    /// Returns room for this many streams; with `keeps`, they stay when the tasks at hand no longer
    /// need them, until others need the room.
    pub(super) fn new(most: usize, keeps: bool) -> Streams {
        Streams { most, keeps, ..Streams::default() }
    }

    /// Begins a task at this place in the order of the blocks: these blocks are needed, each by
    /// this many of its own.
    pub(super) fn begin(&mut self, front: u32, needs: BTreeMap<BlockId, usize>) {
        self.front = front;
        self.needs.retain(|_, left| *left > 0);
        for (block, more) in needs {
            *self.needs.entry(block).or_default() += more;
        }
    }

    /// Takes room for at most this many bitmaps away from the streams, and returns for how many,
    /// with memory that was used for some of them. Streams that nobody uses make room.
    pub(super) fn reserve(&mut self, wanted: usize) -> (usize, Vec<Bitmap>) {
        while self.held.len() + wanted > self.most
            && let Some(least) = self.least()
        {
            self.put_out(least);
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

    /// Returns whether the stream of a block with these targets, one of which is about to decode
    /// it, should be held: another target needs it, or may. If so, it is awaited.
    pub(super) fn wants(&mut self, block: BlockId, targets: &[u32]) -> bool {
        let needs = self.needs.get(&block).is_some_and(|needs| *needs > 1);
        let wants = (needs && self.has_room()) || (self.keeps && self.has_room_until(self.next(targets)));
        if wants {
            self.awaited.insert(block);
        }
        wants
    }

    /// Returns whether the stream of a block that was just computed should be held.
    pub(super) fn wants_own(&self, block: BlockId, targets: &[u32]) -> bool {
        let needs = self.needs.get(&block).is_some_and(|needs| *needs > 0);
        (needs && self.has_room()) || (self.keeps && self.has_room_until(self.next(targets)))
    }

    fn has_room(&self) -> bool {
        self.held.len() < self.most || self.least().is_some()
    }

    /// Returns whether there is room for a stream that is used next at a place: for one that is not
    /// used later than all others.
    fn has_room_until(&self, next: u32) -> bool {
        let last = || self.least().map(|least| self.next(&self.held[&least].targets));
        self.held.len() < self.most || last().is_some_and(|last| next <= last)
    }

    /// Returns the first of some targets behind the task that began last.
    fn next(&self, targets: &[u32]) -> u32 {
        targets.get(targets.partition_point(|target| *target <= self.front)).copied().unwrap_or(u32::MAX)
    }

    /// Returns the stream that makes room: of those that nobody uses and that the tasks at hand do
    /// not need, the one whose next use is furthest away, and then the one that was used the
    /// longest time ago.
    fn least(&self) -> Option<BlockId> {
        let is_free = |block: &BlockId, held: &Held| {
            Arc::strong_count(&held.stream) == 1 && self.needs.get(block).is_none_or(|needs| *needs == 0)
        };
        let free = self.held.iter().filter(|(block, held)| is_free(block, held));
        free.max_by_key(|(_, held)| (self.next(&held.targets), Reverse(held.used))).map(|(block, _)| *block)
    }

    /// Holds a stream with these targets, if there is room by now.
    pub(super) fn hold(&mut self, block: BlockId, stream: Arc<Bitmap>, targets: Vec<u32>) {
        if self.held.len() >= self.most && !self.held.contains_key(&block) {
            match self.least() {
                Some(least) => self.put_out(least),
                None => return,
            }
        }
        self.clock += 1;
        self.held.insert(block, Held { stream, used: self.clock, targets, done: 0 });
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
        streams.begin(0, needs(&[(1, 1), (2, 2), (3, 3), (4, 2)]));
        // Its only target is the one that decodes it.
        assert!(
            !streams.wants(BlockId(1), &[])
                && streams.wants_own(BlockId(1), &[])
                && !streams.wants_own(BlockId(9), &[])
        );
        for block in [2, 3, 4] {
            assert_eq!(streams.wants(BlockId(block), &[]), block < 4);
            streams.hold(BlockId(block), stream(), Vec::new());
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
            streams.hold(BlockId(block), stream(), Vec::new());
        }
        let reserved = |streams: &mut Streams, wanted| {
            let (granted, memory) = streams.reserve(wanted);
            (granted, memory.len(), held(streams))
        };
        assert_eq!(reserved(&mut streams, 2), (2, 0, vec![1, 2, 3]));
        let used = streams.get(BlockId(1));
        assert_eq!(reserved(&mut streams, 9), (2, 2, vec![1]));
        assert!(streams.spare().is_none() && !streams.wants(BlockId(2), &[]));
        assert_eq!(reserved(&mut streams, 9), (0, 0, vec![1]));
        drop(used);
        assert_eq!(reserved(&mut streams, 9), (1, 1, vec![]));
        streams.give_back(5, vec![Bitmap::zeroed(64).unwrap(), Bitmap::zeroed(64).unwrap()]);
        assert!(streams.wants(BlockId(2), &[]));
        // Memory that was used is for streams, or for who takes room next.
        assert!(streams.spare().is_some());
        assert_eq!(reserved(&mut streams, 3), (3, 1, vec![]));
    }

    #[test]
    fn tasks_at_the_same_time_need_what_each_of_them_needs() {
        let mut streams = Streams::new(1, false);
        streams.begin(0, needs(&[(1, 1)]));
        assert!(!streams.wants(BlockId(1), &[]) && !streams.is_awaited(BlockId(1)));
        streams.begin(0, needs(&[(1, 1), (2, 2)]));
        assert!(streams.wants(BlockId(1), &[]) && streams.is_awaited(BlockId(1)) && !streams.has(BlockId(1)));
        streams.hold(BlockId(1), stream(), Vec::new());
        streams.settled(BlockId(1));
        assert!(streams.has(BlockId(1)) && !streams.is_awaited(BlockId(1)));
        streams.release(sources(&[1]));
        assert!(streams.has(BlockId(1)) && !streams.wants(BlockId(2), &[]));
        streams.release(sources(&[1]));
        assert!(!streams.has(BlockId(1)) && streams.wants(BlockId(2), &[]));
    }

    #[test]
    fn what_is_used_last_makes_room_and_what_is_used_later_finds_none() {
        let mut streams = Streams::new(2, true);
        streams.begin(4, needs(&[]));
        streams.hold(BlockId(1), stream(), vec![2, 9]);
        streams.hold(BlockId(2), stream(), vec![4, 8]);
        // Later than both: it finds no room. What a task at hand needs again has it all the same.
        assert!(!streams.wants(BlockId(3), &[10]) && !streams.wants_own(BlockId(3), &[3, 10]));
        streams.begin(4, needs(&[(3, 2)]));
        assert!(streams.wants(BlockId(3), &[10]) && streams.wants_own(BlockId(3), &[10]));
        assert!(streams.wants(BlockId(4), &[9]) && streams.wants_own(BlockId(5), &[5]));
        streams.hold(BlockId(5), stream(), vec![5]);
        assert_eq!(held(&streams), [2, 5]);
        // Behind the task at place 5, nothing needs block 5.
        streams.begin(5, needs(&[]));
        streams.hold(BlockId(6), stream(), vec![7]);
        assert_eq!(held(&streams), [2, 6]);
        // Without a next use, the one that was used the longest time ago goes.
        streams.begin(8, needs(&[]));
        assert!(streams.get(BlockId(2)).is_some());
        streams.hold(BlockId(7), stream(), Vec::new());
        assert_eq!(held(&streams), [2, 7]);
    }

    #[test]
    fn a_stream_goes_with_its_last_target() {
        let mut streams = Streams::new(9, true);
        streams.hold(BlockId(1), stream(), Vec::new());
        streams.begin(0, needs(&[(1, 1)]));
        streams.release([(BlockId(1), 2), (BlockId(2), 1)]);
        assert!(streams.has(BlockId(1)) && streams.spare().is_none());
        // Another task at hand needs it all the same.
        streams.begin(0, needs(&[(1, 2)]));
        streams.release([(BlockId(1), 2)]);
        assert!(streams.has(BlockId(1)));
        streams.release([(BlockId(1), 2)]);
        assert!(!streams.has(BlockId(1)) && streams.spare().is_some());
    }

    #[test]
    fn many_tasks_hold_what_was_used_last() {
        let mut streams = Streams::new(2, true);
        for block in [1, 2] {
            streams.begin(0, needs(&[(block, 1)]));
            assert!(streams.wants(BlockId(block), &[]));
            streams.hold(BlockId(block), stream(), Vec::new());
            streams.release(sources(&[block]));
        }
        assert!(streams.get(BlockId(1)).is_some());
        streams.hold(BlockId(3), stream(), Vec::new());
        assert_eq!(held(&streams), [1, 3]);
        // What is in use, or needed, stays.
        let used = streams.get(BlockId(1));
        streams.begin(0, needs(&[(3, 1)]));
        assert!(!streams.wants(BlockId(4), &[]) && !streams.wants_own(BlockId(4), &[]));
        streams.hold(BlockId(4), stream(), Vec::new());
        assert_eq!(held(&streams), [1, 3]);
        while streams.spare().is_some() {}
        streams.begin(0, needs(&[(1, 1)]));
        streams.put_out(BlockId(1));
        assert!(streams.spare().is_none() && used.is_some());
        drop(used);
        streams.hold(BlockId(4), stream(), Vec::new());
        streams.hold(BlockId(5), stream(), Vec::new());
        assert_eq!(held(&streams), [3, 5]);
        assert!(streams.spare().is_some());
        let mut none = Streams::new(0, true);
        assert!(!none.wants(BlockId(1), &[]));
        none.hold(BlockId(1), stream(), Vec::new());
        assert_eq!(held(&none), [0_u32; 0]);
    }
}
