//! A run: computes all blocks of a workload, moving streams through compressed logs, and survives any interruption.
//!
//! # Path of one block
//! 1. A [`worker`] takes a ready block from the [`schedule`], zeroes its bitmap and asks its [`reader`] for the block's bucket.
//! 2. The reader delivers verified frames; the worker decodes them, turns the stream if it is shared, and applies the edge's operations.
//! 3. The worker finishes the block: the bitmap is its stream now.
//! 4. The published file and, once per distinct orientation, the encoded log entries go to the [`writer`] through a bounded channel.
//! 5. The writer writes gathered entries in sorted runs; then the block counts as written and its targets may start.
//! 6. The [`committer`] takes all written blocks every few seconds: it syncs their files but for logs that this commit makes
//!    superfluous, appends their records to the journal, and deletes the logs that nobody needs any more.
//!
//! # Shape
//! `workers` workers with one reader each, one writer, one committer; a [`session`] is what they share. A worker owns a bitmap, a stream
//! buffer and, where streams are turned by the target, an oriented buffer, each of the size of a block.
//!
//! # Invariants
//! 1. The result is a function of the workload alone: blocks are finished from complete updates, in whatever order.
//! 2. A block is committed with or after all its sources, never before: it starts only when its sources are written, and a commit takes
//!    all blocks that are written.
//! 3. After an error nothing is written any more; the folder is what the last commit and later, unnamed bytes say. A resume goes on from
//!    there.
//!
//! # Cost
//! With `S` the size of a bitmap: memory `workers · (3S or 4S)` and the writer's queue; log bytes `ratio · S` per source (shared) or per edge
//! (dedicated), written once and read once per edge.

mod budget;
mod committer;
pub(crate) mod ledger;
mod reader;
pub(crate) mod schedule;
mod session;
mod start;
mod unsynced;
mod worker;
mod writer;

use crate::care::check::read_published;
use crate::checkpoint::{BlockRecord, Checkpoint};
use crate::error::Error;
use crate::ids::{BlockId, RunId};
use crate::log::choose::{Candidate, CodecChoice};
use crate::log::codec::FRAME_WORDS;
use crate::log::place::Placement;
use crate::measure::metrics::Metrics;
use crate::run::reader::READ_AHEAD_FRAMES;
use crate::storage::Storage;
use crate::workload::Workload;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::available_parallelism;
use std::time::Duration;

/// How a run is carried out. Nothing here can change the result.
#[derive(Clone)]
pub struct Options {
    /// Worker threads; fewer are used when the memory does not suffice for all. One for each processor by default.
    pub threads: usize,
    /// Memory for bitmaps and queues, in bytes. 1 GiB by default.
    pub memory_bytes: u64,
    /// Where log entries go. One copy per target by default.
    pub placement: Placement,
    /// Codec of the log frames. Chosen by measuring by default.
    pub codec: CodecChoice,
    /// Time between commits. Five seconds by default.
    pub commit_interval: Duration,
    /// Identity of a fresh run; salts every hash in the logs. Random by default.
    pub run_id: RunId,
    /// Set from outside to stop the run at the next opportunity.
    pub stop: Arc<AtomicBool>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            threads: available_parallelism().map_or(1, usize::from),
            memory_bytes: 1 << 30,
            placement: Placement::default(),
            codec: CodecChoice::Auto,
            commit_interval: Duration::from_secs(5),
            run_id: RunId::random(),
            stop: Arc::default(),
        }
    }
}

/// What happens during a run.
#[derive(Clone, Debug)]
pub enum Event {
    /// The folder is open.
    Opened {
        /// Blocks that earlier sessions have finished.
        finished_blocks: u32,
        /// All blocks.
        blocks: u32,
        /// Workers that will run.
        workers: usize,
    },
    /// These blocks are done for good.
    Committed {
        /// Blocks finished so far, all sessions.
        finished_blocks: u32,
    },
}

/// Told what happens, from the engine's threads.
pub(crate) type Observer<'a> = &'a (dyn Fn(&Event) + Sync);

/// A run that is about to start: a workload, a place for its files, and how it is carried out.
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
    /// A run of `workload` in the folder behind `storage`, with the default options.
    pub fn new(workload: &'w dyn Workload, storage: Arc<dyn Storage>) -> Run<'w, 'o> {
        Run { workload, storage, options: Options::default(), metrics: None, observer: &|_| {} }
    }

    /// Replaces all options.
    pub fn options(mut self, options: &Options) -> Run<'w, 'o> {
        self.options = options.clone();
        self
    }

    /// Worker threads, see [`Options::threads`].
    pub fn threads(mut self, threads: usize) -> Run<'w, 'o> {
        self.options.threads = threads;
        self
    }

    /// Memory for bitmaps and queues in bytes, see [`Options::memory_bytes`].
    pub fn memory_bytes(mut self, memory_bytes: u64) -> Run<'w, 'o> {
        self.options.memory_bytes = memory_bytes;
        self
    }

    /// Counts in `metrics`, which may be watched from another thread.
    pub fn metrics(self, metrics: &'o Metrics) -> Run<'w, 'o> {
        Run { metrics: Some(metrics), ..self }
    }

    /// Tells `observer` what happens, from the engine's threads.
    pub fn observer(self, observer: &'o (dyn Fn(&Event) + Sync)) -> Run<'w, 'o> {
        Run { observer, ..self }
    }

    /// Runs the workload to its end, from wherever an earlier run has left it.
    ///
    /// # Errors
    /// [`Error::Interrupted`] after [`Options::stop`] was set (everything finished is committed); [`Error::Memory`] when not even one
    /// worker fits the budget; [`Error::Workload`] when the workload contradicts itself or the folder; what [`Checkpoint::open`]
    /// refuses; any storage error, after which the same call resumes.
    pub fn start(self) -> Result<Finished<'w>, Error> {
        let none = Metrics::default();
        let metrics = self.metrics.unwrap_or(&none);
        start::run(self.workload, self.storage, &self.options, metrics, self.observer)
    }
}

/// A finished run.
pub struct Finished<'a> {
    /// What the journal says of each block.
    pub records: BTreeMap<BlockId, BlockRecord>,
    /// The open folder, still locked.
    pub checkpoint: Checkpoint,
    /// What was measured to choose the log codec, if that was left to the engine.
    pub candidates: Vec<Candidate>,
    /// Workers' buffers and the highest sum of the leases in the queue, in bytes.
    pub peak_leased_bytes: u64,
    workload: &'a dyn Workload,
}

impl Finished<'_> {
    /// What [`Workload::summarise`] said of each block, in ascending order of blocks.
    pub fn summaries(&self) -> impl ExactSizeIterator<Item = (BlockId, &[u8])> {
        self.records.values().map(|record| (record.block, &record.summary[..]))
    }

    /// Reads the stream of a block back, from the file that it published.
    ///
    /// # Errors
    /// [`Error::Workload`] when the block published nothing, or there is no such block; [`Error::Corrupt`] when the file is not the
    /// one that was published, or [`Workload::recall`] cannot read it; [`Error::Io`].
    pub fn stream(&self, block: BlockId) -> Result<Vec<u64>, Error> {
        let published = self.records.get(&block).and_then(|record| record.published.as_ref());
        let file = published.ok_or_else(|| Error::workload(format!("block {block} has published no file")))?;
        let storage = &**self.checkpoint.storage();
        let bytes = read_published(storage, file)?;
        let mut stream = vec![0; self.workload.stream_words()];
        self.workload
            .recall(block, &bytes, &mut stream)
            .map_err(|unreadable| Error::corrupt(storage.path(&file.name), unreadable.offset, unreadable.damage))?;
        Ok(stream)
    }
}

/// Memory that `workers` workers need for bitmaps of `stream_words` words, and the least queue, in bytes.
pub fn footprint_bytes(stream_words: usize, placement: Placement, workers: usize) -> u64 {
    worker_bytes(stream_words, placement) * workers as u64 + queue_bytes_least(stream_words)
}

fn worker_bytes(stream_words: usize, placement: Placement) -> u64 {
    // Bitmap, stream, what an encoded stream may take at worst before it is handed over; and the oriented copy of a shared stream.
    let buffers = match placement {
        Placement::Dedicated => 3,
        Placement::Shared => 4,
    };
    let read_ahead = (READ_AHEAD_FRAMES + 4) * FRAME_WORDS.min(stream_words) * 8;
    (stream_words * 8 * buffers + read_ahead) as u64
}

fn queue_bytes_least(stream_words: usize) -> u64 {
    (stream_words as u64 * 8).max(1 << 20)
}
