//! Which blocks are checked together.
//!
//! A block costs a decode for each canonical block its children come from, and a turn for each orientation of one. Blocks that are checked at
//! the same time share both, so those are put together that have most in common (a greedy choice among the next ones; ours).

use super::geometry::Geometry;
use std::collections::{BTreeSet, VecDeque};

/// Blocks checked together by one thread, at most. Each takes a bitmap.
const TARGETS_MAX: usize = 3;
/// Blocks among which a companion is sought.
const CANDIDATES: usize = 64;

/// How many blocks each of `threads` threads should check together, so that there is still enough to share out.
pub(super) fn targets(blocks: usize, threads: usize) -> usize {
    (blocks / (4 * threads.max(1))).clamp(1, TARGETS_MAX)
}

/// What a block needs: canonical blocks to be decoded, as turn 0, and turned.
fn needs(geometry: &Geometry, ordinal: u32) -> BTreeSet<(u32, usize)> {
    let children = geometry.children(ordinal);
    let sources = children.iter().map(|child| (child.ordinal, 0));
    sources.chain(children.iter().map(|child| (child.ordinal, child.turn))).chain([(ordinal, 0)]).collect()
}

/// Divides the chosen blocks into groups of at most `targets`, those with large ordinals, which have most children, first.
pub(super) fn groups(geometry: &Geometry, chosen: &BTreeSet<u32>, targets: usize) -> Vec<Vec<u32>> {
    let mut rest = chosen.iter().rev().map(|ordinal| (*ordinal, needs(geometry, *ordinal)));
    let mut candidates: VecDeque<(u32, BTreeSet<(u32, usize)>)> = VecDeque::new();
    let mut groups = Vec::new();
    loop {
        candidates.extend(rest.by_ref().take(CANDIDATES - candidates.len()));
        let Some((first, mut shared)) = candidates.pop_front() else { return groups };
        let mut group = vec![first];
        while group.len() < targets {
            let common = |needs: &BTreeSet<_>| needs.intersection(&shared).count();
            // Of equals the first, which is the nearest.
            let best = (0..candidates.len()).rev().max_by_key(|place| common(&candidates[*place].1));
            let Some((ordinal, needs)) = best.and_then(|place| candidates.remove(place)) else { break };
            shared.extend(needs);
            group.push(ordinal);
        }
        groups.push(group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Board;
    use crate::layout::Layout;

    #[test]
    fn every_chosen_block_is_in_one_group() {
        let board = Board::triangle(6, None).unwrap();
        let geometry = Geometry::new(&board, &Layout::suggested(&board, 9)).unwrap();
        for targets in 1..5 {
            let chosen: BTreeSet<u32> = (0..geometry.canonical_blocks()).filter(|ordinal| ordinal % 3 != 1).collect();
            let groups = groups(&geometry, &chosen, targets);
            assert!(groups.iter().all(|group| (1..=targets).contains(&group.len())));
            let mut all: Vec<u32> = groups.concat();
            all.sort_unstable();
            assert!(all.into_iter().eq(chosen));
        }
    }
}
