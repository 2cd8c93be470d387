//! Where the cells of a board lie, for drawing and for naming: the one place that knows it.

use crate::game::Board;

/// The place of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The row in the drawing, from 0 at the top.
    pub row: u32,
    /// The number of the cell in its row, from 0 at the left.
    pub col: u32,
    /// Distance from the left edge; neighbours on a line are 1 apart.
    pub x: f64,
    /// Distance from the top edge.
    pub y: f64,
}

/// Height of an equilateral triangle with sides of 1.
const ROW: f64 = 0.866_025_403_784_438_6;

/// Returns the place of each cell, by index. The smallest `x` and `y` are 0.
pub fn places(board: &Board) -> Vec<Place> {
    let least = |axis: usize| board.places().iter().map(|place| place[axis]).fold(f64::INFINITY, f64::min);
    let (left, top) = (least(0), least(1));
    // Rows set off by half a cell are those of a triangular grid.
    let is_set_off = board.places().iter().any(|place| (place[0] - left).fract() != 0.0);
    let height = if is_set_off { ROW } else { 1.0 };
    let place = |(index, [x, y]): (u32, &[f64; 2])| {
        let cell = board.cell(index);
        Place { row: cell.row.into(), col: cell.col.into(), x: x - left, y: (y - top) * height }
    };
    (0..).zip(board.places()).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::position::cells;

    /// In a triangle, a move takes cells in a row, each 1 from the next.
    #[test]
    fn neighbours_on_a_line_are_one_apart() {
        for layers in 1..=9 {
            let board = Board::triangle(layers, None).unwrap();
            let places = places(&board);
            for mask in board.moves() {
                let cells: Vec<&Place> = cells(*mask).into_iter().map(|cell| &places[cell as usize]).collect();
                for pair in cells.windows(2) {
                    let distance = (pair[0].x - pair[1].x).hypot(pair[0].y - pair[1].y);
                    assert!((distance - 1.0).abs() < 1e-9, "{mask:#x}: {distance}");
                }
            }
            assert!(places.iter().all(|place| place.x >= 0.0 && place.y >= 0.0));
        }
    }
}
