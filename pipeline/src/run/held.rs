//! Finished streams that stay in memory for the blocks that still need them.
//!
//! What workers and queue leave of the budget holds whole streams. A target applies a held stream
//! directly: its log is neither read nor decoded. The order of the blocks is known, and so is the
//! next use of every stream, so that the choice of Belady (1966) is open to us: if there is no
//! room, the stream whose next use is furthest away goes. With room for a tenth of what is needed
//! at a time, that saves a third to a half of all reading and decoding; giving up the stream used
//! least recently, which needs no foresight, saves half as much.
//!
//! Share of all streams found in memory, one worker, by the walk of the block graph:
//!
//! | blocks | streams needed at a time | held | furthest use goes | least recent use goes |
//! |---|---|---|---|---|
//! | 8 layers, 104 of 16 MiB | 50 | 16 | 0.76 | 0.57 |
//! | 8 layers, 752 of 2 MiB | 337 | 32 | 0.60 | 0.37 |
//! | 9 layers, 5,728 of 128 MiB | 2,246 | 16 | 0.31 | 0.10 |
//! | 9 layers, 5,728 of 128 MiB | 2,246 | 50 | 0.46 | 0.24 |
//! | 9 layers, 5,728 of 128 MiB | 2,246 | 200 | 0.66 | 0.46 |
//!
//! # Invariants
//! 1. A held stream is the finished stream of its block, every word of it.
//! 2. Held streams and free buffers together are at most as many as were allocated, and these at
//!    most as many as allowed.
//! 3. Nothing depends on what is held but time: every stream is in a log or a published file as
//!    well.

use crate::bitmap::Bitmap;
use crate::ids::BlockId;
use crate::run::schedule::Schedule;
use crate::sync::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The streams of a session that are held in memory.
pub(super) struct HeldStreams {
    words: usize,
    most: usize,
    shelf: Mutex<Shelf>,
}

struct Shelf {
    /// Buffers that hold nothing.
    free: Vec<Bitmap>,
    /// Buffers that may still be allocated.
    allowed: usize,
    /// By block: whether it has gathered its sources.
    gathered: Vec<bool>,
    streams: BTreeMap<BlockId, Stream>,
}

struct Stream {
    bitmap: Arc<Bitmap>,
    /// The places in the order of the targets that have yet to gather it.
    needed: BTreeSet<u32>,
}

impl Stream {
    /// Returns the place of the next use.
    fn next(&self) -> u32 {
        self.needed.first().copied().unwrap_or(u32::MAX)
    }
}

impl Shelf {
    /// Returns the places of the targets that have yet to gather the stream of `source`, without
    /// `now`, which is gathering it.
    fn needed(&self, schedule: &Schedule, source: BlockId, now: Option<BlockId>) -> BTreeSet<u32> {
        let targets = schedule.targets(source).iter();
        let later = targets.filter(|target| !self.gathered[target.index()] && Some(**target) != now);
        later.map(|target| schedule.place(*target)).collect()
    }

    /// Returns the stream to give up for one whose next use is at `next`: the one that is used
    /// last, if that is later. Streams that a worker applies stay.
    fn least(&self, next: u32) -> Option<BlockId> {
        let idle = self.streams.iter().filter(|(_, stream)| Arc::strong_count(&stream.bitmap) == 1);
        let (block, last) = idle.max_by_key(|(_, stream)| stream.next())?;
        (last.next() > next).then_some(*block)
    }

    fn check_room(&self, most: usize) {
        let (held, free) = (self.streams.len(), self.free.len());
        let is_within = self.allowed <= most && held + free <= most - self.allowed;
        assert!(is_within, "held streams, invariant 2: {held} held and {free} free, {} of {most} left", self.allowed);
    }

    /// Takes a stream that no worker applies off the shelf.
    fn free(&mut self, block: BlockId) {
        let bitmap = self.streams.remove(&block).and_then(|stream| Arc::into_inner(stream.bitmap));
        self.free.extend(bitmap);
    }
}

impl HeldStreams {
    /// Creates the shelf of a session with room for `most` streams of `words` words; `finished`
    /// blocks need nothing any longer.
    pub(super) fn new(most: usize, words: usize, blocks: u32, finished: impl Fn(BlockId) -> bool) -> HeldStreams {
        let gathered = BlockId::all(blocks).map(finished).collect();
        let shelf = Shelf { free: Vec::new(), allowed: most, gathered, streams: BTreeMap::new() };
        HeldStreams { words, most, shelf: Mutex::new(shelf) }
    }

    /// Returns the highest number of buffers so far.
    pub(super) fn buffers(&self) -> usize {
        let shelf = self.shelf.lock();
        shelf.check_room(self.most);
        self.most - shelf.allowed
    }

    /// Returns those streams of `sources` that are held. They stay until they are dropped.
    pub(super) fn take(&self, sources: &BTreeSet<BlockId>) -> BTreeMap<BlockId, Arc<Bitmap>> {
        let shelf = self.shelf.lock();
        let found = |source: &BlockId| Some((*source, shelf.streams.get(source)?.bitmap.clone()));
        sources.iter().filter_map(found).collect()
    }

    /// Returns whether [`keep`](Held::keep) would find room for the stream of `source`, which `now`
    /// is gathering.
    pub(super) fn has_room(&self, schedule: &Schedule, source: BlockId, now: BlockId) -> bool {
        let shelf = self.shelf.lock();
        if self.most == 0 || shelf.streams.contains_key(&source) {
            return false;
        }
        let needed = shelf.needed(schedule, source, Some(now));
        let has_buffer = shelf.allowed > 0 || !shelf.free.is_empty();
        needed.first().is_some_and(|next| has_buffer || shelf.least(*next).is_some())
    }

    /// Keeps the stream of `source` if there is room, and gives another buffer of any contents for
    /// it.
    pub(super) fn keep(&self, schedule: &Schedule, source: BlockId, now: Option<BlockId>, stream: &mut Bitmap) {
        let mut shelf = self.shelf.lock();
        if self.most == 0 || shelf.streams.contains_key(&source) {
            return;
        }
        let needed = shelf.needed(schedule, source, now);
        let Some(next) = needed.first().copied() else { return };
        if shelf.free.is_empty() {
            if shelf.allowed > 0 {
                // A system that refuses the memory is not a reason to stop: the log is there.
                let fresh = Bitmap::zeroed(self.words).ok();
                shelf.allowed = if fresh.is_some() { shelf.allowed - 1 } else { 0 };
                shelf.free.extend(fresh);
            } else if let Some(least) = shelf.least(next) {
                shelf.free(least);
            }
        }
        let Some(buffer) = shelf.free.pop() else { return };
        assert_eq!(stream.words().len(), self.words, "held streams, invariant 1: words of block {source}");
        let bitmap = Arc::new(std::mem::replace(stream, buffer));
        shelf.streams.insert(source, Stream { bitmap, needed });
        shelf.check_room(self.most);
    }

    /// Records that `target` has gathered its `sources`.
    pub(super) fn gathered(&self, schedule: &Schedule, target: BlockId, sources: &BTreeSet<BlockId>) {
        if self.most == 0 {
            return;
        }
        let (mut shelf, place) = (self.shelf.lock(), schedule.place(target));
        shelf.gathered[target.index()] = true;
        for source in sources {
            let Some(stream) = shelf.streams.get_mut(source) else { continue };
            stream.needed.remove(&place);
            if stream.needed.is_empty() && Arc::strong_count(&stream.bitmap) == 1 {
                shelf.free(*source);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A schedule in which the targets of each source are as listed, in the order of their numbers.
    fn schedule(targets: &[&[u32]]) -> Schedule {
        let blocks = targets.len() as u32;
        let order: Vec<BlockId> = BlockId::all(blocks).collect();
        let sources = |target: BlockId| {
            let is_source = |source: &BlockId| targets[source.index()].contains(&target.0);
            BlockId::all(blocks).filter(is_source).collect()
        };
        Schedule::from_graph(blocks, &order, &sources, |_| false).unwrap()
    }

    fn stream(word: u64) -> Bitmap {
        let mut bitmap = Bitmap::zeroed(1).unwrap();
        bitmap.words_mut()[0] = word;
        bitmap
    }

    fn set(blocks: &[u32]) -> BTreeSet<BlockId> {
        blocks.iter().map(|block| BlockId(*block)).collect()
    }

    /// The sources on the shelf, with their words.
    fn held(shelf: &HeldStreams) -> Vec<(u32, u64)> {
        let all = BlockId::all(9).collect();
        shelf.take(&all).iter().map(|(source, bitmap)| (source.0, bitmap.words()[0])).collect()
    }

    #[test]
    fn the_stream_used_last_goes_and_the_one_used_soonest_stays() {
        let schedule = schedule(&[&[5], &[3, 4], &[4], &[], &[], &[]]);
        let shelf = HeldStreams::new(2, 1, 6, |_| false);
        shelf.keep(&schedule, BlockId(0), None, &mut stream(10));
        shelf.keep(&schedule, BlockId(1), None, &mut stream(11));
        assert_eq!(held(&shelf), [(0, 10), (1, 11)]);
        // Block 2 is used before block 0 is.
        shelf.keep(&schedule, BlockId(2), None, &mut stream(12));
        assert_eq!(held(&shelf), [(1, 11), (2, 12)]);
        // And block 0 after both.
        assert!(!shelf.has_room(&schedule, BlockId(0), BlockId(3)));
        shelf.keep(&schedule, BlockId(0), None, &mut stream(10));
        assert_eq!((held(&shelf), shelf.buffers()), (vec![(1, 11), (2, 12)], 2));
        shelf.gathered(&schedule, BlockId(3), &set(&[1]));
        assert_eq!(held(&shelf), [(1, 11), (2, 12)]);
        shelf.gathered(&schedule, BlockId(4), &set(&[1, 2]));
        assert_eq!(held(&shelf), []);
        // What nothing needs any longer is not held, not even for the block that gathers it.
        assert!(shelf.has_room(&schedule, BlockId(0), BlockId(4)));
        assert!(!shelf.has_room(&schedule, BlockId(0), BlockId(5)));
        shelf.keep(&schedule, BlockId(0), Some(BlockId(5)), &mut stream(10));
        shelf.keep(&schedule, BlockId(1), None, &mut stream(11));
        assert_eq!((held(&shelf), shelf.buffers()), (vec![], 2));
    }

    #[test]
    fn a_stream_in_use_is_not_given_up() {
        let schedule = schedule(&[&[3], &[2], &[], &[]]);
        let shelf = HeldStreams::new(1, 1, 4, |_| false);
        shelf.keep(&schedule, BlockId(0), None, &mut stream(10));
        let in_use = shelf.take(&set(&[0]));
        shelf.keep(&schedule, BlockId(1), None, &mut stream(11));
        shelf.gathered(&schedule, BlockId(3), &set(&[0]));
        assert_eq!((in_use[&BlockId(0)].words()[0], shelf.take(&set(&[1])).len()), (10, 0));
        drop(in_use);
        // Nothing needs it any longer, so that it is the first to go.
        let mut other = stream(11);
        shelf.keep(&schedule, BlockId(1), None, &mut other);
        assert_eq!((held(&shelf), shelf.buffers()), (vec![(1, 11)], 1));
    }

    #[test]
    fn without_room_nothing_is_held_and_a_buffer_comes_back_for_each_that_is() {
        let schedule = schedule(&[&[1], &[]]);
        let none = HeldStreams::new(0, 1, 2, |_| false);
        let mut bitmap = stream(7);
        none.keep(&schedule, BlockId(0), None, &mut bitmap);
        assert_eq!((bitmap.words()[0], held(&none), none.buffers()), (7, vec![], 0));
        let finished = HeldStreams::new(1, 1, 2, |_| true);
        finished.keep(&schedule, BlockId(0), None, &mut bitmap);
        assert_eq!((bitmap.words()[0], held(&finished)), (7, vec![]));
        let some = HeldStreams::new(1, 1, 2, |_| false);
        some.keep(&schedule, BlockId(0), None, &mut bitmap);
        assert_eq!((bitmap.words().len(), held(&some)), (1, vec![(0, 7)]));
    }
}
