//! Cells by row and column.

use std::fmt;

/// A cell of a board, by row from the top and place in the row from the left, both counted from 0.
///
/// [`Board::cell`](super::Board::cell) and [`Board::index`](super::Board::index) translate between
/// cells and indices; the functions here do so for triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// The row; row `r` of a triangle has `r + 1` cells.
    pub row: u8,
    /// The place within the row.
    pub col: u8,
}

impl Cell {
    /// Creates the cell in row `row` and column `col`.
    pub const fn new(row: u8, col: u8) -> Cell {
        Cell { row, col }
    }

    /// Returns the cell of a triangle with this index; the inverse of [`Cell::index`].
    pub fn from_index(index: u32) -> Cell {
        let mut row = 0;
        while (row + 1) * (row + 2) / 2 <= index {
            row += 1;
        }
        Cell { row: row as u8, col: (index - row * (row + 1) / 2) as u8 }
    }

    /// Returns the bit of this cell of a triangle in a position, provided that `col <= row`.
    pub const fn index(self) -> u32 {
        let row = self.row as u32;
        row * (row + 1) / 2 + self.col as u32
    }

    /// Returns the position on a triangle in which only this cell holds a piece.
    pub const fn mask(self) -> u64 {
        1 << self.index()
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({},{})", self.row, self.col)
    }
}
