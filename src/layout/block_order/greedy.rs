//! A greedy order of the blocks, by score.
//!
//! The next block is the one with the highest score among those whose children are all finished.
//! The score of a block is the sum of three terms:
//!
//! - minus `target` for each target that is not *touched*. A target is touched once one of its
//!   children is finished; an untouched one will hold back one more set of children.
//! - plus a *share* for each child, larger if fewer targets of the child remain: finishing the last
//!   one frees the child.
//! - minus the weights of its pieces, one weight for each BID cell. Among the images of a block,
//!   the smallest or the largest sum counts. Equal weights limit how early blocks with many pieces
//!   come; different weights sweep over the board.
//!
//! All arithmetic is on integers, so the order is the same on every machine.

use super::graph::{Graph, Lists};
use std::collections::BinaryHeap;

/// From the empty block to the full one, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Up,
    Down,
}

/// The choice among equally good blocks, by ordinal.
#[derive(Clone, Copy, Debug)]
pub(super) enum Equals {
    LowestFirst,
    HighestFirst,
}

pub(super) struct Scoring<'a> {
    pub(super) direction: Direction,
    /// The weight of one untouched target.
    pub(super) target: i64,
    /// The share of a child by its number of remaining targets, ascending towards 1. Longer waits
    /// than the list have no share.
    pub(super) shares: &'a [i64],
    /// The weight of the pieces of each block.
    pub(super) pieces: &'a [i64],
    pub(super) equals: Equals,
}

impl Scoring<'_> {
    fn share(&self, left: u32) -> i64 {
        self.shares.get(left as usize).copied().unwrap_or(0)
    }
}

/// Returns an order with children before targets. `Direction::Down` runs on the reversed graph and
/// reverses the result, so it has children before targets, too.
pub(super) fn order(graph: &Graph, scoring: &Scoring<'_>) -> Vec<u32> {
    let mut order = Walk::new(graph, scoring).order();
    if scoring.direction == Direction::Down {
        order.reverse();
    }
    order
}

/// The state of a block on the way.
struct Block {
    score: i64,
    children_left: u32,
    targets_left: u32,
    is_finished: bool,
    is_touched: bool,
}

struct Walk<'a> {
    children: &'a Lists,
    targets: &'a Lists,
    scoring: &'a Scoring<'a>,
    blocks: Vec<Block>,
    /// Blocks whose children are all finished, by score and rank. A score only grows, so the newest
    /// entry of a block comes out first; older ones are dropped.
    available: BinaryHeap<(i64, u32, u32)>,
}

impl<'a> Walk<'a> {
    fn new(graph: &'a Graph, scoring: &'a Scoring<'a>) -> Walk<'a> {
        let (children, targets, sign) = match scoring.direction {
            Direction::Up => (&graph.children, &graph.targets, 1),
            Direction::Down => (&graph.targets, &graph.children, -1),
        };
        let all = 0..graph.blocks() as u32;
        let block = |block: u32| {
            let left = |lists: &Lists| lists.list(block).len() as u32;
            let shares: i64 =
                children.list(block).iter().map(|child| scoring.share(targets.list(*child).len() as u32)).sum();
            Block {
                score: shares - scoring.target * i64::from(left(targets)) - sign * scoring.pieces[block as usize],
                children_left: left(children),
                targets_left: left(targets),
                is_finished: false,
                is_touched: false,
            }
        };
        let blocks = all.clone().map(block).collect();
        let mut walk = Walk { children, targets, scoring, blocks, available: BinaryHeap::new() };
        all.for_each(|block| walk.offer(block));
        walk
    }

    fn order(mut self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.blocks.len());
        while let Some((_, _, block)) = self.available.pop() {
            if !std::mem::replace(&mut self.blocks[block as usize].is_finished, true) {
                order.push(block);
                self.finish(block);
            }
        }
        order
    }

    /// Makes a block available, unless it waits for a child or is finished.
    fn offer(&mut self, block: u32) {
        let Block { score, children_left: 0, is_finished: false, .. } = self.blocks[block as usize] else { return };
        let rank = match self.scoring.equals {
            Equals::LowestFirst => u32::MAX - block,
            Equals::HighestFirst => block,
        };
        self.available.push((score, rank, block));
    }

    fn raise(&mut self, block: u32, by: i64) {
        self.blocks[block as usize].score += by;
        if by > 0 {
            self.offer(block);
        }
    }

    /// Changes the scores of the blocks around a block that has just finished.
    fn finish(&mut self, block: u32) {
        let Walk { children, targets, scoring, .. } = *self;
        for &child in children.list(block) {
            let left = self.blocks[child as usize].targets_left;
            self.blocks[child as usize].targets_left -= 1;
            let more = scoring.share(left - 1) - scoring.share(left);
            if left > 1 && more != 0 {
                targets.list(child).iter().for_each(|&target| self.raise(target, more));
            }
        }
        for &target in targets.list(block) {
            if !std::mem::replace(&mut self.blocks[target as usize].is_touched, true) {
                children.list(target).iter().for_each(|&child| self.raise(child, scoring.target));
            }
            self.blocks[target as usize].children_left -= 1;
            self.offer(target);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order_of(children: &[&[u32]], target: i64, shares: &[i64], direction: Direction, equals: Equals) -> Vec<u32> {
        let graph = Graph::from_children(children.iter().map(|children| children.to_vec()));
        order(&graph, &Scoring { direction, target, shares, pieces: &vec![0; children.len()], equals })
    }

    #[test]
    fn blocks_are_taken_by_their_terms() {
        use Direction::{Down, Up};
        use Equals::{HighestFirst, LowestFirst};
        let pair: [&[u32]; 5] = [&[], &[], &[], &[0, 2], &[1]];
        assert_eq!(order_of(&pair, 0, &[], Up, LowestFirst), [0, 1, 2, 3, 4]);
        assert_eq!(order_of(&pair, 0, &[], Up, HighestFirst), [2, 1, 4, 0, 3]);
        assert_eq!(order_of(&pair, 0, &[], Down, LowestFirst), [1, 4, 2, 0, 3]);
        // Block 2 leads to a target that is touched already.
        assert_eq!(order_of(&pair, 1, &[], Up, LowestFirst), [0, 2, 3, 1, 4]);
        // Block 3 frees block 0, once 2 is finished.
        let fork: [&[u32]; 5] = [&[], &[], &[0], &[0], &[1]];
        assert_eq!(order_of(&fork, 0, &[], Up, LowestFirst), [0, 1, 2, 3, 4]);
        assert_eq!(order_of(&fork, 0, &[0, 10, 1], Up, LowestFirst), [0, 2, 3, 1, 4]);
    }
}
