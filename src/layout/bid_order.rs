//! The order of the BID cells.
//!
//! The bit order of the BID cells decides which block of an isomorphic group has the smallest
//! number and represents the group. An edge whose child is another block of its group needs an
//! *orientation*: the losses of the representative are rotated or reflected first. A move empties
//! few BID cells. In this order it seldom changes which image is smallest. Ours.
//!
//! **Orbits.** The cells of one rotation orbit are neighbouring bits. Images are then compared
//! orbit by orbit, and a move below the highest orbit in which they differ changes nothing. If the
//! layout keeps no rotation except a half turn, the orbits are those of all its symmetries.
//!
//! **Order of the orbits.** The fewer moves empty exactly one BID cell, a cell of this orbit, the
//! lower the orbit. Low orbits lie on lines with other BID cells, so moves there empty several.
//!
//! **Inside an orbit**, from the low bit: the cell of sector 0 (see `offset_order`), then its
//! images under the rotations, the last first. `benches/DECISIONS.md` has other orders.
//!
//! Without symmetries nothing is oriented, and the bits follow the cell indices.
//!
//! ```text
//!         0             nine layers, 15 BID cells, a digit for the bit of each:
//!        . .            22,072 of 78,852 edges are oriented; 32,284 if the bits
//!       . C .           follow the cell indices, and at least 21,244 if each
//!      3 . . 6          group chooses its representative freely
//!     . . 9 . .
//!    7 . . . . 5
//!   . . A . B . .
//!  . D . . . . E .
//! 1 . . 4 . 8 . . 2
//! ```

use super::offset_order::apex_cell;
use trinim_game::{Board, Symmetry};

/// Returns the cells of `bid_mask` in the order of the BID bits, as cell indices, bit 0 first.
pub(crate) fn bid_cells(board: &Board, bid_mask: u64) -> Vec<u8> {
    let orbiting = orbiting(board, bid_mask);
    let mut orbits: Vec<Vec<u8>> = Vec::new();
    for cell in (0..board.cells() as u8).filter(|cell| bid_mask >> cell & 1 == 1) {
        if orbits.iter().all(|orbit| !orbit.contains(&cell)) {
            orbits.push(orbit(board, &orbiting, cell));
        }
    }
    if orbiting.len() == 1 {
        return orbits.concat();
    }
    orbits.sort_by_key(|orbit| {
        let cells = orbit.iter().fold(0u64, |cells, cell| cells | 1 << cell);
        let taken = board.moves().iter().map(|cells| cells & bid_mask);
        taken.filter(|taken| taken.is_power_of_two() && taken & cells != 0).count()
    });
    orbits.concat()
}

/// Returns the symmetries whose orbits are neighbouring bits, the identity first: the powers of a
/// rotation by less than half a turn, or all that keep the set.
fn orbiting(board: &Board, bid_mask: u64) -> Vec<Symmetry> {
    let kept = || board.symmetries().iter().filter(|symmetry| symmetry.apply(bid_mask) == bid_mask);
    let powers = |symmetry: &Symmetry| {
        let next = |power: &Symmetry| Some(symmetry.compose(power)).filter(|power| !power.is_identity());
        std::iter::successors(kept().next().cloned(), next).collect::<Vec<_>>()
    };
    // The first of the longest, whichever way `max_by_key` breaks ties.
    let longest = kept().map(powers).rev().max_by_key(Vec::len).unwrap_or_default();
    if longest.len() > 2 { longest } else { kept().cloned().collect() }
}

/// Returns the orbit of a cell, which begins in the apex's sector, or with this cell if the board
/// has none.
fn orbit(board: &Board, orbiting: &[Symmetry], cell: u8) -> Vec<u8> {
    let images = |cell: u8| orbiting.iter().map(move |symmetry| symmetry.image()[usize::from(cell)]);
    let first = match *images(cell).collect::<Vec<_>>() {
        [one, two, three] if board.layers().is_some() => apex_cell([one, two, three]),
        _ => cell,
    };
    let mut orbit = vec![first];
    for image in images(first).skip(1).collect::<Vec<_>>().into_iter().rev() {
        if !orbit.contains(&image) {
            orbit.push(image);
        }
    }
    orbit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Layout;

    /// Returns how many edges of a layout need another orientation.
    fn oriented(layout: &Layout) -> usize {
        let edges = layout.ordinals().flat_map(|target| layout.edges_into(target));
        edges.filter(|edge| edge.symmetry != 0).count()
    }

    #[test]
    fn few_edges_need_a_turn() {
        // Offset bits, and the oriented edges in this order and in that of the indices.
        let triangle = |layers| Board::triangle(layers, None).unwrap();
        let named = |name| Board::named(name, Default::default()).unwrap();
        let cases = [
            (triangle(7), 20, 318, 361),
            (triangle(8), 27, 318, 398),
            (triangle(8), 30, 46, 51),
            (triangle(9), 30, 22_072, 32_284),
            (triangle(9), 33, 2_504, 3_097),
            (named("rect:5x5"), 12, 4_953, 6_397),
            (named("rect:4x6"), 12, 3_542, 4_078),
            (named("hex:3"), 9, 2_726, 3_148),
        ];
        for (board, bits, ordered, by_index) in cases {
            let layout = Layout::suggested(&board, bits);
            let mut indices = layout.bid_cells().to_vec();
            indices.sort_unstable();
            let other = Layout::from_cells(&board, &indices).unwrap();
            let edges =
                |layout: &Layout| layout.ordinals().map(|target| layout.edges_into(target).len()).sum::<usize>();
            assert_eq!(edges(&layout), edges(&other), "{}", board.name());
            assert_eq!([oriented(&layout), oriented(&other)], [ordered, by_index], "{}, {bits} bits", board.name());
        }
    }

    #[test]
    fn the_order_is_that_of_the_picture() {
        let layout = Layout::suggested(&Board::triangle(9, None).unwrap(), 30);
        assert_eq!(layout.bid_cells(), [0, 36, 44, 6, 39, 20, 9, 15, 41, 12, 23, 25, 4, 29, 34]);
    }

    /// Whatever symmetries a set keeps, each cell has one bit, and images of a cell are neighbours.
    #[test]
    fn every_cell_has_a_bit_and_orbits_are_neighbours() {
        for name in ["triangle:6", "rect:4x4", "rect:3x5", "hex:3", "cram:4x5"] {
            let board = Board::named(name, Default::default()).unwrap();
            for seed in 0..200_u64 {
                let drawn = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) & board.full();
                let all = board.symmetries().iter().take(1 + seed as usize % board.symmetries().len());
                let mask = all.fold(drawn, |mask, symmetry| mask | symmetry.apply(drawn));
                let cells = bid_cells(&board, mask);
                assert_eq!(cells.iter().fold(0, |set, cell| set | 1 << cell), mask, "{name}, {mask:x}");
                assert_eq!(cells.len() as u32, mask.count_ones());
                let orbiting = orbiting(&board, mask);
                for orbit in cells.chunk_by(|one, other| {
                    orbiting.iter().any(|symmetry| symmetry.image()[usize::from(*one)] == *other)
                }) {
                    let image =
                        orbiting.iter().map(|symmetry| symmetry.apply(1 << orbit[0])).fold(0, |set, cell| set | cell);
                    assert_eq!(image, orbit.iter().fold(0, |set, cell| set | 1 << cell), "{name}, {mask:x}");
                }
            }
        }
    }
}
