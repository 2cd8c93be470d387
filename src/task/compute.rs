//! A task: computes blocks from the files of their sources and commits a file for each.
//!
//! # Path of a block
//! ```text
//! its file is there, with the right header  ->  skipped
//! sources read, each hash compared; a missing one is waited for
//! computed as in a run (pipeline::care::recompute)
//! summaries/<block> created, then db/<block file>: now the block is committed
//! ```
//! A store that keeps counts creates the two in the other order, because there the summary stays
//! and says that the block is committed.
//!
//! # Every stop
//! | Stop | In the store | The same task again |
//! |---|---|---|
//! | before the first file | perhaps a temporary file | computes the block |
//! | between the two | the first file, which decides nothing | computes the block, and finds equal bytes |
//! | after both | the block | skips |
//!
//! # Blocks together
//! A batch whose sources do not all have room in memory has its own bitmaps there in their place,
//! as many as there is room for, and reads each source once for all of these
//! ([`Recomputer::together`]). At ten layers 64 blocks have some 1,000 sources outside.
//!
//! # Cost
//! Memory: three bitmaps a thread, an eighth of one for each file at hand, and as many streams as
//! the rest of the budget allows: those that other blocks of the batch need, computed or decoded,
//! and for a worker that computes task after task those that are used next. At eight layers
//! a third of a task's processor time is decoding, and a stream has six targets. Tasks that a
//! worker computes at the same time share these streams: one decodes, the others wait for it.

use super::definition::damage;
use super::plan::{ALONE, places};
use super::store::{Store, commit};
use super::streams::Streams;
use super::summary::StoredSummary;
use super::{Error, block_folders, block_name, require, settle, summary_folders, summary_name};
use crate::database::block::{BlockIndex, HEADER_BYTES, INDEX_ROW_BYTES, block_bytes_at_most};
use crate::database::{BlockForm, SolveSpec};
use crate::solve::RemovalGame;
use parking_lot::{Condvar, Mutex};
use pipeline::care::recompute::{BITMAPS_A_THREAD, Recomputed, Recomputer, Sources};
use pipeline::codec::FRAME_WORDS;
use pipeline::{Bitmap, BlockId, Error as RunError, Stopwatch, Workload, parallel};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use trinim_kernel::Kernel;

/// How a task runs; nothing here changes a byte.
pub struct Options<'a> {
    /// The kernel.
    pub kernel: Kernel,
    /// Most threads of a task.
    pub threads: usize,
    /// Memory budget, in bytes.
    pub memory_bytes: u64,
    /// Most tasks at the same time, at least 1.
    pub at_once: usize,
    /// Whether streams stay in memory for later tasks of the same [`Worker`], as long as there is
    /// room.
    pub keeps_streams: bool,
    /// Called when the file of a source is missing, with the time since the first look. Returns
    /// whether to look again, after a while.
    pub wait: &'a (dyn Fn(Duration) -> bool + Sync),
}

/// The work of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Computed {
    /// Blocks that were computed and committed, ascending.
    pub computed: Vec<BlockId>,
    /// Blocks that were committed already, ascending.
    pub skipped: Vec<BlockId>,
    /// Bytes read of the files of sources; if other tasks were computed at the same time, since
    /// the last of them was done.
    pub read_bytes: u64,
    /// Bytes written into files of blocks and summaries.
    pub written_bytes: u64,
}

/// The files of sources, and streams in memory.
struct Inputs<'a> {
    store: &'a dyn Store,
    spec: SolveSpec<'a>,
    wait: &'a (dyn Fn(Duration) -> bool + Sync),
    most_bytes: u64,
    /// By block: its place in the order of the blocks, which tasks of a block each follow. Empty
    /// if there are too many blocks for such tasks.
    places: Vec<u32>,
    streams: Mutex<Streams>,
    /// Notified when a stream was settled.
    settled: Condvar,
    read_bytes: AtomicU64,
}

impl Inputs<'_> {
    /// Returns the places of a block's targets, ascending.
    fn targets(&self, block: BlockId) -> Vec<u32> {
        if self.places.is_empty() {
            return Vec::new();
        }
        let edges = self.spec.game.layout.edges_from(block);
        let mut places: Vec<u32> = edges.iter().map(|edge| self.places[edge.target.index()]).collect();
        places.sort_unstable();
        places
    }
}

impl Sources for Inputs<'_> {
    fn is_held(&self, block: BlockId) -> bool {
        self.streams.lock().has(block)
    }

    fn held(&self, block: BlockId) -> Option<Arc<Bitmap>> {
        let mut streams = self.streams.lock();
        while streams.is_awaited(block) {
            self.settled.wait(&mut streams);
        }
        streams.get(block)
    }

    fn wants(&self, block: BlockId) -> bool {
        let targets = self.targets(block);
        self.streams.lock().wants(block, &targets)
    }

    fn hold(&self, block: BlockId, stream: Arc<Bitmap>) {
        let targets = self.targets(block);
        self.streams.lock().hold(block, stream, targets);
    }

    fn settled(&self, block: BlockId) {
        self.streams.lock().settled(block);
        self.settled.notify_all();
    }

    fn spare(&self) -> Option<Bitmap> {
        self.streams.lock().spare()
    }

    fn read(&self, block: BlockId) -> Result<Vec<u8>, RunError> {
        let name = block_name(self.spec, block);
        let watch = Stopwatch::start();
        loop {
            if let Some(bytes) = self.store.read(&name, self.most_bytes)? {
                self.read_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                return Ok(bytes);
            }
            if !(self.wait)(watch.elapsed()) {
                let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
                return Err(RunError::io("read the source", self.path(block), missing));
            }
        }
    }

    fn path(&self, block: BlockId) -> PathBuf {
        self.store.path(&block_name(self.spec, block))
    }
}

/// A store, and what all tasks of a process in it have in common.
pub struct Tasks<'a> {
    store: &'a dyn Store,
    spec: SolveSpec<'a>,
    form: BlockForm,
    workload: RemovalGame<'a>,
    inputs: Inputs<'a>,
    /// Of a task.
    threads: usize,
    at_once: usize,
    /// Most streams in memory.
    held_at_most: usize,
}

/// Computes tasks, one after the other or at the same time; after an error it is of no use.
pub struct Worker<'t> {
    tasks: &'t Tasks<'t>,
    /// Those that no thread uses.
    recomputers: Mutex<Vec<Recomputer<'t>>>,
}

/// A task at work.
struct Batch<'t> {
    tasks: &'t Tasks<'t>,
    done: Mutex<Computed>,
}

/// Computes blocks and commits them, unless they are committed already. Sources must be committed,
/// or among the blocks.
///
/// # Errors
/// Those of [`Tasks::new`] and [`Worker::compute`].
pub fn compute(
    store: &dyn Store,
    spec: SolveSpec<'_>,
    blocks: &[BlockId],
    options: &Options<'_>,
) -> Result<Computed, Error> {
    Tasks::new(store, spec, options)?.worker().compute(blocks)
}

impl<'a> Tasks<'a> {
    /// Prepares tasks in a store. If the memory is too small for all threads, there are fewer of
    /// them, and fewer tasks at the same time.
    ///
    /// # Errors
    /// [`RunError::Memory`] for a budget that is too small for one thread.
    pub fn new(store: &'a dyn Store, spec: SolveSpec<'a>, options: &Options<'a>) -> Result<Tasks<'a>, Error> {
        let form = BlockForm::new(spec);
        let (all, held_at_most) = shares(&form, options)?;
        let at_once = options.at_once.clamp(1, all);
        // A thread decodes beside them what is to stay.
        let held_at_most = held_at_most.saturating_sub(all);
        let inputs = Inputs {
            store,
            spec,
            wait: options.wait,
            most_bytes: block_bytes_at_most(form.stream_words),
            places: if options.keeps_streams && spec.blocks() <= ALONE { places(spec) } else { Vec::new() },
            streams: Mutex::new(Streams::new(held_at_most, options.keeps_streams)),
            settled: Condvar::new(),
            read_bytes: AtomicU64::new(0),
        };
        let workload = RemovalGame::new(spec, options.kernel).published();
        Ok(Tasks { store, spec, form, workload, inputs, threads: all / at_once, at_once, held_at_most })
    }

    /// Returns how many tasks may be computed at the same time.
    pub fn at_once(&self) -> usize {
        self.at_once
    }

    /// Returns a worker, which allocates when it computes.
    pub fn worker(&self) -> Worker<'_> {
        Worker { tasks: self, recomputers: Mutex::default() }
    }
}

impl Worker<'_> {
    /// Computes the blocks of a task and commits them, unless they are committed already. Sources
    /// must be committed, or among the blocks. No more than [`Tasks::at_once`] threads may call
    /// this at the same time: the memory is for all of them.
    ///
    /// # Errors
    /// [`Error::NoBlock`]; [`RunError::Corrupt`] with a damaged or foreign source, or with a file
    /// that is there with other bytes; [`RunError::Io`], also for a source that is still missing
    /// after the wait; [`RunError::OutOfMemory`], [`RunError::Audit`]. What was committed before
    /// stays so.
    pub fn compute(&self, blocks: &[BlockId]) -> Result<Computed, Error> {
        let Tasks { store, spec, form, workload, inputs, threads, .. } = self.tasks;
        require(*spec, blocks)?;
        let blocks: BTreeSet<BlockId> = blocks.iter().copied().collect();
        let mut batch = Batch { tasks: self.tasks, done: Mutex::default() };
        let mut open = Vec::new();
        for block in blocks {
            if is_committed(*store, *spec, form, block)? {
                batch.done.get_mut().skipped.push(block);
            } else {
                open.push(block);
            }
        }
        let skipped = batch.done.get_mut().skipped.iter().copied();
        if skipped.len() > 0 {
            // The process that committed them may have been killed before the names were safe.
            let is_database = spec.terms.keep.is_database();
            settle(*store, if is_database { block_folders(*spec, skipped) } else { summary_folders(skipped) })?;
        }
        let mut room = self.tasks.reserve(&open);
        if room.granted > 1 {
            open.chunks(room.granted).try_for_each(|group| self.together(group, &mut room.spare, &batch))?;
            return Ok(self.end(batch));
        }
        drop(room);
        let (levels, needs) = self.tasks.levels(&open);
        let front = open.iter().filter_map(|block| inputs.places.get(block.index())).max();
        inputs.streams.lock().begin(front.copied().unwrap_or(0), needs);
        for level in levels {
            let workers = (*threads).min(level.len());
            let fresh = || Ok(Recomputer::new(workload, inputs)?.audited());
            let step = |recomputer: &mut Recomputer<'_>, index: usize| {
                recomputer.set_threads(threads / workers);
                batch.compute(recomputer, level[index])
            };
            let computed = parallel::for_each_with(&self.recomputers, workers, level.len(), fresh, step);
            computed.map_err(|mut errors: Vec<Error>| errors.swap_remove(0))?;
        }
        Ok(self.end(batch))
    }

    /// Computes blocks with a bitmap in memory for each.
    fn together(&self, group: &[BlockId], spare: &mut Vec<Bitmap>, batch: &Batch<'_>) -> Result<(), Error> {
        let Tasks { workload, inputs, threads, .. } = self.tasks;
        let kept = self.recomputers.lock().pop();
        let mut recomputer = match kept {
            Some(recomputer) => recomputer,
            None => Recomputer::new(workload, inputs)?.audited(),
        };
        recomputer.set_threads(*threads);
        let mut group = group.to_vec();
        let computed = loop {
            let computed = recomputer.together(&group, spare, &|block, computed| batch.commit(block, computed));
            let gone = matches!(&computed, Err(Error::Run(error)) if error.is_not_found());
            if !gone {
                break computed;
            }
            // Sources are gone if another task committed the blocks that need them meanwhile.
            let (mut left, all) = (Vec::new(), group.len());
            for block in group {
                if self.tasks.is_committed(block)? {
                    batch.skip(block);
                } else {
                    left.push(block);
                }
            }
            if left.len() == all {
                break computed;
            }
            group = left;
        };
        self.recomputers.lock().push(recomputer);
        computed
    }

    /// Returns what was done since the last task.
    fn end(&self, batch: Batch<'_>) -> Computed {
        let mut done = batch.done.into_inner();
        done.computed.sort_unstable();
        done.skipped.sort_unstable();
        done.read_bytes = self.tasks.inputs.read_bytes.swap(0, Ordering::Relaxed);
        done
    }
}

/// Room for the bitmaps of blocks that are computed together.
struct Room<'t> {
    streams: &'t Mutex<Streams>,
    granted: usize,
    /// Memory that was used before, for some of them.
    spare: Vec<Bitmap>,
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.streams.lock().give_back(self.granted, std::mem::take(&mut self.spare));
    }
}

/// Returns how many threads of all tasks, and then how many streams beside them, the memory allows.
fn shares(form: &BlockForm, options: &Options<'_>) -> Result<(usize, usize), Error> {
    let bitmap = 8 * form.stream_words as u64;
    let each = BITMAPS_A_THREAD * bitmap + bitmap / 4;
    if options.memory_bytes < each {
        return Err(RunError::Memory { needed_bytes: each, budget_bytes: options.memory_bytes }.into());
    }
    let wanted = options.threads.saturating_mul(options.at_once);
    let threads = wanted.clamp(1, (options.memory_bytes / each) as usize);
    let held = (options.memory_bytes - threads as u64 * each) / bitmap;
    Ok((threads, held as usize))
}

/// Returns whether a block is committed.
///
/// # Errors
/// [`RunError::Corrupt`] and [`RunError::Version`] if something else has its name.
pub(super) fn is_committed(
    store: &dyn Store,
    spec: SolveSpec<'_>,
    form: &BlockForm,
    block: BlockId,
) -> Result<bool, Error> {
    if !spec.terms.keep.is_database() {
        return Ok(StoredSummary::read(store, form, block)?.is_some());
    }
    let name = block_name(spec, block);
    let frames = form.stream_words.div_ceil(FRAME_WORDS);
    let Some((begin, file_bytes)) = store.begin(&name, HEADER_BYTES + frames * INDEX_ROW_BYTES)? else {
        return Ok(false);
    };
    let path = store.path(&name);
    let Some((header, index)) = begin.split_first_chunk::<HEADER_BYTES>() else {
        return Err(RunError::corrupt(path, None, "the file ends inside its header").into());
    };
    let checked = BlockIndex::length(&path, header, form, block)
        .and_then(|_| BlockIndex::parse(&path, header, form, index, file_bytes));
    checked.map(|_| true).map_err(damage)
}

impl Tasks<'_> {
    /// Divides blocks into levels: those of one do not need each other. Counts who is needed by how
    /// many.
    fn levels(&self, open: &[BlockId]) -> (Vec<Vec<BlockId>>, BTreeMap<BlockId, usize>) {
        let mut levels: Vec<Vec<BlockId>> = Vec::new();
        let mut level_of: BTreeMap<BlockId, usize> = BTreeMap::new();
        let mut needs: BTreeMap<BlockId, usize> = BTreeMap::new();
        // A source has a smaller number than its target.
        for block in open {
            let sources = self.sources(*block);
            let level = sources.iter().filter_map(|source| level_of.get(source)).max().map_or(0, |level| level + 1);
            for source in sources {
                *needs.entry(source).or_default() += 1;
            }
            level_of.insert(*block, level);
            if levels.len() == level {
                levels.push(Vec::new());
            }
            levels[level].push(*block);
        }
        (levels, needs)
    }

    /// Takes room for blocks that are computed together; for none if their sources have room in
    /// memory as well, or if there is room for one block at most.
    fn reserve(&self, open: &[BlockId]) -> Room<'_> {
        let streams = &self.inputs.streams;
        let needed: BTreeSet<BlockId> = open.iter().flat_map(|block| self.sources(*block)).collect();
        let share = self.held_at_most / self.at_once;
        let wanted = if needed.len() <= share { 0 } else { share.min(open.len()) };
        let (granted, spare) = if wanted < 2 { (0, Vec::new()) } else { streams.lock().reserve(wanted) };
        Room { streams, granted, spare }
    }

    /// Returns the blocks that a block needs.
    fn sources(&self, block: BlockId) -> BTreeSet<BlockId> {
        self.workload.edges_into(block).iter().map(|edge| edge.source).collect()
    }

    /// Notes that a block is done: its sources have one target less.
    fn release(&self, block: BlockId) {
        let targets = |source| {
            let edges = self.workload.edges_from(source);
            edges.iter().map(|edge| edge.target).collect::<BTreeSet<_>>().len()
        };
        let sources: Vec<_> = self.sources(block).into_iter().map(|source| (source, targets(source))).collect();
        self.inputs.streams.lock().release(sources);
    }

    fn is_committed(&self, block: BlockId) -> Result<bool, Error> {
        is_committed(self.store, self.spec, &self.form, block)
    }
}

impl Batch<'_> {
    /// Computes a block and commits it.
    fn compute(&self, recomputer: &mut Recomputer<'_>, block: BlockId) -> Result<(), Error> {
        let streams = &self.tasks.inputs.streams;
        match recomputer.block(block) {
            Ok(computed) => self.commit(block, computed)?,
            // Its sources are gone because another task committed the block meanwhile.
            Err(error) if error.is_not_found() && self.tasks.is_committed(block)? => {
                self.skip(block);
                self.tasks.release(block);
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
        let targets = self.tasks.inputs.targets(block);
        if streams.lock().wants_own(block, &targets) {
            let stream = Arc::new(recomputer.take_stream()?);
            streams.lock().hold(block, stream, targets);
        }
        self.tasks.release(block);
        Ok(())
    }

    /// Notes that a block was committed by another task.
    fn skip(&self, block: BlockId) {
        self.done.lock().skipped.push(block);
    }

    /// Commits a block.
    fn commit(&self, block: BlockId, computed: Recomputed<'_>) -> Result<(), Error> {
        let Tasks { store, spec, form, .. } = self.tasks;
        let Some(publication) = computed.publication else {
            return Err(RunError::workload(format!("block {block} publishes no file")).into());
        };
        let stored = StoredSummary::of(&publication.bytes, computed.summary).to_bytes(form, block);
        let mut files = [(summary_name(block), &stored), (block_name(*spec, block), &publication.bytes)];
        if !spec.terms.keep.is_database() {
            files.reverse();
        }
        for (name, bytes) in &files {
            commit(*store, name, bytes)?;
        }
        let mut done = self.done.lock();
        done.computed.push(block);
        done.written_bytes += files.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>();
        Ok(())
    }
}
