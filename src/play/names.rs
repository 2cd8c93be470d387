//! Names of cells, moves as players write them, and the places of the cells.
//!
//! Up to 26 cells have letters, `a` at the top. On larger boards a name is the letter of the row,
//! `aa` after `z`, and the number in the row, from 1: `c2` is the second cell of the third row. A
//! move is `d-f`, from cell to cell along a line, or the list of its cells in any order, `d,e,f`.
//!
//! # Invariants
//! 1. No text has two readings: a name belongs to one cell, and `d-f` is refused if more than one
//!    shortest move joins the two cells.

use std::collections::BTreeSet;
use trinim_game::position::cells;
use trinim_game::text::{bare, is_blank};
use trinim_game::{Board, Rule, Value};

/// Boards with this many cells or fewer have letters.
const LETTERS: u32 = 26;

/// The names of the cells of a board.
#[derive(Clone, Debug)]
pub struct Names {
    names: Vec<String>,
}

impl Names {
    /// Returns the names for a board.
    pub fn new(board: &Board) -> Names {
        let letter = |index: u32| char::from(b'a' + (index % LETTERS) as u8).to_string();
        // After z, rows are aa, ab, ..: 64 cells have 64 rows at most.
        let row = |row: u32| if row < LETTERS { letter(row) } else { letter(row / LETTERS - 1) + &letter(row) };
        let names: Vec<String> = if board.cells() <= LETTERS {
            (0..board.cells()).map(letter).collect()
        } else {
            places(board).iter().map(|place| format!("{}{}", row(place.row), place.col + 1)).collect()
        };
        let distinct: BTreeSet<&String> = names.iter().collect();
        assert_eq!(distinct.len(), names.len(), "names, invariant 1: a name belongs to one cell");
        Names { names }
    }

    /// Returns the names by index of the cell.
    pub fn all(&self) -> &[String] {
        &self.names
    }

    /// Returns the name of a cell of the board.
    pub fn cell(&self, cell: u32) -> &str {
        &self.names[cell as usize]
    }

    /// Returns the longest name, in characters.
    pub fn width(&self) -> usize {
        self.names.iter().map(String::len).max().unwrap_or(1)
    }

    /// Writes a move: `d`, `d-f`, or its cells where that would not name it.
    pub fn write(&self, board: &Board, taken: u64) -> String {
        let all = cells(taken);
        match all[..] {
            [] => String::new(),
            [only] => self.cell(only).to_owned(),
            // The ends of a run are its first and last cell: cells count along every line.
            [first, .., last] if between(board, first, last)[..] == [taken] => {
                format!("{}-{}", self.cell(first), self.cell(last))
            }
            _ => all.iter().map(|cell| self.cell(*cell)).collect::<Vec<_>>().join(","),
        }
    }

    /// Reads a move that is legal in `position`.
    ///
    /// # Errors
    /// [`MoveError`] with the reason, in words for the player.
    pub fn read(&self, board: &Board, position: u64, text: &str) -> Result<u64, MoveError> {
        // The page writes a dash, and so do programs that correct what is typed.
        let taken = match text.split_once(['-', '\u{2010}', '\u{2011}', '\u{2013}', '\u{2014}', '\u{2212}']) {
            Some((from, to)) => {
                let (from, to) = (self.find(from)?, self.find(to)?);
                match between(board, from, to)[..] {
                    [one] => one,
                    [] => return Err(MoveError::NoLine(self.cell(from).into(), self.cell(to).into())),
                    _ => return Err(MoveError::Several(self.cell(from).into(), self.cell(to).into())),
                }
            }
            None => self.list(board, text)?,
        };
        match cells(taken & !position).first() {
            Some(empty) => Err(MoveError::Empty(self.cell(*empty).to_owned())),
            None => Ok(taken),
        }
    }

    fn list(&self, board: &Board, text: &str) -> Result<u64, MoveError> {
        let separated = |char: char| char == ',' || is_blank(char);
        let mut taken = 0;
        let mut words = text.split(separated).filter(|word| !word.is_empty()).peekable();
        if words.peek().is_none() {
            return Err(MoveError::Nothing);
        }
        for word in words {
            let cell = self.find(word)?;
            if taken >> cell & 1 == 1 {
                return Err(MoveError::Twice(self.cell(cell).to_owned()));
            }
            taken |= 1 << cell;
        }
        if board.moves().binary_search(&taken).is_err() {
            let named: Vec<&str> = cells(taken).into_iter().map(|cell| self.cell(cell)).collect();
            return Err(MoveError::NotAMove(named.join(",")));
        }
        Ok(taken)
    }

    fn find(&self, name: &str) -> Result<u32, MoveError> {
        let wanted = bare(name).to_ascii_lowercase();
        let found = (0..).zip(&self.names).find(|(_, name)| **name == wanted);
        found.map(|(cell, _)| cell).ok_or_else(|| MoveError::NoCell {
            name: bare(name).chars().take(20).collect(),
            first: self.names.first().cloned().unwrap_or_default(),
            last: self.names.last().cloned().unwrap_or_default(),
        })
    }
}

/// Returns the shortest moves that take both cells; more than one where the board has several
/// lines through them.
pub fn between(board: &Board, from: u32, to: u32) -> Vec<u64> {
    let both = 1 << from | 1 << to;
    let through = board.moves().iter().copied().filter(|mask| mask & both == both);
    let through: Vec<u64> = through.collect();
    let least = through.iter().map(|mask| mask.count_ones()).min();
    through.into_iter().filter(|mask| Some(mask.count_ones()) == least).collect()
}

/// Why a text is not a move.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// No cell is named.
    #[error("expected a move, like d-f or d,e,f")]
    Nothing,
    /// No cell has this name.
    #[error("no cell is named {name:?}: the cells are {first} to {last}")]
    NoCell {
        /// The name in the text.
        name: String,
        /// The name of the first cell.
        first: String,
        /// The name of the last cell.
        last: String,
    },
    /// This cell is in the list twice.
    #[error("{0} is named twice")]
    Twice(String),
    /// No move takes both of these cells.
    #[error("no move leads from {0} to {1}: a move takes neighbouring pieces of one line")]
    NoLine(String, String),
    /// More than one move joins these cells.
    #[error("more than one move leads from {0} to {1}: name all its cells, separated by commas")]
    Several(String, String),
    /// These cells, as listed, do not form a move.
    #[error("{0} is not a move: a move takes neighbouring pieces of one line")]
    NotAMove(String),
    /// This cell of the move is empty.
    #[error("there is no piece on {0}")]
    Empty(String),
}

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

/// Describes what a move takes, from the moves: the name of some families is their only limit.
pub fn takes(board: &Board) -> String {
    let sizes = || board.moves().iter().map(|taken| taken.count_ones());
    let (least, most) = (sizes().min().unwrap_or(1), sizes().max().unwrap_or(1));
    let many = match (least, board.max_take()) {
        _ if most == 1 => "one piece".to_owned(),
        _ if least == most => format!("exactly {least} neighbouring pieces"),
        (1, None) => "one or more neighbouring pieces".to_owned(),
        (least, None) => format!("{least} or more neighbouring pieces"),
        (least, Some(most)) => format!("{least} to {most} neighbouring pieces"),
    };
    format!("take {many} of one line")
}

/// Describes who wins. Where single pieces cannot be taken, the last move can leave pieces.
pub fn ends(board: &Board, rule: Rule) -> &'static str {
    match (rule.empty(), board.takes_single_pieces()) {
        (Value::Win, true) => "whoever takes the last piece loses",
        (Value::Loss, true) => "whoever takes the last piece wins",
        (Value::Win, false) => "whoever cannot move wins",
        (Value::Loss, false) => "whoever cannot move loses",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use trinim_game::Takes;

    #[test]
    fn every_move_is_read_back_from_both_of_its_forms() {
        for (layers, take) in [(1, None), (3, None), (6, None), (7, None), (9, None), (5, Some(2))] {
            let board = Board::triangle(layers, take).unwrap();
            let names = Names::new(&board);
            let distinct: std::collections::BTreeSet<&String> = names.all().iter().collect();
            assert_eq!(distinct.len(), board.cells() as usize);
            for taken in board.moves() {
                let short = names.write(&board, *taken);
                assert!(!short.contains(','), "every move of a triangle is a run: {short}");
                assert_eq!(names.read(&board, board.full(), &short), Ok(*taken), "{short}");
                assert_eq!(names.read(&board, board.full(), &short.to_uppercase()), Ok(*taken));
                let back: Vec<&str> = short.rsplit('-').collect();
                for dash in [" - ", "\u{2010}", "–", " — ", "\u{2212}"] {
                    assert_eq!(names.read(&board, board.full(), &back.join(dash)), Ok(*taken), "{dash}");
                }
                let list: Vec<&str> = cells(*taken).into_iter().rev().map(|cell| names.cell(cell)).collect();
                for separator in [",", " ", ", "] {
                    assert_eq!(names.read(&board, board.full(), &list.join(separator)), Ok(*taken));
                }
            }
        }
    }

    /// Regression: a board with more than 26 rows has a name for each cell.
    #[test]
    fn tall_boards_have_distinct_names() {
        let board = Board::named("rect:32x2", Takes::ANY).unwrap();
        let names = Names::new(&board);
        assert_eq!(["a1", "z2", "aa1", "af2"].map(|name| names.find(name)), [Ok(0), Ok(51), Ok(52), Ok(63)]);
        let column = Board::named("rect:64x1", Takes::ANY).unwrap();
        assert_eq!(Names::new(&column).cell(63), "bl1");
    }

    #[test]
    fn what_is_no_move_is_refused_with_the_reason() {
        let board = Board::triangle(4, None).unwrap();
        let names = Names::new(&board);
        let cases = [
            ("", "expected a move, like d-f or d,e,f"),
            (" , ", "expected a move, like d-f or d,e,f"),
            ("z", "no cell is named \"z\": the cells are a to j"),
            ("def", "no cell is named \"def\": the cells are a to j"),
            ("d-", "no cell is named \"\": the cells are a to j"),
            ("d-e-f", "no cell is named \"e-f\": the cells are a to j"),
            ("d,d", "d is named twice"),
            ("a-e", "no move leads from a to e: a move takes neighbouring pieces of one line"),
            ("d,f", "d,f is not a move: a move takes neighbouring pieces of one line"),
            ("a,b,c", "a,b,c is not a move: a move takes neighbouring pieces of one line"),
            ("g-j", "there is no piece on h"),
            ("h", "there is no piece on h"),
        ];
        let position = board.full() & !(1 << 7);
        for (text, reason) in cases {
            assert_eq!(names.read(&board, position, text).unwrap_err().to_string(), reason, "{text}");
        }
        let short = Board::triangle(4, Some(2)).unwrap();
        assert!(names.read(&short, short.full(), "d-f").is_err());
        assert!(names.read(&short, short.full(), "d-e").is_ok());
    }

    proptest! {
        #[test]
        fn what_is_read_is_a_legal_move(layers in 1u32..=9, bits: u64, text in "[a-k0-9,-]{0,8}|\\PC{0,12}") {
            let board = Board::triangle(layers, None).unwrap();
            let position = bits & board.full();
            if let Ok(taken) = Names::new(&board).read(&board, position, &text) {
                prop_assert!(board.moves().contains(&taken) && position & taken == taken);
            }
        }
    }

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
