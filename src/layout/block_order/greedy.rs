//! A greedy order of the blocks, by score.
//!
//! Among the blocks whose children are all finished, the one with the highest score is next. Three
//! terms make the score of a block:
//!
//! - minus `target` for each of its targets that is not *touched* yet; a target is touched once one
//!   of its children is finished. An untouched target is one more block that will hold others back.
//! - plus a *share* for each of its children, larger if that child waits for fewer targets:
//!   finishing the last of them frees the child.
//! - minus the weights of its pieces, one weight for each BID cell; among the images of a block the
//!   smallest sum counts, or the largest. Equal weights decide how far the order may run ahead to
//!   blocks of many pieces, different ones let it sweep over the board.
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

/// The weights of the score.
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

/// Returns an order with children before targets. `Direction::Down` runs on the reversed graph and
/// reverses the result, so it has children before targets, too.
pub(super) fn order(graph: &Graph, scoring: &Scoring<'_>) -> Vec<u32> {
    let (children, targets, sign) = match scoring.direction {
        Direction::Up => (&graph.children, &graph.targets, 1),
        Direction::Down => (&graph.targets, &graph.children, -1),
    };
    let blocks = 0..graph.blocks() as u32;
    let lengths = |lists: &Lists| -> Vec<u32> { blocks.clone().map(|block| lists.of(block).len() as u32).collect() };
    let (mut children_left, mut targets_left) = (lengths(children), lengths(targets));
    let share = |left: u32| scoring.shares.get(left as usize).copied().unwrap_or(0);
    let mut scores: Vec<i64> = blocks
        .clone()
        .map(|block| {
            let shares: i64 = children.of(block).iter().map(|&child| share(targets_left[child as usize])).sum();
            shares - scoring.target * i64::from(targets_left[block as usize]) - sign * scoring.pieces[block as usize]
        })
        .collect();
    let entry = |scores: &[i64], block: u32| {
        let rank = match scoring.equals {
            Equals::LowestFirst => u32::MAX - block,
            Equals::HighestFirst => block,
        };
        (scores[block as usize], rank, block)
    };
    // A score only grows, so the newest entry of a block comes out first; older ones are recognised
    // and dropped.
    let mut available: BinaryHeap<(i64, u32, u32)> =
        blocks.clone().filter(|&block| children_left[block as usize] == 0).map(|block| entry(&scores, block)).collect();
    let mut finished = vec![false; graph.blocks()];
    let mut touched = vec![false; graph.blocks()];
    let mut order = Vec::with_capacity(graph.blocks());
    while let Some((_, _, block)) = available.pop() {
        if std::mem::replace(&mut finished[block as usize], true) {
            continue;
        }
        order.push(block);
        let raise = |scores: &mut [i64], available: &mut BinaryHeap<_>, children_left: &[u32], block: u32, by: i64| {
            scores[block as usize] += by;
            if by > 0 && children_left[block as usize] == 0 && !finished[block as usize] {
                available.push(entry(scores, block));
            }
        };
        for &child in children.of(block) {
            let left = targets_left[child as usize];
            targets_left[child as usize] -= 1;
            let more = share(left - 1) - share(left);
            if left > 1 && more != 0 {
                for &target in targets.of(child) {
                    raise(&mut scores, &mut available, &children_left, target, more);
                }
            }
        }
        for &target in targets.of(block) {
            if !std::mem::replace(&mut touched[target as usize], true) {
                for &child in children.of(target) {
                    raise(&mut scores, &mut available, &children_left, child, scoring.target);
                }
            }
            children_left[target as usize] -= 1;
            if children_left[target as usize] == 0 {
                available.push(entry(&scores, target));
            }
        }
    }
    if scoring.direction == Direction::Down {
        order.reverse();
    }
    order
}
