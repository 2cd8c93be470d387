//! # Search for good BID sets
//!
//! The best set of a given size is taken to be the one with the fewest updates after redundancy removal, as in
//! \[SWLK12\] section 4. Sets that all symmetries of the board keep save most space, and there are few of them,
//! because they are unions of whole orbits: some hundreds for a given size on ten layers. All are looked at.
//!
//! The number of updates is not counted but computed (ours, by Burnside's lemma). The pairs of a target block and a
//! trace in it fall into orbits under the symmetries, and the number of canonical updates is the number of pairs with a
//! canonical target. Summing over the targets of one group, weighted by their stabiliser, gives
//!
//! ```text
//! updates = 1/|G| * sum over symmetries g, over traces D, of the number of blocks J with g(J) = J and D inside J
//! ```
//!
//! because a canonical block stands for `|G| / |stabiliser|` blocks with equally many traces each, so that counting
//! each block once for each symmetry that fixes it counts every group `|G|` times. A block that `g` fixes is a
//! union of cycles of `g`; if it contains `D`, it contains the cycles that `D` meets, and the others are free:
//! `2^(cycles - cycles met)` blocks.

use crate::board::{Board, Cell, Symmetry};
use std::cmp::Reverse;

/// The set of `bits` cells, closed under all symmetries of the board, with the fewest updates after redundancy removal.
///
/// Among equals the one that leaves the corners whole to the greatest depth wins, because corners left in the offset
/// compress well; then the one with the first cells in row order, so that the answer is always the same. `None` if no
/// closed set has that size.
pub fn best_closed(board: &Board, bits: u32) -> Option<Vec<Cell>> {
    let mask = best_closed_mask(board, bits)?;
    Some((0..board.cells()).filter(|cell| mask >> cell & 1 == 1).map(Cell::from_index).collect())
}

pub(super) fn best_closed_mask(board: &Board, bits: u32) -> Option<u64> {
    let mut orbits: Vec<u64> = (0..board.cells())
        .map(|cell| board.symmetries().iter().fold(0, |orbit, symmetry| orbit | symmetry.apply(1 << cell)))
        .collect();
    orbits.sort_unstable();
    orbits.dedup();
    let mut sets = Vec::new();
    unions(&orbits, 0, bits, &mut sets);
    let cycles: Vec<Vec<u64>> = board.symmetries().iter().map(cycles).collect();
    // Reversing the bits turns "has the earlier cell" into "is larger".
    sets.into_iter().min_by_key(|&set| {
        let whole_corners = Reverse(corner_distances(board, set));
        (updates(board.moves(), &cycles, set), whole_corners, Reverse(set.reverse_bits()))
    })
}

/// For each cell of a set, the number of rows between it and its nearest corner, in ascending order.
fn corner_distances(board: &Board, set: u64) -> Vec<u8> {
    let cells = (0..board.cells() as usize).filter(|cell| set >> cell & 1 == 1);
    let rows = |cell: usize| {
        board.symmetries().iter().map(move |symmetry| Cell::from_index(symmetry.image()[cell].into()).row)
    };
    let mut distances: Vec<u8> = cells.filter_map(|cell| rows(cell).min()).collect();
    distances.sort_unstable();
    distances
}

/// The number of updates after redundancy removal, [`Counts::canonical_updates`](super::Counts::canonical_updates),
/// for BID cells that all symmetries of the board keep; `None` for other cells.
pub fn closed_updates(board: &Board, bid_cells: &[Cell]) -> Option<u128> {
    let set = bid_cells.iter().fold(0, |set, cell| set | cell.mask());
    let closed = board.symmetries().iter().all(|symmetry| symmetry.apply(set) == set);
    let cycles: Vec<Vec<u64>> = board.symmetries().iter().map(cycles).collect();
    closed.then(|| updates(board.moves(), &cycles, set))
}

/// Adds every union of `chosen` and some of the `orbits` that has `bits` cells more than `chosen`.
fn unions(orbits: &[u64], chosen: u64, bits: u32, sets: &mut Vec<u64>) {
    if bits == 0 {
        sets.push(chosen);
    } else if let [orbit, rest @ ..] = orbits {
        unions(rest, chosen, bits, sets);
        if let Some(bits) = bits.checked_sub(orbit.count_ones()) {
            unions(rest, chosen | orbit, bits, sets);
        }
    }
}

/// The cycles of a symmetry as masks of cells.
fn cycles(symmetry: &Symmetry) -> Vec<u64> {
    let mut cycles = Vec::new();
    let mut seen = 0;
    for cell in 0..symmetry.image().len() {
        let mut cycle = 0;
        let mut next = cell;
        while (seen | cycle) >> next & 1 == 0 {
            cycle |= 1 << next;
            next = usize::from(symmetry.image()[next]);
        }
        if cycle != 0 {
            seen |= cycle;
            cycles.push(cycle);
        }
    }
    cycles
}

fn updates(moves: &[u64], cycles: &[Vec<u64>], set: u64) -> u128 {
    let mut traces: Vec<u64> = moves.iter().map(|cells| cells & set).filter(|&trace| trace != 0).collect();
    traces.sort_unstable();
    traces.dedup();
    let mut sum = 0u128;
    for cycles in cycles {
        let inside: Vec<u64> = cycles.iter().copied().filter(|cycle| cycle & set != 0).collect();
        for trace in &traces {
            let free = inside.iter().filter(|&cycle| cycle & trace == 0).count();
            sum += 1 << free;
        }
    }
    sum / cycles.len() as u128
}
