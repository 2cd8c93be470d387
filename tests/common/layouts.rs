//! Layouts of small boards.

use trinim::game::{Board, Cell};
use trinim::layout::Layout;

pub fn triangle(layers: u32) -> Board {
    Board::triangle(layers, None).unwrap()
}

pub fn cells(list: &[(u8, u8)]) -> Vec<Cell> {
    list.iter().map(|&(row, col)| Cell::new(row, col)).collect()
}

/// Returns the cells together with all their images.
pub fn closure(board: &Board, seeds: &[(u8, u8)]) -> Vec<Cell> {
    let mask = cells(seeds).iter().fold(0, |mask, cell| {
        board.symmetries().iter().fold(mask, |mask, symmetry| mask | symmetry.apply(cell.mask()))
    });
    (0..board.cells()).map(Cell::from_index).filter(|cell| mask & cell.mask() != 0).collect()
}

/// Layouts of small boards: no, some and all cells as BID cells, with and without symmetry, with a
/// limit on the take.
pub fn small_layouts() -> Vec<(Board, Layout)> {
    let mut layouts = Vec::new();
    for (layers, max_take) in [(1, None), (2, None), (3, None), (4, None), (4, Some(2)), (5, None)] {
        let board = Board::triangle(layers, max_take).unwrap();
        let full: Vec<Cell> = (0..board.cells()).map(Cell::from_index).collect();
        let sets = [
            vec![],
            cells(&[(0, 0)]),
            closure(&board, &[(0, 0)]),
            closure(&board, &[(layers as u8 / 2, 0)]),
            full.iter().copied().filter(|cell| cell.col == 0).collect(),
            full.iter().copied().step_by(2).collect(),
            full,
        ];
        for set in sets {
            layouts.push((board.clone(), Layout::new(&board, &set).unwrap()));
        }
    }
    layouts
}
