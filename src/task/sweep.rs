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
use super::{Error, Listed, block_folders, block_name, settle, summary_folders};
use crate::database::{BlockForm, Task};
use pipeline::BlockId;
use serde::Serialize;
use std::time::Duration;

/// What `trinim task sweep` prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Swept {
    /// Files of blocks that were removed.
    pub blocks: u64,
    /// Their size.
    pub block_bytes: u64,
    /// Temporary files that were removed.
    pub temporary_files: u64,
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
        settle(store, summary_folders(listed.blocks()))?;
        let mut over = Vec::new();
        for (block, bytes) in listed.files.iter().filter(|(block, _)| is_over(block)) {
            // Its summary is all that is left of it.
            if StoredSummary::read(store, &form, *block)?.is_some() {
                over.push(*block);
                swept.blocks += 1;
                swept.block_bytes += bytes;
            }
        }
        remove_blocks(store, task, over)?;
    }
    for temporary in store.temporaries()? {
        if temporary.idle.is_some_and(|idle| idle >= older_than) {
            store.remove(&temporary.name)?;
            swept.temporary_files += 1;
        }
    }
    Ok(swept)
}

/// Removes the files of blocks, so that no power cut brings them back.
pub(super) fn remove_blocks(store: &dyn Store, task: Task<'_>, blocks: Vec<BlockId>) -> Result<(), Error> {
    for block in &blocks {
        store.remove(&block_name(task, *block))?;
    }
    settle(store, block_folders(task, blocks))
}
