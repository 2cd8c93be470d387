//! Removes files that are not needed any more: files of blocks in a store that keeps only counts,
//! and temporary files.
//!
//! # Invariants
//! 1. The file of a block is removed only after its own summary and the summaries of all its
//!    targets are safe from power cuts: then no task has to read it again.
//! 2. A temporary file is removed only if it was not written for a while, so that no running task
//!    loses its own.

use super::store::Store;
use super::summary::StoredSummary;
use super::{Error, Listing, block_folders, block_name, require, summary_folders, sync};
use parking_lot::Mutex;
use pipeline::BlockId;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use trinim::database::{BlockForm, SolveSpec};

/// What `trinim task sweep` prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct SweepWork {
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
pub fn sweep(store: &dyn Store, spec: SolveSpec<'_>, older_than: Duration) -> Result<SweepWork, Error> {
    Ok(Sweeper::new(store, spec, older_than)?.swept())
}

/// A continuous sweep: it lists the store once; then the caller reports committed blocks.
pub struct Sweeper<'a> {
    store: &'a dyn Store,
    spec: SolveSpec<'a>,
    form: BlockForm,
    /// The blocks whose summaries are safe from power cuts. For summaries that were read here, the
    /// size of the block's file, in bytes.
    committed: Mutex<BTreeMap<BlockId, Option<u64>>>,
    swept: Mutex<SweepWork>,
}

impl<'a> Sweeper<'a> {
    /// Removes what [`sweep`] does.
    ///
    /// # Errors
    /// Those of [`sweep`].
    pub fn new(store: &'a dyn Store, spec: SolveSpec<'a>, older_than: Duration) -> Result<Sweeper<'a>, Error> {
        let (form, swept) = (BlockForm::new(spec), Mutex::default());
        let mut sweeper = Sweeper { store, spec, form, committed: Mutex::default(), swept };
        if sweeper.is_needed() {
            let listed = Listing::read(store, spec)?;
            sync(store, summary_folders(listed.blocks()))?;
            let committed: BTreeMap<_, _> = listed.blocks().map(|block| (block, None)).collect();
            let over = sweeper.over(&committed, listed.files.into_keys());
            *sweeper.committed.get_mut() = committed;
            sweeper.remove(over)?;
        }
        for temporary in store.temporaries()? {
            if temporary.idle.is_some_and(|idle| idle >= older_than) {
                store.remove(&temporary.name)?;
                sweeper.swept.get_mut().temporary_files += 1;
            }
        }
        Ok(sweeper)
    }

    /// Notes that blocks were committed, and removes the files that are not needed any more. A
    /// block without a summary is ignored. Several threads can call this.
    ///
    /// # Errors
    /// [`Error::NoBlock`]; those of [`sweep`].
    pub fn committed(&self, blocks: &[BlockId]) -> Result<(), Error> {
        require(self.spec, blocks)?;
        let mut fresh = BTreeMap::new();
        for block in blocks.iter().filter(|_| self.is_needed()) {
            if let Some(summary) = StoredSummary::read(self.store, &self.form, *block)? {
                fresh.insert(*block, Some(summary.file_bytes));
            }
        }
        sync(self.store, summary_folders(fresh.keys().copied()))?;
        let over = {
            let mut committed = self.committed.lock();
            fresh.retain(|block, bytes| committed.insert(*block, *bytes).is_none());
            let sources = fresh.keys().flat_map(|block| self.spec.game.layout.edges_into(*block));
            let near: BTreeSet<BlockId> = sources.map(|edge| edge.source).chain(fresh.keys().copied()).collect();
            self.over(&committed, near)
        };
        self.remove(over)
    }

    /// Returns what was removed so far.
    pub fn swept(&self) -> SweepWork {
        *self.swept.lock()
    }

    /// Returns whether files of blocks are ever removed.
    fn is_needed(&self) -> bool {
        !self.spec.terms.keep.is_database()
    }

    /// Returns those of `blocks` that are committed with all their targets.
    fn over(
        &self,
        committed: &BTreeMap<BlockId, Option<u64>>,
        blocks: impl IntoIterator<Item = BlockId>,
    ) -> Vec<(BlockId, Option<u64>)> {
        let over = |block: BlockId| {
            let bytes = committed.get(&block)?;
            self.is_over(committed, block).then_some((block, *bytes))
        };
        blocks.into_iter().filter_map(over).collect()
    }

    /// Returns whether a block and all its targets are committed.
    fn is_over(&self, committed: &BTreeMap<BlockId, Option<u64>>, block: BlockId) -> bool {
        let edges = self.spec.game.layout.edges_from(block);
        edges.iter().map(|edge| edge.target).chain([block]).all(|block| committed.contains_key(&block))
    }

    fn remove(&self, over: Vec<(BlockId, Option<u64>)>) -> Result<(), Error> {
        let (mut blocks, mut block_bytes) = (Vec::new(), 0);
        for (block, bytes) in over {
            assert!(self.is_over(&self.committed.lock(), block), "sweep, invariant 1: {block} is still needed");
            let bytes = match bytes {
                Some(bytes) => Some(bytes),
                // Only its summary will remain.
                None => StoredSummary::read(self.store, &self.form, block)?.map(|summary| summary.file_bytes),
            };
            if let Some(bytes) = bytes {
                blocks.push(block);
                block_bytes += bytes;
            }
        }
        let removed = blocks.len() as u64;
        remove_blocks(self.store, self.spec, blocks)?;
        let mut swept = self.swept.lock();
        swept.blocks += removed;
        swept.block_bytes += block_bytes;
        Ok(())
    }
}

/// Removes the files of blocks durably, so that no power cut restores them.
pub(super) fn remove_blocks(store: &dyn Store, spec: SolveSpec<'_>, blocks: Vec<BlockId>) -> Result<(), Error> {
    let is_database = spec.terms.keep.is_database();
    assert!(blocks.is_empty() || !is_database, "tasks, invariant 5: a database needs its blocks");
    for block in &blocks {
        store.remove(&block_name(spec, *block))?;
    }
    sync(store, block_folders(spec, blocks))
}
