//! Boards: cells, moves and symmetries.
//!
//! A board is plain data: cells, the moves as masks over them, and the symmetries as permutations
//! of them. All fast code works on the masks. [`Board::triangle`] makes the board of Triangular
//! Nim, [`Board::named`] those of the [`families`], [`Board::from_toml`] one from a file, and
//! [`Definition::board`] any other. The symmetries of boards that are not triangles are searched
//! for ([`automorphisms`]).
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

mod automorphisms;
mod cell;
mod definition;
mod families;
mod file;
mod lines;
mod part;
mod permutation;
mod rows;
mod symmetry;
mod triangle;

pub use automorphisms::SYMMETRIES_MAX;
pub use cell::{Cell, ParseCellError};
pub use definition::Definition;
use families::FORMS;
pub use file::FileError;
pub use part::Part;
pub use permutation::BitPermutation;
pub use symmetry::Symmetry;

use std::collections::BTreeMap;

/// The largest number of layers of a triangle: its 55 cells fit a 64-bit mask.
pub const LAYERS_MAX: u32 = 10;
/// The most cells of a board: one bit each.
pub const CELLS_MAX: u32 = 64;
/// The most moves of a board.
pub const MOVES_MAX: usize = 4096;

/// How many neighbouring pieces of a line a move takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Takes {
    /// The fewest, at least 1, if they are given.
    pub least: Option<u32>,
    /// The most, if there is a limit.
    pub most: Option<u32>,
}

impl Takes {
    /// Any number.
    pub const ANY: Takes = Takes { least: None, most: None };

    /// Returns whether not any number can be taken.
    pub fn are_limited(self) -> bool {
        self.least.is_some_and(|least| least != 1) || self.most.is_some()
    }
}

impl Default for Takes {
    fn default() -> Takes {
        Takes::ANY
    }
}

/// A board: its cells, its moves and its symmetries.
///
/// ```
/// use trinim_game::Board;
///
/// let board = Board::triangle(5, None)?;
/// assert_eq!(board.cells(), 15);
/// assert_eq!(board.moves().len(), 75);
/// assert_eq!(board.symmetries().len(), 6);
/// # Ok::<(), trinim_game::BoardError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Board {
    name: String,
    /// Of a triangle.
    layers: Option<u32>,
    min_take: Option<u32>,
    max_take: Option<u32>,
    cells: u32,
    /// The lengths of the rows in text.
    rows: Vec<u32>,
    places: Vec<[f64; 2]>,
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
        let cells = layers * (layers + 1) / 2;
        let place = |index| {
            let Cell { row, col } = Cell::from_index(index);
            [f64::from(layers - 1 - u32::from(row)) / 2.0 + f64::from(col), f64::from(row)]
        };
        let board = Board {
            name: format!("triangle:{layers}"),
            layers: Some(layers),
            min_take: None,
            max_take,
            cells,
            rows: (1..=layers).collect(),
            places: (0..cells).map(place).collect(),
            moves: triangle::moves(layers, max_take.unwrap_or(layers)),
            symmetries: triangle::symmetries(layers),
        };
        Ok(board.asserted())
    }

    fn asserted(self) -> Board {
        let is_inside = |taken: &u64| *taken != 0 && taken & !self.full() == 0;
        let are_sorted = self.moves.is_sorted_by(|one, next| one < next);
        assert!(are_sorted && self.moves.iter().all(is_inside), "board, invariant 1: the moves of {}", self.name);
        assert!(self.symmetries[0].is_identity(), "board, invariant 2: the identity comes first");
        debug_assert!(symmetry::is_group(&self.symmetries), "board, invariant 2: the symmetries are a group");
        self
    }

    /// Returns the name: `triangle:7`, `rect:6x6`, or the name in a file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of layers of a triangle on which a move may take a single piece; `None`
    /// for every other board.
    pub fn layers(&self) -> Option<u32> {
        self.layers
    }

    /// Returns the layers of the smallest triangle with at least as many cells. Costs are estimated
    /// by it.
    pub fn size_in_layers(&self) -> u32 {
        self.layers
            .unwrap_or_else(|| (1..).find(|layers| layers * (layers + 1) / 2 >= self.cells).unwrap_or(LAYERS_MAX))
    }

    /// Returns the fewest pieces that a move may take along a line, if more than one.
    pub fn min_take(&self) -> Option<u32> {
        self.min_take
    }

    /// Returns the most pieces that a move may take along a line, if there is a limit.
    pub fn max_take(&self) -> Option<u32> {
        self.max_take
    }

    /// Returns the lengths of the rows in which positions are written, top row first. They add up
    /// to the cells, which are numbered row by row.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Returns the coordinates of each cell, by index: to the right and down, in distances of
    /// neighbours.
    pub fn places(&self) -> &[[f64; 2]] {
        &self.places
    }

    /// Returns the cell of an index below [`Board::cells`], by row and place in the row.
    pub fn cell(&self, index: u32) -> Cell {
        let mut left = index;
        let row = self.rows.iter().position(|&length| {
            let is_here = left < length;
            left -= if is_here { 0 } else { length };
            is_here
        });
        Cell::new(row.unwrap_or(self.rows.len()) as u8, left as u8)
    }

    /// Returns the index of a cell; `None` if it is not on the board.
    pub fn index(&self, cell: Cell) -> Option<u32> {
        let length = *self.rows.get(usize::from(cell.row))?;
        let above: u32 = self.rows[..usize::from(cell.row)].iter().sum();
        (u32::from(cell.col) < length).then(|| above + u32::from(cell.col))
    }

    /// Returns whether every piece may be taken alone. Only the empty position is then without a
    /// move.
    pub fn takes_single_pieces(&self) -> bool {
        let single = self.moves.iter().filter(|taken| taken.count_ones() == 1);
        single.count() as u32 == self.cells
    }

    /// Returns whether the player to move has no move.
    pub fn is_over(&self, position: u64) -> bool {
        !self.moves.iter().any(|taken| position & taken == *taken)
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

    /// Returns a group of symmetries, the identity first. A triangle has the identity, the two
    /// rotations and the three reflections, or only the identity if it is a single cell. Another
    /// board has all permutations that map its moves to moves, at most [`SYMMETRIES_MAX`].
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

    /// Draws the board as a multi-line picture with `cell(index)` at every cell, padded to `width`
    /// characters each; every line ends in a newline.
    pub fn picture(&self, width: usize, cell: impl Fn(u32) -> String) -> String {
        rows::picture(&self.places, width, cell)
    }
}

/// Why a board cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BoardError {
    /// The number of layers is out of range.
    #[error("a board cannot have {layers} layers: expected 1 to {LAYERS_MAX}")]
    Layers {
        /// The requested number.
        layers: u32,
    },
    /// The limit on the pieces of a move is 0.
    #[error("a limit of 0 pieces per move allows no move: expected 1 or more")]
    MaxTake,
    /// No board has this name.
    #[error("unknown board {name:?}: expected {FORMS}")]
    Name {
        /// The name.
        name: String,
    },
    /// The data make no board.
    #[error("{reason}")]
    Definition {
        /// What was found and what was expected.
        reason: String,
    },
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
        let named = [(4, 2, "e3"), (0, 0, "a1"), (25, 9, "z10"), (26, 0, "aa1"), (63, 63, "bl64")];
        for (row, col, name) in named {
            assert_eq!((Cell::new(row, col).to_string(), name.parse()), (name.to_owned(), Ok(Cell::new(row, col))));
        }
        for text in ["", "e", "3", "e0", "e+3", "e03", "3e", "bm1", "aaa1", "é1", "e65", "e3 "] {
            assert!(text.parse::<Cell>().is_err(), "{text}");
        }
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
    fn what_a_board_says_of_itself_is_what_it_was_made_of() {
        let board = |name, least, most| Board::named(name, Takes { least: Some(least), most }).unwrap();
        // Triangles of 10 and 15 cells are the smallest that hold 10 and 11.
        let sizes = ["rect:2x5", "rect:1x11", "rect:1x1"].map(|name| board(name, 1, None).size_in_layers());
        assert_eq!(sizes, [4, 5, 1]);
        let limits = |board: &Board| (board.min_take(), board.max_take(), board.takes_single_pieces());
        assert_eq!(limits(&board("rect:2x2", 1, None)), (None, None, true));
        assert_eq!(limits(&board("rect:4x4", 2, Some(3))), (Some(2), Some(3), false));
        assert_eq!(limits(&board("cram:2x3", 1, None)), (None, None, false));
        // As long as the longest line is no limit.
        assert_eq!(limits(&board("rect:2x3", 1, Some(3))), (None, None, true));
        let triangle = |most| Board::triangle(4, most).unwrap();
        assert_eq!([2, 4, 5].map(|most| board("triangle:4", 1, Some(most))), [Some(2), None, None].map(triangle));
        assert_eq!((triangle(None).layers(), triangle(None).definition()), (Some(4), None));
        assert_eq!(triangle(None).places()[..3], [[1.5, 0.0], [1.0, 1.0], [2.0, 1.0]]);
        let hex = board("hex:2", 1, None);
        let half = [[0.5, 0.0], [1.5, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [0.5, 2.0], [1.5, 2.0]];
        assert_eq!(hex.places(), half);
        assert_eq!((hex.layers(), hex.definition().unwrap().board().as_ref()), (None, Ok(&hex)));
        let large = board("hex:3", 1, None);
        assert_eq!(large.places()[..4], [[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [0.5, 1.0]]);
        for index in 0..hex.cells() {
            assert_eq!(hex.index(hex.cell(index)), Some(index));
        }
        assert_eq!([Cell::new(0, 2), Cell::new(3, 0)].map(|cell| hex.index(cell)), [None, None]);
        // Of three in a row, taken two at a time: two that are apart allow no move.
        let pairs = board("rect:1x3", 2, None);
        assert_eq!(
            [0b000, 0b001, 0b101, 0b011, 0b111].map(|left| pairs.is_over(left)),
            [true, true, true, false, false]
        );
    }

    #[test]
    fn cells_of_some_width_are_drawn() {
        let board = Board::triangle(3, None).unwrap();
        assert_eq!(board.picture(3, |index| index.to_string()), "      0\n    1   2\n  3   4   5\n");
    }
}
