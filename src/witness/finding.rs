//! The findings of a verification: damaged files, or sound files with wrong values.

use crate::database::{MANIFEST, Values, block_file_name};
use pipeline::BlockId;
use trinim_game::{Rule, Value};

/// A finding. Its `Display` is a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Finding {
    /// A file is damaged, missing or superfluous.
    #[error("{0}")]
    File(pipeline::Finding),
    /// A block's row in the manifest contradicts its bitmap.
    #[error("{}: the manifest says {manifest}, the bitmap has {bitmap}", block_file_name(BlockId(*block)))]
    Row {
        /// Ordinal of the block.
        block: u32,
        /// The field in the manifest.
        manifest: RowField,
        /// The field from the bitmap.
        bitmap: RowField,
    },
    /// A position contradicts its children.
    #[error(
        "{}: position {rows} (offset {offset}) is stored as a {stored}, but {because}",
        block_file_name(BlockId(*block))
    )]
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
    /// A position does not have the nimber or distance that follows from its children.
    #[error(
        "{}: position {rows} (offset {offset}) is stored as {}, but by its children is {}",
        block_file_name(BlockId(*block)), values.words(*stored), values.words(*follows)
    )]
    Number {
        /// Ordinal of the canonical block.
        block: u32,
        /// Offset of the position.
        offset: u64,
        /// The position as rows of 0 and 1.
        rows: String,
        /// What is stored.
        values: Values,
        /// The planes that it is in, bit by plane.
        stored: u64,
        /// The planes that it belongs into.
        follows: u64,
    },
    /// A bit without a position is set.
    #[error("{}: bit {offset} is set but represents no position", block_file_name(BlockId(*block)))]
    Stray {
        /// Ordinal of the block.
        block: u32,
        /// Index of the bit.
        offset: u64,
    },
    /// A block has more wrong positions than listed.
    #[error(
        "{}: {differences} positions contradict their children, {listed} are listed",
        block_file_name(BlockId(*block))
    )]
    More {
        /// Ordinal of the block.
        block: u32,
        /// The number of all its wrong positions.
        differences: u64,
        /// The number of listed ones.
        listed: usize,
    },
    /// Blocks could not be checked because they or the blocks of their children are unreadable.
    #[error("blocks not checked because they or the blocks of their children are unreadable: {blocks}")]
    Unchecked {
        /// The number of such blocks.
        blocks: u64,
    },
    /// A count or digest of the manifest contradicts the blocks.
    #[error("{MANIFEST}: {manifest}, {counted}")]
    Count {
        /// The claim of the manifest, in words.
        manifest: String,
        /// The result of the count, in words.
        counted: String,
    },
    /// The database contradicts a published figure.
    #[error("{contradiction}")]
    Published {
        /// The contradiction, in words.
        contradiction: String,
    },
}

/// A field of a block's row in the manifest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowField {
    /// Losses among its positions.
    #[error("{0} losses")]
    Losses(u64),
    /// BLAKE3 of its bitmap, hexadecimal.
    #[error("digest {0}")]
    Digest(String),
}

/// The reason why a position cannot have its stored value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The rule sets the value of the empty position.
    #[error("the rule makes a position without a move a {}", .0.empty())]
    Empty(Rule),
    /// All its children, counted here, are wins.
    #[error("all its {0} children are wins")]
    AllWins(usize),
    /// A child is a loss too; its rows, if a second read succeeded.
    #[error("{}", .0.as_ref().map_or("one of its children is a loss".to_owned(), |child| format!("its child {child} is a loss too")))]
    LosingChild(Option<String>),
}

impl Finding {
    /// Returns whether a file is damaged or unreadable: its values are then meaningless, and the
    /// remedy is a repair.
    pub fn is_damage(&self) -> bool {
        matches!(self, Finding::File(_) | Finding::Unchecked { .. })
    }
}
