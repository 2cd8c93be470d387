//! Cells by row and column.

use std::fmt;
use std::str::FromStr;

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

    /// Writes cells as a list: `b1,c2`.
    pub fn list(cells: impl IntoIterator<Item = Cell>) -> String {
        cells.into_iter().map(|cell| cell.to_string()).collect::<Vec<_>>().join(",")
    }

    /// Returns the position on a triangle in which only this cell holds a piece.
    pub const fn mask(self) -> u64 {
        1 << self.index()
    }
}

/// Reads what [`Display`](fmt::Display) writes, in small or capital letters.
impl FromStr for Cell {
    type Err = ParseCellError;

    fn from_str(text: &str) -> Result<Cell, ParseCellError> {
        // No board has more rows or columns.
        let mut cells = (0..64).flat_map(|row| (0..64).map(move |col| Cell { row, col }));
        cells.find(|cell| cell.to_string().eq_ignore_ascii_case(text)).ok_or(ParseCellError)
    }
}

/// A text is not the name of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a cell like b1, the letter of the row and the number in it")]
pub struct ParseCellError;

/// Writes the letter of the row and the number in the row, from 1: `c2` is the second cell of the
/// third row.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = |number: u8| char::from(b'a' + number);
        // After z, rows are aa, ab, ...
        if let Some(first) = (self.row / 26).checked_sub(1) {
            write!(f, "{}", letter(first))?;
        }
        write!(f, "{}{}", letter(self.row % 26), u32::from(self.col) + 1)
    }
}
