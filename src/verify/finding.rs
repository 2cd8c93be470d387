//! What a verification finds: damaged files, or sound files with wrong values.

use crate::database::{MANIFEST, block_file_name};
use crate::game::{Rule, Value};
use std::fmt;

/// Something that is wrong. Displayed, it is a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// A file is damaged, missing or too many.
    File(pipeline::Finding),
    /// The manifest's row of a block says something else than its bitmap.
    Row {
        /// Ordinal of the block.
        block: u32,
        /// What the manifest says.
        manifest: RowField,
        /// What the bitmap has.
        bitmap: RowField,
    },
    /// A position contradicts its children.
    Position {
        /// Ordinal of the canonical block.
        block: u32,
        /// Number of the bit.
        offset: u64,
        /// The position as rows of 0 and 1.
        rows: String,
        /// Its value in the database.
        stored: Value,
        /// Why it cannot be that.
        because: Reason,
    },
    /// A bit is set that stands for no position.
    Stray {
        /// Ordinal of the block.
        block: u32,
        /// Number of the bit.
        offset: u64,
    },
    /// A block has more wrong positions than are listed.
    More {
        /// Ordinal of the block.
        block: u32,
        /// All of its wrong positions.
        differences: u64,
        /// Those that are listed.
        listed: usize,
    },
    /// Blocks could not be checked, because they or blocks of their children cannot be read.
    Unchecked {
        /// How many.
        blocks: u64,
    },
    /// A count or a digest of the manifest is not that of the blocks.
    Count {
        /// What the manifest says, in words.
        manifest: String,
        /// What was counted, in words.
        counted: String,
    },
    /// The database contradicts a published figure.
    Published {
        /// What the database says and what is published, in words.
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

/// Why a position cannot have the value that is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The empty position has its value by the rule.
    Empty(Rule),
    /// All its children, this many, are wins.
    AllWins(usize),
    /// A child is a loss, too: its rows, if it could be read once more.
    LosingChild(Option<String>),
}

impl Finding {
    /// Whether a file is to blame: then its values mean nothing, and what can be done is a repair.
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
            Reason::Empty(rule) => write!(f, "the rule makes the empty position a {}", rule.empty()),
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
            Finding::Stray { block, offset } => {
                write!(f, "{}: bit {offset} is set but stands for no position", name(block))
            }
            Finding::More { block, differences, listed } => {
                write!(f, "{}: {differences} positions contradict their children, {listed} are listed", name(block))
            }
            Finding::Unchecked { blocks } => {
                write!(f, "{blocks} blocks were not checked, because they or blocks of their children cannot be read")
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
