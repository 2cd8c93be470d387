//! Groups blocks that are checked together.
//!
//! Checking a block decodes each canonical block of its children and orients it for each
//! orientation of a child. Blocks of a group share both, so a greedy choice among the next blocks
//! groups those that have most in common.

use crate::witness::geometry::Geometry;
use std::collections::{BTreeSet, VecDeque};

/// Limit on the blocks that one thread checks together, each in its own bitmap.
const TARGETS_MAX: usize = 3;
/// Number of next blocks searched for a companion.
const CANDIDATES: usize = 64;

/// Returns the number of blocks that each of `threads` threads checks together, small enough to
/// keep all threads busy.
pub(super) fn targets(blocks: usize, threads: usize) -> usize {
    (blocks / (4 * threads.max(1))).clamp(1, TARGETS_MAX)
}

/// Returns the needs of a block: canonical blocks to decode, as orientation 0, and to orient.
fn needs(geometry: &Geometry, ordinal: u32) -> BTreeSet<(u32, usize)> {
    let children = geometry.children(ordinal);
    let sources = children.iter().map(|child| (child.ordinal, 0));
    sources.chain(children.iter().map(|child| (child.ordinal, child.orientation))).chain([(ordinal, 0)]).collect()
}

/// Divides the chosen blocks into groups of at most `targets`, starting with large ordinals, which
/// have most children.
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
            // Ties go to the first candidate, the nearest.
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
    use crate::layout::Layout;
    use trinim_game::Board;

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
