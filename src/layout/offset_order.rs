//! The order of the offset cells.
//!
//! It changes no result, but it decides how well a loss bitmap compresses. A corner whose border is
//! empty is a game of its own, so few patterns of losses occur in a corner, and they repeat. The
//! cells of a corner therefore become neighbouring low bits. Ours.
//!
//! **Sector order**, for BID sets that are closed under rotation. The offset cells form three
//! sectors, one for each corner. Sector 0 has one cell of each rotation orbit, ordered from the
//! apex downwards, row by row. Sectors 1 and 2 are its rotations, cell by cell. Sector 0 has the
//! lowest bits; a centre cell, which no rotation moves, has the highest. A rotation of a position
//! then rotates three bit fields of equal length.
//!
//! ```text
//!           0             six layers, no BID cell: sector 0 has the bits 0 to 6 as
//!          1 2            numbered, L is the sector of the bottom left corner, R
//!         3 4 5           that of the bottom right one
//!        L R L R
//!       L L 6 R R
//!      L L L R R R
//! ```
//!
//! Sector 0 has the cell of an orbit that is nearest to the apex. If two cells are equally near,
//! they mirror each other, and the third lies on the axis of the apex. Then sector 0 takes that
//! third cell, so every sector stays symmetric about its axis and a reflection also maps sectors to
//! sectors. The third cell is the farthest, so it comes last in the sector.
//!
//! **Corner order**, for all other BID sets: the three corner triangles of three rows, each from
//! its corner inwards, then the other cells row by row.
//!
//! Boards that are not triangles have their cells in the order of the indices.

use trinim_game::{Board, Cell, Symmetry};

/// The rows of a corner that the corner order takes.
const CORNER_LAYERS: u8 = 3;

/// Returns the cells outside `bid_mask` in the order of the offset bits, as cell indices, bit 0
/// first.
pub(super) fn offset_cells(board: &Board, bid_mask: u64) -> Vec<u8> {
    let Some(layers) = board.layers() else {
        return free_cells(board, bid_mask).collect();
    };
    let rotations = board.symmetries().get(1..3);
    match rotations {
        Some([once, twice]) if once.apply(bid_mask) == bid_mask => sector_order(board, bid_mask, once, twice),
        _ => corner_order(board, layers, bid_mask),
    }
}

fn sector_order(board: &Board, bid_mask: u64, once: &Symmetry, twice: &Symmetry) -> Vec<u8> {
    let turn = |symmetry: &Symmetry, cell: u8| symmetry.image()[usize::from(cell)];
    let (mut sector, mut centre) = (Vec::new(), Vec::new());
    for cell in free_cells(board, bid_mask) {
        let orbit = [cell, turn(once, cell), turn(twice, cell)];
        if orbit[0] == orbit[1] {
            centre.push(cell);
        } else if cell == apex_cell(orbit) {
            sector.push(cell);
        }
    }
    // `free_cells` goes row by row, that is, from the apex inwards.
    let turned = |symmetry| sector.iter().map(move |&cell| turn(symmetry, cell));
    sector.iter().copied().chain(turned(once)).chain(turned(twice)).chain(centre).collect()
}

/// Returns the cell of a rotation orbit that belongs to the apex's sector; cells are indices.
pub(super) fn apex_cell(orbit: [u8; 3]) -> u8 {
    let orbit = orbit.map(|cell| Cell::from_index(cell.into()));
    let nearest = orbit.iter().map(|cell| cell.row).min().expect("an orbit has cells");
    let mut near = orbit.iter().filter(|cell| cell.row == nearest);
    let cell = match (near.next(), near.next()) {
        (Some(&cell), None) => cell,
        _ => *orbit.iter().find(|cell| cell.row == 2 * cell.col).expect("tied cells have the third on the axis"),
    };
    cell.index() as u8
}

fn corner_order(board: &Board, layers: u32, bid_mask: u64) -> Vec<u8> {
    let last = layers as u8 - 1;
    let corners: [fn(u8, u8, u8) -> Cell; 3] = [
        |_, row, col| Cell::new(row, col),
        |last, row, col| Cell::new(last - col, row - col),
        |last, row, col| Cell::new(last - row + col, last - row),
    ];
    let places = (0..CORNER_LAYERS.min(layers as u8)).flat_map(|row| (0..=row).map(move |col| (row, col)));
    let of_corner = |corner: fn(u8, u8, u8) -> Cell| places.clone().map(move |(row, col)| corner(last, row, col));
    let corner_cells = corners.into_iter().flat_map(of_corner).map(|cell| cell.index() as u8);
    let mut cells: Vec<u8> = Vec::new();
    for cell in corner_cells.chain(free_cells(board, bid_mask)) {
        if bid_mask >> cell & 1 == 0 && !cells.contains(&cell) {
            cells.push(cell);
        }
    }
    cells
}

fn free_cells(board: &Board, bid_mask: u64) -> impl Iterator<Item = u8> {
    (0..board.cells() as u8).filter(move |cell| bid_mask >> cell & 1 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns every set of cells that a rotation or the whole group keeps, built from a few
    /// orbits.
    fn closed_masks(board: &Board) -> Vec<u64> {
        let mut masks = vec![0];
        for cell in [0, 1, 4, 7, 12] {
            if cell < board.cells() {
                let orbit = board.symmetries().iter().fold(0, |orbit, symmetry| orbit | symmetry.apply(1 << cell));
                let wider: Vec<u64> = masks.iter().map(|mask| mask | orbit).collect();
                masks.extend(wider);
            }
        }
        masks
    }

    #[test]
    fn a_rotation_turns_three_fields_and_a_reflection_keeps_one() {
        for layers in 2..=10 {
            let board = Board::triangle(layers, None).unwrap();
            for bid_mask in closed_masks(&board) {
                let cells = offset_cells(&board, bid_mask);
                let field_bits = cells.len() / 3;
                let bit_of = |cell: u8| cells.iter().position(|&other| other == cell).unwrap();
                for (index, symmetry) in board.symmetries().iter().enumerate() {
                    let mut fields = Vec::new();
                    for field in 0..3 {
                        let images: Vec<usize> = cells[field * field_bits..(field + 1) * field_bits]
                            .iter()
                            .map(|&cell| bit_of(symmetry.image()[usize::from(cell)]))
                            .collect();
                        let target = images.first().map_or(field, |bit| bit / field_bits);
                        assert!(images.iter().all(|bit| bit / field_bits == target), "k {layers}, {cells:?}");
                        if index < 3 {
                            let shifted = |bit: usize| target * field_bits + bit;
                            assert!(images.iter().enumerate().all(|(bit, &image)| image == shifted(bit)));
                        }
                        fields.push(target);
                    }
                    let fixed = fields.iter().enumerate().filter(|(field, target)| field == *target).count();
                    assert!(field_bits == 0 || fixed == [3, 0, 0, 1, 1, 1][index]);
                }
            }
        }
    }

    #[test]
    fn corners_come_first_without_rotation() {
        let board = Board::triangle(8, None).unwrap();
        let bid = [Cell::new(0, 0), Cell::new(2, 1), Cell::new(4, 2), Cell::new(6, 3)];
        let bid_mask = bid.iter().fold(0, |mask, cell| mask | cell.mask());
        let cells = offset_cells(&board, bid_mask);
        assert_eq!(cells[..4], [1, 2, 3, 5]);
        assert_eq!(cells[4..10], [28, 29, 21, 30, 22, 15]);
        assert_eq!(cells[10..16], [35, 27, 34, 20, 26, 33]);
        assert_eq!(cells[16], 6);
        assert_eq!(cells.len(), 32);
    }
}
