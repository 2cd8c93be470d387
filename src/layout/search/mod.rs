//! Search for good BID sets.
//!
//! The best set of a given size has the fewest updates after redundancy removal, as in \[SWLK12\]
//! section 4. Symmetry matters most, so the search goes by the symmetries that a set keeps. A set
//! that a group of symmetries keeps is a union of orbits of cells. There are few unions of a given
//! size: some hundreds for all six symmetries of nine layers, up to 3 million for a mirror.
//!
//! The sets of boards that are not triangles are scored one by one from the traces of the moves, in
//! microseconds each.
//!
//! # Invariants
//! 1. The same board and size give the same set on every machine.
//!
//! # Cost
//! Some ten nanoseconds for each union: a walk keeps sums for each line, and a step from set to set
//! changes a few lines.

mod sample;
mod score;
mod walk;

use super::BID_BITS_MAX;
use super::burnside::{self, Action};
use score::Scores;
use std::cmp::Reverse;
use trinim_game::{Board, Cell, Symmetry, position};

/// How many sets are examined.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// The most of one kind. If there are more, a local search examines this many.
    pub sets: u64,
    /// The seed of the local search's random numbers.
    pub seed: u64,
}

/// The limit for the layout of a board that is not a triangle, whose sets are scored one by one:
/// some milliseconds.
const QUICK: Limit = Limit { sets: 4000, seed: 0 };

/// Bits by which the blocks of a suggestion can be smaller than allowed, so that all symmetries
/// keep its set.
const SLACK_BITS: u32 = 8;
/// Bits of a word; smaller blocks must be requested explicitly.
const WORD_BITS: u32 = 6;
/// Symmetries that are tried one by one where no set of a fair size is closed under all.
const MIRRORS: usize = 8;

/// Offers the unions of the orbits of `group` that have `bits` cells, with their updates, all or a
/// sample; returns whether it was all.
#[doc(hidden)]
pub fn unions(board: &Board, group: &[&Symmetry], bits: u32, limit: Limit, offer: &mut impl FnMut(u64, u128)) -> bool {
    let scores = Scores::new(board);
    let orbits = walk::Orbits::new(board, &scores, group);
    let is_whole = orbits.unions(bits) <= u128::from(limit.sets);
    match is_whole {
        true => walk::all(&orbits, bits, offer),
        false => sample::some(&orbits, bits, limit, offer),
    }
    is_whole
}

/// The order of sets: updates, whole corners, first cells.
#[doc(hidden)]
pub type Rank = (u128, Reverse<Vec<u8>>, Reverse<u64>);

/// Returns the rank of a set with these updates; the best set has the lowest. Among equals, the set
/// that leaves the corners whole to the greatest depth comes first, because corners in the offset
/// compress well; then the one with the first cells in row order.
#[doc(hidden)]
pub fn rank(board: &Board, set: u64, updates: u128) -> Rank {
    // Reversing the bits turns "has the earlier cell" into "is larger".
    (updates, Reverse(corner_distances(board, set)), Reverse(set.reverse_bits()))
}

/// Returns the set of `bits` cells, closed under all symmetries of the board, with the fewest
/// updates after redundancy removal; among equals the one that leaves the corners whole to the
/// greatest depth, and then the one with the first cells in row order. `None` if no closed set has
/// that size.
pub fn best_closed(board: &Board, bits: u32) -> Option<Vec<Cell>> {
    Some(position::cells(best_closed_mask(board, bits)?).into_iter().map(|index| board.cell(index)).collect())
}

fn best_closed_mask(board: &Board, bits: u32) -> Option<u64> {
    let limit = if board.layers().is_some() { Limit { sets: u64::MAX, ..QUICK } } else { QUICK };
    best(board, &board.symmetries().iter().collect::<Vec<_>>(), bits, limit).map(|(_, set)| set)
}

/// Returns the best set of `bits` cells that a group keeps.
fn best(board: &Board, group: &[&Symmetry], bits: u32, limit: Limit) -> Option<(Rank, u64)> {
    let mut best: Option<(Rank, u64)> = None;
    unions(board, group, bits, limit, &mut |set, updates| {
        if best.as_ref().is_none_or(|(best, _)| updates <= best.0) {
            best = best.take().into_iter().chain([(rank(board, set, updates), set)]).min();
        }
    });
    best
}

/// Returns the set of [`Layout::suggested`](super::Layout::suggested).
pub(crate) fn suggested_mask(board: &Board, offset_bits_at_most: u32) -> u64 {
    let wanted = board.cells().saturating_sub(offset_bits_at_most);
    let bits = wanted.min(BID_BITS_MAX);
    // A block costs as much as the bookkeeping for it long before it has one position.
    let least =
        if offset_bits_at_most < WORD_BITS { 0 } else { WORD_BITS.max(offset_bits_at_most.saturating_sub(SLACK_BITS)) };
    let most = board.cells().saturating_sub(least).min(BID_BITS_MAX);
    let fewer = if wanted > bits { bits.saturating_sub(SLACK_BITS) } else { bits };
    let mut closed = (bits..=most).chain((fewer..bits).rev());
    let kept_by_one = || {
        // The identity is one of them, and keeps any set.
        let twice_nothing = board.symmetries().iter().filter(|symmetry| symmetry.compose(symmetry).is_identity());
        let groups = twice_nothing.take(MIRRORS).map(|mirror| [&board.symmetries()[0], mirror]);
        groups.filter_map(|group| best(board, &group, bits, QUICK)).min().map(|(_, set)| set)
    };
    closed.find_map(|bits| best_closed_mask(board, bits)).or_else(kept_by_one).expect("the identity keeps any set")
}

/// Returns the number of updates after redundancy removal: the edges into canonical blocks.
pub fn canonical_updates(board: &Board, bid_cells: &[Cell]) -> u128 {
    let set = mask(board, bid_cells);
    Action::on(board, set).updates(&burnside::traces(board.moves(), set))
}

/// Returns the number of isomorphic groups of blocks, which equals the number of canonical blocks.
pub fn canonical_blocks(board: &Board, bid_cells: &[Cell]) -> u128 {
    Action::on(board, mask(board, bid_cells)).blocks()
}

/// Returns the mask of the cells that are on the board.
fn mask(board: &Board, cells: &[Cell]) -> u64 {
    cells.iter().filter_map(|cell| board.index(*cell)).fold(0, |set, index| set | 1 << index)
}

/// Returns, for each cell of a set on a triangle, the number of rows between it and its nearest
/// corner, in ascending order; nothing for other boards.
fn corner_distances(board: &Board, set: u64) -> Vec<u8> {
    if board.layers().is_none() {
        return Vec::new();
    }
    let cells = (0..board.cells() as usize).filter(|cell| set >> cell & 1 == 1);
    let rows = |cell: usize| {
        board.symmetries().iter().map(move |symmetry| Cell::from_index(symmetry.image()[cell].into()).row)
    };
    let mut distances: Vec<u8> = cells.filter_map(|cell| rows(cell).min()).collect();
    distances.sort_unstable();
    distances
}
