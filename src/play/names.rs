//! Names of cells, moves as players write them, and the places of the cells.
//!
//! A name is the letter of the row, `aa` after `z`, and the number in the row, from 1: `c2` is the
//! second cell of the third row. A move is `c1-c3`, from cell to cell along a line, or the list of
//! its cells, `c1,c2,c3`, in any order. On boards of up to 26 cells, a letter without a number is
//! read as well, `a` at the top: that is how earlier versions wrote these cells.
//!
//! # Invariants
//! 1. No text has two readings: a name belongs to one cell, and `c1-c3` is refused if more than
//!    one shortest move joins the two cells.

use std::collections::BTreeSet;
use trinim_game::position::cells;
use trinim_game::text::{bare, is_blank};
use trinim_game::{Board, Rule, Value};

/// Boards with this many cells or fewer had letters.
const LETTERS: usize = 26;

/// The names of the cells of a board.
#[derive(Clone, Debug)]
pub struct Names {
    names: Vec<String>,
}

impl Names {
    /// Returns the names for a board.
    pub fn new(board: &Board) -> Names {
        let names: Vec<String> = (0..board.cells()).map(|index| board.cell(index).to_string()).collect();
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

    /// Writes a move: `c1`, `c1-c3`, or its cells where that would not name it.
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
        let letter = || match (wanted.as_bytes(), self.names.len()) {
            (&[letter @ b'a'..=b'z'], cells @ ..=LETTERS) => {
                Some(usize::from(letter - b'a')).filter(|cell| *cell < cells)
            }
            _ => None,
        };
        let found = self.names.iter().position(|name| *name == wanted).or_else(letter);
        found.map(|cell| cell as u32).ok_or_else(|| MoveError::NoCell {
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
    let through: Vec<u64> = board.moves().iter().copied().filter(|mask| mask & both == both).collect();
    let least = through.iter().map(|mask| mask.count_ones()).min();
    through.into_iter().filter(|mask| Some(mask.count_ones()) == least).collect()
}

/// Why a text is not a move.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// No cell is named.
    #[error("expected a move, like c1-c3 or c1,c2,c3")]
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

    /// Saved games and links of earlier versions have letters on boards of up to 26 cells.
    #[test]
    fn letters_are_read_on_small_boards_only() {
        for (layers, letters) in [(1, 1), (6, 21), (7, 0)] {
            let board = Board::triangle(layers, None).unwrap();
            let names = Names::new(&board);
            for (cell, letter) in (0..).zip('a'..='z') {
                let found = names.read(&board, board.full(), &letter.to_string());
                assert_eq!(found.ok(), (cell < letters).then(|| 1 << cell), "{layers}: {letter}");
            }
        }
        let row = Board::named("rect:1x26", Takes::ANY).unwrap();
        assert_eq!(Names::new(&row).read(&row, row.full(), "y-z"), Ok(0b11 << 24));
        let longer = Board::named("rect:1x27", Takes::ANY).unwrap();
        assert!(Names::new(&longer).read(&longer, longer.full(), "a").is_err());
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
            ("", "expected a move, like c1-c3 or c1,c2,c3"),
            (" , ", "expected a move, like c1-c3 or c1,c2,c3"),
            ("z", "no cell is named \"z\": the cells are a1 to d4"),
            ("k", "no cell is named \"k\": the cells are a1 to d4"),
            ("c4", "no cell is named \"c4\": the cells are a1 to d4"),
            ("def", "no cell is named \"def\": the cells are a1 to d4"),
            ("c1-", "no cell is named \"\": the cells are a1 to d4"),
            ("c1-c2-c3", "no cell is named \"c2-c3\": the cells are a1 to d4"),
            ("c1,c1", "c1 is named twice"),
            ("a1-c2", "no move leads from a1 to c2: a move takes neighbouring pieces of one line"),
            ("c1,c3", "c1,c3 is not a move: a move takes neighbouring pieces of one line"),
            ("a1,b1,b2", "a1,b1,b2 is not a move: a move takes neighbouring pieces of one line"),
            ("d1-d4", "there is no piece on d2"),
            ("g-j", "there is no piece on d2"),
            ("h", "there is no piece on d2"),
        ];
        let position = board.full() & !(1 << 7);
        for (text, reason) in cases {
            assert_eq!(names.read(&board, position, text).unwrap_err().to_string(), reason, "{text}");
        }
        let short = Board::triangle(4, Some(2)).unwrap();
        assert!(names.read(&short, short.full(), "c1-c3").is_err());
        assert!(names.read(&short, short.full(), "c1-c2").is_ok());
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
