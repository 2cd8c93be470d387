//! Removes what nothing needs any more: files of blocks in a store that keeps only counts, and
//! temporary files.
//!
//! # Invariants
//! 1. The file of a block goes only after its own summary and the summaries of all its targets are
//!    safe from power cuts: then no task has to read it again.
//! 2. A temporary file goes only if it was not written for a while, so that no task at work loses
//!    its own.

use super::store::Store;
use super::summary::StoredSummary;
use super::{DATABASE, Error, Listed, SUMMARIES, block_name};
use crate::database::{BlockForm, Task};
use pipeline::BlockId;
use std::time::Duration;

/// The work of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Files of blocks that were removed.
    pub blocks: u64,
    /// Their bytes.
    pub block_bytes: u64,
    /// Temporary files that were removed.
    pub temporaries: u64,
}

/// Removes the files of blocks whose targets are all committed, if the store keeps only counts, and
/// temporary files that were last written at least `older_than` ago.
///
/// # Errors
/// [`pipeline::Error::Corrupt`] with a damaged summary; those of the store.
pub fn sweep(store: &dyn Store, task: Task<'_>, older_than: Duration) -> Result<Swept, Error> {
    let mut swept = Swept::default();
    if !task.terms.keep.is_database() {
        let form = BlockForm::of(task);
        let listed = Listed::of(store, task)?;
        let is_done = |block: BlockId| listed.has(block);
        let is_over = |block: &BlockId| {
            is_done(*block) && task.game.layout.edges_from(*block).iter().all(|edge| is_done(edge.target))
        };
        let over: Vec<BlockId> = listed.files.keys().copied().filter(is_over).collect();
        store.settle(SUMMARIES)?;
        for block in &over {
            // Its summary is all that is left of it.
            if StoredSummary::read(store, &form, *block)?.is_some() {
                remove_blocks(store, [*block])?;
                swept.blocks += 1;
                swept.block_bytes += listed.files.get(block).copied().unwrap_or(0);
            }
        }
        store.settle(DATABASE)?;
    }
    for temporary in store.temporaries()? {
        if temporary.idle.is_some_and(|idle| idle >= older_than) {
            store.remove(&temporary.name)?;
            swept.temporaries += 1;
        }
    }
    Ok(swept)
}

pub(super) fn remove_blocks(store: &dyn Store, blocks: impl IntoIterator<Item = BlockId>) -> Result<(), Error> {
    for block in blocks {
        store.remove(&block_name(block))?;
    }
    Ok(())
}
