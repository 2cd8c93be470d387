//! The ledger: which log entries exist and which blocks still need them. Buckets are lists of
//! extents.
//!
//! A *bucket* is all logs that wait for one target. *Dedicated* entries are in the bucket's own
//! files; a *shared* entry is in a file of its source, and the bucket of every target refers to it.
//! A resume fills the ledger from the journal and the writer extends it, so a resume may change the
//! placement.
//!
//! # Invariants
//! 1. A file leaves the ledger only after every target that reads it has been committed; only then
//!    may it be deleted.
//! 2. A commit *spends* a file only if it commits every remaining target of the file; only then may
//!    it leave the file unsynced.
//! 3. `entries` returns ascending sources, files and offsets: the fixed order of merging.

use crate::checkpoint::{BlockRecord, FinishedBlocks, PUBLISHED, TEMPORARY};
use crate::ids::BlockId;
use crate::log::place::{Extent, LogFile, Placement};
use crate::storage::folder_of;
use crate::sync::Mutex;
use crate::workload::Workload;
use std::collections::{BTreeMap, BTreeSet};

/// Targets of each source, to find the logs that unfinished blocks still need.
pub(crate) struct Needs {
    targets: Vec<BTreeSet<BlockId>>,
}

impl Needs {
    /// Builds the table from the block graph of a workload.
    pub(crate) fn new(workload: &dyn Workload) -> Needs {
        let targets = BlockId::all(workload.blocks())
            .map(|block| workload.edges_from(block).iter().map(|edge| edge.target).collect())
            .collect();
        Needs { targets }
    }

    /// Returns whether some target of an extent is unfinished.
    pub(crate) fn has(&self, finished: &FinishedBlocks, extent: &Extent) -> bool {
        let waits = |target: &BlockId| !finished.contains(*target);
        let Some(targets) = self.targets.get(extent.source.index()) else { return false };
        match extent.file.placement {
            Placement::Shared => targets.iter().any(waits),
            Placement::Dedicated => targets.contains(&extent.file.bucket) && waits(&extent.file.bucket),
        }
    }
}

/// Returns whether an unnamed file may be the caller's, so that no sweep removes it: a complete run
/// may have files of the caller beside its blocks in the published folder. Temporary files belong to
/// no one.
pub(crate) fn is_callers(is_complete: bool, name: &str) -> bool {
    is_complete && folder_of(name) == PUBLISHED && !name.ends_with(TEMPORARY)
}

/// Returns the sources whose logs a target reads.
pub(super) fn sources_of(workload: &dyn Workload, target: BlockId) -> BTreeSet<BlockId> {
    workload.edges_into(target).iter().map(|edge| edge.source).collect()
}

/// Extents of all buckets that are not consumed yet.
pub(crate) struct Ledger {
    inner: Mutex<Inner>,
}

struct Inner {
    dedicated: BTreeMap<BlockId, Vec<Extent>>,
    shared: BTreeMap<BlockId, Extent>,
    /// Per source: number of targets that are not committed yet.
    waiting: Vec<u32>,
    consumed: BTreeSet<BlockId>,
}

impl Ledger {
    /// Creates the ledger of a workload; `targets(source)` is the number of distinct targets of
    /// `source`.
    pub(crate) fn new(workload: &dyn Workload, targets: impl Fn(BlockId) -> u32) -> Ledger {
        let waiting = BlockId::all(workload.blocks()).map(targets).collect();
        let inner = Inner { dedicated: BTreeMap::new(), shared: BTreeMap::new(), waiting, consumed: BTreeSet::new() };
        Ledger { inner: Mutex::new(inner) }
    }

    /// Adds the entries that a block sent.
    pub(crate) fn add(&self, record: &BlockRecord) {
        let mut inner = self.inner.lock();
        for extent in &record.extents {
            if extent.file.placement == Placement::Shared {
                if inner.waiting[extent.source.index()] > 0 {
                    inner.shared.insert(extent.source, *extent);
                }
            } else if !inner.consumed.contains(&extent.file.bucket) {
                inner.dedicated.entry(extent.file.bucket).or_default().push(*extent);
            }
        }
    }

    /// Returns the extents that hold the logs of `sources` for `target`.
    pub(crate) fn entries(&self, target: BlockId, sources: &BTreeSet<BlockId>) -> Vec<Extent> {
        let inner = self.inner.lock();
        let mut entries = inner.dedicated.get(&target).cloned().unwrap_or_default();
        entries.extend(sources.iter().filter_map(|source| inner.shared.get(source)).cloned());
        entries.sort_by_key(|extent| (extent.source, extent.file, extent.offset));
        entries
    }

    /// Returns the names of the files that are superfluous once all of `blocks`, each with its
    /// sources, are committed: a commit of these blocks need not make them durable.
    pub(crate) fn spent<'b>(&self, blocks: impl Iterator<Item = (BlockId, &'b BTreeSet<BlockId>)>) -> BTreeSet<String> {
        let inner = self.inner.lock();
        let mut served: BTreeMap<BlockId, u32> = BTreeMap::new();
        let mut files = BTreeSet::new();
        for (target, sources) in blocks {
            files.extend(inner.dedicated.get(&target).into_iter().flatten().map(|extent| extent.file.name()));
            for source in sources {
                *served.entry(*source).or_default() += 1;
            }
        }
        for (source, served) in served {
            let is_spent = served == inner.waiting[source.index()];
            if is_spent {
                files.extend(inner.shared.get(&source).map(|extent| extent.file.name()));
            }
        }
        files
    }

    /// Marks `target` as committed. Returns the files that no block needs any longer, with their
    /// bytes.
    pub(crate) fn consume(&self, target: BlockId, sources: &BTreeSet<BlockId>) -> Vec<(LogFile, u64)> {
        let mut inner = self.inner.lock();
        if !inner.consumed.insert(target) {
            return Vec::new();
        }
        let mut files: BTreeMap<LogFile, u64> = BTreeMap::new();
        for extent in inner.dedicated.remove(&target).unwrap_or_default() {
            *files.entry(extent.file).or_default() += extent.length;
        }
        for source in sources {
            inner.waiting[source.index()] -= 1;
            if inner.waiting[source.index()] == 0
                && let Some(extent) = inner.shared.remove(source)
            {
                *files.entry(extent.file).or_default() += extent.length;
            }
        }
        files.into_iter().collect()
    }

    /// Returns the names of all files in the ledger and the sum of their entries' bytes.
    pub(crate) fn files(&self) -> (BTreeSet<String>, u64) {
        let inner = self.inner.lock();
        let extents = || inner.dedicated.values().flatten().chain(inner.shared.values());
        (extents().map(|extent| extent.file.name()).collect(), extents().map(|extent| extent.length).sum())
    }
}
