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
//! # Cost
//! Memory: three bitmaps a thread, an eighth of one for each file at hand, and as many streams of
//! blocks of the batch as the rest of the budget allows.

use super::definition::Definition;
use super::store::{Store, commit};
use super::summary::StoredSummary;
use super::{Error, block_name, summary_name};
use crate::database::block::{BlockIndex, HEADER_BYTES, INDEX_ROW_BYTES, block_bytes_at_most};
use crate::database::{BlockForm, DatabaseError, Game, Terms};
use crate::kernel::Kernel;
use crate::solve::RemovalGame;
use parking_lot::{Mutex, RwLock};
use pipeline::care::recompute::{BITMAPS_A_THREAD, Recomputer, Sources};
use pipeline::{Bitmap, BlockId, Error as RunError, Workload, parallel};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How a task runs; nothing here changes a byte.
pub struct Options<'a> {
    /// The kernel.
    pub kernel: Kernel,
    /// Most threads.
    pub threads: usize,
    /// Memory budget, in bytes.
    pub memory_bytes: u64,
    /// Called when the file of a source is missing. Returns whether to look again, after a while.
    pub wait: &'a (dyn Fn() -> bool + Sync),
}

/// The work of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Computed {
    /// Blocks that were computed and committed, ascending.
    pub computed: Vec<BlockId>,
    /// Blocks that were committed already, ascending.
    pub skipped: Vec<BlockId>,
    /// Bytes read of the files of sources.
    pub read_bytes: u64,
    /// Bytes written into files of blocks and summaries.
    pub written_bytes: u64,
}

/// The files of sources, and streams in memory.
struct Inputs<'a> {
    store: &'a dyn Store,
    wait: &'a (dyn Fn() -> bool + Sync),
    most_bytes: u64,
    held: RwLock<BTreeMap<BlockId, Arc<Bitmap>>>,
    read_bytes: AtomicU64,
}

impl Sources for Inputs<'_> {
    fn held(&self, block: BlockId) -> Option<Arc<Bitmap>> {
        self.held.read().get(&block).cloned()
    }

    fn read(&self, block: BlockId) -> Result<Vec<u8>, RunError> {
        let name = block_name(block);
        loop {
            if let Some(bytes) = self.store.read(&name, self.most_bytes)? {
                self.read_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                return Ok(bytes);
            }
            if !(self.wait)() {
                let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
                return Err(RunError::io("read the source", self.path(block), missing));
            }
        }
    }

    fn path(&self, block: BlockId) -> PathBuf {
        self.store.path(&block_name(block))
    }
}

/// What is the same for all blocks of a batch.
struct Batch<'a> {
    store: &'a dyn Store,
    definition: &'a Definition,
    form: BlockForm,
    workload: RemovalGame<'a>,
    inputs: Inputs<'a>,
    /// By block: how many blocks of the batch that are not done need its stream.
    needs: Mutex<BTreeMap<BlockId, usize>>,
    /// Most streams in memory.
    held_at_most: usize,
    done: Mutex<Computed>,
}

/// Computes blocks and commits them, unless they are committed already. Sources must be committed,
/// or among the blocks.
///
/// # Errors
/// [`Error::NoBlock`]; [`RunError::Corrupt`] with a damaged or foreign source, or with a file that
/// is there with other bytes; [`RunError::Io`], also for a source that is still missing after the
/// wait; [`RunError::Memory`], [`RunError::OutOfMemory`], [`RunError::Audit`]. What was committed
/// before stays so.
pub fn compute(
    store: &dyn Store,
    (definition, game, terms): (&Definition, &Game, Terms),
    blocks: &[BlockId],
    options: &Options<'_>,
) -> Result<Computed, Error> {
    let blocks: BTreeSet<BlockId> = blocks.iter().copied().collect();
    if let Some(BlockId(block)) = blocks.last().copied().filter(|block| block.0 >= definition.blocks()) {
        return Err(Error::NoBlock { block, last: definition.blocks() - 1 });
    }
    let task = terms.task(game);
    let form = BlockForm::of(task);
    let inputs = Inputs {
        store,
        wait: options.wait,
        most_bytes: block_bytes_at_most(form.stream_words),
        held: RwLock::default(),
        read_bytes: AtomicU64::new(0),
    };
    let (threads, held_at_most) = shares(&form, options)?;
    let workload = RemovalGame::new(task, options.kernel).published();
    let mut batch = Batch {
        store,
        definition,
        form,
        workload,
        inputs,
        needs: Mutex::default(),
        held_at_most,
        done: Mutex::default(),
    };
    let mut open = Vec::new();
    for block in blocks {
        if is_committed(store, definition, &form, block)? {
            batch.done.get_mut().skipped.push(block);
        } else {
            open.push(block);
        }
    }
    if !batch.done.get_mut().skipped.is_empty() {
        // Whoever committed them may have been killed before the names were safe.
        store.settle(if definition.keeps_files() { super::DATABASE } else { super::SUMMARIES })?;
    }
    let levels = batch.levels(&open);
    let free = Mutex::new(Vec::new());
    for level in levels {
        let workers = threads.min(level.len());
        let lend = || {
            let recomputer = free.lock().pop();
            let recomputer = match recomputer {
                Some(recomputer) => recomputer,
                None => Recomputer::new(&batch.workload, &batch.inputs)?.audited(),
            };
            Ok(Lent { recomputer: Some(recomputer.threads(threads / workers)), returned: &free })
        };
        let computed = parallel::for_each(workers, level.len(), lend, |lent: &mut Lent<'_, '_>, index| match &mut lent
            .recomputer
        {
            Some(recomputer) => batch.compute(recomputer, level[index]),
            None => Ok(()),
        });
        computed.map_err(|mut errors: Vec<Error>| errors.swap_remove(0))?;
    }
    drop(free);
    let mut done = batch.done.into_inner();
    done.computed.sort_unstable();
    done.skipped.sort_unstable();
    done.read_bytes = batch.inputs.read_bytes.into_inner();
    Ok(done)
}

/// A recomputer of one thread.
struct Lent<'p, 'a> {
    /// Always there, until dropped.
    recomputer: Option<Recomputer<'a>>,
    returned: &'p Mutex<Vec<Recomputer<'a>>>,
}

impl Drop for Lent<'_, '_> {
    fn drop(&mut self) {
        self.returned.lock().extend(self.recomputer.take());
    }
}

/// Returns how many threads, and then how many streams beside them, the memory allows.
fn shares(form: &BlockForm, options: &Options<'_>) -> Result<(usize, usize), Error> {
    let bitmap = 8 * form.stream_words as u64;
    let each = BITMAPS_A_THREAD * bitmap + bitmap / 4;
    if options.memory_bytes < each {
        return Err(RunError::Memory { needed_bytes: each, budget_bytes: options.memory_bytes }.into());
    }
    let threads = options.threads.clamp(1, (options.memory_bytes / each) as usize);
    let held = (options.memory_bytes - threads as u64 * each) / bitmap;
    Ok((threads, held as usize))
}

/// Returns whether a block is committed.
///
/// # Errors
/// [`RunError::Corrupt`] and [`RunError::Version`] if something else has its name.
pub(super) fn is_committed(
    store: &dyn Store,
    definition: &Definition,
    form: &BlockForm,
    block: BlockId,
) -> Result<bool, Error> {
    if !definition.keeps_files() {
        return Ok(StoredSummary::read(store, form, block)?.is_some());
    }
    let name = block_name(block);
    let frames = form.stream_words.div_ceil(form.encoding.frame_words());
    let Some((begin, file_bytes)) = store.begin(&name, HEADER_BYTES + frames * INDEX_ROW_BYTES)? else {
        return Ok(false);
    };
    let path = store.path(&name);
    let Some((header, index)) = begin.split_first_chunk::<HEADER_BYTES>() else {
        return Err(RunError::corrupt(path, None, "the file ends inside its header").into());
    };
    let checked = BlockIndex::length(&path, header, form, block.0)
        .and_then(|_| BlockIndex::parse(&path, header, form, index, file_bytes));
    checked.map(|_| true).map_err(damage)
}

/// Turns an error about the bytes of a block into one of the store.
pub(super) fn damage(error: DatabaseError) -> Error {
    Error::Run(match error {
        DatabaseError::Corrupt { path, offset, damage } => RunError::Corrupt { path, offset, damage },
        DatabaseError::Version { path, found, supported } => {
            RunError::Version { path, found: found as u32, supported: supported as u32 }
        }
        other => RunError::workload(other.to_string()),
    })
}

impl Batch<'_> {
    /// Divides blocks into levels: those of one do not need each other. Counts who needs whom.
    fn levels(&mut self, open: &[BlockId]) -> Vec<Vec<BlockId>> {
        let mut levels: Vec<Vec<BlockId>> = Vec::new();
        let mut level_of: BTreeMap<BlockId, usize> = BTreeMap::new();
        let needs = self.needs.get_mut();
        // A source has a smaller number than its target.
        for block in open {
            let sources: BTreeSet<BlockId> = self.workload.edges_into(*block).iter().map(|edge| edge.source).collect();
            let inner: Vec<BlockId> = sources.into_iter().filter(|source| level_of.contains_key(source)).collect();
            let level = inner.iter().map(|source| level_of[source] + 1).max().unwrap_or(0);
            for source in inner {
                *needs.entry(source).or_default() += 1;
            }
            level_of.insert(*block, level);
            if levels.len() == level {
                levels.push(Vec::new());
            }
            levels[level].push(*block);
        }
        levels
    }

    /// Computes a block and commits it.
    fn compute(&self, recomputer: &mut Recomputer<'_>, block: BlockId) -> Result<(), Error> {
        let computed = match recomputer.block(block) {
            Ok(computed) => computed,
            // Its sources are gone because another task committed the block meanwhile.
            Err(error) if error.is_not_found() && self.is_committed(block)? => {
                self.done.lock().skipped.push(block);
                self.release(block);
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        let Some(publication) = computed.publication else {
            return Err(RunError::workload(format!("block {block} publishes no file")).into());
        };
        let stored = StoredSummary::of(&publication.bytes, computed.summary).to_bytes(&self.form, block);
        let mut files = [(summary_name(block), &stored), (block_name(block), &publication.bytes)];
        if !self.definition.keeps_files() {
            files.reverse();
        }
        for (name, bytes) in &files {
            commit(self.store, name, bytes)?;
        }
        {
            let mut done = self.done.lock();
            done.computed.push(block);
            done.written_bytes += files.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>();
        }
        let is_needed = self.needs.lock().get(&block).is_some_and(|needs| *needs > 0);
        if is_needed && self.inputs.held.read().len() < self.held_at_most {
            let stream = recomputer.take_stream()?;
            self.inputs.held.write().insert(block, Arc::new(stream));
        }
        self.release(block);
        Ok(())
    }

    fn is_committed(&self, block: BlockId) -> Result<bool, Error> {
        is_committed(self.store, self.definition, &self.form, block)
    }

    /// Forgets the streams that no block needs any more once `target` is done.
    fn release(&self, target: BlockId) {
        let sources: BTreeSet<BlockId> = self.workload.edges_into(target).iter().map(|edge| edge.source).collect();
        let mut needs = self.needs.lock();
        for source in sources {
            if let Some(left) = needs.get_mut(&source) {
                *left -= 1;
                if *left == 0 {
                    self.inputs.held.write().remove(&source);
                }
            }
        }
    }
}
