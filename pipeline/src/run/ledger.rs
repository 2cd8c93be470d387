//! The ledger: which log entries exist and which blocks still need them. Buckets are lists of
//! extents.
//!
//! If the workload publishes its streams, a source without an entry for a target is read from its
//! published file. The record decides, not the placement of the session: a folder can have logs of
//! some blocks from an earlier session with another placement, or from an earlier version.
//!
//! A *bucket* is all logs that wait for one target. *Dedicated* entries are in the bucket's own
//! files; a *shared* entry is in a file of its source, and the bucket of every target refers to it.
//! A resume fills the ledger from the journal and the writer extends it, so a resume can use
//! another placement.
//!
//! # Invariants
//! 1. A file leaves the ledger, and is deleted, only after every target that reads it has been
//!    committed.
//! 2. A commit *spends* a file, and leaves it unsynced, only if it commits every remaining target
//!    of the file.
//! 3. `incoming` returns ascending sources, files and offsets: the fixed order of merging.

use crate::checkpoint::{BlockRecord, FinishedBlocks, PUBLISHED, PublishedFile, TEMPORARY, without_temporary};
use crate::ids::BlockId;
use crate::log::place::{Extent, LogFile, Placement};
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
        let waits = |target: &BlockId| !finished.contains(target);
        let Some(targets) = self.targets.get(extent.source.index()) else { return false };
        match extent.file.placement {
            Placement::Shared => targets.iter().any(waits),
            Placement::Dedicated => targets.contains(&extent.file.bucket) && waits(&extent.file.bucket),
        }
    }

    /// Returns a finished block and a source of it that is not, if there are such blocks: no order
    /// of commits leaves them.
    pub(crate) fn contradiction(&self, finished: &FinishedBlocks) -> Option<(BlockId, BlockId)> {
        let sources = (0..).map(BlockId).zip(&self.targets).filter(|(source, _)| !finished.contains(source));
        let mut pairs = sources.flat_map(|(source, targets)| targets.iter().map(move |target| (*target, source)));
        pairs.find(|(target, _)| finished.contains(target))
    }
}

/// Returns whether a file in the published folder that no record names stays. A complete run can
/// have files of the caller beside its blocks, and files that the workload does not own belong to
/// someone else.
pub(crate) fn is_callers(workload: &dyn Workload, is_complete: bool, name: &str) -> bool {
    let Some(file) = name.strip_prefix(PUBLISHED).and_then(|file| file.strip_prefix('/')) else { return false };
    !workload.owns(without_temporary(file)) || is_complete && !name.ends_with(TEMPORARY)
}

/// Returns the sources whose logs a target reads.
pub(super) fn sources_of(workload: &dyn Workload, target: BlockId) -> BTreeSet<BlockId> {
    workload.edges_into(target).iter().map(|edge| edge.source).collect()
}

/// Where a target finds the stream of a source; for a check, contents that a record names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StreamPlace {
    Entry(Extent),
    /// In the file that the source published.
    Published(BlockId, PublishedFile),
}

impl StreamPlace {
    /// Returns its place in the order of merging: the block whose stream it is, and where in the
    /// logs.
    pub(super) fn place(&self) -> (BlockId, Option<(LogFile, u64)>) {
        match self {
            StreamPlace::Entry(extent) => (extent.source, Some((extent.file, extent.offset))),
            StreamPlace::Published(source, _) => (*source, None),
        }
    }

    pub(crate) fn length(&self) -> u64 {
        match self {
            StreamPlace::Entry(extent) => extent.length,
            StreamPlace::Published(_, file) => file.length,
        }
    }

    pub(crate) fn file_name(&self) -> String {
        match self {
            StreamPlace::Entry(extent) => extent.file.name(),
            StreamPlace::Published(_, file) => file.name.clone(),
        }
    }
}

/// Extents of all buckets that are not consumed yet.
pub(crate) struct Ledger {
    /// Whether streams may be read from published files.
    recalls: bool,
    inner: Mutex<Inner>,
}

struct Inner {
    dedicated: BTreeMap<BlockId, Vec<Extent>>,
    shared: BTreeMap<BlockId, Extent>,
    /// Published files of sources, if streams are read from these.
    published: BTreeMap<BlockId, PublishedFile>,
    /// Per source: number of targets that are not committed yet.
    waiting: Vec<u32>,
    consumed: BTreeSet<BlockId>,
}

impl Ledger {
    /// Creates the ledger of a workload; `targets(source)` is the number of distinct targets of
    /// `source`.
    pub(crate) fn new(workload: &dyn Workload, targets: impl Fn(BlockId) -> u32) -> Ledger {
        let waiting = BlockId::all(workload.blocks()).map(targets).collect();
        let (dedicated, shared, published, consumed) = Default::default();
        let inner = Inner { dedicated, shared, published, waiting, consumed };
        Ledger { recalls: workload.publishes_streams(), inner: Mutex::new(inner) }
    }

    /// Adds the entries that a block sent, and the file that it published.
    pub(crate) fn add(&self, record: &BlockRecord) {
        let mut inner = self.inner.lock();
        if let Some(file) = record.published.as_ref().filter(|_| self.recalls)
            && inner.waiting[record.block.index()] > 0
        {
            inner.published.insert(record.block, file.clone());
        }
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

    /// Returns where `target` finds the streams of `sources`, ascending.
    pub(super) fn incoming(&self, target: BlockId, sources: &BTreeSet<BlockId>) -> Vec<StreamPlace> {
        let entries = self.entries(target, sources);
        let logged: BTreeSet<BlockId> = entries.iter().map(|extent| extent.source).collect();
        let mut incoming: Vec<StreamPlace> = entries.into_iter().map(StreamPlace::Entry).collect();
        let inner = self.inner.lock();
        let published = |source: &BlockId| Some(StreamPlace::Published(*source, inner.published.get(source)?.clone()));
        incoming.extend(sources.difference(&logged).filter_map(published));
        drop(inner);
        incoming.sort_by_key(StreamPlace::place);
        incoming
    }

    /// Returns the extents that hold the logs of `sources` for `target`.
    fn entries(&self, target: BlockId, sources: &BTreeSet<BlockId>) -> Vec<Extent> {
        let inner = self.inner.lock();
        assert!(!inner.consumed.contains(&target), "ledger, invariant 1: the bucket of block {target} is gone");
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
            let waiting = inner.waiting[source.index()];
            assert!(served <= waiting, "ledger, invariant 2: {served} targets of block {source}, {waiting} wait");
            let is_spent = served == waiting;
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
            let waiting = inner.waiting[source.index()].checked_sub(1);
            let waiting = waiting.unwrap_or_else(|| panic!("ledger, invariant 1: nothing waits for block {source}"));
            inner.waiting[source.index()] = waiting;
            if waiting == 0 {
                inner.published.remove(source);
                if let Some(extent) = inner.shared.remove(source) {
                    *files.entry(extent.file).or_default() += extent.length;
                }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Edge;

    /// The edges of four blocks: 0 and 1 send to 2 and 3, and 2 sends to 3.
    const EDGES: [(u32, u32); 5] = [(0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];

    /// A block graph; nothing is computed.
    struct Graph {
        publishes: bool,
    }

    const GRAPH: Graph = Graph { publishes: false };

    impl Workload for Graph {
        fn parameters(&self) -> Vec<(String, String)> {
            Vec::new()
        }

        fn blocks(&self) -> u32 {
            4
        }

        fn stream_words(&self) -> usize {
            1
        }

        fn edges_into(&self, target: BlockId) -> Vec<Edge> {
            let edges = EDGES.iter().map(|(source, target)| Edge::new(BlockId(*source), BlockId(*target)));
            edges.filter(|edge| edge.target == target).collect()
        }

        fn apply(&self, _: &Edge, _: &[u64], _: &mut [u64]) {}

        fn finish(&self, _: BlockId, _: &mut [u64]) {}

        fn owns(&self, name: &str) -> bool {
            name == "SUMS"
        }

        fn publishes_streams(&self) -> bool {
            self.publishes
        }
    }

    fn finished(blocks: &[u32]) -> FinishedBlocks {
        blocks.iter().copied().map(BlockId).collect()
    }

    fn dedicated(source: u32, bucket: u32, offset: u64, length: u64) -> Extent {
        let file = LogFile { placement: Placement::Dedicated, bucket: BlockId(bucket), generation: 1 };
        Extent { file, offset, length, hash: 0, source: BlockId(source) }
    }

    fn shared(source: u32, length: u64) -> Extent {
        let file = LogFile { placement: Placement::Shared, bucket: BlockId(source), generation: 1 };
        Extent { file, offset: 0, length, hash: 0, source: BlockId(source) }
    }

    fn record(block: u32, extents: &[Extent]) -> BlockRecord {
        BlockRecord { block: BlockId(block), extents: extents.to_vec(), ..BlockRecord::default() }
    }

    fn ledger() -> Ledger {
        Ledger::new(&GRAPH, |source| GRAPH.edges_from(source).len() as u32)
    }

    fn names(extents: &[Extent]) -> BTreeSet<String> {
        extents.iter().map(|extent| extent.file.name()).collect()
    }

    #[test]
    fn only_published_files_of_a_complete_run_may_be_the_callers() {
        for (is_complete, name, expected) in [
            (true, "db/SUMS", true),
            (false, "db/SUMS", false),
            (true, "db/SUMS.tmp", false),
            (true, "logs/00000001.g1", false),
            (true, "SUMS", false),
            (false, "db/notes.txt", true),
            (false, "db/notes.txt.tmp", true),
            (false, "db/.nfs0001", true),
            (false, "db/0001~", true),
        ] {
            assert_eq!(is_callers(&GRAPH, is_complete, name), expected, "{is_complete} {name}");
        }
    }

    #[test]
    fn an_entry_is_needed_until_its_targets_are_finished() {
        let needs = Needs::new(&GRAPH);
        for (extent, blocks, expected) in [
            (shared(0, 1), &[0, 1][..], true),
            (shared(0, 1), &[0, 1, 2], true),
            (shared(0, 1), &[0, 1, 2, 3], false),
            (shared(3, 1), &[], false),
            (dedicated(0, 2, 0, 1), &[0, 3], true),
            (dedicated(0, 2, 0, 1), &[0, 2], false),
            // No such edge, no such block.
            (dedicated(0, 1, 0, 1), &[0], false),
            (shared(9, 1), &[], false),
        ] {
            assert_eq!(needs.has(&finished(blocks), &extent), expected, "{extent:?} {blocks:?}");
        }
    }

    #[test]
    fn entries_come_in_the_order_of_merging() {
        let ledger = ledger();
        let (near, far, other) = (dedicated(0, 2, 0, 5), dedicated(0, 2, 4096, 5), dedicated(1, 2, 2048, 5));
        ledger.add(&record(1, &[other, dedicated(1, 3, 0, 5)]));
        ledger.add(&record(0, &[far, near, shared(0, 7)]));
        let sources = sources_of(&GRAPH, BlockId(2));
        assert_eq!(sources, [BlockId(0), BlockId(1)].into());
        assert_eq!(ledger.entries(BlockId(2), &sources), [near, far, shared(0, 7), other]);
        assert_eq!(ledger.entries(BlockId(2), &[BlockId(1)].into()), [near, far, other], "only of the sources");
    }

    #[test]
    fn a_source_without_an_entry_is_read_from_its_file() {
        let ledger = Ledger::new(&Graph { publishes: true }, |source| GRAPH.edges_from(source).len() as u32);
        let file = |block: u32| PublishedFile { name: format!("db/{block}"), length: 1, hash: u128::from(block) };
        let publishing =
            |block, extents: &[Extent]| BlockRecord { published: Some(file(block)), ..record(block, extents) };
        let from_file = |block| StreamPlace::Published(BlockId(block), file(block));
        let (to_2, all) = (dedicated(0, 2, 0, 5), shared(1, 7));
        let [two, three] = [2, 3].map(|block| sources_of(&GRAPH, BlockId(block)));
        ledger.add(&publishing(0, &[to_2]));
        ledger.add(&publishing(1, &[all]));
        ledger.add(&publishing(2, &[]));
        assert_eq!(ledger.incoming(BlockId(2), &two), [StreamPlace::Entry(to_2), StreamPlace::Entry(all)]);
        // The entry of another target does not serve this one.
        assert_eq!(ledger.incoming(BlockId(3), &three), [from_file(0), StreamPlace::Entry(all), from_file(2)]);
        // Published files stay; only logs are superfluous.
        assert_eq!(ledger.files(), (names(&[to_2, all]), 12));
        assert_eq!(ledger.consume(BlockId(2), &two), [(to_2.file, 5)]);
        assert_eq!(ledger.consume(BlockId(3), &three), [(all.file, 7)]);
        assert!(ledger.inner.lock().published.is_empty());

        // A workload that publishes something else, or nothing, has its logs only.
        let ledger = self::ledger();
        ledger.add(&publishing(0, &[]));
        assert_eq!(ledger.incoming(BlockId(2), &two), []);
    }

    #[test]
    fn a_file_goes_with_the_last_block_that_reads_it() {
        let ledger = ledger();
        let into_2 = [dedicated(0, 2, 0, 5), dedicated(1, 2, 4096, 6)];
        let into_3 = dedicated(2, 3, 0, 9);
        ledger.add(&record(0, &[into_2[0], shared(0, 7)]));
        ledger.add(&record(1, &[into_2[1], shared(1, 8)]));
        ledger.add(&record(2, &[into_3]));
        let all = [into_2[0], into_3, shared(0, 7), shared(1, 8)];
        assert_eq!(ledger.files(), (names(&all), 35));

        let (two, three) = (sources_of(&GRAPH, BlockId(2)), sources_of(&GRAPH, BlockId(3)));
        let spent = |blocks: &[(BlockId, &BTreeSet<BlockId>)]| ledger.spent(blocks.iter().copied());
        assert_eq!(spent(&[]), BTreeSet::new());
        assert_eq!(spent(&[(BlockId(2), &two)]), names(&into_2));
        assert_eq!(spent(&[(BlockId(2), &two), (BlockId(3), &three)]), names(&all));

        assert_eq!(ledger.consume(BlockId(2), &two), [(into_2[0].file, 11)]);
        assert_eq!(ledger.consume(BlockId(2), &two), [], "counted once");
        assert_eq!(ledger.files(), (names(&all[1..]), 24));
        assert_eq!(spent(&[(BlockId(3), &three)]), names(&all[1..]));
        let expected = [(into_3.file, 9), (shared(0, 7).file, 7), (shared(1, 8).file, 8)];
        assert_eq!(ledger.consume(BlockId(3), &three), expected);

        // What nobody will read is not kept.
        ledger.add(&record(0, &[into_2[0], shared(0, 7)]));
        assert_eq!(ledger.files(), (BTreeSet::new(), 0));
    }
}
