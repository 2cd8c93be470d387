//! A run: computes all blocks of a workload, moves streams through compressed logs, and survives
//! any interruption.
//!
//! # Path of one block
//! 1. A [`worker`] takes a ready block from the [`schedule`] and requests the block's bucket from
//!    its [`reader`].
//! 2. The reader delivers verified frames. The worker decodes them, orients the stream if it is
//!    shared, and applies the edge's operations ([`gather`]). If the workload publishes its
//!    streams, the reader delivers the published files of sources that have no logs.
//! 3. The worker finishes the block: the bitmap becomes its stream.
//! 4. The worker sends the published file and, once per distinct orientation, the encoded log
//!    entries to the [`writer`] through a bounded channel. A workload that publishes its streams
//!    has no shared logs: they would hold the same as the files.
//! 5. The writer writes gathered entries in sorted runs. Then the block counts as written and its
//!    targets can start.
//! 6. Every few seconds the [`committer`] takes all written blocks. It syncs their files, except
//!    logs that this commit makes superfluous, appends their records to the journal, and deletes
//!    the logs that no block needs any longer.
//!
//! There are `workers` workers with one reader each, one writer and one committer. They share a
//! [`session`].
//!
//! # Invariants
//! 1. The result is a function of the workload alone: blocks are finished from complete updates, in
//!    any order.
//! 2. A block is committed with or after all its sources, never before: it starts only when its
//!    sources are written, and a commit takes all blocks that are written.
//! 3. After an error nothing more is written. Only a full disk lets the blocks that were written
//!    before be committed. The folder then holds the last commit, followed by bytes that no record
//!    names; a resume continues from that commit.
//! 4. Workers, held streams and queue together take no more than the memory budget.
//!
//! The rest of the budget holds finished streams in memory ([`held`]): a target that finds a source
//! there reads no log.
//!
//! # Cost
//! Let `S` be the size of a bitmap. Memory: `workers · 3S`, or `workers · 4S` where targets orient
//! the streams, plus the writer's queue. Log bytes: `ratio · S` per source (shared) or per edge
//! (dedicated), written once and read once per edge; none where published files replace shared
//! logs.
#![expect(clippy::disallowed_methods, reason = "the threads of a run")]

mod budget;
mod commit_queue;
mod committer;
mod gather;
mod held;
pub(crate) mod ledger;
mod reader;
pub(crate) mod schedule;
mod session;
mod start;
mod threads;
mod worker;
mod writer;

use crate::audit::Auditors;
use crate::checkpoint::{BlockRecord, Checkpoint};
use crate::codec::{Codec, Rows};
use crate::error::Error;
use crate::ids::{BlockId, RunId};
use crate::log::frame::frame_words;
use crate::log::place::Placement;
use crate::measure::metrics::Metrics;
use crate::run::reader::READ_AHEAD_FRAMES;
use crate::storage::Storage;
use crate::thresholds::Thresholds;
use crate::workload::Workload;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::available_parallelism;
use std::time::Duration;

/// Options of a run. None of them can change the result.
#[derive(Clone)]
pub struct Options {
    /// Number of worker threads; the run uses fewer if the memory does not suffice for all. By
    /// default one per processor.
    pub threads: usize,
    /// Memory for bitmaps and queues, in bytes. 1 GiB by default.
    pub memory_bytes: u64,
    /// Where log entries go. By default one copy per target.
    pub placement: Placement,
    /// Codec of the log frames. By default `rows-bytes`.
    pub codec: &'static dyn Codec,
    /// Time between commits. Five seconds by default.
    pub commit_interval: Duration,
    /// Thresholds of the writer and the committer. By default (`None`) the largest for which the
    /// limit of open files suffices, see [`Thresholds::for_process`].
    pub thresholds: Option<Thresholds>,
    /// Identity of a fresh run, part of the salt of its logs. Random by default.
    pub run_id: RunId,
    /// Set by the caller to stop the run at the next opportunity.
    pub stop: Arc<AtomicBool>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            threads: available_parallelism().map_or(1, usize::from),
            memory_bytes: 1 << 30,
            placement: Placement::default(),
            codec: &Rows::BYTES,
            commit_interval: Duration::from_secs(5),
            thresholds: None,
            run_id: RunId::random(),
            stop: Arc::default(),
        }
    }
}

/// An event of a run.
#[derive(Clone, Debug)]
pub enum Event {
    /// The folder is open.
    Opened {
        /// Number of blocks that earlier sessions have finished.
        finished_blocks: u32,
        /// Number of all blocks.
        blocks: u32,
        /// Number of workers that will run.
        workers: usize,
    },
    /// Blocks became durable.
    Committed {
        /// Number of blocks finished so far, by all sessions.
        finished_blocks: u32,
    },
}

/// Called with each event, on the engine's threads.
pub(crate) type Observer<'a> = &'a (dyn Fn(&Event) + Sync);

/// A run that has not started: a workload, a storage for its files, and options.
///
/// See the page of the crate for an example.
#[must_use = "a run does nothing before `start`"]
pub struct Run<'w, 'o> {
    workload: &'w dyn Workload,
    storage: Arc<dyn Storage>,
    options: Options,
    metrics: Option<&'o Metrics>,
    observer: Observer<'o>,
}

impl<'w, 'o> Run<'w, 'o> {
    /// Creates a run of `workload` in the folder of `storage`, with the default options.
    pub fn new(workload: &'w dyn Workload, storage: Arc<dyn Storage>) -> Run<'w, 'o> {
        Run { workload, storage, options: Options::default(), metrics: None, observer: &|_| {} }
    }

    /// Replaces all options.
    pub fn options(mut self, options: &Options) -> Run<'w, 'o> {
        self.options = options.clone();
        self
    }

    /// Sets the memory for bitmaps and queues in bytes, see [`Options::memory_bytes`].
    pub fn memory_bytes(mut self, memory_bytes: u64) -> Run<'w, 'o> {
        self.options.memory_bytes = memory_bytes;
        self
    }

    /// Counts in `metrics`, which another thread may read during the run.
    pub fn metrics(self, metrics: &'o Metrics) -> Run<'w, 'o> {
        Run { metrics: Some(metrics), ..self }
    }

    /// Calls `observer` with each event, on the engine's threads.
    pub fn observer(self, observer: &'o (dyn Fn(&Event) + Sync)) -> Run<'w, 'o> {
        Run { observer, ..self }
    }
}

/// A finished run.
pub struct FinishedRun<'a> {
    /// The journal's record of each block.
    pub records: BTreeMap<BlockId, BlockRecord>,
    /// The open folder, still locked.
    pub checkpoint: Checkpoint,
    /// Bytes of the workers' buffers plus the peaks of held streams and queue.
    pub peak_leased_bytes: u64,
    workload: &'a dyn Workload,
}

impl FinishedRun<'_> {
    /// Reads the stream of a block back from the file that it published.
    ///
    /// # Errors
    /// Returns [`Error::Workload`] if the block published nothing or does not exist,
    /// [`Error::Corrupt`] if the file is not the published one or [`Workload::recall`] cannot read
    /// it, or [`Error::Io`].
    pub fn stream(&self, block: BlockId) -> Result<Vec<u64>, Error> {
        let published = self.records.get(&block).and_then(|record| record.published.as_ref());
        let file = published.ok_or_else(|| Error::workload(format!("block {block} has published no file")))?;
        let storage = &**self.checkpoint.storage();
        let bytes = file.read(storage)?;
        let mut stream = vec![0; self.workload.stream_words()];
        self.workload
            .recall(block, &bytes, &mut stream)
            .map_err(|unreadable| Error::corrupt(storage.path(&file.name), unreadable.offset, unreadable.damage))?;
        Ok(stream)
    }
}

/// What a worker has in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Words of a stream.
    pub stream_words: usize,
    /// Placement of the logs.
    pub placement: Placement,
    /// The auditors of its blocks.
    pub auditors: Auditors,
}

impl Footprint {
    /// Returns the footprint of a worker without an auditor.
    pub fn new(stream_words: usize, placement: Placement) -> Footprint {
        Footprint { stream_words, placement, auditors: Auditors::default() }
    }

    /// Returns the memory in bytes that `workers` workers need, with the smallest queue.
    pub fn bytes(&self, workers: usize) -> u64 {
        self.worker_bytes() * workers as u64 + self.queue_bytes_least()
    }

    /// Returns the number of streams that a run with `workers` workers and `memory_bytes` bytes
    /// holds in memory for their targets, beside its buffers and a queue of full size. Dedicated
    /// streams are oriented by their sources, so none is held.
    pub fn held_streams(&self, workers: usize, memory_bytes: u64) -> u64 {
        let queue = self.queue_bytes_least().max(QUEUE_GATHERINGS * Thresholds::LARGEST.gather_bytes);
        let queue = queue + self.borrowed_bytes();
        let left = memory_bytes.saturating_sub(self.worker_bytes() * workers as u64 + queue);
        match self.placement {
            Placement::Shared => left / (self.stream_words as u64 * 8).max(HELD_BYTES_LEAST),
            Placement::Dedicated => 0,
        }
    }

    pub(super) fn worker_bytes(&self) -> u64 {
        // A bitmap, a stream, an encoded stream of the largest size, and for shared streams an
        // oriented copy. Published files that are read take the place of the encoded stream: a
        // worker encodes after it has gathered.
        let buffers = match self.placement {
            Placement::Dedicated => 3,
            Placement::Shared => 4,
        };
        let read_ahead = (READ_AHEAD_FRAMES + 4) * frame_words(self.stream_words as u64).min(self.stream_words) * 8;
        let auditor = if self.auditors.are_everywhere { self.auditors.bytes } else { 0 };
        (self.stream_words * 8 * buffers + read_ahead) as u64 + auditor
    }

    /// Returns what an auditor borrows from the queue.
    fn borrowed_bytes(&self) -> u64 {
        if self.auditors.are_everywhere { 0 } else { self.auditors.bytes }
    }

    fn queue_bytes_least(&self) -> u64 {
        (self.stream_words as u64 * 8).max(1 << 20).max(self.borrowed_bytes())
    }
}

/// Gatherings of the writer that a queue of full size has room for.
const QUEUE_GATHERINGS: u64 = 4;
/// The memory that a held stream counts for, at least: a page.
const HELD_BYTES_LEAST: u64 = 4096;
