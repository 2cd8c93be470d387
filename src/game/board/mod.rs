//! Boards: cells, moves and symmetries.
//!
//! A board is plain data: a number of cells, the moves as masks over them, and the symmetries as
//! permutations of them. All fast code works on those masks, so another removal game needs only
//! another constructor.
//!
//! The triangle of `k` layers has `k (k + 1) / 2` cells. Cell `(row, column)`, both counted from 0,
//! has the index `row (row + 1) / 2 + column`; a position is a `u64` in which bit `i` is set if
//! cell `i` holds a piece.
//!
//! ```text
//!             0                      (0,0)
//!           1   2                 (1,0) (1,1)
//!         3   4   5            (2,0) (2,1) (2,2)
//!       6   7   8   9       (3,0) (3,1) (3,2) (3,3)
//!    10  11  12  13  14
//! ```
//!
//! Lines run in three directions: along a row, along a column (`column` fixed) and along a diagonal
//! (`row - column` fixed). A move takes one or more neighbouring pieces of one line; move `m` is
//! legal in position `p` when `p & m == m`, and leads to `p ^ m` (\[SWLK12\] section 2).
//!
//! # Invariants
//! 1. The moves are distinct, nonempty, inside the board and sorted by their numeric value.
//! 2. The symmetries are distinct, form a group and map moves to moves; the identity comes first.

mod permutation;
mod symmetry;
mod triangle;

pub(crate) use permutation::BitPermutation;
pub use symmetry::Symmetry;

use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// The largest number of layers of a board: its 55 cells fit a 64-bit mask.
pub const LAYERS_MAX: u32 = 10;

/// A cell of a triangle, by row from the apex and column from the left, both counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// The row; row `r` has `r + 1` cells.
    pub row: u8,
    /// The column within the row, from 0 to `row`.
    pub col: u8,
}

impl Cell {
    /// Creates the cell in row `row` and column `col`.
    pub const fn new(row: u8, col: u8) -> Cell {
        Cell { row, col }
    }

    /// Returns the cell with this index; the inverse of [`Cell::index`].
    pub fn from_index(index: u32) -> Cell {
        let mut row = 0;
        while (row + 1) * (row + 2) / 2 <= index {
            row += 1;
        }
        Cell { row: row as u8, col: (index - row * (row + 1) / 2) as u8 }
    }

    /// Returns the bit of this cell in a position, provided that `col <= row`.
    pub const fn index(self) -> u32 {
        let row = self.row as u32;
        row * (row + 1) / 2 + self.col as u32
    }

    /// Returns the position in which only this cell holds a piece.
    pub const fn mask(self) -> u64 {
        1 << self.index()
    }
}

/// Serializes a cell as its index.
impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.index())
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({},{})", self.row, self.col)
    }
}

/// A board: its cells, its moves and its symmetries.
///
/// ```
/// use trinim::game::Board;
///
/// let board = Board::triangle(5, None)?;
/// assert_eq!(board.cells(), 15);
/// assert_eq!(board.moves().len(), 75);
/// assert_eq!(board.symmetries().len(), 6);
/// # Ok::<(), trinim::game::BoardError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Board {
    layers: u32,
    max_take: Option<u32>,
    cells: u32,
    moves: Vec<u64>,
    symmetries: Vec<Symmetry>,
}

impl Board {
    /// Builds the triangle with `layers` rows. A move takes at most `max_take` pieces, or any
    /// number if it is `None`.
    ///
    /// # Errors
    /// [`BoardError::Layers`] unless `layers` is between 1 and [`LAYERS_MAX`];
    /// [`BoardError::MaxTake`] if `max_take` is 0.
    pub fn triangle(layers: u32, max_take: Option<u32>) -> Result<Board, BoardError> {
        if !(1..=LAYERS_MAX).contains(&layers) {
            return Err(BoardError::Layers { layers });
        }
        if max_take == Some(0) {
            return Err(BoardError::MaxTake);
        }
        Ok(Board {
            layers,
            max_take,
            cells: layers * (layers + 1) / 2,
            moves: triangle::moves(layers, max_take.unwrap_or(layers)),
            symmetries: triangle::symmetries(layers),
        })
    }

    /// Returns the number of rows.
    pub fn layers(&self) -> u32 {
        self.layers
    }

    /// Returns the most pieces that a move may take, if there is a limit.
    pub fn max_take(&self) -> Option<u32> {
        self.max_take
    }

    /// Returns the number of cells, which is the number of bits of a position.
    pub fn cells(&self) -> u32 {
        self.cells
    }

    /// Returns the position in which every cell holds a piece: the start of the game.
    pub fn full(&self) -> u64 {
        u64::MAX >> (64 - self.cells)
    }

    /// Returns every move as the mask of the cells it empties, distinct and sorted.
    pub fn moves(&self) -> &[u64] {
        &self.moves
    }

    /// Returns the symmetries: the identity, the two rotations and the three reflections; only the
    /// identity if the board is a single cell.
    pub fn symmetries(&self) -> &[Symmetry] {
        &self.symmetries
    }

    /// Groups moves or positions into classes under the symmetries. Each class is its smallest
    /// image and its members, ascending.
    pub fn classes(&self, masks: &[u64]) -> Vec<(u64, Vec<u64>)> {
        self.classes_at(self.full(), masks)
    }

    /// Groups moves like [`Board::classes`], under the symmetries that keep `position`.
    pub fn classes_at(&self, position: u64, masks: &[u64]) -> Vec<(u64, Vec<u64>)> {
        let kept: Vec<&Symmetry> =
            self.symmetries.iter().filter(|symmetry| symmetry.apply(position) == position).collect();
        let mut classes: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for mask in masks {
            let smallest = kept.iter().map(|symmetry| symmetry.apply(*mask)).min().unwrap_or(*mask);
            classes.entry(smallest).or_default().push(*mask);
        }
        classes.values_mut().for_each(|members| members.sort_unstable());
        classes.into_iter().collect()
    }

    /// Returns whether `cell` is on this board.
    pub fn contains(&self, cell: Cell) -> bool {
        u32::from(cell.row) < self.layers && cell.col <= cell.row
    }

    /// Draws the cell indices as a multi-line picture, apex on top; every line ends in a newline.
    pub fn numbering(&self) -> String {
        triangle::picture(self.layers, 3, |index| index.to_string())
    }

    /// Draws the board as a multi-line picture with `cell(index)` at every cell, padded to `width`
    /// characters each.
    pub fn picture(&self, width: usize, cell: impl Fn(u32) -> String) -> String {
        triangle::picture(self.layers, width, cell)
    }
}

/// Why a board cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BoardError {
    /// The number of layers is out of range.
    #[error("a board of {layers} layers is not possible: expected 1 to {LAYERS_MAX}")]
    Layers {
        /// The requested number.
        layers: u32,
    },
    /// The limit on the pieces of a move is 0.
    #[error("a limit of 0 pieces a move leaves no move: expected 1 or more")]
    MaxTake,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_numbered_row_by_row() {
        for index in 0..55 {
            let cell = Cell::from_index(index);
            assert!(cell.col <= cell.row);
            assert_eq!(cell.index(), index);
        }
        assert_eq!(Cell::new(4, 2).index(), 12);
        assert_eq!(Cell::new(4, 2).to_string(), "(4,2)");
    }

    #[test]
    fn impossible_boards_are_refused_in_words() {
        for layers in [0, 11, u32::MAX] {
            let error = Board::triangle(layers, None).unwrap_err();
            assert!(error.to_string().contains("expected 1 to 10"), "{error}");
        }
        assert_eq!(Board::triangle(3, Some(0)).unwrap_err(), BoardError::MaxTake);
    }

    #[test]
    fn images_are_one_class() {
        let board = Board::triangle(3, None).unwrap();
        let corners = (0b1, vec![0b1, 0b1000, 0b10_0000]);
        let edges = (0b10, vec![0b10, 0b100, 0b1_0000]);
        assert_eq!(board.classes(&[0b100, 0b1000, 0b10, 0b1, 0b10_0000, 0b1_0000]), [corners, edges]);
        let sizes = board.classes(board.moves()).into_iter().map(|(_, members)| members.len());
        assert_eq!(sizes.sum::<usize>(), board.moves().len());
    }

    #[test]
    fn the_numbering_is_drawn() {
        let board = Board::triangle(3, None).unwrap();
        assert_eq!(board.numbering(), "      0\n    1   2\n  3   4   5\n");
    }
}
