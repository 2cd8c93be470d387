//! Boards from files.
//!
//! ```toml
//! name = "star"
//! cells = [[2, 0], [0, 1], [4, 1], [1, 3], [3, 3]]    # coordinates, or only the number of cells
//! lines = [[0, 3], [0, 4], [1, 2], [1, 4], [2, 3]]    # cells by their index, from 0
//! max_take = 2                                        # and min_take
//! ```
//!
//! A move takes neighbouring pieces of a line. `moves = [[0, 1], [2]]` in place of `lines` lists
//! the moves themselves.

use super::definition::Definition;
use super::{Board, BoardError, CELLS_MAX, MOVES_MAX, Takes, families};
use crate::text::is_blank;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    name: Spanned<String>,
    cells: Spanned<Cells>,
    lines: Option<Spanned<Lists>>,
    moves: Option<Spanned<Lists>>,
    min_take: Option<Spanned<i64>>,
    max_take: Option<Spanned<i64>>,
}

type Lists = Vec<Spanned<Vec<Spanned<i64>>>>;

enum Cells {
    Number(i64),
    Places(Vec<Spanned<Vec<f64>>>),
}

/// Not derived: an untagged enum would forget the places in the text.
impl<'de> Deserialize<'de> for Cells {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Cells, D::Error> {
        deserializer.deserialize_any(CellsVisitor)
    }
}

struct CellsVisitor;

impl<'de> Visitor<'de> for CellsVisitor {
    type Value = Cells;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of cells, or a list of coordinates like [[0, 0], [1, 0]]")
    }

    fn visit_i64<E>(self, number: i64) -> Result<Cells, E> {
        Ok(Cells::Number(number))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Cells, A::Error> {
        let mut places = Vec::new();
        while let Some(place) = list.next_element()? {
            places.push(place);
        }
        Ok(Cells::Places(places))
    }
}

/// A place in a file, and the error there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct FileError {
    /// The line, from 1.
    pub line: usize,
    /// What was found, and what was expected.
    pub reason: String,
}

/// A text with places.
struct Source<'a>(&'a str);

impl Source<'_> {
    fn error<T>(&self, offset: usize, reason: impl Into<String>) -> Result<T, FileError> {
        let before = &self.0.as_bytes()[..offset.min(self.0.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        Err(FileError { line, reason: reason.into() })
    }

    /// Reads lists of cells; `what` is `line` or `move`.
    fn lists(&self, lists: Spanned<Lists>, what: &str, cells: usize) -> Result<Vec<Vec<u8>>, FileError> {
        let start = lists.span().start;
        let lists = lists.into_inner();
        if lists.is_empty() {
            return self.error(start, format!("no {what}: expected at least one"));
        }
        if lists.len() > MOVES_MAX {
            return self.error(start, format!("{} {what}s: expected at most {MOVES_MAX}", lists.len()));
        }
        let mut read = Vec::new();
        for (number, list) in lists.into_iter().enumerate() {
            let start = list.span().start;
            let mut taken: Vec<u8> = Vec::new();
            for cell in list.into_inner() {
                let (start, cell) = (cell.span().start, cell.into_inner());
                let index = usize::try_from(cell).ok().filter(|index| *index < cells);
                let Some(index) = index else {
                    let last = cells - 1;
                    return self
                        .error(start, format!("{what} {number} has cell {cell}: expected cells from 0 to {last}"));
                };
                if taken.contains(&(index as u8)) {
                    return self.error(start, format!("{what} {number} has cell {cell} twice"));
                }
                taken.push(index as u8);
            }
            if taken.is_empty() {
                return self.error(start, format!("{what} {number} has no cell"));
            }
            read.push(taken);
        }
        Ok(read)
    }

    fn places(&self, cells: Spanned<Cells>) -> Result<Vec<[f64; 2]>, FileError> {
        let cells_at = cells.span().start;
        match cells.into_inner() {
            Cells::Number(number) if (1..=i64::from(CELLS_MAX)).contains(&number) => {
                Ok((0..number).map(|cell| [cell as f64, 0.0]).collect())
            }
            Cells::Number(number) => self.error(cells_at, format!("{number} cells: expected 1 to {CELLS_MAX}")),
            Cells::Places(places) => {
                if places.is_empty() || places.len() > CELLS_MAX as usize {
                    return self.error(cells_at, format!("{} cells: expected 1 to {CELLS_MAX}", places.len()));
                }
                let mut read: Vec<[f64; 2]> = Vec::new();
                for (cell, place) in places.into_iter().enumerate() {
                    let start = place.span().start;
                    match place.into_inner()[..] {
                        // Not negative zero, which would be another place with the same name.
                        [x, y] => read.push([x + 0.0, y + 0.0]),
                        ref other => {
                            let reason = format!("cell {cell} has {} coordinates: expected 2", other.len());
                            return self.error(start, reason);
                        }
                    }
                    if let Err(error) = Definition::check_places(&read) {
                        return self.error(start, error.to_string());
                    }
                }
                Ok(read)
            }
        }
    }
}

impl Board {
    /// Builds the board that the text of a file describes. Limits in `takes` take precedence over
    /// the `min_take` and `max_take` of the file.
    ///
    /// ```
    /// use trinim_game::{Board, Takes};
    ///
    /// let text = "name = \"row\"\ncells = 3\nlines = [[0, 1, 2]]\n";
    /// let board = Board::from_toml(text, Takes::ANY)?;
    /// assert_eq!((board.cells(), board.moves().len()), (3, 6));
    /// # Ok::<(), trinim_game::FileError>(())
    /// ```
    ///
    /// # Errors
    /// Returns a [`FileError`] with the line.
    pub fn from_toml(text: &str, takes: Takes) -> Result<Board, FileError> {
        // Blanks of other systems, each as one of its own: columns stay.
        let text = &text.replace(|character: char| !character.is_ascii() && is_blank(character), " ");
        let source = Source(text);
        let keys: Keys = match toml::from_str(text) {
            Ok(keys) => keys,
            Err(error) => {
                let offset = error.span().map_or(0, |span| span.start);
                return source.error(offset, error.message().replace('\n', "; "));
            }
        };
        let (name_at, name) = (keys.name.span().start, keys.name.into_inner());
        let places = source.places(keys.cells)?;
        let number = |given: Option<Spanned<i64>>, key: &str| match given {
            None => Ok(None),
            Some(given) => {
                let (start, found) = (given.span().start, given.into_inner());
                match u32::try_from(found) {
                    Ok(found) if (1..=CELLS_MAX).contains(&found) => Ok(Some((start, found))),
                    _ => source.error(start, format!("{key} = {found}: expected 1 to {CELLS_MAX}")),
                }
            }
        };
        let least = number(keys.min_take, "min_take")?;
        let most = number(keys.max_take, "max_take")?;
        let fail = |error: BoardError, at: usize| source.error(at, error.to_string());
        match (keys.lines, keys.moves) {
            (Some(lines), None) => {
                let at = least.or(most).map_or(lines.span().start, |(start, _)| start);
                let lines = source.lists(lines, "line", places.len())?;
                let takes = Takes {
                    least: takes.least.or(least.map(|(_, least)| least)),
                    most: takes.most.or(most.map(|(_, most)| most)),
                };
                families::from_runs(name.clone(), places, &lines, takes)
                    .or_else(|error| fail(error, if Definition::is_name(&name) { at } else { name_at }))
            }
            (None, Some(moves)) => {
                if let Some((start, _)) = least.or(most) {
                    return source.error(start, "min_take and max_take require lines, not moves");
                }
                if takes.are_limited() {
                    let reason = "the file lists moves, so the pieces per move cannot be limited";
                    return source.error(moves.span().start, reason);
                }
                let at = moves.span().start;
                let moves = source.lists(moves, "move", places.len())?;
                let definition =
                    Definition { name: name.clone(), min_take: None, max_take: None, cells: places, moves };
                definition.board().or_else(|error| fail(error, if Definition::is_name(&name) { at } else { name_at }))
            }
            (Some(_), Some(moves)) => source.error(moves.span().start, "both lines and moves: expected one of them"),
            (None, None) => source.error(text.len(), "neither lines nor moves: expected one of them"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_describe_lines_or_moves() {
        let triangle = "name = 'tri'\ncells = [[0.5, 0], [0, 1], [1, 1]]\nlines = [[0, 1], [0, 2], [1, 2]]";
        let board = Board::from_toml(triangle, Takes::ANY).unwrap();
        assert_eq!(board.moves(), Board::triangle(2, None).unwrap().moves());
        assert_eq!((board.name(), board.symmetries().len(), board.rows()), ("tri", 6, &[1, 2][..]));
        let pairs = Board::from_toml(triangle, Takes { least: Some(2), most: None }).unwrap();
        assert_eq!(pairs.moves(), [0b11, 0b101, 0b110]);
        let limited = format!("{triangle}\nmin_take = 2");
        assert_eq!(Board::from_toml(&limited, Takes::ANY).unwrap(), pairs);
        let singles = Board::from_toml(&limited, Takes { least: Some(1), most: None }).unwrap();
        assert_eq!(singles.moves(), board.moves());
        let moves = Board::from_toml("name='m'\ncells=4\nmoves=[[3,1],[0]]", Takes::ANY).unwrap();
        assert_eq!(moves.moves(), [0b1, 0b1010]);
        let zero = Board::from_toml("name='z'\ncells=[[-0.0, -0.0]]\nlines=[[0]]", Takes::ANY).unwrap();
        assert_eq!(zero.places()[0].map(f64::to_bits), [0, 0]);
    }

    #[test]
    fn boards_may_be_as_large_as_the_limits_and_no_larger() {
        let places = |cells: u32| {
            let places: Vec<String> = (0..cells).map(|cell| format!("[{cell}, 0]")).collect();
            format!("name = 'a'\ncells = [{}]\nlines = [[0]]", places.join(", "))
        };
        assert_eq!(Board::from_toml(&places(CELLS_MAX), Takes::ANY).unwrap().cells(), CELLS_MAX);
        assert_eq!(Board::from_toml(&places(CELLS_MAX + 1), Takes::ANY).unwrap_err().line, 2);
        let moves = |moves: usize| {
            let lists = vec!["[0]"; moves];
            Board::from_toml(&format!("name = 'a'\ncells = 1\nmoves = [{}]", lists.join(", ")), Takes::ANY)
        };
        assert_eq!(moves(MOVES_MAX).unwrap().moves(), [1]);
        let error = moves(MOVES_MAX + 1).unwrap_err();
        assert!(error.line == 3 && error.reason.contains("at most 4096"), "{error}");
    }

    /// Each mistake with the line and a word of the message.
    #[test]
    fn every_mistake_is_named_with_its_line() {
        let with = |more: &str| format!("name = 'a'\ncells = 3\n{more}\n");
        let cases: Vec<(String, usize, &str)> = vec![
            (String::new(), 1, "name"),
            ("name = 'a'".into(), 1, "cells"),
            ("name = 'a\ncells = 3".into(), 1, "string"),
            ("name = 7\ncells = 3\nlines = [[0]]".into(), 1, "string"),
            ("name = ''\ncells = 3\nlines = [[0]]".into(), 1, "name"),
            ("name = 'a b'\ncells = 3\nmoves = [[0]]".into(), 1, "name"),
            ("name = 'a'\ncells = 0\nlines = [[0]]".into(), 2, "1 to 64"),
            ("name = 'a'\ncells = 65\nlines = [[0]]".into(), 2, "1 to 64"),
            ("name = 'a'\ncells = 'x'\nlines = [[0]]".into(), 2, "number of cells"),
            ("name = 'a'\ncells = []\nlines = [[0]]".into(), 2, "1 to 64"),
            ("name = 'a'\ncells = [[0, 0],\n[1]]\nlines = [[0]]".into(), 3, "expected 2"),
            ("name = 'a'\ncells = [[0, 0],\n[0, 0]]\nlines = [[0]]".into(), 3, "both at"),
            ("name = 'a'\ncells = [[0, 0],\n[nan, 0]]\nlines = [[0]]".into(), 3, "coordinates"),
            (with("lines = [[0, 1],\n[2, 3]]"), 4, "cell 3: expected cells from 0 to 2"),
            (with("lines = [[0, 1],\n[-1]]"), 4, "cell -1"),
            (with("lines = [[0, 1, 0]]"), 3, "twice"),
            (with("lines = [[]]"), 3, "no cell"),
            (with("lines = []"), 3, "at least one"),
            (with("moves = []"), 3, "at least one"),
            (with("moves = [[0], [1, 1]]"), 3, "twice"),
            (with("lines = [[0]]\nmoves = [[0]]"), 4, "one of them"),
            (with(""), 4, "one of them"),
            (with("moves = [[0]]\nmax_take = 2"), 4, "require lines"),
            (with("lines = [[0, 1]]\nmax_take = 0"), 4, "1 to 64"),
            (with("lines = [[0, 1]]\nmin_take = 3"), 4, "no move takes"),
            (with("lines = [[0, 1]]\ncolour = 3"), 4, "colour"),
            (with("lines = [[0, 1.5]]"), 3, "1.5"),
            (with("lines = [[0, 1]"), 3, "unclosed"),
        ];
        for (text, line, word) in cases {
            let error = Board::from_toml(&text, Takes::ANY).unwrap_err();
            assert!(error.line == line && error.reason.contains(word), "{text:?}: {error}");
        }
    }
}
