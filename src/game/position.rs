//! Positions as text.
//!
//! A position is a `u64` mask over the cells of a [`Board`]: bit `i` is set when cell `i` holds a
//! piece. [`FORMS`] lists the forms that [`parse`] reads, each with the position that has pieces on
//! cells 0, 1, 2, 3 and 5 of a board with three layers. [`rows`], [`hex`] and [`picture`] write
//! positions.
//!
//! # Invariants
//! 1. No text has two readings. What begins with `0x`, `0b` or `0d` is a number; without a prefix,
//!    a number needs a digit above 1. Cells without separators need one character for each cell of
//!    the board, so a short text of zeros and ones is refused. The only exception is `0`: every
//!    reading of it is the empty position.

use crate::Board;
use crate::text::{bare, is_blank};

/// The forms of a position: what it is, and the text for cells 0, 1, 2, 3 and 5 of three layers.
pub const FORMS: [(&str, &str); 8] = [
    ("rows from the top, 1 for a piece, 0 for none", "1/11/101"),
    ("the same with x and .", "x/xx/x.x"),
    ("rows separated by underscores", "1_11_101"),
    ("rows separated by spaces", "1 11 101"),
    ("all cells from the top", "111101"),
    ("mask in hexadecimal, cell 0 in the lowest bit", "0x2f"),
    ("the same in binary, cell 0 last, as [SWLK12] prints identifiers", "0b101111"),
    ("the same in decimal, as [SWLK12] writes 13,771", "47 or 0d47"),
];

/// Reads a position of `board` in one of the [`FORMS`].
///
/// ```
/// use trinim_game::Board;
/// use trinim_game::position;
///
/// let board = Board::triangle(3, None)?;
/// for text in ["1/11/101", "x_xx_x.x", "1 11 101", "111101", "0x2f", "0b101111", "47", "0d47"] {
///     assert_eq!(position::parse(&board, text)?, 0b101_111, "{text}");
/// }
/// let error = position::parse(&board, "1/1/101").unwrap_err();
/// assert_eq!(error.to_string(), "row 1 has 1 cell: expected 2 (rows are counted from 0)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns a [`PositionError`] that says what is wrong and where: an unexpected character, too few
/// or too many rows or cells, a row of the wrong length, a number with bits outside the board, or
/// zeros and ones that could be a number or some of the cells.
pub fn parse(board: &Board, text: &str) -> Result<u64, PositionError> {
    let text = bare(text);
    for (prefix, radix) in [("0x", 16), ("0b", 2), ("0d", 10)] {
        let start = text.get(..2).map(str::to_ascii_lowercase);
        if start.as_deref() == Some(prefix) {
            return number(board, text, &text[2..], radix);
        }
    }
    let is_number = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    if text == "0" {
        return Ok(0);
    }
    if is_number && text.bytes().any(|digit| digit > b'1') {
        return number(board, text, text, 10);
    }
    let rows: Vec<&str> = match ['/', '_'].into_iter().find(|separator| text.contains(*separator)) {
        Some(separator) => text.split(separator).map(bare).collect(),
        None => text.split(is_blank).filter(|row| !row.is_empty()).collect(),
    };
    match rows[..] {
        [cells] if is_cells(cells) => cells_at_once(board, cells, is_number),
        _ => by_rows(board, &rows),
    }
}

fn is_cells(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_cell)
}

fn is_cell(character: char) -> bool {
    "1xX0.".contains(character)
}

/// Reads the characters of cells in the order of the cells.
fn mask(cells: impl Iterator<Item = char>) -> u64 {
    (0..).zip(cells).fold(0, |mask, (cell, character)| mask | u64::from("1xX".contains(character)) << cell)
}

fn cells_at_once(board: &Board, text: &str, is_number: bool) -> Result<u64, PositionError> {
    let (found, expected) = (text.len(), board.cells());
    // No board has a number of 20 digits.
    match (found == expected as usize, is_number && found < 20) {
        (true, _) => Ok(mask(text.chars())),
        (false, true) => Err(PositionError::Ambiguous { text: text.to_owned(), expected }),
        (false, false) => Err(PositionError::Cells { expected, found }),
    }
}

fn by_rows(board: &Board, rows: &[&str]) -> Result<u64, PositionError> {
    let lengths = board.rows();
    if rows.len() != lengths.len() {
        return Err(PositionError::Rows { expected: lengths.len() as u32, found: rows.len().max(1) });
    }
    for ((row, cells), &expected) in rows.iter().enumerate().zip(lengths) {
        if let Some((col, found)) = cells.chars().enumerate().find(|(_, found)| !is_cell(*found)) {
            return Err(PositionError::Character { row, col, found });
        }
        let found = cells.chars().count();
        if found != expected as usize {
            return Err(PositionError::RowLength { row, found, expected });
        }
    }
    Ok(mask(rows.iter().flat_map(|cells| cells.chars())))
}

/// Reads the mask from its digits; `text` has the prefix too.
fn number(board: &Board, text: &str, digits: &str, radix: u32) -> Result<u64, PositionError> {
    // The standard parser would accept a sign.
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        let what = match radix {
            16 => "hexadecimal",
            2 => "binary",
            _ => "decimal",
        };
        return Err(PositionError::Number { text: text.to_owned(), what });
    }
    match u64::from_str_radix(digits, radix) {
        Ok(position) if position & !board.full() == 0 => Ok(position),
        _ => Err(PositionError::Outside { text: text.to_owned(), full: board.full() }),
    }
}

/// Formats the position as rows from the top: `1/11/101`.
pub fn rows(board: &Board, position: u64) -> String {
    let mut cells = (0..).map(|cell| if position >> cell & 1 == 1 { '1' } else { '0' });
    let rows = board.rows().iter().map(|length| cells.by_ref().take(*length as usize).collect::<String>());
    rows.collect::<Vec<_>>().join("/")
}

/// Formats the position as its mask, cell 0 in the lowest bit: `0x2f`.
pub fn hex(position: u64) -> String {
    format!("{position:#x}")
}

/// Returns the indices of the cells of a mask, ascending.
pub fn cells(mask: u64) -> Vec<u32> {
    (0..64).filter(|cell| mask >> cell & 1 == 1).collect()
}

/// Draws the position with one line for each row, `x` for a piece and `.` for none; every line ends
/// in a newline.
///
/// ```text
///   x
///  x x
/// x . x
/// ```
pub fn picture(board: &Board, position: u64) -> String {
    board.picture(1, |cell| (if position >> cell & 1 == 1 { "x" } else { "." }).to_owned())
}

/// Why a text is not a position of the board. Rows and columns are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PositionError {
    /// The wrong number of rows.
    #[error(
        "{found} row{} of cells: expected {expected}, from the top and separated by '/', or a mask like 0x1f",
        if *found == 1 { "" } else { "s" }
    )]
    Rows {
        /// The number of rows of the board.
        expected: u32,
        /// The number of rows in the text.
        found: usize,
    },
    /// A row is too short or too long.
    #[error(
        "row {row} has {found} cell{}: expected {expected} (rows are counted from 0)",
        if *found == 1 { "" } else { "s" }
    )]
    RowLength {
        /// The row, counted from 0.
        row: usize,
        /// The number of cells that the row has in the text.
        found: usize,
        /// The number of cells of the row.
        expected: u32,
    },
    /// A character that is neither a piece nor an empty cell.
    #[error(
        "row {row}, column {col}: unexpected {found:?}, expected 1 or x for a piece, 0 or . for none (both are \
         counted from 0)"
    )]
    Character {
        /// The row.
        row: usize,
        /// The column.
        col: usize,
        /// The unexpected character.
        found: char,
    },
    /// Cells without separators, too few or too many.
    #[error("{found} cells: expected {expected}, or rows from the top like 1/11/101")]
    Cells {
        /// The number of cells of the board.
        expected: u32,
        /// The number of cells in the text.
        found: usize,
    },
    /// Zeros and ones that could be a number or some of the cells.
    #[error("{text:?} could be a number or some of the cells: write 0d{text} for the number, or all {expected} cells")]
    Ambiguous {
        /// The whole text.
        text: String,
        /// The number of cells of the board.
        expected: u32,
    },
    /// What follows the prefix of a number is not such a number.
    #[error("{text:?} is not a mask: expected {} and {what} digits", text.get(..2).unwrap_or_default())]
    Number {
        /// The whole text.
        text: String,
        /// The kind of digits.
        what: &'static str,
    },
    /// The mask has a bit beyond the last cell.
    #[error("{text} has pieces outside the board: expected at most {full:#x} = {full}, the full board")]
    Outside {
        /// The whole text.
        text: String,
        /// The mask of the full board.
        full: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn board(layers: u32) -> Board {
        Board::triangle(layers, None).unwrap()
    }

    proptest! {
        #[test]
        fn every_form_is_read_back(layers in 1u32..=10, bits: u64) {
            let board = board(layers);
            let position = bits & board.full();
            let rows = rows(&board, position);
            prop_assert_eq!(parse(&board, &rows), Ok(position));
            prop_assert_eq!(parse(&board, &rows.replace('1', "x").replace('0', ".")), Ok(position));
            prop_assert_eq!(parse(&board, &hex(position)), Ok(position));
            for separator in ["_", " ", "  ", " / "] {
                prop_assert_eq!(parse(&board, &rows.replace('/', separator)), Ok(position));
            }
            prop_assert_eq!(parse(&board, &rows.replace('/', "")), Ok(position));
            prop_assert_eq!(parse(&board, &format!(" {rows}\n")), Ok(position));
            prop_assert_eq!(parse(&board, &format!("0b{position:b}")), Ok(position));
            prop_assert_eq!(parse(&board, &format!("0b{position:064b}")), Ok(position));
            prop_assert_eq!(parse(&board, &format!("0d{position}")), Ok(position));
            // A bare number is read as one, or refused; only a full set of cells is something else.
            let decimal = position.to_string();
            let bare = parse(&board, &decimal);
            if decimal.bytes().any(|digit| digit > b'1') || layers == 1 || position == 0 {
                prop_assert_eq!(bare, Ok(position));
            } else {
                prop_assert_eq!(bare, Err(PositionError::Ambiguous { text: decimal, expected: board.cells() }));
            }
            let picture = picture(&board, position);
            let lines: Vec<String> = picture.lines().map(|line| line.replace(' ', "")).collect();
            prop_assert_eq!(parse(&board, &lines.join("/")), Ok(position));
        }

        #[test]
        fn no_text_makes_the_parser_panic(layers in 1u32..=10, text in "[01x./_ ]{0,60}|0[xbdXBD][0-9a-f+-]{0,20}|[0-9]{0,22}|\\PC{0,12}") {
            let board = board(layers);
            if let Ok(position) = parse(&board, &text) {
                prop_assert_eq!(position & !board.full(), 0);
            }
        }
    }

    #[test]
    fn zero_is_the_empty_position_of_every_board() {
        for layers in 1..=10 {
            assert_eq!(parse(&board(layers), "0"), Ok(0));
        }
    }

    #[test]
    fn every_listed_form_is_the_same_position() {
        for text in FORMS.iter().flat_map(|(_, texts)| texts.split(" or ")) {
            assert_eq!(parse(&board(3), text), Ok(0b10_1111), "{text}");
        }
    }

    /// [SWLK12] section 2.1: an identifier in binary and in decimal, and a move that takes the
    /// three pieces at 0, 1 and 3.
    #[test]
    fn the_identifiers_of_the_paper_are_read() {
        let five = board(5);
        let position = parse(&five, "0b011010111001011").unwrap();
        assert_eq!(parse(&five, "13771"), Ok(position));
        assert_eq!(rows(&five, position), "1/10/100/1110/10110");
        let taken = parse(&five, "0b000000000001011").unwrap();
        assert_eq!(cells(taken), [0, 1, 3]);
        assert!(five.moves().contains(&taken));
        for illegal in [[1, 3, 7].as_slice(), &[1, 8]] {
            assert!(!five.moves().contains(&illegal.iter().fold(0, |mask, cell| mask | 1 << cell)));
        }
        // Without its prefix the identifier is read from the apex, like every text of 15 cells.
        assert_eq!(parse(&five, "011010111001011"), parse(&five, "0/11/010/1110/01011"));
    }

    #[test]
    fn errors_say_what_and_where() {
        let cases = [
            ("1/11", "2 rows of cells: expected 3, from the top and separated by '/', or a mask like 0x1f"),
            ("", "1 row of cells: expected 3, from the top and separated by '/', or a mask like 0x1f"),
            ("1/111/111", "row 1 has 3 cells: expected 2 (rows are counted from 0)"),
            ("1/11/1111", "row 2 has 4 cells: expected 3 (rows are counted from 0)"),
            (
                "1/11/1q1",
                "row 2, column 1: unexpected 'q', expected 1 or x for a piece, 0 or . for none (both are counted \
                 from 0)",
            ),
            ("0x40", "0x40 has pieces outside the board: expected at most 0x3f = 63, the full board"),
            (
                "0xfffffffffffffffff",
                "0xfffffffffffffffff has pieces outside the board: expected at most 0x3f = 63, the full board",
            ),
            ("0x", "\"0x\" is not a mask: expected 0x and hexadecimal digits"),
            ("101", "\"101\" could be a number or some of the cells: write 0d101 for the number, or all 6 cells"),
            ("1", "\"1\" could be a number or some of the cells: write 0d1 for the number, or all 6 cells"),
            ("11111111111111111111111", "23 cells: expected 6, or rows from the top like 1/11/101"),
            ("x.x", "3 cells: expected 6, or rows from the top like 1/11/101"),
            ("64", "64 has pieces outside the board: expected at most 0x3f = 63, the full board"),
            ("0b12", "\"0b12\" is not a mask: expected 0b and binary digits"),
            ("0d-1", "\"0d-1\" is not a mask: expected 0d and decimal digits"),
            ("1/11 101", "2 rows of cells: expected 3, from the top and separated by '/', or a mask like 0x1f"),
            ("13,771", "1 row of cells: expected 3, from the top and separated by '/', or a mask like 0x1f"),
            ("0x+1", "\"0x+1\" is not a mask: expected 0x and hexadecimal digits"),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(&board(3), text).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn cells_are_the_bits() {
        assert!(cells(0).is_empty());
        assert_eq!(cells(1 << 63 | 0b1010), [1, 3, 63]);
    }

    #[test]
    fn the_picture_is_a_triangle() {
        assert_eq!(picture(&board(3), 0b101_111), "  x\n x x\nx . x\n");
    }
}
