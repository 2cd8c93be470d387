//! The [cache](crate::stream_cache) of a session, in the memory that workers and queue leave.
//!
//! # Invariants
//! 1. A stream that is held for later was decoded whole.
//! 2. Every held stream is in a log or a published file as well.

use crate::bitmaps::{Bitmaps, PooledBitmap};
use crate::ids::BlockId;
use crate::run::schedule::Schedule;
use crate::stream_cache::StreamCache;
use crate::sync::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The streams of a session that are held in memory.
pub(super) struct HeldStreams {
    bitmaps: Bitmaps,
    state: Mutex<State>,
}

struct State {
    cache: StreamCache,
    /// By block: whether it has gathered its sources.
    gathered: Vec<bool>,
    /// Most streams that were held at a time.
    peak: usize,
}

impl State {
    /// Returns the places of the targets that have yet to gather the stream of `source`, without
    /// `now`, which is gathering it.
    fn targets(&self, schedule: &Schedule, source: BlockId, now: Option<BlockId>) -> Vec<u32> {
        let targets = schedule.targets(source).iter();
        let later = targets.filter(|target| !self.gathered[target.index()] && Some(**target) != now);
        let mut places: Vec<u32> = later.map(|target| schedule.place(*target)).collect();
        places.sort_unstable();
        places
    }
}

impl HeldStreams {
    /// Creates the cache of a session with room for `most` of these bitmaps; `finished` blocks need
    /// nothing any longer.
    pub(super) fn new(most: usize, bitmaps: &Bitmaps, blocks: u32, finished: impl Fn(BlockId) -> bool) -> HeldStreams {
        let gathered = BlockId::all(blocks).map(finished).collect();
        HeldStreams {
            bitmaps: bitmaps.clone(),
            state: Mutex::new(State { cache: StreamCache::new(most), gathered, peak: 0 }),
        }
    }

    /// Returns the most streams that were held at a time.
    pub(super) fn peak(&self) -> usize {
        self.state.lock().peak
    }

    /// Returns those streams of `sources` that are held. They stay until they are dropped.
    pub(super) fn take(&self, sources: &BTreeSet<BlockId>) -> BTreeMap<BlockId, Arc<PooledBitmap>> {
        let state = self.state.lock();
        sources.iter().filter_map(|source| Some((*source, state.cache.get(*source)?))).collect()
    }

    /// Returns whether [`keep`](HeldStreams::keep) would find room for the stream of `source`,
    /// which `now` is gathering.
    pub(super) fn has_room(&self, schedule: &Schedule, source: BlockId, now: BlockId) -> bool {
        let state = self.state.lock();
        !state.cache.has(source) && state.cache.has_room(&state.targets(schedule, source, Some(now)))
    }

    /// Keeps the stream of `source` if there is room, and replaces it by another bitmap with any
    /// contents.
    pub(super) fn keep(&self, schedule: &Schedule, source: BlockId, now: Option<BlockId>, stream: &mut PooledBitmap) {
        let mut state = self.state.lock();
        let targets = state.targets(schedule, source, now);
        if state.cache.has(source) || !state.cache.make_room(&targets) {
            return;
        }
        // A system that refuses the memory is not a reason to stop: the log is there.
        let Ok(fresh) = self.bitmaps.take() else { return };
        state.cache.hold(source, Arc::new(std::mem::replace(stream, fresh)), targets);
        state.peak = state.peak.max(state.cache.count());
    }

    /// Records that `target` has gathered its `sources`.
    pub(super) fn gathered(&self, schedule: &Schedule, target: BlockId, sources: &BTreeSet<BlockId>) {
        let mut state = self.state.lock();
        state.gathered[target.index()] = true;
        state.cache.release(schedule.place(target), sources.iter().copied());
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

    /// A cache with room for so many streams, and for the one that a worker has.
    fn cache(most: usize, blocks: u32, is_finished: bool) -> HeldStreams {
        HeldStreams::new(most, &Bitmaps::new(1, most + 1), blocks, |_| is_finished)
    }

    fn stream(cache: &HeldStreams, word: u64) -> PooledBitmap {
        let mut bitmap = cache.bitmaps.take().unwrap();
        bitmap.words_mut()[0] = word;
        bitmap
    }

    fn set(blocks: &[u32]) -> BTreeSet<BlockId> {
        blocks.iter().map(|block| BlockId(*block)).collect()
    }

    /// The sources in the cache, with their words.
    fn held(cache: &HeldStreams) -> Vec<(u32, u64)> {
        let all = BlockId::all(9).collect();
        cache.take(&all).iter().map(|(source, bitmap)| (source.0, bitmap.words()[0])).collect()
    }

    #[test]
    fn the_stream_used_last_goes_and_the_one_used_soonest_stays() {
        let schedule = schedule(&[&[5], &[3, 4], &[4], &[], &[], &[]]);
        let cache = cache(2, 6, false);
        cache.keep(&schedule, BlockId(0), None, &mut stream(&cache, 10));
        cache.keep(&schedule, BlockId(1), None, &mut stream(&cache, 11));
        assert_eq!(held(&cache), [(0, 10), (1, 11)]);
        // Block 2 is used before block 0 is.
        cache.keep(&schedule, BlockId(2), None, &mut stream(&cache, 12));
        assert_eq!(held(&cache), [(1, 11), (2, 12)]);
        // And block 0 after both.
        assert!(!cache.has_room(&schedule, BlockId(0), BlockId(3)));
        cache.keep(&schedule, BlockId(0), None, &mut stream(&cache, 10));
        assert_eq!((held(&cache), cache.peak()), (vec![(1, 11), (2, 12)], 2));
        cache.gathered(&schedule, BlockId(3), &set(&[1]));
        assert_eq!(held(&cache), [(1, 11), (2, 12)]);
        cache.gathered(&schedule, BlockId(4), &set(&[1, 2]));
        assert_eq!(held(&cache), []);
        // What nothing needs any longer is not held, not even for the block that gathers it.
        assert!(cache.has_room(&schedule, BlockId(0), BlockId(4)));
        assert!(!cache.has_room(&schedule, BlockId(0), BlockId(5)));
        cache.keep(&schedule, BlockId(0), Some(BlockId(5)), &mut stream(&cache, 10));
        cache.keep(&schedule, BlockId(1), None, &mut stream(&cache, 11));
        assert_eq!((held(&cache), cache.peak()), (vec![], 2));
    }

    #[test]
    fn a_stream_in_use_is_not_given_up() {
        let schedule = schedule(&[&[3], &[2], &[], &[]]);
        let cache = cache(1, 4, false);
        cache.keep(&schedule, BlockId(0), None, &mut stream(&cache, 10));
        let in_use = cache.take(&set(&[0]));
        cache.keep(&schedule, BlockId(1), None, &mut stream(&cache, 11));
        cache.gathered(&schedule, BlockId(3), &set(&[0]));
        assert_eq!((in_use[&BlockId(0)].words()[0], cache.take(&set(&[1])).len()), (10, 0));
        drop(in_use);
        // Nothing needs it any longer, so that it is the first to go.
        let mut other = stream(&cache, 11);
        cache.keep(&schedule, BlockId(1), None, &mut other);
        assert_eq!((held(&cache), cache.peak()), (vec![(1, 11)], 1));
    }

    #[test]
    fn without_room_nothing_is_held_and_a_buffer_comes_back_for_each_that_is() {
        let schedule = schedule(&[&[1], &[]]);
        let none = cache(0, 2, false);
        let mut bitmap = stream(&none, 7);
        none.keep(&schedule, BlockId(0), None, &mut bitmap);
        assert_eq!((bitmap.words()[0], held(&none), none.peak()), (7, vec![], 0));
        let finished = cache(1, 2, true);
        finished.keep(&schedule, BlockId(0), None, &mut bitmap);
        assert_eq!((bitmap.words()[0], held(&finished)), (7, vec![]));
        let some = cache(1, 2, false);
        some.keep(&schedule, BlockId(0), None, &mut bitmap);
        assert_eq!((bitmap.words().len(), held(&some)), (1, vec![(0, 7)]));
    }
}
