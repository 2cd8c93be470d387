//! `--keep` and `--audit`: what a solve keeps, and how it is audited.

use crate::cli::face::exit::Refused;
use std::fmt;
use trinim::database::{Audit, Keep};
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

/// Reads what is kept.
pub fn parse(text: &str) -> Result<KeepChoice, String> {
    let text = text.to_lowercase();
    match text.as_str() {
        "book" => Ok(KeepChoice::Book),
        other => other.parse().map(KeepChoice::Exactly).map_err(|_| {
            format!("{text:?} is nothing to keep: expected database, book, book:PIECES like book:37, or counts")
        }),
    }
}

/// The refusal of a book of more pieces than the board has.
pub fn too_many_pieces(board: &Board) -> Refused {
    let hint = format!("--keep {} keeps the usual book", Keep::book(board));
    Refused::new(format!("--keep book: the board has {} pieces", board.cells()), hint)
}

/// An audit, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditChoice(pub Option<Audit>);

/// Reads how a solve is audited.
pub fn parse_audit(text: &str) -> Result<AuditChoice, String> {
    match text {
        "0" => Ok(AuditChoice(None)),
        other => other.parse().map(|audit| AuditChoice(Some(audit))).map_err(|_| {
            let most = Audit::MOST;
            format!("{text:?} is no audit: expected positions a block, 0 to {most}, and perhaps a seed, like 1000:7")
        }),
    }
}
