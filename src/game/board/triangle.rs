//! Lines and symmetries of the triangle.
//!
//! A cell of a triangle with `k` layers has three distances to the sides: `column`, `row - column`
//! and `k - 1 - row`. They add up to `k - 1`. A line keeps one of them constant, and the symmetries
//! permute them.

use super::{Cell, Symmetry};

/// Returns the distances to the left side, the right side and the bottom.
fn distances(layers: u32, cell: Cell) -> [u8; 3] {
    [cell.col, cell.row - cell.col, layers as u8 - 1 - cell.row]
}

fn cells(layers: u32) -> impl Iterator<Item = Cell> {
    (0..layers * (layers + 1) / 2).map(Cell::from_index)
}

/// Returns every run of at most `max_take` neighbouring cells of one line, as distinct sorted
/// masks.
pub(super) fn moves(layers: u32, max_take: u32) -> Vec<u64> {
    // The steps along a line: along the row, down the column, down the diagonal.
    let steps = [(0, 1), (1, 0), (1, 1)];
    let mut moves = Vec::new();
    for first in cells(layers) {
        for (down, right) in steps {
            let mut run = 0;
            for length in 0..max_take.min(layers) as u8 {
                let cell = Cell::new(first.row + down * length, first.col + right * length);
                if u32::from(cell.row) >= layers || cell.col > cell.row {
                    break;
                }
                run |= cell.mask();
                moves.push(run);
            }
        }
    }
    moves.sort_unstable();
    // Each direction yields the single cells again.
    moves.dedup();
    moves
}

/// Returns the distinct symmetries: the identity, the two rotations, then the three reflections.
pub(super) fn symmetries(layers: u32) -> Vec<Symmetry> {
    let exchanges = [[0, 1, 2], [2, 0, 1], [1, 2, 0], [1, 0, 2], [0, 2, 1], [2, 1, 0]];
    let mut symmetries = Vec::new();
    for exchange in exchanges {
        let image = cells(layers)
            .map(|cell| {
                let distances = distances(layers, cell);
                let [col, diagonal, _] = exchange.map(|side: usize| distances[side]);
                Cell::new(col + diagonal, col).index() as u8
            })
            .collect();
        let symmetry = Symmetry::new(image);
        // On a single cell all six are the identity.
        if !symmetries.contains(&symmetry) {
            symmetries.push(symmetry);
        }
    }
    symmetries
}
