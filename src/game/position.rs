//! Positions as text.
//!
//! A position is a `u64` mask over the cells of a [`Board`]: bit `i` is set when cell `i` holds a
//! piece. This module reads and writes three forms; here for the position with pieces on cells 0,
//! 1, 2, 3 and 5 of a board with three layers:
//!
//! | form | text | written by |
//! |---|---|---|
//! | rows from the apex, `1` for a piece, `0` for none | `1/11/101` | [`rows`] |
//! | the mask in hexadecimal | `0x2f` | [`hex`] |
//! | a picture, `x` for a piece, `.` for none | lines `x`, `x x`, `x . x` | [`picture`] |
//!
//! [`parse`] reads the first two. Rows may also use `x` (or `X`) and `.`, and `0` alone is the
//! empty position.

use crate::game::Board;

/// Reads a position of `board` in the form of [`rows`] or [`hex`].
///
/// ```
/// use trinim::game::Board;
/// use trinim::game::position;
///
/// let board = Board::triangle(3, None)?;
/// assert_eq!(position::parse(&board, "1/11/101")?, 0b101_111);
/// assert_eq!(position::parse(&board, "0x2f")?, 0b101_111);
/// let error = position::parse(&board, "1/1/101").unwrap_err();
/// assert_eq!(error.to_string(), "row 1 has 1 cell: expected 2 (rows are counted from 0)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns a [`PositionError`] that says what is wrong and where: an unexpected character, too few
/// or too many rows, a row of the wrong length, or a mask with bits outside the board.
pub fn parse(board: &Board, text: &str) -> Result<u64, PositionError> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return parse_hex(board, text, digits);
    }
    if text == "0" {
        return Ok(0);
    }
    let rows: Vec<&str> = text.split('/').collect();
    if rows.len() != board.layers() as usize {
        return Err(PositionError::Rows { expected: board.layers(), found: rows.len() });
    }
    let mut position = 0;
    let mut cell = 0;
    for (row, cells) in rows.iter().enumerate() {
        let found = cells.chars().count();
        if let Some((col, found)) = cells.chars().enumerate().find(|(_, found)| !"1xX0.".contains(*found)) {
            return Err(PositionError::Character { row, col, found });
        }
        if found != row + 1 {
            return Err(PositionError::RowLength { row, found });
        }
        for character in cells.chars() {
            position |= u64::from("1xX".contains(character)) << cell;
            cell += 1;
        }
    }
    Ok(position)
}

fn parse_hex(board: &Board, text: &str, digits: &str) -> Result<u64, PositionError> {
    // The standard parser would accept a sign.
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(PositionError::Hex { text: text.to_owned() });
    }
    match u64::from_str_radix(digits, 16) {
        Ok(position) if position & !board.full() == 0 => Ok(position),
        _ => Err(PositionError::Outside { text: text.to_owned(), full: board.full() }),
    }
}

/// Formats the position as rows from the apex: `1/11/101`.
pub fn rows(board: &Board, position: u64) -> String {
    let mut text = String::new();
    let mut cell = 0;
    for row in 0..board.layers() {
        if row > 0 {
            text.push('/');
        }
        for _ in 0..=row {
            text.push(if position >> cell & 1 == 1 { '1' } else { '0' });
            cell += 1;
        }
    }
    text
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
        "{found} row{} of cells: expected {expected}, from the apex and separated by '/', or a mask like 0x1f",
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
        "row {row} has {found} cell{}: expected {} (rows are counted from 0)",
        if *found == 1 { "" } else { "s" },
        row + 1
    )]
    RowLength {
        /// The row, counted from 0.
        row: usize,
        /// The number of cells that the row has in the text.
        found: usize,
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
    /// What follows `0x` is not a hexadecimal number.
    #[error("{text:?} is not a mask: expected 0x and hexadecimal digits")]
    Hex {
        /// The whole text.
        text: String,
    },
    /// The mask has a bit beyond the last cell.
    #[error("{text} has pieces outside the board: expected at most {full:#x}, the full board")]
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
            let picture = picture(&board, position);
            let lines: Vec<String> = picture.lines().map(|line| line.replace(' ', "")).collect();
            prop_assert_eq!(parse(&board, &lines.join("/")), Ok(position));
        }

        #[test]
        fn no_text_makes_the_parser_panic(layers in 1u32..=10, text in "[01x./]{0,20}|0x[0-9a-f+-]{0,20}|\\PC{0,12}") {
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
    fn errors_say_what_and_where() {
        let cases = [
            ("1/11", "2 rows of cells: expected 3, from the apex and separated by '/', or a mask like 0x1f"),
            ("", "1 row of cells: expected 3, from the apex and separated by '/', or a mask like 0x1f"),
            ("1/111/111", "row 1 has 3 cells: expected 2 (rows are counted from 0)"),
            ("1/11/1111", "row 2 has 4 cells: expected 3 (rows are counted from 0)"),
            (
                "1/11/1q1",
                "row 2, column 1: unexpected 'q', expected 1 or x for a piece, 0 or . for none (both are counted \
                 from 0)",
            ),
            ("0x40", "0x40 has pieces outside the board: expected at most 0x3f, the full board"),
            (
                "0xfffffffffffffffff",
                "0xfffffffffffffffff has pieces outside the board: expected at most 0x3f, the full board",
            ),
            ("0x", "\"0x\" is not a mask: expected 0x and hexadecimal digits"),
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
