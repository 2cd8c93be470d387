//! Computes one or several blocks from the published files of their sources.
//!
//! Repair restores damaged files this way. A computation that is spread over machines works only
//! this way, because its blocks exchange nothing but published files. Each block that is computed
//! together with others has a bitmap in memory. A source is read and decoded once for all of them,
//! and oriented once for all edges in the same orientation.
//!
//! ```text
//! each source outside:  published file  --recall_needed-->  stream  --orient-->  applied to all its targets
//!                       (or its stream, if it is in memory; it is decoded whole if it is to stay there)
//! then, level by level: the streams of finished members applied, finish, summarise, publish
//! ```
//!
//! # Invariants
//! 1. The result depends only on the sources. A thread that finds the bitmap of a block in use can
//!    gather in a part of its own, and parts are merged: updates only set bits, so it does not
//!    matter which thread applied them, or where.
//! 2. An auditor, if there is one, sees every source once, and then the finished block.
//! 3. Among blocks that are computed together, sources come before their targets, and are finished
//!    before their targets read them.
//!
//! # Cost
//! Memory: a bitmap for each block, at least one for each thread; two more for each thread; and the
//! published files that are being read. The owner of [`Sources::held`] counts what it keeps.

use crate::audit::{Auditor, SourceStream};
use crate::bitmaps::{Bitmaps, PooledBitmap};
use crate::error::Error;
use crate::ids::BlockId;
use crate::parallel;
use crate::workload::{Edge, Publication, RecallError, Workload};
use parking_lot::{Mutex, RwLock};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The most bitmaps that a thread of a [`Recomputer`] takes, including the one of a block.
pub const BITMAPS_A_THREAD: u64 = 3;

/// Where the streams of finished blocks come from.
pub trait Sources: Sync {
    /// Returns whether the stream of a block is in memory; by default none is.
    fn is_held(&self, block: BlockId) -> bool {
        let _ = block;
        false
    }

    /// Returns the stream of a block if it is in memory or is to be kept there from now on; in the
    /// second case `decode` must decode all of it. By default no stream is held.
    ///
    /// # Errors
    /// Those of `decode`.
    fn held(&self, block: BlockId, decode: Decode<'_>) -> Result<Option<Arc<PooledBitmap>>, Error> {
        let _ = (block, decode);
        Ok(None)
    }

    /// Reads the published file of a block, and checks what the workload does not.
    ///
    /// # Errors
    /// Those of the storage; they end the computation.
    fn read(&self, block: BlockId) -> Result<Vec<u8>, Error>;

    /// Returns the path of a block's published file, for messages.
    fn path(&self, block: BlockId) -> PathBuf;
}

/// Reads and decodes a stream.
pub type Decode<'d> = &'d mut dyn FnMut() -> Result<PooledBitmap, Error>;

/// Called with each computed block, before the blocks that need it are finished.
pub type Done<'d, E> = &'d (dyn Fn(BlockId, BlockOutput<'_>) -> Result<(), E> + Sync);

/// 2^32 over the golden ratio: its multiples, modulo 2^32, lie far apart.
const GOLDEN: u32 = 0x9e37_79b9;

/// Computes blocks from their sources.
pub struct Recomputer<'a> {
    workload: &'a dyn Workload,
    sources: &'a dyn Sources,
    bitmaps: Bitmaps,
    threads: usize,
    audits: bool,
}

/// A computed block.
pub struct BlockOutput<'a> {
    /// The workload's summary.
    pub summary: Vec<u8>,
    /// The file that the block publishes, if any.
    pub publication: Option<Publication>,
    /// The stream of the block.
    pub stream: &'a [u64],
}

/// The memory of a thread, allocated on demand.
#[derive(Default)]
struct Buffers {
    /// The stream of a source.
    stream: Option<PooledBitmap>,
    /// The same stream in another orientation.
    oriented: Option<PooledBitmap>,
}

/// A block that is computed, with others or by itself.
struct Member<'a> {
    block: BlockId,
    /// The updates gathered so far; in the end, the stream of the block.
    bitmap: RwLock<Option<PooledBitmap>>,
    /// Updates by threads that found the bitmap in use.
    parts: Vec<Mutex<Option<PooledBitmap>>>,
    auditor: Option<Mutex<Watcher<'a>>>,
    /// Its edges from other members, with the indices of these members.
    inner: Vec<(usize, Edge)>,
    is_finished: AtomicBool,
}

/// The blocks that are computed together, and the edges into them from each source outside.
type Members<'a> = (Vec<Member<'a>>, Vec<(BlockId, Vec<Route>)>);

/// An auditor, and the number of sources of its block that it has yet to see.
struct Watcher<'a> {
    auditor: Box<dyn Auditor + 'a>,
    missing: usize,
}

/// An edge, and the index of its target among the members.
type Route = (usize, Edge);

impl<'a> Recomputer<'a> {
    /// Returns a recomputer with one thread and the bitmaps that it needs.
    pub fn new(workload: &'a dyn Workload, sources: &'a dyn Sources) -> Recomputer<'a> {
        let bitmaps = Bitmaps::new(workload.stream_words(), BITMAPS_A_THREAD as usize);
        Recomputer { workload, sources, bitmaps, threads: 1, audits: false }
    }

    /// Computes on up to this many threads with these bitmaps: two for each thread, and one for
    /// each block, at least one for each thread.
    #[must_use]
    pub fn on(self, threads: usize, bitmaps: &Bitmaps) -> Recomputer<'a> {
        Recomputer { threads: threads.max(1), bitmaps: bitmaps.clone(), ..self }
    }

    /// Audits each block that the workload has an auditor for.
    #[must_use]
    pub fn audited(self) -> Recomputer<'a> {
        Recomputer { audits: true, ..self }
    }

    /// Computes blocks together, hands each to `done`, and returns their streams. Sources must be
    /// published and intact, or among the blocks, before their targets.
    ///
    /// # Errors
    /// The errors of reading the sources; [`Error::Corrupt`] with a source that does not decode;
    /// [`Error::OutOfMemory`]; [`Error::Audit`]; those of `done`.
    pub fn blocks<E: From<Error> + Send>(&self, blocks: &[BlockId], done: Done<'_, E>) -> Result<Vec<PooledBitmap>, E> {
        let (members, outside) = self.members(blocks)?;
        let pool = Mutex::default();
        let spread = |buffers: &mut Buffers, index: usize| {
            let (source, routes) = &outside[index];
            self.spread(buffers, *source, routes, &members)
        };
        parallel::for_each_with(&pool, self.threads, outside.len(), || Ok(Buffers::default()), spread)
            .map_err(|errors| E::from(first(errors)))?;
        for level in levels(&members) {
            let threads = self.threads.min(level.len());
            let finish = |buffers: &mut Buffers, index: usize| {
                self.finish(buffers, level[index], &members, self.threads / threads, done)
            };
            parallel::for_each_with(&pool, threads, level.len(), || Ok(Buffers::default()), finish).map_err(first)?;
        }
        Ok(members.into_iter().filter_map(|member| member.bitmap.into_inner()).collect())
    }

    /// Returns the members, and the edges from each source outside.
    ///
    /// # Errors
    /// That of [`Workload::audit`].
    fn members(&self, blocks: &[BlockId]) -> Result<Members<'a>, Error> {
        let places: BTreeMap<BlockId, usize> = blocks.iter().copied().zip(0..).collect();
        let mut outside: BTreeMap<BlockId, Vec<Route>> = BTreeMap::new();
        let mut members = Vec::new();
        for (place, block) in blocks.iter().enumerate() {
            let (mut inner, mut sources) = (Vec::new(), BTreeSet::new());
            for edge in self.workload.edges_into(*block) {
                sources.insert(edge.source);
                match places.get(&edge.source) {
                    Some(source) => inner.push((*source, edge)),
                    None => outside.entry(edge.source).or_default().push((place, edge)),
                }
            }
            let auditor = if self.audits { self.workload.audit(*block)? } else { None };
            let auditor = auditor.map(|auditor| Mutex::new(Watcher { auditor, missing: sources.len() }));
            let parts = (1..self.threads / blocks.len()).map(|_| Mutex::default()).collect();
            let (bitmap, is_finished) = (RwLock::default(), AtomicBool::new(false));
            members.push(Member { block: *block, bitmap, parts, auditor, inner, is_finished });
        }
        // Groups the edges of one orientation.
        outside.values_mut().for_each(|routes| routes.sort_by_key(|(_, edge)| edge.orientation));
        // Sources in memory come first: they may be evicted, and other files arrive meanwhile.
        let (mut outside, mut others): (Vec<_>, Vec<_>) =
            outside.into_iter().partition(|(source, _)| self.sources.is_held(*source));
        // Blocks that are computed at the same time share most sources. Each begins elsewhere, so
        // that one finds in memory what another has read.
        if let (Some(first), false) = (blocks.first(), others.is_empty()) {
            let begin = (u64::from(first.0.wrapping_mul(GOLDEN)) * others.len() as u64) >> u32::BITS;
            others.rotate_left(begin as usize);
        }
        outside.extend(others);
        Ok((members, outside))
    }

    /// Applies the edges from one source to the bitmaps of all its targets.
    fn spread(
        &self,
        buffers: &mut Buffers,
        source: BlockId,
        routes: &[Route],
        members: &[Member<'_>],
    ) -> Result<(), Error> {
        let Buffers { stream, oriented } = buffers;
        let held = self.sources.held(source, &mut || self.recall(source, stream.take()))?;
        let (words, skipped) = match &held {
            Some(held) => (held.words(), Vec::new()),
            None => {
                let unneeded: Vec<u64> = routes.iter().map(|(_, edge)| self.workload.unneeded(edge)).collect();
                let stream = self.bitmaps.take_into(stream)?;
                let published = self.sources.read(source)?;
                let recalled = self.workload.recall_needed(source, &published, &unneeded, stream.words_mut());
                let skipped = recalled.map_err(|unreadable| self.damage(source, unreadable))?;
                (stream.words(), skipped)
            }
        };
        let mut targets: Vec<usize> = routes.iter().map(|(place, _)| *place).collect();
        targets.sort_unstable();
        targets.dedup();
        targets.iter().try_for_each(|target| self.show(source, words, &skipped, oriented, &members[*target]))?;
        for routes in routes.chunk_by(|(_, one), (_, next)| one.orientation == next.orientation) {
            let words = self.oriented(&routes[0].1, routes.len() > 1, words, oriented)?;
            routes.iter().try_for_each(|(place, edge)| self.apply(edge, words, &members[*place]))?;
        }
        Ok(())
    }

    /// Applies an edge to the bitmap of its target, or to a part that no thread uses.
    fn apply(&self, edge: &Edge, words: &[u64], member: &Member<'_>) -> Result<(), Error> {
        if let Some(mut bitmap) = member.bitmap.try_write() {
            return self.apply_to(edge, words, &mut bitmap);
        }
        match member.parts.iter().find_map(Mutex::try_lock) {
            Some(mut part) => self.apply_to(edge, words, &mut part),
            None => self.apply_to(edge, words, &mut member.bitmap.write()),
        }
    }

    fn apply_to(&self, edge: &Edge, words: &[u64], bitmap: &mut Option<PooledBitmap>) -> Result<(), Error> {
        match bitmap {
            Some(bitmap) => self.workload.apply(edge, words, bitmap.words_mut()),
            None => self.workload.apply_first(edge, words, self.bitmaps.take_into(bitmap)?.words_mut()),
        }
        Ok(())
    }

    /// Applies the streams of finished members to another member, finishes it and hands it on.
    fn finish<E: From<Error>>(
        &self,
        buffers: &mut Buffers,
        place: usize,
        members: &[Member<'_>],
        threads: usize,
        done: Done<'_, E>,
    ) -> Result<(), E> {
        let (member, workload) = (&members[place], self.workload);
        for edges in member.inner.chunk_by(|(one, _), (next, _)| one == next) {
            let source = &members[edges[0].0];
            let is_finished = source.is_finished.load(Ordering::Acquire);
            assert!(is_finished, "recomputation, invariant 3: {} needs {}", member.block, source.block);
            let stream = source.bitmap.read();
            let words = stream.as_ref().map_or(&[][..], PooledBitmap::words);
            self.show(source.block, words, &[], &mut buffers.oriented, member)?;
            for (_, edge) in edges {
                self.apply(edge, self.oriented(edge, false, words, &mut buffers.oriented)?, member)?;
            }
        }
        let mut bitmap = member.bitmap.write();
        let bitmap = match &mut *bitmap {
            Some(bitmap) => bitmap,
            // The block has no updates.
            none => {
                let bitmap = self.bitmaps.take_into(none)?;
                bitmap.words_mut().fill(0);
                workload.begin(member.block, bitmap.words_mut());
                bitmap
            }
        };
        for part in member.parts.iter().filter_map(|part| part.lock().take()) {
            bitmap.words_mut().iter_mut().zip(part.words()).for_each(|(word, more)| *word |= more);
        }
        workload.finish(member.block, bitmap.words_mut());
        if let Some(watcher) = &member.auditor {
            let Watcher { auditor, missing } = &mut *watcher.lock();
            assert!(*missing == 0, "recomputation, invariant 2: {missing} sources of {} pass unseen", member.block);
            auditor.judge(bitmap.words()).map_err(|what| Error::Audit { block: member.block, what })?;
        }
        done(member.block, self.output(member.block, bitmap.words(), threads)?)?;
        member.is_finished.store(true, Ordering::Release);
        Ok(())
    }

    /// Summarises and publishes a finished block.
    fn output<'s>(&self, block: BlockId, stream: &'s [u64], threads: usize) -> Result<BlockOutput<'s>, Error> {
        let (summary, publication) = (Mutex::default(), Mutex::default());
        // In this order, so that one thread starts with the longer part.
        let step = |(): &mut (), step| {
            match step {
                0 => *publication.lock() = self.workload.publish(block, stream),
                _ => *summary.lock() = self.workload.summarise(block, stream),
            }
            Ok::<(), Error>(())
        };
        parallel::for_each(threads.min(2), 2, || Ok(()), step).map_err(first)?;
        Ok(BlockOutput { summary: summary.into_inner(), publication: publication.into_inner(), stream })
    }

    /// Returns a stream in the orientation of an edge: only the words that this edge needs, or the
    /// whole stream for several edges of this orientation.
    fn oriented<'w>(
        &self,
        edge: &Edge,
        is_for_several: bool,
        words: &'w [u64],
        oriented: &'w mut Option<PooledBitmap>,
    ) -> Result<&'w [u64], Error> {
        if edge.orientation == 0 {
            return Ok(words);
        }
        let oriented = self.bitmaps.take_into(oriented)?.words_mut();
        match is_for_several {
            false => self.workload.orient_needed(edge, words, oriented),
            true => self.workload.orient(edge.orientation, 0, words, oriented),
        }
        Ok(oriented)
    }

    /// Shows a stream that is about to update a block to its auditor, if it has one.
    fn show(
        &self,
        source: BlockId,
        words: &[u64],
        skipped: &[Range<usize>],
        oriented: &mut Option<PooledBitmap>,
        member: &Member<'_>,
    ) -> Result<(), Error> {
        let Some(watcher) = &member.auditor else { return Ok(()) };
        let spare = self.bitmaps.take_into(oriented)?.words_mut();
        let Watcher { auditor, missing } = &mut *watcher.lock();
        assert!(*missing > 0, "recomputation, invariant 2: {} sees {source} once more", member.block);
        *missing -= 1;
        auditor.see(&SourceStream::new(source, words, skipped), spare);
        Ok(())
    }

    /// Reads and decodes the whole stream of a published block, into `memory` if given.
    pub(super) fn recall(&self, source: BlockId, memory: Option<PooledBitmap>) -> Result<PooledBitmap, Error> {
        let mut stream = memory.map_or_else(|| self.bitmaps.take(), Ok)?;
        let published = self.sources.read(source)?;
        let recalled = self.workload.recall(source, &published, stream.words_mut());
        recalled.map_err(|unreadable| self.damage(source, unreadable))?;
        Ok(stream)
    }

    /// Returns the pool of bitmaps.
    pub(super) fn bitmaps(&self) -> &Bitmaps {
        &self.bitmaps
    }

    fn damage(&self, source: BlockId, unreadable: RecallError) -> Error {
        Error::corrupt(self.sources.path(source), unreadable.offset, unreadable.damage)
    }
}

/// Divides members into levels; members of one level do not need each other.
fn levels(members: &[Member<'_>]) -> Vec<Vec<usize>> {
    let mut level_of: Vec<usize> = Vec::new();
    let mut levels: Vec<Vec<usize>> = Vec::new();
    for (place, member) in members.iter().enumerate() {
        assert!(
            member.inner.iter().all(|(source, _)| *source < place),
            "recomputation, invariant 3: {} comes before one of its sources",
            member.block
        );
        let level = member.inner.iter().map(|(source, _)| level_of[*source] + 1).max().unwrap_or(0);
        level_of.push(level);
        levels.resize(levels.len().max(level + 1), Vec::new());
        levels[level].push(place);
    }
    levels
}

/// Returns the first error of several threads.
fn first<E>(mut errors: Vec<E>) -> E {
    errors.swap_remove(0)
}
