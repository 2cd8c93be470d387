//! Why a plan is refused.

use crate::amount::{binary, binary_up, grouped};
use crate::layout::CANONICAL_BLOCKS_MAX;

/// A reason to refuse a solve before it starts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Not even one worker fits the memory budget.
    #[error(
        "a budget of {} is too small: blocks of {} need {}",
        binary(*budget_bytes),
        binary(*block_bytes),
        binary_up(*needed_bytes)
    )]
    Memory {
        /// Smallest sufficient budget, in bytes.
        needed_bytes: u64,
        /// The budget, in bytes.
        budget_bytes: u64,
        /// Bytes of one bitmap.
        block_bytes: u64,
    },
    /// The board does not fit the memory budget as a whole.
    #[error(
        "a budget of {} is too small: the whole board in memory needs {}",
        binary(*budget_bytes),
        binary_up(*needed_bytes)
    )]
    Board {
        /// Smallest sufficient budget, in bytes.
        needed_bytes: u64,
        /// The budget, in bytes.
        budget_bytes: u64,
    },
    /// The disk is too full for logs and database.
    #[error("about {} of disk space is needed, {} is free", binary_up(*needed_bytes), binary(*free_bytes))]
    Disk {
        /// Estimated need, in bytes.
        needed_bytes: u64,
        /// Free space, in bytes.
        free_bytes: u64,
    },
    /// The layout has more blocks than a run may have.
    #[error(
        "a layout with {} blocks to evaluate is too fine: expected at most {}",
        grouped(*found),
        grouped(CANONICAL_BLOCKS_MAX)
    )]
    Blocks {
        /// Canonical blocks of the layout.
        found: u64,
    },
}
