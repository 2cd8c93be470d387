//! Repair: recomputes exactly the damaged files, with the same bytes.
//!
//! | damaged | recomputed from |
//! |---|---|
//! | a copy of `FORMAT`, manifest or journal | the other copy; a missing `FORMAT` from the manifest |
//! | the published file of a finished block | the published files of its sources ([`super::recompute`]) |
//! | log entries that are still needed | the published file of their source: recalled, oriented, encoded |
//!
//! Published files are repaired before everything that is computed from them, so any number of them
//! can be damaged. If both copies of the metadata are damaged, nothing shows which bytes are right,
//! and repair refuses the run. The caller repairs its own files.
//!
//! # Path of a repair
//! ```text
//! M1  lock; read the metadata ([`LockedRun`]); check the folder ([`crate::maintenance::check`])
//! M2  plan what to recompute, in the order of the block graph; a refusal happens here or never
//!     ([`Plan`])
//! M3  each block: compute, compare with hash and summary of its record, write a temporary file,
//!     sync, rename, sync the folder
//! M4  log entries: write them to new files that carry the number of the next generation, sync;
//!     sync `logs/`
//! M5  begin the next generation with records whose extents name the new entries   <- the switch
//! M6  remove what no record names any longer
//! ```
//! M4 to M6 are left out if neither logs nor metadata are damaged and neither a solve nor an
//! earlier repair left files over.
//!
//! # Every stop
//! | Stop at | On disk | Repaired again |
//! |---|---|---|
//! | M3 | some blocks whole, a temporary file | those blocks are intact now; the others are recomputed |
//! | M4 | files of a generation without a manifest | the number is never used again (file names count too); swept at M6 |
//! | M5 | the old generation or the new one, each whole | from the old one: repeated; from the new one: only M5 and M6, for what is left over |
//! | M6 | files that no record names | left over, so M5 and M6 again |
//!
//! # Invariants
//! 1. Nothing is computed from bytes unless their hash was compared with the record at the moment
//!    of use.
//! 2. A file is replaced only by bytes that have the hash in its record.
//! 3. All entries of one source for one target (dedicated), or all of one source (shared), are
//!    written again together; intact entries in the same file stay where they are.
//!
//! # Cost
//! Memory: three bitmaps, and the published files of one source and of the block. Time: as long as
//! the run needed for the block on one thread, but with published files read instead of logs.

use crate::bitmaps::PooledBitmap;
use crate::checkpoint::{self, BlockRecord, Checkpoint, FinishedBlocks, LOGS, LockedRun, PUBLISHED, PublishedFile};
use crate::codec::{Scratch, Zstd1};
use crate::error::Error;
use crate::finding::{Damage, Finding};
use crate::ids::BlockId;
use crate::log::entry::{EntryHeader, Route};
use crate::log::frame::{Frame, frame_words};
use crate::log::place::{Extent, Placement};
use crate::log::writer::LogWriter;
use crate::maintenance::check::Report;
use crate::maintenance::recompute::{BlockOutput, Recomputer, Sources};
use crate::measure::metrics::Metrics;
use crate::run::ledger::{Needs, is_callers};
use crate::storage::Storage;
use crate::thresholds::Thresholds;
use crate::workload::{Edge, Workload};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use xxhash_rust::xxh3::xxh3_128;

/// The published files of a run.
struct Published<'a> {
    storage: &'a dyn Storage,
    files: BTreeMap<BlockId, PublishedFile>,
}

impl Published<'_> {
    fn file(&self, block: BlockId) -> Result<&PublishedFile, Error> {
        self.files.get(&block).ok_or_else(|| Error::workload(format!("block {block} has no published file")))
    }
}

impl Sources for Published<'_> {
    fn read(&self, block: BlockId) -> Result<Vec<u8>, Error> {
        self.file(block)?.read(self.storage)
    }

    fn path(&self, block: BlockId) -> PathBuf {
        self.storage.path(self.files.get(&block).map_or(PUBLISHED, |file| &file.name))
    }
}

/// What a repair recomputes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Blocks whose published files are recomputed, sources before targets.
    pub blocks: Vec<BlockId>,
    /// Log entries to rewrite: source, and target if they are dedicated.
    pub entries: BTreeSet<(BlockId, Option<BlockId>)>,
    /// Whether a copy of the metadata is rewritten.
    pub metadata: bool,
    /// Number of leftover findings; a new generation and a sweep remove these files.
    pub leftovers: u64,
    /// Number of published files to read and recall, counting repetitions.
    pub recalls: u64,
    /// Bytes to read for them.
    pub read_bytes: u64,
    /// Published bytes to write.
    pub write_bytes: u64,
    /// Number of edges that are applied, or whose streams are oriented and encoded.
    pub edges: u64,
}

impl Plan {
    /// Plans the repair of a checked folder.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] with the first damage that cannot be recomputed: metadata damaged
    /// in both copies, or a file name that belongs to something other than a file; and
    /// [`Error::Workload`] if the source of a damaged entry publishes nothing.
    pub fn new(workload: &dyn Workload, report: &Report) -> Result<Plan, Error> {
        let Some(inspection) = &report.inspection else {
            let damage = report.findings.iter().min_by_key(|finding| finding.severity).cloned();
            return Err(damage.map_or_else(
                || Error::workload("the metadata of the folder are unreadable"),
                |Finding { path, offset, damage, .. }| Error::Corrupt { path, offset, damage },
            ));
        };
        // The program does not remove something whose origin is unknown.
        let is_no_file = |finding: &&Finding| finding.damage == Damage::NotAFile;
        if let Some(Finding { path, offset, damage, .. }) = report.findings.iter().find(is_no_file).cloned() {
            return Err(Error::Corrupt { path, offset, damage });
        }
        let records: BTreeMap<BlockId, &BlockRecord> =
            inspection.records.iter().map(|record| (record.block, record)).collect();
        let published = |block: BlockId| {
            let record = records.get(&block).and_then(|record| record.published.as_ref());
            record.ok_or_else(|| Error::workload(format!("block {block} has no published file to read it back from")))
        };
        let is_complete = records.len() == workload.blocks() as usize;
        let swept = report.unnamed.iter().filter(|name| !is_callers(workload, is_complete, name));
        let left = report.findings.iter().filter(|finding| !finding.severity.is_damage());
        let leftovers = (left.count() + swept.count()) as u64;
        let mut plan = Plan { metadata: report.damaged_metadata, leftovers, ..Plan::default() };
        plan.blocks = workload.order();
        plan.blocks.retain(|block| report.damaged_blocks.contains(block));
        for block in &plan.blocks {
            plan.write_bytes += published(*block)?.length;
            let edges = workload.edges_into(*block);
            plan.edges += edges.len() as u64;
            for source in edges.iter().map(|edge| edge.source).collect::<BTreeSet<BlockId>>() {
                plan.recalls += 1;
                plan.read_bytes += published(source)?.length;
            }
        }
        for extent in &report.damaged_extents {
            plan.entries.insert((extent.source, target_of(extent)));
        }
        for source in plan.entries.iter().map(|(source, _)| *source).collect::<BTreeSet<BlockId>>() {
            plan.recalls += 1;
            plan.read_bytes += published(source)?.length;
        }
        for (source, target) in &plan.entries {
            plan.edges += edges_of(workload, *source, *target).len() as u64;
        }
        Ok(plan)
    }

    /// Returns whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && !self.needs_generation()
    }

    /// Returns whether a new generation begins: M4 to M6 of the module page.
    fn needs_generation(&self) -> bool {
        !self.entries.is_empty() || self.metadata || self.leftovers > 0
    }

    /// Returns the number of blocks and entries to recompute.
    pub fn steps(&self) -> u64 {
        (self.blocks.len() + self.entries.len()) as u64
    }
}

/// Returns the target of a dedicated entry; a shared one has many.
fn target_of(extent: &Extent) -> Option<BlockId> {
    (extent.file.placement == Placement::Dedicated).then_some(extent.file.bucket)
}

/// Returns the edges that use the entries of one source, for one target if they are dedicated.
fn edges_of(workload: &dyn Workload, source: BlockId, target: Option<BlockId>) -> Vec<Edge> {
    let mut edges = workload.edges_from(source);
    edges.retain(|edge| target.is_none_or(|target| edge.target == target));
    edges
}

/// A repaired folder, locked while this value lives.
pub enum RepairedRun {
    /// The generation is unchanged.
    LockedRun(LockedRun),
    /// A new generation has begun.
    Checkpoint(Checkpoint),
}

/// Carries out a plan: M3 to M6 of the module page. Calls `progress` with the number of steps done.
///
/// # Errors
/// Returns [`Error::Interrupted`] after `stop` was set, [`Error::Corrupt`] if a recomputed block
/// differs from its record (the file then stays as it was), or [`Error::Io`]. After any of these
/// the repair can be repeated.
pub fn carry_out(
    plan: &Plan,
    workload: &dyn Workload,
    storage: &Arc<dyn Storage>,
    mut locked: LockedRun,
    thresholds: &Thresholds,
    stop: &AtomicBool,
    progress: &dyn Fn(u64),
) -> Result<RepairedRun, Error> {
    let store = &**storage;
    let files = locked.records().iter().filter_map(|record| Some((record.block, record.published.clone()?))).collect();
    let published = Published { storage: store, files };
    let recomputer = Recomputer::new(workload, &published);
    let mut done = 0;
    let mut step = || {
        done += 1;
        progress(done);
    };
    let go_on = || if stop.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) };

    if !plan.is_empty() {
        locked.make_folders()?;
    }
    for block in &plan.blocks {
        go_on()?;
        let file = published.file(*block)?;
        recomputer.blocks(&[*block], &|block, output| restore(store, &locked, file, block, output))?;
        step();
    }
    if !plan.needs_generation() {
        return Ok(RepairedRun::LockedRun(locked));
    }
    let metrics = Metrics::default();
    let mut logs = LogWriter::new(store, locked.run_id(), locked.generation(), &metrics, thresholds);
    let mut recalled = None;
    for entry in &plan.entries {
        go_on()?;
        recalled = Some(rewrite(workload, &recomputer, &mut logs, &mut locked, *entry, recalled)?);
        if logs.unsynced() >= thresholds.gathered {
            sync(store, &mut logs)?;
        }
        step();
    }
    sync(store, &mut logs)?;

    let needs = Needs::new(workload);
    let has = |finished: &FinishedBlocks, extent: &Extent| needs.has(finished, extent);
    let complete = locked.finished().len() == workload.blocks() as usize;
    let opened = locked.begin(&has)?;
    let extents = opened.recovered.iter().flat_map(|record| &record.extents);
    let live: BTreeSet<String> = extents.map(|extent| extent.file.name()).collect();
    let mut checkpoint = opened.checkpoint;
    checkpoint.sweep(&|name| live.contains(name) || is_callers(workload, complete, name))?;
    Ok(RepairedRun::Checkpoint(checkpoint))
}

/// Writes the file of a recomputed block: M3.
fn restore(
    store: &dyn Storage,
    locked: &LockedRun,
    file: &PublishedFile,
    block: BlockId,
    output: BlockOutput<'_>,
) -> Result<(), Error> {
    let expected = locked.record(block).map(|record| &record.summary);
    let bytes = output.publication.map(|publication| publication.bytes).unwrap_or_default();
    let got = xxh3_128(&bytes);
    let damage = match (got, bytes.len() as u64) == (file.hash, file.length) {
        true if expected == Some(&output.summary) => return checkpoint::write_atomically(store, &file.name, &bytes),
        true => "computed again, the block has other counts than its record".into(),
        false => Damage::hash("hash of the block computed again", file.hash, got),
    };
    Err(Error::corrupt(store.path(&file.name), None, damage))
}

/// Writes the entries of a source again, for one target if they are dedicated, and names them in
/// the locked run: M4. Takes and returns the stream that was recalled last, with its block.
fn rewrite(
    workload: &dyn Workload,
    recomputer: &Recomputer<'_>,
    logs: &mut LogWriter<'_>,
    locked: &mut LockedRun,
    (source, target): (BlockId, Option<BlockId>),
    recalled: Option<(BlockId, PooledBitmap)>,
) -> Result<(BlockId, PooledBitmap), Error> {
    let stream = match recalled {
        Some((block, stream)) if block == source => stream,
        other => recomputer.recall(source, other.map(|(_, memory)| memory))?,
    };
    let made = append(workload, recomputer, logs, (source, stream.words()), target)?;
    let is_replaced = |extent: &Extent| target_of(extent) == target;
    assert!(made.iter().all(is_replaced), "repair, invariant 3: entries of {source} for another target");
    let mut extents: Vec<Extent> = locked.record(source).map(|record| record.extents.clone()).unwrap_or_default();
    extents.retain(|extent| !is_replaced(extent));
    extents.extend(made);
    locked.set_extents(source, extents);
    Ok((source, stream))
}

/// Makes appended bytes durable and closes most of their files.
fn sync(storage: &dyn Storage, logs: &mut LogWriter<'_>) -> Result<(), Error> {
    let files: Vec<_> = logs.take_dirty()?.into_values().collect();
    if !files.is_empty() {
        checkpoint::sync_all(&files, storage.sync_parallelism())?;
        storage.sync_dir(LOGS)?;
    }
    drop(files);
    logs.close_surplus();
    Ok(())
}

/// Appends the entries of one source with this stream, for one target if they are dedicated.
fn append(
    workload: &dyn Workload,
    recomputer: &Recomputer<'_>,
    logs: &mut LogWriter<'_>,
    (source, stream): (BlockId, &[u64]),
    target: Option<BlockId>,
) -> Result<Vec<Extent>, Error> {
    let edges = edges_of(workload, source, target);
    let mut scratch = Scratch::new();
    let mut encode = |stream: &[u64]| -> Vec<Frame> {
        let mut bytes = Vec::new();
        let frame_words = frame_words(stream.len() as u64);
        stream.chunks(frame_words).map(|words| Frame::encode(&Zstd1, words, &mut scratch, &mut bytes)).collect()
    };
    let Some(target) = target else {
        let header = EntryHeader::new(workload, source, Placement::Shared, edges.iter().map(Route::from).collect());
        return Ok(vec![logs.append(source, &header, &encode(stream))?]);
    };
    let mut oriented = recomputer.bitmaps().take()?;
    let mut extents = Vec::new();
    for edge in &edges {
        workload.orient(edge.orientation, edge.restriction, stream, oriented.words_mut());
        let header = EntryHeader::new(workload, source, Placement::Dedicated, vec![Route::from(edge)]);
        extents.push(logs.append(target, &header, &encode(oriented.words()))?);
    }
    assert!(extents.len() == edges.len(), "repair, invariant 3: {source} has other edges for {target}");
    Ok(extents)
}
