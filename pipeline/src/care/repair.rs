//! Repair: computes exactly what is damaged once more, with the same bytes.
//!
//! # Shape
//! | damaged | made again from |
//! |---|---|
//! | a copy of `FORMAT`, manifest or journal | the other copy; a missing `FORMAT` from the manifest |
//! | the published file of a finished block | the published files of its sources: recalled, turned, applied, settled, published |
//! | log entries that are still needed | the published file of their source: recalled, turned, encoded |
//!
//! A published file comes before everything that is made from it, so any number of them may be damaged.
//!
//! # Path of a repair
//! ```text
//! M1  lock; metadata read ([`Draft`]); the folder checked ([`crate::care::check`])
//! M2  what is to be made again, in the order of the block graph; refused here or not at all ([`Plan`])
//! M3  each block: computed, compared with the hash and the summary of its record, written beside, synced, renamed, folder synced
//! M4  log entries: written to new files that carry the number of the next generation, synced; `logs/` synced
//! M5  the next generation begins with records whose extents name the new entries       <- the switch
//! M6  what nothing names any more is removed
//! ```
//! M4 to M6 are left out when neither logs nor metadata are damaged.
//!
//! # Every stop
//! | Stop at | On disk | Repaired again |
//! |---|---|---|
//! | M3 | some blocks whole, a temporary file | those are sound now; the rest is made again |
//! | M4 | files of a generation that no manifest has | the number is never used again (names are looked at, too); swept at M6 |
//! | M5 | the old generation or the new one, each whole | from the old one: again; from the new one: nothing to do |
//! | M6 | unnamed files | swept |
//!
//! # Invariants
//! 1. Nothing is computed from bytes whose hash was not compared with the record at the moment of their use.
//! 2. A file is replaced only by bytes that have the hash that its record has.
//! 3. All entries of one source for one target (dedicated), or all of one source (shared), are made anew together; entries that are sound
//!    beside them in the same file stay where they are.
//!
//! # Cost
//! Memory: three bitmaps, and the published files of one source and of the block. Time: a block costs what it cost the solve, with its sources
//! read from published files instead of logs; one thread.
//!
//! # Not here
//! Files that the caller keeps beside the published ones; what to do when both copies of the metadata are damaged: nothing then says which
//! bytes are right, and the run is refused.

use crate::bitmap::Bitmap;
use crate::care::check::{Report, read_published};
use crate::checkpoint::{self, BlockRecord, Checkpoint, Draft, Finished, LOGS, PUBLISHED, PublishedFile};
use crate::error::Error;
use crate::finding::{Damage, Finding};
use crate::ids::BlockId;
use crate::log::codec::{self, FRAME_WORDS, Scratch};
use crate::log::entry::{EntryHeader, Route};
use crate::log::frame::Frame;
use crate::log::place::{Extent, Placement};
use crate::log::writer::LogWriter;
use crate::measure::metrics::Metrics;
use crate::run::ledger::Needs;
use crate::storage::{Storage, folder_of};
use crate::workload::{Edge, Publication, Workload};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use xxhash_rust::xxh3::xxh3_128;

/// Codec of log entries that are made again: what is read once more needs no choice.
const CODEC: &str = "zstd1";
/// Log files with unsynced bytes at a time.
const HANDLES: usize = 128;

/// Computes blocks from the published files of their sources.
pub struct Recomputer<'a> {
    workload: &'a dyn Workload,
    /// The published file of a block, its hash compared.
    read: &'a dyn Fn(BlockId) -> Result<Vec<u8>, Error>,
    /// Names the published file of a block, for messages.
    path: &'a dyn Fn(BlockId) -> std::path::PathBuf,
    bitmap: Bitmap,
    stream: Bitmap,
    oriented: Bitmap,
    /// The block whose stream is in `stream`.
    recalled: Option<BlockId>,
}

/// A block that was computed again.
pub struct Recomputed<'a> {
    /// What the workload says of it.
    pub summary: Vec<u8>,
    /// The file it publishes, if it publishes one.
    pub publication: Option<Publication>,
    /// Its stream.
    pub stream: &'a [u64],
}

impl<'a> Recomputer<'a> {
    /// Takes memory for three bitmaps.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn new(
        workload: &'a dyn Workload,
        read: &'a dyn Fn(BlockId) -> Result<Vec<u8>, Error>,
        path: &'a dyn Fn(BlockId) -> std::path::PathBuf,
    ) -> Result<Recomputer<'a>, Error> {
        let words = workload.stream_words();
        let [bitmap, stream, oriented] = [Bitmap::zeroed(words)?, Bitmap::zeroed(words)?, Bitmap::zeroed(words)?];
        Ok(Recomputer { workload, read, path, bitmap, stream, oriented, recalled: None })
    }

    /// Computes a block; its sources have to be published and sound.
    ///
    /// # Errors
    /// Those of reading its sources.
    pub fn block(&mut self, block: BlockId) -> Result<Recomputed<'_>, Error> {
        self.bitmap.words_mut().fill(0);
        self.workload.begin(block, self.bitmap.words_mut());
        let mut edges: BTreeMap<BlockId, Vec<Edge>> = BTreeMap::new();
        for edge in self.workload.edges_into(block) {
            edges.entry(edge.source).or_default().push(edge);
        }
        for (source, edges) in edges {
            self.recall(source)?;
            for edge in edges {
                let (from, to) = (self.stream.words(), self.oriented.words_mut());
                self.workload.orient(edge.orientation, 0, from, to);
                self.workload.apply(&edge, self.oriented.words(), self.bitmap.words_mut());
            }
        }
        self.workload.finish(block, self.bitmap.words_mut());
        let stream = self.bitmap.words();
        let (summary, publication) = (self.workload.summarise(block, stream), self.workload.publish(block, stream));
        Ok(Recomputed { summary, publication, stream })
    }

    /// The stream of a published block turned for its targets: less what `restriction` excludes.
    fn turned(&mut self, source: BlockId, orientation: u8, restriction: u64) -> Result<&[u64], Error> {
        self.recall(source)?;
        if (orientation, restriction) == (0, 0) {
            return Ok(self.stream.words());
        }
        self.workload.orient(orientation, restriction, self.stream.words(), self.oriented.words_mut());
        Ok(self.oriented.words())
    }

    fn recall(&mut self, source: BlockId) -> Result<(), Error> {
        if self.recalled.replace(source) == Some(source) {
            return Ok(());
        }
        let published = (self.read)(source)?;
        self.workload
            .recall(source, &published, self.stream.words_mut())
            .map_err(|unreadable| Error::corrupt((self.path)(source), unreadable.offset, unreadable.damage))
    }
}

/// What is going to be made again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Blocks whose published files are, sources before targets.
    pub blocks: Vec<BlockId>,
    /// Log entries: source, and the target if they are dedicated ones.
    pub entries: BTreeSet<(BlockId, Option<BlockId>)>,
    /// Whether a copy of the metadata is.
    pub metadata: bool,
    /// Published files that are read and recalled for it, each as often as it is needed.
    pub recalls: u64,
    /// Their bytes.
    pub read_bytes: u64,
    /// Published bytes to be written.
    pub write_bytes: u64,
    /// Edges that are applied, or whose streams are turned and encoded.
    pub edges: u64,
}

impl Plan {
    /// What a report asks for.
    ///
    /// # Errors
    /// [`Error::Corrupt`] naming the first thing that nothing is left of to make it from: metadata damaged in both copies, or an entry whose
    /// source publishes nothing.
    pub fn of(workload: &dyn Workload, report: &Report) -> Result<Plan, Error> {
        let Some(inspection) = &report.inspection else {
            let damage = report.findings.iter().min_by_key(|finding| finding.weight).cloned();
            return Err(damage.map_or_else(
                || Error::workload("a folder whose metadata say nothing"),
                |Finding { path, offset, damage, .. }| Error::Corrupt { path, offset, damage },
            ));
        };
        let records: BTreeMap<BlockId, &BlockRecord> =
            inspection.records.iter().map(|record| (record.block, record)).collect();
        let published = |block: BlockId| {
            let record = records.get(&block).and_then(|record| record.published.as_ref());
            record.ok_or_else(|| Error::workload(format!("block {block} has no published file to read it back from")))
        };
        let mut plan = Plan { metadata: report.damaged_metadata, ..Plan::default() };
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

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.entries.is_empty() && !self.metadata
    }

    /// Blocks and entries to be made.
    pub fn steps(&self) -> u64 {
        (self.blocks.len() + self.entries.len()) as u64
    }
}

/// The target of a dedicated entry; a shared one has many.
fn target_of(extent: &Extent) -> Option<BlockId> {
    (extent.file.placement == Placement::Dedicated).then_some(extent.file.bucket)
}

/// The edges that the entries of one source, for one target if they are dedicated, serve.
fn edges_of(workload: &dyn Workload, source: BlockId, target: Option<BlockId>) -> Vec<Edge> {
    let mut edges = workload.edges_from(source);
    edges.retain(|edge| target.is_none_or(|target| edge.target == target));
    edges
}

/// A folder that was repaired; it stays locked as long as this lives.
pub enum Mended {
    /// The generation is the old one.
    Draft(Draft),
    /// A new generation has begun.
    Checkpoint(Checkpoint),
}

/// Carries a plan out: M3 to M6 of the module page. `progress` is told the steps done.
///
/// # Errors
/// [`Error::Interrupted`] after `stop` was set; [`Error::Corrupt`] when a block that was computed is not the one that its record describes,
/// which is then left as it is; [`Error::Io`]. After any of these the same repair can be begun again.
pub fn carry_out(
    plan: &Plan,
    workload: &dyn Workload,
    storage: &Arc<dyn Storage>,
    mut draft: Draft,
    stop: &AtomicBool,
    progress: &dyn Fn(u64),
) -> Result<Mended, Error> {
    let store = &**storage;
    let files: BTreeMap<BlockId, PublishedFile> =
        draft.records().iter().filter_map(|record| Some((record.block, record.published.clone()?))).collect();
    let file_of = |block: BlockId| {
        files.get(&block).ok_or_else(|| Error::workload(format!("block {block} has no published file")))
    };
    let read = |block: BlockId| read_published(store, file_of(block)?);
    let path = |block: BlockId| files.get(&block).map_or_else(|| store.path(PUBLISHED), |file| store.path(&file.name));
    let mut recomputer = Recomputer::new(workload, &read, &path)?;
    let mut done = 0;
    let mut step = || {
        done += 1;
        progress(done);
    };
    let go_on = || if stop.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) };

    if !plan.is_empty() {
        draft.make_folders()?;
    }
    for block in &plan.blocks {
        go_on()?;
        let file = file_of(*block)?;
        let computed = recomputer.block(*block)?;
        let expected = draft.records().iter().find(|record| record.block == *block).map(|record| &record.summary);
        let bytes = computed.publication.map(|publication| publication.bytes).unwrap_or_default();
        let got = xxh3_128(&bytes);
        if (got, bytes.len() as u64) != (file.hash, file.length) || expected != Some(&computed.summary) {
            let damage = Damage::hash("hash of the block computed again", file.hash, got);
            return Err(Error::corrupt(store.path(&file.name), None, damage));
        }
        checkpoint::write_atomically(store, &file.name, &bytes)?;
        step();
    }
    if plan.entries.is_empty() && !plan.metadata {
        return Ok(Mended::Draft(draft));
    }
    let (run_id, generation) = (draft.run_id(), draft.generation());
    let metrics = Metrics::default();
    let mut logs = LogWriter::new(store, run_id, generation, &metrics);
    for (source, target) in &plan.entries {
        go_on()?;
        let made = entries(workload, &mut recomputer, &mut logs, *source, *target)?;
        let old = draft.records().iter().find(|record| record.block == *source);
        let mut extents: Vec<Extent> = old.map(|record| record.extents.clone()).unwrap_or_default();
        extents.retain(|extent| target_of(extent) != *target);
        extents.extend(made);
        draft.set_extents(*source, extents);
        if logs.unsynced() >= HANDLES {
            sync(store, &mut logs)?;
        }
        step();
    }
    sync(store, &mut logs)?;

    let needs = Needs::new(workload);
    let has = |finished: &Finished, extent: &Extent| needs.has(finished, extent);
    let complete = draft.finished().len() == workload.blocks() as usize;
    let opened = draft.begin(&has)?;
    let extents = opened.recovered.iter().flat_map(|record| &record.extents);
    let live: BTreeSet<String> = extents.map(|extent| extent.file.name()).collect();
    let mut checkpoint = opened.checkpoint;
    // As at an opening: beside the files of a complete run may be others of the caller's.
    checkpoint.sweep(&|name| live.contains(name) || complete && folder_of(name) == PUBLISHED)?;
    Ok(Mended::Checkpoint(checkpoint))
}

/// Makes what was appended durable and closes most of its files.
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

/// Makes the entries of one source, for one target if they are dedicated.
fn entries(
    workload: &dyn Workload,
    recomputer: &mut Recomputer<'_>,
    logs: &mut LogWriter<'_>,
    source: BlockId,
    target: Option<BlockId>,
) -> Result<Vec<Extent>, Error> {
    let edges = edges_of(workload, source, target);
    let mut scratch = Scratch::new();
    let mut encode = |stream: &[u64]| -> Vec<Frame> {
        let codec = codec::by_name(CODEC).unwrap_or(&codec::Raw);
        let mut bytes = Vec::new();
        stream.chunks(FRAME_WORDS).map(|words| Frame::encode(codec, words, &mut scratch, &mut bytes)).collect()
    };
    let Some(target) = target else {
        let frames = encode(recomputer.turned(source, 0, 0)?);
        let header = EntryHeader::new(workload, source, Placement::Shared, edges.iter().map(Route::of).collect());
        return Ok(vec![logs.append(source, &header, &frames)?]);
    };
    let mut extents = Vec::new();
    for edge in &edges {
        let frames = encode(recomputer.turned(source, edge.orientation, edge.restriction)?);
        let header = EntryHeader::new(workload, source, Placement::Dedicated, vec![Route::of(edge)]);
        extents.push(logs.append(target, &header, &frames)?);
    }
    Ok(extents)
}
