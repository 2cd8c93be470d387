//! # The order of the blocks
//!
//! A finished block must be kept until its last target is finished. The order of evaluation decides how many blocks are
//! kept at the worst moment, and with them how much disk a solve needs.
//!
//! Ours: of the blocks whose children are all finished, take the one that has the fewest targets *not yet touched*, a
//! target being touched once one of its children is finished. An untouched target is one more block that will hold
//! others back, so it stays untouched as long as possible. A small weight on the number of pieces decides how far the
//! order may run ahead to blocks of many pieces, and equals are taken by BID. The same is done on the reversed graph,
//! from the full block downwards, and the result is read backwards. A few weights and both directions are tried, and
//! the order with the lowest peak is kept. It is a heuristic: the peak it reaches is measured, not proved.
//!
//! The peaks as parts of the canonical blocks, in brackets the best we have found with slower searches. The test
//! `peaks_are_low` holds the first three rows:
//!
//! | board, BID bits | numeric order | this order |
//! |---|---|---|
//! | 8 layers, 12 bits | .605 | .463 |
//! | 9 layers, 12 bits | .612 | .411 (.396) |
//! | 9 layers, 15 bits | .584 | .414 (.394) |
//! | 9 layers, 18 bits | .588 | .423 (.419) |
//!
//! All arithmetic is on integers, so the order is the same on every machine. The time grows with the number of edges:
//! some 50 ms for 5,728 canonical blocks, half a second for 44,224 (test build, 2.5 GHz, November 2026).

use super::Layout;
use std::collections::BinaryHeap;

/// The weight of one untouched target.
const TARGET: i64 = 100;

/// The weights of one piece that are tried, in hundredths of a target.
const PIECE_WEIGHTS: [i64; 3] = [1, 50, 100];

/// From the empty block to the full one, or back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

/// Which of several equally good blocks is taken, by ordinal.
#[derive(Clone, Copy)]
enum Equals {
    LowestFirst,
    HighestFirst,
}

/// Which blocks need which: canonical blocks only, each pair once.
struct Graph {
    children: Lists,
    targets: Lists,
    pieces: Vec<i64>,
}

/// A list of blocks for each block, one after the other.
struct Lists {
    starts: Vec<u32>,
    blocks: Vec<u32>,
}

impl Lists {
    fn of(&self, block: u32) -> &[u32] {
        let block = block as usize;
        &self.blocks[self.starts[block] as usize..self.starts[block + 1] as usize]
    }

    fn transposed(&self) -> Lists {
        let blocks = self.starts.len() - 1;
        let mut starts = vec![0; blocks + 1];
        for &block in &self.blocks {
            starts[block as usize + 1] += 1;
        }
        for block in 0..blocks {
            starts[block + 1] += starts[block];
        }
        let mut free = starts.clone();
        let mut transposed = vec![0; self.blocks.len()];
        for block in 0..blocks as u32 {
            for &other in self.of(block) {
                transposed[free[other as usize] as usize] = block;
                free[other as usize] += 1;
            }
        }
        Lists { starts, blocks: transposed }
    }
}

impl Graph {
    fn of(layout: &Layout) -> Graph {
        let mut children = Lists { starts: vec![0], blocks: Vec::new() };
        for target in 0..layout.canonical.len() as u32 {
            let edges = layout.edges_into(target);
            children.blocks.extend(edges.chunk_by(|one, next| one.source == next.source).map(|same| same[0].source));
            children.starts.push(children.blocks.len() as u32);
        }
        Graph {
            targets: children.transposed(),
            children,
            pieces: layout.canonical.iter().map(|bid| i64::from(bid.count_ones())).collect(),
        }
    }

    fn blocks(&self) -> usize {
        self.pieces.len()
    }

    /// Children before targets, as the module page says. `Direction::Down` runs on the reversed graph and returns the
    /// result reversed, so that it, too, has children before targets.
    fn fewest_new_targets(&self, direction: Direction, piece_weight: i64, equals: Equals) -> Vec<u32> {
        let (children, targets, piece_weight) = match direction {
            Direction::Up => (&self.children, &self.targets, piece_weight),
            Direction::Down => (&self.targets, &self.children, -piece_weight),
        };
        let blocks = 0..self.blocks() as u32;
        let mut children_left: Vec<usize> = blocks.clone().map(|block| children.of(block).len()).collect();
        let mut scores: Vec<i64> = blocks
            .clone()
            .map(|block| -TARGET * targets.of(block).len() as i64 - piece_weight * self.pieces[block as usize])
            .collect();
        let entry = |scores: &[i64], block: u32| {
            let rank = match equals {
                Equals::LowestFirst => u32::MAX - block,
                Equals::HighestFirst => block,
            };
            (scores[block as usize], rank, block)
        };
        // A score only grows, so the newest entry of a block is met first; older ones are recognised and dropped.
        let mut available: BinaryHeap<(i64, u32, u32)> =
            blocks.filter(|&block| children_left[block as usize] == 0).map(|block| entry(&scores, block)).collect();
        let mut finished = vec![false; self.blocks()];
        let mut touched = vec![false; self.blocks()];
        let mut order = Vec::with_capacity(self.blocks());
        while let Some((_, _, block)) = available.pop() {
            if std::mem::replace(&mut finished[block as usize], true) {
                continue;
            }
            order.push(block);
            for &target in targets.of(block) {
                if !std::mem::replace(&mut touched[target as usize], true) {
                    for &child in children.of(target) {
                        scores[child as usize] += TARGET;
                        if children_left[child as usize] == 0 && !finished[child as usize] {
                            available.push(entry(&scores, child));
                        }
                    }
                }
                children_left[target as usize] -= 1;
                if children_left[target as usize] == 0 {
                    available.push(entry(&scores, target));
                }
            }
        }
        if direction == Direction::Down {
            order.reverse();
        }
        order
    }

    fn peak_live_blocks(&self, order: &[u32]) -> u32 {
        let mut targets_left: Vec<usize> =
            (0..self.blocks() as u32).map(|block| self.targets.of(block).len()).collect();
        let (mut live, mut peak) = (0, 0);
        for &block in order {
            live += u32::from(targets_left[block as usize] > 0);
            peak = peak.max(live);
            for &child in self.children.of(block) {
                targets_left[child as usize] -= 1;
                live -= u32::from(targets_left[child as usize] == 0);
            }
        }
        peak
    }
}

pub(super) fn order(layout: &Layout) -> Vec<u32> {
    let graph = Graph::of(layout);
    let mut best: Vec<u32> = (0..graph.blocks() as u32).collect();
    let mut lowest_peak = graph.peak_live_blocks(&best);
    for direction in [Direction::Up, Direction::Down] {
        for piece_weight in PIECE_WEIGHTS {
            for equals in [Equals::LowestFirst, Equals::HighestFirst] {
                let order = graph.fewest_new_targets(direction, piece_weight, equals);
                let peak = graph.peak_live_blocks(&order);
                if peak < lowest_peak {
                    (best, lowest_peak) = (order, peak);
                }
            }
        }
    }
    best
}

pub(super) fn peak_live_blocks(layout: &Layout, order: &[u32]) -> u32 {
    Graph::of(layout).peak_live_blocks(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;

    fn suggested(layers: u32, offset_bits_at_most: u32) -> Layout {
        Layout::suggested(&Board::triangle(layers, None).unwrap(), offset_bits_at_most)
    }

    /// Invariant 2 of the layout and the promise of `order`.
    #[test]
    fn children_come_before_their_targets() {
        for (layers, bits) in [(1, 0), (3, 3), (5, 9), (6, 10), (7, 16), (8, 27)] {
            let layout = suggested(layers, bits);
            let numeric: Vec<u32> = (0..layout.canonical_blocks().len() as u32).collect();
            for order in [layout.order(), numeric] {
                let mut place = vec![None; order.len()];
                for (at, &ordinal) in order.iter().enumerate() {
                    assert_eq!(place[ordinal as usize].replace(at), None);
                }
                for &target in &order {
                    for edge in layout.edges_into(target) {
                        assert!(place[edge.source as usize] < place[target as usize]);
                    }
                }
            }
        }
    }

    #[test]
    fn peaks_are_low() {
        for (layers, bits, numeric, chosen) in [(8, 24, 605, 463), (9, 33, 612, 411), (9, 30, 584, 414)] {
            let layout = suggested(layers, bits);
            let blocks = layout.canonical_blocks().len() as u32;
            let permille =
                |order: &[u32]| (f64::from(layout.peak_live_blocks(order)) / f64::from(blocks) * 1e3).round();
            assert_eq!(permille(&(0..blocks).collect::<Vec<u32>>()), f64::from(numeric));
            assert_eq!(permille(&layout.order()), f64::from(chosen));
        }
    }
}
