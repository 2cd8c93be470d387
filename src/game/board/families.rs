//! Families of boards by name.
//!
//! | name | cells | a move takes |
//! |---|---|---|
//! | `triangle:K` | K rows of 1 to K | neighbouring pieces of a line, three directions |
//! | `rect:RxC` | R rows of C | neighbouring pieces of a row or column: Tac-Tix, Bulo |
//! | `hex:N` | a hexagon with N cells on each side | neighbouring pieces of a line, three directions |
//! | `cram:RxC` | R rows of C | two pieces side by side: Cram |

use super::definition::Definition;
use super::{Board, BoardError, CELLS_MAX, Takes, lines};

/// The forms of a board's name, for messages.
pub(super) const FORMS: &str = "triangle:LAYERS, rect:ROWSxCOLUMNS, hex:SIDE or cram:ROWSxCOLUMNS";

impl Board {
    /// Builds the board of this name, like `triangle:7`, `rect:6x6`, `hex:3`, `cram:5x6`.
    ///
    /// ```
    /// use trinim_game::{Board, Takes};
    ///
    /// let board = Board::named("rect:3x4", Takes::ANY)?;
    /// assert_eq!((board.cells(), board.symmetries().len()), (12, 4));
    /// # Ok::<(), trinim_game::BoardError>(())
    /// ```
    ///
    /// # Errors
    /// [`BoardError::Name`] if no family has such a board; [`BoardError::Layers`],
    /// [`BoardError::MaxTake`] and [`BoardError::Definition`] if it has no such size or no move.
    pub fn named(name: &str, takes: Takes) -> Result<Board, BoardError> {
        let unknown = || BoardError::Name { name: name.to_owned() };
        let (family, size) = name.split_once(':').ok_or_else(unknown)?;
        let number = |text: &str| {
            let is_plain = text.len() <= 3 && text.bytes().all(|digit| digit.is_ascii_digit());
            text.parse::<i32>().ok().filter(|number| is_plain && *number > 0 && text == number.to_string())
        };
        let sides = || {
            let (rows, columns) = size.split_once('x')?;
            Some((number(rows)?, number(columns)?))
        };
        let rectangle = |(rows, columns): (i32, i32)| {
            (0..rows).flat_map(move |row| (0..columns).map(move |column| (column, row))).collect::<Vec<_>>()
        };
        let few = |cells: i64| {
            let reason = format!("{name} has {cells} cells: expected at most {CELLS_MAX}");
            if cells <= i64::from(CELLS_MAX) { Ok(()) } else { Err(BoardError::Definition { reason }) }
        };
        match family {
            "triangle" => {
                let layers = number(size).ok_or_else(unknown)? as u32;
                if takes.least.is_none_or(|least| least <= 1) {
                    // A limit of at least the longest line is none: the same game has the same
                    // data.
                    return Board::triangle(layers, takes.most.filter(|most| *most < layers));
                }
                let plain = Board::triangle(layers, None)?;
                let grid = |cell: u32| {
                    let cell = plain.cell(cell);
                    (i32::from(cell.col), i32::from(cell.row))
                };
                let cells: Vec<(i32, i32)> = (0..plain.cells).map(grid).collect();
                from_lines(name, &cells, &[(1, 0), (0, 1), (1, 1)], plain.places.clone(), takes)
            }
            "rect" | "cram" => {
                let (rows, columns) = sides().ok_or_else(unknown)?;
                few(i64::from(rows) * i64::from(columns))?;
                let cells = rectangle((rows, columns));
                let takes = match (family, takes) {
                    ("rect", takes) => takes,
                    (_, takes) if !takes.are_limited() => Takes { least: Some(2), most: Some(2) },
                    _ => {
                        return Err(BoardError::Definition { reason: format!("{name}: moves always take two pieces") });
                    }
                };
                let board = from_lines(name, &cells, &[(1, 0), (0, 1)], square(&cells), takes)?;
                // That two pieces are taken is what the name says.
                let fixed = family == "cram";
                Ok(if fixed { Board { min_take: None, max_take: None, ..board } } else { board })
            }
            "hex" => {
                let side = number(size).ok_or_else(unknown)?;
                few(3 * i64::from(side) * i64::from(side - 1) + 1)?;
                // Axial coordinates: x + y / 2 is how far right a cell stands.
                let rows = 1 - side..side;
                let row = |y: i32| ((1 - side).max(1 - side - y)..=(side - 1).min(side - 1 - y)).map(move |x| (x, y));
                let cells: Vec<(i32, i32)> = rows.flat_map(row).collect();
                let place = |&(x, y): &(i32, i32)| [f64::from(2 * x + y + 2 * side - 2) / 2.0, f64::from(y + side - 1)];
                let places = cells.iter().map(place).collect();
                from_lines(name, &cells, &[(1, 0), (0, 1), (-1, 1)], places, takes)
            }
            _ => Err(unknown()),
        }
    }
}

fn square(cells: &[(i32, i32)]) -> Vec<[f64; 2]> {
    cells.iter().map(|&(x, y)| [f64::from(x), f64::from(y)]).collect()
}

/// Builds the board whose moves take neighbouring pieces of the lines in some directions.
fn from_lines(
    name: &str,
    cells: &[(i32, i32)],
    directions: &[(i32, i32)],
    places: Vec<[f64; 2]>,
    takes: Takes,
) -> Result<Board, BoardError> {
    from_runs(name.to_owned(), places, &lines::along(cells, directions), takes)
}

/// Builds the board whose moves take neighbouring pieces of these lines.
pub(super) fn from_runs(
    name: String,
    cells: Vec<[f64; 2]>,
    lines: &[Vec<u8>],
    takes: Takes,
) -> Result<Board, BoardError> {
    let (least, most) = (takes.least.unwrap_or(1), takes.most);
    let longest = lines.iter().map(Vec::len).max().unwrap_or(0) as u32;
    if most == Some(0) {
        return Err(BoardError::MaxTake);
    }
    if least == 0 || least > most.unwrap_or(u32::MAX).min(longest) {
        let most = most.unwrap_or(longest).min(longest);
        let reason = format!("no move takes at least {least} and at most {most} pieces");
        return Err(BoardError::Definition { reason });
    }
    let most = most.filter(|most| *most < longest);
    let masks = lines::runs(lines, least, most.unwrap_or(longest));
    let list = |mask: &u64| (0..64).filter(|cell| mask >> cell & 1 == 1).collect();
    let min_take = Some(least).filter(|least| *least > 1);
    Definition { name, min_take, max_take: most, cells, moves: masks.iter().map(list).collect() }.board()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_have_the_cells_moves_and_symmetries_of_their_shapes() {
        let expected = [
            ("rect:6x6", 36, 6 * 21 * 2 - 36, 8),
            ("rect:2x5", 10, 2 * 15 + 5 * 3 - 10, 4),
            ("rect:1x4", 4, 10, 2),
            ("hex:1", 1, 1, 1),
            ("hex:2", 7, 3 * (3 + 6 + 3) - 2 * 7, 12),
            ("hex:4", 37, 3 * (2 * (10 + 15 + 21) + 28) - 2 * 37, 12),
            ("cram:5x6", 30, 5 * 5 + 4 * 6, 4),
            ("cram:4x4", 16, 24, 8),
        ];
        for (name, cells, moves, symmetries) in expected {
            let board = Board::named(name, Takes::ANY).unwrap();
            assert_eq!(
                (board.cells(), board.moves().len(), board.symmetries().len()),
                (cells, moves, symmetries),
                "{name}"
            );
            assert_eq!(board.name(), name);
        }
        let rows = |name| Board::named(name, Takes::ANY).unwrap().rows().to_vec();
        assert_eq!(rows("hex:3"), [3, 4, 5, 4, 3]);
        assert_eq!(rows("rect:2x3"), [3, 3]);
    }

    #[test]
    fn a_triangle_is_the_same_by_name_and_from_its_lines() {
        let takes = |least, most| Takes { least: Some(least), most };
        for layers in 1..=10 {
            let named = Board::named(&format!("triangle:{layers}"), takes(1, Some(12))).unwrap();
            assert_eq!(named, Board::triangle(layers, None).unwrap());
        }
        let pairs = Board::named("triangle:4", takes(2, None)).unwrap();
        let all = Board::triangle(4, None).unwrap();
        let long: Vec<u64> = all.moves().iter().copied().filter(|taken| taken.count_ones() >= 2).collect();
        assert_eq!((pairs.moves(), pairs.symmetries().len(), pairs.layers()), (&long[..], 6, None));
    }

    #[test]
    fn impossible_names_are_refused_in_words() {
        let refused = [
            "triangle",
            "triangle:",
            "triangle:0",
            "triangle:11",
            "rect:6",
            "rect:0x3",
            "rect:9x9",
            "rect:6X6",
            "rect:-1x3",
            "rect:06x6",
            "hex:6",
            "hex:1000",
            "cram:1x1",
            "square:3",
            "",
            ":",
            "rect:6x6x6",
            "hex:٣",
        ];
        for name in refused {
            assert!(Board::named(name, Takes::ANY).is_err(), "{name}");
        }
        for name in ["hex:1000", "hex:0", "triangle:0", "triangle:-1", "rect:0x3"] {
            assert_eq!(Board::named(name, Takes::ANY), Err(BoardError::Name { name: name.to_owned() }));
        }
        assert_eq!(Board::named("hex:5", Takes::ANY).unwrap().cells(), 61);
        let large = Board::named("hex:6", Takes::ANY).unwrap_err().to_string();
        assert!(large.contains("hex:6 has 91 cells: expected at most 64"), "{large}");
        let error = |name, least, most| Board::named(name, Takes { least: Some(least), most }).unwrap_err().to_string();
        assert!(error("cram:3x3", 1, Some(1)).contains("two pieces"));
        assert!(error("rect:3x3", 4, None).contains("no move takes"));
        assert!(error("rect:3x3", 3, Some(2)).contains("no move takes"));
        assert!(error("blob:3", 1, None).contains("triangle:LAYERS"));
    }
}
