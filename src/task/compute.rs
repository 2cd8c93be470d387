//! A task: computes blocks from the files of their sources and commits a file for each.
//!
//! # Path of a block
//! ```text
//! its file is there, with the right header  ->  skipped
//! sources read, each hash compared; a missing one is waited for
//! computed as in a run (pipeline::maintenance::recompute), with others of the task if there is room
//! summaries/<block> created, then db/<block file>: now the block is committed
//! ```
//! A store that keeps counts creates the two in the opposite order, because there the summary stays
//! and commits the block.
//!
//! # Every stop
//! | Stop | In the store | The same task again |
//! |---|---|---|
//! | before the first file | perhaps a temporary file | computes the block |
//! | between the two | the first file, which decides nothing | computes the block, and finds equal bytes |
//! | after both | the block | skips |
//!
//! # Cost
//! Memory, in this order:
//! 1. Each thread has three bitmaps, one of them for a block, and an eighth of two bitmaps for each
//!    file at hand. Each audited block has one more; if only a share is audited, blocks that are
//!    computed together have at most one such block a thread.
//! 2. The rest has bitmaps for more blocks of the task, so that a source is read and decoded once
//!    for all of them. At ten layers 64 blocks have some 1,000 sources outside.
//! 3. The rest of that keeps streams, computed or decoded, for later tasks of the process
//!    ([`StreamCache`]). At eight layers decoding is a third of a task's processor time, and a
//!    stream has six targets. Concurrent tasks share these streams: one decodes, the others wait.
//!
//! The order of later tasks is not known. If each task is one block, the driver takes the blocks in
//! their order as far as it can, so no use is expected before the task that began last.

use super::definition::damage;
use super::plan::{ALONE, places};
use super::store::{Store, commit};
use super::summary::StoredSummary;
use super::{Error, block_folders, block_name, deciding_name, require, summary_folders, summary_name, sync};
use parking_lot::{Condvar, Mutex};
use pipeline::codec::FRAME_WORDS;
use pipeline::maintenance::recompute::{BITMAPS_A_THREAD, BlockOutput, Decode, Recomputer, Sources};
use pipeline::{Auditors, Bitmaps, BlockId, Error as RunError, PooledBitmap, Stopwatch, StreamCache, Workload};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use trinim::database::block::{BlockIndex, HEADER_BYTES, INDEX_ROW_BYTES, block_bytes_at_most};
use trinim::database::{BlockForm, SolveSpec};
use trinim::solve::RemovalGame;
use trinim_kernel::Kernel;

/// How a task runs; no option changes a byte.
pub struct TaskOptions<'a> {
    /// The kernel.
    pub kernel: Kernel,
    /// The most threads of a task.
    pub threads: usize,
    /// Memory budget of all tasks, in bytes.
    pub memory_bytes: u64,
    /// The most tasks at the same time, at least 1.
    pub at_once: usize,
    /// Whether streams stay in memory for later tasks of the same [`Tasks`], as long as there is
    /// room.
    pub keeps_streams: bool,
    /// Called when the file of a source is missing, with the time since the first look. Returns
    /// whether to look again; the call can pause first.
    pub wait: &'a (dyn Fn(Duration) -> bool + Sync),
}

/// The work of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskWork {
    /// Blocks that were computed and committed, ascending.
    pub computed: Vec<BlockId>,
    /// Blocks that were committed already, ascending.
    pub skipped: Vec<BlockId>,
    /// Bytes read of the files of sources. If other tasks were computed at the same time, counts
    /// since the last of them was done.
    pub read_bytes: u64,
    /// Bytes written into files of blocks and summaries.
    pub written_bytes: u64,
}

/// Computes tasks in a store, one after the other or at the same time. It cannot be used after an
/// error.
pub struct Tasks<'a> {
    store: &'a dyn Store,
    spec: SolveSpec<'a>,
    form: BlockForm,
    workload: RemovalGame<'a>,
    wait: &'a (dyn Fn(Duration) -> bool + Sync),
    /// Threads of a task.
    threads: usize,
    at_once: usize,
    /// The most bitmaps of a task in addition to those of its threads.
    share: usize,
    bitmaps: Bitmaps,
    streams: Mutex<Streams>,
    /// Notified when an awaited stream has arrived or will not arrive.
    arrived: Condvar,
    /// By block: its place in the order of the blocks, which tasks of one block each follow. Empty
    /// if no streams stay, or if there are too many blocks for such tasks.
    places: Vec<u32>,
    read_bytes: AtomicU64,
}

/// The streams that tasks share.
struct Streams {
    cache: StreamCache,
    /// Streams that a thread is decoding to hold them; the room of each is reserved.
    awaited: BTreeSet<BlockId>,
}

/// Room for the bitmaps of more blocks than the threads of a task have.
struct Room<'t> {
    streams: &'t Mutex<Streams>,
    bitmaps: usize,
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.streams.lock().cache.give_back(self.bitmaps);
    }
}

/// Holds an awaited stream with its targets, if it arrives, and ends the wait for it.
struct Awaited<'t> {
    tasks: &'t Tasks<'t>,
    block: BlockId,
    stream: Option<(Arc<PooledBitmap>, Vec<u32>)>,
}

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        let mut streams = self.tasks.streams.lock();
        streams.awaited.remove(&self.block);
        streams.cache.give_back(1);
        if let Some((stream, targets)) = self.stream.take() {
            streams.cache.hold(self.block, stream, targets);
        }
        drop(streams);
        self.tasks.arrived.notify_all();
    }
}

impl Sources for Tasks<'_> {
    fn is_held(&self, block: BlockId) -> bool {
        self.streams.lock().cache.has(block)
    }

    fn held(&self, block: BlockId, decode: Decode<'_>) -> Result<Option<Arc<PooledBitmap>>, RunError> {
        let mut streams = self.streams.lock();
        while streams.awaited.contains(&block) {
            self.arrived.wait(&mut streams);
        }
        if let Some(stream) = streams.cache.get(block) {
            return Ok(Some(stream));
        }
        let has_room = |targets: &Vec<u32>| streams.cache.make_room(targets);
        let Some(targets) = self.targets(block).filter(has_room) else { return Ok(None) };
        let reserved = streams.cache.reserve(1);
        assert!(reserved == 1, "tasks: the stream of {block} has no room");
        streams.awaited.insert(block);
        drop(streams);
        let mut awaited = Awaited { tasks: self, block, stream: None };
        let stream = Arc::new(decode()?);
        awaited.stream = Some((Arc::clone(&stream), targets));
        Ok(Some(stream))
    }

    fn read(&self, block: BlockId) -> Result<Vec<u8>, RunError> {
        let name = block_name(self.spec, block);
        let watch = Stopwatch::start();
        loop {
            if let Some(bytes) = self.store.read(&name, block_bytes_at_most(self.form.stream_words))? {
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

/// Computes blocks and commits them, unless they are committed already. Sources must be committed,
/// or among the blocks.
///
/// # Errors
/// Those of [`Tasks::new`] and [`Tasks::compute`].
pub fn compute(
    store: &dyn Store,
    spec: SolveSpec<'_>,
    blocks: &[BlockId],
    options: &TaskOptions<'_>,
) -> Result<TaskWork, Error> {
    Tasks::new(store, spec, options)?.compute(blocks)
}

impl<'a> Tasks<'a> {
    /// Prepares tasks in a store; nothing is allocated yet. If the memory is too small for all
    /// threads, uses fewer of them, and fewer tasks at the same time.
    ///
    /// # Errors
    /// [`RunError::Memory`] for a budget that is too small for one thread.
    pub fn new(store: &'a dyn Store, spec: SolveSpec<'a>, options: &TaskOptions<'a>) -> Result<Tasks<'a>, Error> {
        let form = BlockForm::new(spec);
        let workload = RemovalGame::new(spec, options.kernel).published();
        let (bitmap, Auditors { bytes: auditor, are_everywhere }) = (8 * form.stream_words as u64, workload.auditors());
        let (files, budget) = (bitmap / 4, options.memory_bytes);
        let each = BITMAPS_A_THREAD * bitmap + auditor + files;
        if budget < each {
            return Err(RunError::Memory { needed_bytes: each, budget_bytes: budget }.into());
        }
        let wanted = options.threads.saturating_mul(options.at_once);
        let all = wanted.clamp(1, (budget / each) as usize);
        // A block that stays in memory can have an auditor, too.
        let held = bitmap + if are_everywhere { auditor } else { 0 };
        let room = ((budget - all as u64 * each) / held) as usize;
        let bitmaps = all * BITMAPS_A_THREAD as usize + room;
        let at_once = options.at_once.clamp(1, all);
        let keeps = options.keeps_streams && spec.blocks() <= ALONE;
        Ok(Tasks {
            store,
            spec,
            workload,
            wait: options.wait,
            threads: all / at_once,
            at_once,
            share: room / at_once,
            bitmaps: Bitmaps::new(form.stream_words, bitmaps),
            streams: Mutex::new(Streams { cache: StreamCache::new(room), awaited: BTreeSet::new() }),
            arrived: Condvar::new(),
            places: if keeps { places(spec) } else { Vec::new() },
            read_bytes: AtomicU64::new(0),
            form,
        })
    }

    /// Returns how many tasks can be computed at the same time.
    pub fn at_once(&self) -> usize {
        self.at_once
    }

    /// Computes the blocks of a task and commits them, unless they are committed already. Sources
    /// must be committed, or among the blocks. At most [`Tasks::at_once`] threads can call this at
    /// the same time, because they share the memory.
    ///
    /// # Errors
    /// [`Error::NoBlock`]; [`RunError::Corrupt`] with a damaged or foreign source, or with an
    /// existing file that has other bytes; [`RunError::Io`], also for a source that is still
    /// missing after the wait; [`RunError::OutOfMemory`], [`RunError::Audit`]. Blocks that were
    /// committed before stay committed.
    pub fn compute(&self, blocks: &[BlockId]) -> Result<TaskWork, Error> {
        require(self.spec, blocks)?;
        let (mut open, mut done) = (Vec::new(), TaskWork::default());
        for block in blocks.iter().copied().collect::<BTreeSet<_>>() {
            if self.is_committed(block)? { done.skipped.push(block) } else { open.push(block) }
        }
        if !done.skipped.is_empty() {
            // The process that committed them may have been killed before the names were safe.
            let skipped = done.skipped.iter().copied();
            let is_database = self.spec.terms.keep.is_database();
            sync(self.store, if is_database { block_folders(self.spec, skipped) } else { summary_folders(skipped) })?;
        }
        let room = self.begin(&open);
        let done = Mutex::new(done);
        self.groups(&open, room.bitmaps).into_iter().try_for_each(|group| self.together(group, &done))?;
        drop(room);
        let mut done = done.into_inner();
        done.computed.sort_unstable();
        done.skipped.sort_unstable();
        done.read_bytes = self.read_bytes.swap(0, Ordering::Relaxed);
        Ok(done)
    }

    /// Begins a task. Takes room for the bitmaps of its blocks, up to a fair share.
    fn begin(&self, open: &[BlockId]) -> Room<'_> {
        let mut streams = self.streams.lock();
        if let Some(front) = open.iter().filter_map(|block| self.places.get(block.index())).max() {
            streams.cache.advance(*front + 1);
        }
        let bitmaps = streams.cache.reserve(self.share.min(open.len().saturating_sub(self.threads)));
        Room { streams: &self.streams, bitmaps }
    }

    /// Divides blocks into groups that are computed together: as many as have bitmaps and auditors.
    fn groups<'b>(&self, mut open: &'b [BlockId], room: usize) -> Vec<&'b [BlockId]> {
        let auditors = if self.workload.auditors().are_everywhere { usize::MAX } else { self.threads };
        let mut groups = Vec::new();
        while !open.is_empty() {
            let mut audited = 0;
            let fits = |block: &&BlockId| {
                audited += usize::from(self.workload.audits(**block));
                audited <= auditors
            };
            let blocks = open.iter().take(self.threads + room).take_while(fits).count();
            let (group, others) = open.split_at(blocks);
            groups.push(group);
            open = others;
        }
        groups
    }

    /// Computes blocks with a bitmap in memory for each.
    fn together(&self, group: &[BlockId], done: &Mutex<TaskWork>) -> Result<(), Error> {
        let recomputer = Recomputer::new(&self.workload, self).on(self.threads, &self.bitmaps).audited();
        let mut left = group.to_vec();
        let streams = loop {
            match recomputer.blocks(&left, &|block, output| self.commit(block, output, done)) {
                Ok(streams) => break streams,
                // Sources are removed once another task has committed their targets.
                Err(error) if matches!(&error, Error::Run(error) if error.is_not_found()) => {
                    let all = left.len();
                    let mut still = Vec::new();
                    for block in left {
                        if !self.is_committed(block)? {
                            still.push(block);
                        } else if !done.lock().computed.contains(&block) {
                            done.lock().skipped.push(block);
                        }
                    }
                    if still.len() == all {
                        return Err(error);
                    }
                    left = still;
                }
                Err(error) => return Err(error),
            }
        };
        let mut shared = self.streams.lock();
        for block in group {
            if let Some(place) = self.places.get(block.index()) {
                let edges = self.spec.game.layout.edges_into(*block);
                shared.cache.release(*place, edges.iter().map(|edge| edge.source));
            }
        }
        for (block, stream) in left.into_iter().zip(streams) {
            if let Some(mut targets) = self.targets(block) {
                targets.retain(|target| !group.iter().any(|block| self.places[block.index()] == *target));
                if shared.cache.make_room(&targets) {
                    shared.cache.hold(block, Arc::new(stream), targets);
                }
            }
        }
        Ok(())
    }

    fn commit(&self, block: BlockId, output: BlockOutput<'_>, done: &Mutex<TaskWork>) -> Result<(), Error> {
        let Some(publication) = output.publication else {
            return Err(RunError::workload(format!("block {block} publishes no file")).into());
        };
        let stored = StoredSummary::new(&publication.bytes, output.summary).to_bytes(&self.form, block);
        let mut files = [(summary_name(block), &stored), (block_name(self.spec, block), &publication.bytes)];
        if !self.spec.terms.keep.is_database() {
            files.reverse();
        }
        let decides = deciding_name(self.spec, block);
        assert!(files[1].0 == decides, "tasks, invariant 3: {} before {decides}", files[1].0);
        for (name, bytes) in &files {
            commit(self.store, name, bytes)?;
        }
        let mut done = done.lock();
        done.computed.push(block);
        done.written_bytes += files.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>();
        Ok(())
    }

    /// Returns the places of a block's targets, ascending; `None` if no streams stay.
    fn targets(&self, block: BlockId) -> Option<Vec<u32>> {
        if self.places.is_empty() {
            return None;
        }
        let edges = self.spec.game.layout.edges_from(block);
        let targets: BTreeSet<u32> = edges.iter().map(|edge| self.places[edge.target.index()]).collect();
        Some(targets.into_iter().collect())
    }

    fn is_committed(&self, block: BlockId) -> Result<bool, Error> {
        is_committed(self.store, self.spec, &self.form, block)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FolderStore;
    use pipeline::RealStorage;
    use trinim::database::Game;
    use trinim::database::{Audit, Terms};
    use trinim_game::Rule;
    use trinim_game::random::Random;

    /// The bitmaps of threads and of shared streams and the files at hand take the whole budget of
    /// all tasks, except for less than a bitmap.
    #[test]
    fn the_budget_is_for_all_that_tasks_hold() {
        let folder = tempfile::tempdir().unwrap();
        let store = FolderStore::new(Arc::new(RealStorage::open(folder.path()).unwrap()), "test");
        let game = Game::triangle(5, Rule::Misere, 9).unwrap();
        let bitmap = 64;
        let mut random = Random::new(3);
        for number in 0..2000 {
            let audit = [Audit::None, "30%".parse().unwrap(), Audit::All][number % 3];
            let spec = Terms { audit, ..Terms::default() }.spec(&game);
            // The positions with a losing child.
            let auditor = if audit == Audit::None { 0 } else { bitmap };
            let least = BITMAPS_A_THREAD * bitmap + bitmap / 4 + auditor;
            let memory_bytes = least - 1 + random.below(20 * least) * random.below(2);
            let (threads, at_once) = (1 + random.index(6), 1 + random.index(6));
            let keeps_streams = random.below(2) == 0;
            let kernel = Kernel::detect();
            let options = TaskOptions { kernel, threads, memory_bytes, at_once, keeps_streams, wait: &|_| false };
            let story = format!("{memory_bytes} bytes, {threads} threads, {at_once} at once");
            let tasks = match Tasks::new(&store, spec, &options) {
                Ok(tasks) => tasks,
                Err(Error::Run(RunError::Memory { needed_bytes, budget_bytes })) => {
                    assert!(memory_bytes < least && (needed_bytes, budget_bytes) == (least, memory_bytes), "{story}");
                    continue;
                }
                Err(error) => panic!("{story}: {error}"),
            };
            assert!(memory_bytes >= least, "{story}");
            let all = ((threads * at_once) as u64).min(memory_bytes / least);
            assert_eq!(tasks.at_once() as u64, all.min(at_once as u64), "{story}");
            assert_eq!(tasks.threads as u64, all / tasks.at_once() as u64, "{story}");
            let shared = tasks.streams.lock().cache.reserve(usize::MAX);
            assert_eq!(tasks.share, shared / tasks.at_once(), "{story}");
            let one = bitmap + if audit == Audit::All { auditor } else { 0 };
            let held = all * least + shared as u64 * one;
            let is_all = (held..held + one).contains(&memory_bytes);
            assert!(is_all, "{story}: {held} bytes are held");
            let open: Vec<BlockId> = game.layout.ordinals().collect();
            let groups = tasks.groups(&open, shared);
            assert_eq!(groups.concat(), open, "{story}");
            for group in groups {
                let audited = group.iter().filter(|block| tasks.workload.audits(**block)).count();
                assert!(group.len() <= tasks.threads + shared && (audit == Audit::All || audited <= tasks.threads));
            }
        }
    }
}
