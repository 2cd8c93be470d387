//! Which log entries exist and who still needs them: the buckets as lists of extents.
//!
//! A *bucket* is all logs that wait for one target. Entries of placement *dedicated* lie in the bucket's own files; an entry of placement
//! *shared* lies in a segment of its source, and every target's bucket refers to it. The ledger is filled from the journal at a resume and
//! by the writer afterwards, so a resume may change the placement.
//!
//! # Invariants
//! 1. A file leaves the ledger only after every target that reads it has been committed; only then may it be deleted.
//! 2. A file is *spent* by a commit only if every target that is not committed yet is in it; only then may the commit leave it unsynced.
//! 3. `entries` answers in ascending order of source, file and offset: the fixed order of merging.

use crate::checkpoint::{BlockRecord, Finished};
use crate::ids::BlockId;
use crate::log::place::{Extent, LogFile, Placement};
use crate::sync::Mutex;
use crate::workload::Workload;
use std::collections::{BTreeMap, BTreeSet};

/// Whose updates are still to be read.
pub struct Needs {
    targets: Vec<BTreeSet<BlockId>>,
}

impl Needs {
    /// From the block graph of a workload.
    pub fn new(workload: &dyn Workload) -> Needs {
        let targets = BlockId::all(workload.blocks())
            .map(|block| workload.edges_from(block).iter().map(|edge| edge.target).collect())
            .collect();
        Needs { targets }
    }

    /// Whether some target of an extent is not finished.
    pub fn has(&self, finished: &Finished, extent: &Extent) -> bool {
        let waits = |target: &BlockId| !finished.contains(*target);
        if extent.file.placement == Placement::Shared {
            self.targets.get(extent.source.index()).is_some_and(|all| all.iter().any(waits))
        } else {
            waits(&extent.file.bucket)
        }
    }
}

/// The sources whose logs a target reads.
pub(super) fn sources_of(workload: &dyn Workload, target: BlockId) -> BTreeSet<BlockId> {
    workload.edges_into(target).iter().map(|edge| edge.source).collect()
}

/// The extents of all buckets that are not consumed yet.
pub struct Ledger {
    inner: Mutex<Inner>,
}

struct Inner {
    dedicated: BTreeMap<BlockId, Vec<Extent>>,
    shared: BTreeMap<BlockId, Extent>,
    /// Per source: targets that are not committed yet.
    waiting: Vec<u32>,
    consumed: BTreeSet<BlockId>,
}

impl Ledger {
    /// A ledger for a workload, `targets(source)` being the number of its distinct targets.
    pub fn new(workload: &dyn Workload, targets: impl Fn(BlockId) -> u32) -> Ledger {
        let waiting = BlockId::all(workload.blocks()).map(targets).collect();
        let inner = Inner { dedicated: BTreeMap::new(), shared: BTreeMap::new(), waiting, consumed: BTreeSet::new() };
        Ledger { inner: Mutex::new(inner) }
    }

    /// Adds the entries that a block sent.
    pub fn add(&self, record: &BlockRecord) {
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

    /// The extents that hold the logs of `sources` for `target`.
    pub fn entries(&self, target: BlockId, sources: &BTreeSet<BlockId>) -> Vec<Extent> {
        let inner = self.inner.lock();
        let mut entries = inner.dedicated.get(&target).cloned().unwrap_or_default();
        entries.extend(sources.iter().filter_map(|source| inner.shared.get(source)).cloned());
        entries.sort_by_key(|extent| (extent.source, extent.file, extent.offset));
        entries
    }

    /// Names of the files that nobody will need once all of `blocks` are committed, given each with its sources: a commit of these blocks does not
    /// have to make them durable.
    pub fn spent<'b>(&self, blocks: impl Iterator<Item = (BlockId, &'b BTreeSet<BlockId>)>) -> BTreeSet<String> {
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

    /// Says that `target` is committed; returns the files nobody needs any more, with their bytes.
    pub fn consume(&self, target: BlockId, sources: &BTreeSet<BlockId>) -> Vec<(LogFile, u64)> {
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

    /// Names of all files in the ledger, and the sum of their entries' bytes.
    pub fn files(&self) -> (BTreeSet<String>, u64) {
        let inner = self.inner.lock();
        let extents = || inner.dedicated.values().flatten().chain(inner.shared.values());
        (extents().map(|extent| extent.file.name()).collect(), extents().map(|extent| extent.length).sum())
    }
}
