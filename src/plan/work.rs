//! The work of a session, as part of a whole solve, in planned time.
//!
//! The plan has a time for each block: decoding, orienting and applying its sources, and the block
//! itself. The finished share of the work counts these times without held streams, for earlier
//! sessions too, because a folder does not record the memory of its sessions. The time left counts
//! the streams that the memory of this session can hold.
//!
//! # Positions
//! A solve settles one block of each isomorphic group. A rate counts the positions of the whole
//! group, so rates in progress, report and `status` mean the same.

use super::{Shape, rates};
use crate::database::Keep;
use crate::layout::Layout;
use pipeline::BlockId;
use std::collections::BTreeSet;

/// The work of one session, as part of the whole solve.
#[derive(Clone, Debug)]
pub struct SessionWork {
    /// All blocks, including those of earlier sessions.
    pub blocks: u64,
    /// Blocks of earlier sessions.
    pub resumed_blocks: u64,
    /// Positions of this session's blocks and of their images.
    pub positions: u64,
    /// Bytes of a block's bitmaps.
    pub block_bytes: u64,
    /// All work, and the part of earlier sessions.
    whole: f64,
    resumed: f64,
    /// The work and the planned time of its first blocks, from none to all.
    sums: Vec<[f64; 2]>,
}

impl SessionWork {
    /// The work of a solve that finds the blocks in `finished` already solved and holds
    /// at most `held` streams in memory.
    pub fn new(layout: &Layout, shape: &Shape, held: u64, finished: &BTreeSet<BlockId>) -> SessionWork {
        let left = layout.ordinals().filter(|block| !finished.contains(block));
        let (work, times) = (block_ns(layout, shape, 0), block_ns(layout, shape, held));
        let mut sums = vec![[0.0; 2]];
        for block in layout.order().into_iter().filter(|block| !finished.contains(block)) {
            let [done, time] = sums[sums.len() - 1];
            sums.push([done + work[block.index()], time + times[block.index()]]);
        }
        SessionWork {
            blocks: layout.canonical_blocks().len() as u64,
            resumed_blocks: finished.len() as u64,
            positions: left.map(|block| group_positions(layout, block)).sum(),
            block_bytes: (1 << layout.offset_bits()) / 8,
            whole: work.iter().sum(),
            resumed: finished.iter().map(|block| work[block.index()]).sum(),
            sums,
        }
    }

    /// The same work on blocks of this many bitmaps.
    pub fn with_planes(self, planes: usize) -> SessionWork {
        SessionWork { block_bytes: self.block_bytes * planes as u64, ..self }
    }

    /// Returns the share of the whole work that earlier sessions did, 0 to 1.
    pub fn resumed_share(&self) -> f64 {
        self.share(0.0)
    }

    /// Returns the finished share of the whole work once this session has settled `blocks` blocks,
    /// 0 to 1, and the planned times of its finished and remaining work, in one unit.
    pub fn after(&self, blocks: u64) -> (f64, [f64; 2]) {
        // Blocks are settled in about the order in which they are handed out.
        let last = self.sums.len() - 1;
        let [work, time] = self.sums[last.min(blocks as usize)];
        (self.share(work), [time, self.sums[last][1] - time])
    }

    /// Returns the positions that `blocks` blocks of this session represent, on average.
    pub fn positions_of(&self, blocks: u64) -> f64 {
        self.positions as f64 * blocks as f64 / (self.blocks - self.resumed_blocks).max(1) as f64
    }

    fn share(&self, work: f64) -> f64 {
        if self.whole > 0.0 { ((self.resumed + work) / self.whole).min(1.0) } else { 1.0 }
    }
}

/// Returns the work of each block, by its ordinal: the planned nanoseconds of one thread if `held`
/// streams are held in memory. They are whole numbers, because a sum of fractions would depend on
/// the order of the blocks. If the block graph was too large to walk, all blocks count alike.
pub fn block_ns(layout: &Layout, shape: &Shape, held: u64) -> Vec<f64> {
    let blocks = layout.canonical_blocks().len();
    if shape.estimated {
        return vec![1.0; blocks];
    }
    let mut times = vec![0.0; blocks];
    let rates = rates::for_blocks(Keep::Counts, (1_u64 << layout.offset_bits()) / 8);
    let planned = shape.seconds_of(&shape.reads(held), &rates, shape.usual_stream_bytes());
    layout.order().into_iter().zip(planned).for_each(|(block, planned)| times[block.index()] = (planned * 1e9).round());
    times
}

/// Returns the positions of the isomorphic group of a block.
pub fn group_positions(layout: &Layout, block: BlockId) -> u64 {
    u64::from(layout.orbit_size(block)) << layout.offset_bits()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trinim_game::Board;

    /// Regression: a resumed run began at 0 % again, and estimated the time left from the whole
    /// work. It counts the whole work, and estimates what is left of it.
    #[test]
    fn a_resumed_run_counts_the_whole_and_estimates_what_is_left() {
        let layout = Layout::suggested(&Board::triangle(7, None).unwrap(), 18);
        let all: BTreeSet<BlockId> = layout.ordinals().collect();
        let half: BTreeSet<BlockId> = all.iter().copied().take(all.len() / 2).collect();
        let shape = Shape::from_layout(&layout);
        let [whole, rest, none] =
            [&BTreeSet::new(), &half, &all].map(|finished| SessionWork::new(&layout, &shape, 3, finished));
        assert_eq!((whole.positions, whole.resumed_share()), (1 << 28, 0.0));
        assert_eq!(rest.whole, whole.whole);
        let begun: u64 = half.iter().map(|block| group_positions(&layout, *block)).sum();
        assert_eq!(rest.positions, whole.positions - begun);
        assert_eq!(rest.positions_of(rest.blocks - rest.resumed_blocks), rest.positions as f64);
        assert_eq!(rest.after(0), (rest.resumed_share(), [0.0, rest.after(0).1[1]]));
        assert!(rest.resumed_share() > 0.1, "{}", rest.resumed_share());

        let first: Vec<BlockId> = layout.order().into_iter().filter(|block| !half.contains(block)).take(100).collect();
        let sum = |held: u64, blocks: &[BlockId]| -> f64 {
            let times = block_ns(&layout, &shape, held);
            blocks.iter().map(|block| times[block.index()]).sum()
        };
        let begun: Vec<BlockId> = half.iter().copied().collect();
        let (share, [passed, left]) = rest.after(100);
        let expected = (sum(0, &begun) + sum(0, &first)) / sum(0, &layout.order());
        assert!((share - expected).abs() < 1e-9, "{share} {expected}");
        let expected = sum(3, &layout.order()) - sum(3, &begun) - sum(3, &first);
        assert!((left - expected).abs() < 1e-9 * expected, "{left} {expected}");
        assert!((passed - sum(3, &first)).abs() < 1e-9 * passed, "{passed}");

        assert_eq!((none.resumed_share(), none.positions), (1.0, 0));
        assert_eq!(none.after(0), (1.0, [0.0; 2]));
    }
}
