//! `--keep`: what a solve keeps.

use std::fmt;
use trinim::database::Keep;
use trinim::game::Board;

/// What is kept; a book without a number has the usual depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepChoice {
    /// As named.
    Exactly(Keep),
    /// The book of usual depth, or that of the folder.
    Book,
}

impl KeepChoice {
    /// Returns whether every value is kept.
    pub fn is_database(&self) -> bool {
        *self == KeepChoice::Exactly(Keep::Database)
    }

    /// Returns what is kept of a board; `None` for a book of more pieces than the board has.
    pub fn of(self, board: &Board) -> Option<Keep> {
        match self {
            KeepChoice::Exactly(Keep::Book { pieces }) if pieces > board.cells() => None,
            KeepChoice::Exactly(keep) => Some(keep),
            KeepChoice::Book => Some(Keep::book(board)),
        }
    }
}

impl fmt::Display for KeepChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeepChoice::Exactly(keep) => keep.fmt(f),
            KeepChoice::Book => f.write_str("book"),
        }
    }
}

/// Reads a choice.
pub fn parse(text: &str) -> Result<KeepChoice, String> {
    let text = text.to_lowercase();
    match text.as_str() {
        "book" => Ok(KeepChoice::Book),
        other => other.parse().map(KeepChoice::Exactly).map_err(|_| {
            format!("{text:?} is nothing to keep: expected database, book, book:PIECES like book:37, or counts")
        }),
    }
}
