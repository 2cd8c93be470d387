//! The findings of a verification: damaged files, or sound files with wrong values.

use crate::database::{MANIFEST, block_file_name};
use crate::game::{Rule, Value};
use std::fmt;

/// A finding. Its `Display` is a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// A file is damaged, missing or superfluous.
    File(pipeline::Finding),
    /// A block's row in the manifest contradicts its bitmap.
    Row {
        /// Ordinal of the block.
        block: u32,
        /// The field in the manifest.
        manifest: RowField,
        /// The field from the bitmap.
        bitmap: RowField,
    },
    /// A position contradicts its children.
    Position {
        /// Ordinal of the canonical block.
        block: u32,
        /// Offset of the position.
        offset: u64,
        /// The position as rows of 0 and 1.
        rows: String,
        /// Its value in the database.
        stored: Value,
        /// The reason why the value is wrong.
        because: Reason,
    },
    /// A position has not the nimber that follows from its children.
    Nimber {
        /// Ordinal of the canonical block.
        block: u32,
        /// Offset of the position.
        offset: u64,
        /// The position as rows of 0 and 1.
        rows: String,
        /// Its nimbers in the database: one, none or several.
        stored: Vec<u32>,
        /// The least number that is no nimber of a child.
        least: u32,
    },
    /// A bit without a position is set.
    Stray {
        /// Ordinal of the block.
        block: u32,
        /// Index of the bit.
        offset: u64,
    },
    /// A block has more wrong positions than listed.
    More {
        /// Ordinal of the block.
        block: u32,
        /// The number of all its wrong positions.
        differences: u64,
        /// The number of listed ones.
        listed: usize,
    },
    /// Blocks could not be checked because they or blocks of their children are unreadable.
    Unchecked {
        /// The number of such blocks.
        blocks: u64,
    },
    /// A count or digest of the manifest contradicts the blocks.
    Count {
        /// The claim of the manifest, in words.
        manifest: String,
        /// The result of the count, in words.
        counted: String,
    },
    /// The database contradicts a published figure.
    Published {
        /// The contradiction, in words.
        contradiction: String,
    },
}

/// A field of a block's row in the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowField {
    /// Losses among its positions.
    Losses(u64),
    /// BLAKE3 of its bitmap, hexadecimal.
    Digest(String),
}

/// The reason why a position cannot have its stored value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The rule sets the value of the empty position.
    Empty(Rule),
    /// All its children, counted here, are wins.
    AllWins(usize),
    /// A child is a loss too; its rows, if a second read succeeded.
    LosingChild(Option<String>),
}

impl Finding {
    /// Returns whether a file is damaged: its values are then meaningless, and the remedy is a
    /// repair.
    pub fn is_damage(&self) -> bool {
        matches!(self, Finding::File(_))
    }
}

impl fmt::Display for RowField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowField::Losses(losses) => write!(f, "{losses} losses"),
            RowField::Digest(digest) => write!(f, "digest {digest}"),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Empty(rule) => write!(f, "the rule makes a position without a move a {}", rule.empty()),
            Reason::AllWins(children) => write!(f, "all its {children} children are wins"),
            Reason::LosingChild(Some(child)) => write!(f, "its child {child} is a loss too"),
            Reason::LosingChild(None) => f.write_str("one of its children is a loss"),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |block: &u32| block_file_name(*block);
        match self {
            Finding::File(finding) => finding.fmt(f),
            Finding::Row { block, manifest, bitmap } => {
                write!(f, "{}: the manifest says {manifest}, the bitmap has {bitmap}", name(block))
            }
            Finding::Position { block, offset, rows, stored, because } => {
                write!(f, "{}: position {rows} (offset {offset}) is stored as a {stored}, but {because}", name(block))
            }
            Finding::Nimber { block, offset, rows, stored, least } => {
                let stored = match &stored[..] {
                    [] => "no nimber".to_owned(),
                    [one] => format!("nimber {one}"),
                    [first, more @ ..] => {
                        more.iter().fold(format!("nimbers {first}"), |all, one| format!("{all}, {one}"))
                    }
                };
                write!(f, "{}: position {rows} (offset {offset}) is stored with {stored}, ", name(block))?;
                write!(f, "but {least} is the least that none of its children has")
            }
            Finding::Stray { block, offset } => {
                write!(f, "{}: bit {offset} is set but represents no position", name(block))
            }
            Finding::More { block, differences, listed } => {
                write!(f, "{}: {differences} positions contradict their children, {listed} are listed", name(block))
            }
            Finding::Unchecked { blocks } => {
                write!(f, "{blocks} blocks were not checked because they or blocks of their children are unreadable")
            }
            Finding::Count { manifest, counted } => write!(f, "{MANIFEST}: {manifest}, {counted}"),
            Finding::Published { contradiction } => f.write_str(contradiction),
        }
    }
}

impl From<pipeline::Finding> for Finding {
    fn from(finding: pipeline::Finding) -> Finding {
        Finding::File(finding)
    }
}
