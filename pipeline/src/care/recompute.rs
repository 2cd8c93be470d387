//! Computes single blocks from the published files of their sources, as the workers of a run do.
//!
//! Repair restores damaged files so, and a computation that is spread over machines does nothing
//! else: there, published files are all that blocks exchange.
//!
//! ```text
//! each source:  published file  --recall_needed-->  stream  --turn, apply, for each edge-->  bitmap of the block
//!               (or its stream, if it is in memory; it is decoded whole if it is to stay there)
//! then:         finish  -->  stream of the block  -->  summarise, publish
//! ```
//!
//! # Invariants
//! 1. The result depends on the sources alone. With several threads, each gathers some of the
//!    sources in a bitmap of its own, and the bitmaps are merged: updates only set bits, so it does
//!    not matter which thread applied them.
//! 2. An auditor, if asked for, sees every source, and then the finished block.
//!
//! # Cost
//! Memory: two bitmaps a thread, and a third where an edge turns its stream; the published files
//! that are being read; a bitmap a thread where streams are to stay.

use crate::audit::{Auditor, SourceStream};
use crate::bitmap::Bitmap;
use crate::error::Error;
use crate::ids::BlockId;
use crate::parallel;
use crate::workload::{Edge, Publication, RecallError, Workload};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Most bitmaps that a thread of a [`Recomputer`] holds.
pub const BITMAPS_A_THREAD: u64 = 3;

/// Where the streams of finished blocks come from.
pub trait Sources: Sync {
    /// Returns whether the stream of a block is in memory; by default none is.
    fn is_held(&self, block: BlockId) -> bool {
        let _ = block;
        false
    }

    /// Returns the stream of a block if it is in memory; waits for one that another thread is
    /// bringing there. By default none is.
    fn held(&self, block: BlockId) -> Option<Arc<Bitmap>> {
        let _ = block;
        None
    }

    /// Returns whether the whole stream of a block, which is about to be read, should stay in
    /// memory; then it is handed to [`Sources::hold`] if it can be read, and [`Sources::settled`]
    /// follows in any case. By default none stays.
    fn wants(&self, block: BlockId) -> bool {
        let _ = block;
        false
    }

    /// Takes the stream of a block that was wanted.
    fn hold(&self, block: BlockId, stream: Arc<Bitmap>) {
        let _ = (block, stream);
    }

    /// Ends what began with a stream that was wanted: nothing waits for it any more.
    fn settled(&self, block: BlockId) {
        let _ = block;
    }

    /// Returns a bitmap that is no longer needed, of the size of a stream; by default there is
    /// none. Memory that is touched for the first time costs as much as decoding a stream into it.
    fn spare(&self) -> Option<Bitmap> {
        None
    }

    /// Reads the published file of a block, and checks what the workload does not.
    ///
    /// # Errors
    /// Those of the storage; they end the computation.
    fn read(&self, block: BlockId) -> Result<Vec<u8>, Error>;

    /// Returns the path of a block's published file, for messages.
    fn path(&self, block: BlockId) -> PathBuf;
}

/// 2^32 over the golden ratio: multiples of it, without their carries, lie far apart.
const GOLDEN: u32 = 0x9e37_79b9;

/// Tells on its way out that a stream which was wanted is there, or will not come.
struct Settled<'s> {
    sources: &'s dyn Sources,
    source: BlockId,
}

impl Drop for Settled<'_> {
    fn drop(&mut self) {
        self.sources.settled(self.source);
    }
}

/// Computes blocks from their sources.
pub struct Recomputer<'a> {
    pub(super) workload: &'a dyn Workload,
    pub(super) sources: &'a dyn Sources,
    pub(super) threads: usize,
    pub(super) audits: bool,
    /// Those of the threads; the last has the block that was computed last.
    pub(super) buffers: Vec<Buffers>,
    /// Block whose whole stream is in the last buffers.
    recalled: Option<BlockId>,
}

/// The memory of a thread.
pub(super) struct Buffers {
    /// What the thread gathered of the block.
    bitmap: Bitmap,
    /// The stream of a source.
    pub(super) stream: Bitmap,
    /// Allocated when the first stream must be turned.
    pub(super) oriented: Option<Bitmap>,
    /// Whether the bitmap has updates of the block at hand.
    is_begun: bool,
}

impl Buffers {
    pub(super) fn new(words: usize) -> Result<Buffers, Error> {
        let [bitmap, stream] = [Bitmap::zeroed(words)?, Bitmap::zeroed(words)?];
        Ok(Buffers { bitmap, stream, oriented: None, is_begun: false })
    }

    fn begin(&mut self) {
        self.bitmap.words_mut().fill(0);
        self.is_begun = true;
    }
}

/// A computed block.
pub struct Recomputed<'a> {
    /// The workload's summary.
    pub summary: Vec<u8>,
    /// The file that the block publishes, if any.
    pub publication: Option<Publication>,
    /// The stream of the block.
    pub stream: &'a [u64],
}

impl<'a> Recomputer<'a> {
    /// Allocates two bitmaps, for one thread.
    ///
    /// # Errors
    /// Returns [`Error::OutOfMemory`].
    pub fn new(workload: &'a dyn Workload, sources: &'a dyn Sources) -> Result<Recomputer<'a>, Error> {
        let buffers = vec![Buffers::new(workload.stream_words())?];
        Ok(Recomputer { workload, sources, threads: 1, audits: false, buffers, recalled: None })
    }

    /// Gathers on up to this many threads, and keeps no more memory than they need.
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = threads.max(1);
        self.buffers.truncate(self.threads);
    }

    /// Audits each block that the workload has an auditor for.
    #[must_use]
    pub fn audited(self) -> Recomputer<'a> {
        Recomputer { audits: true, ..self }
    }

    /// Computes a block; its sources must be published and intact.
    ///
    /// # Errors
    /// Returns the errors of reading the sources; [`Error::Corrupt`] with a source that does not
    /// decode; [`Error::OutOfMemory`]; [`Error::Audit`].
    pub fn block(&mut self, block: BlockId) -> Result<Recomputed<'_>, Error> {
        let workload = self.workload;
        self.recalled = None;
        let auditor = if self.audits { workload.audit(block) } else { None };
        let auditor = auditor.map(Mutex::new);
        let mut main = match self.buffers.pop() {
            Some(buffers) => buffers,
            None => Buffers::new(workload.stream_words())?,
        };
        main.begin();
        workload.begin(block, main.bitmap.words_mut());
        self.buffers.push(main);
        let gathered = self.gather(block, auditor.as_ref());
        self.merge();
        gathered?;
        let missing = || Error::workload("a computed block has no bitmap");
        let bitmap = &mut self.buffers.last_mut().ok_or_else(missing)?.bitmap;
        workload.finish(block, bitmap.words_mut());
        if let Some(auditor) = auditor {
            auditor.into_inner().judge(bitmap.words()).map_err(|what| Error::Audit { block, what })?;
        }
        let bitmap = &self.buffers.last().ok_or_else(missing)?.bitmap;
        self.result(block, bitmap.words(), self.threads)
    }

    /// Summarises and publishes a finished block.
    pub(super) fn result<'s>(
        &self,
        block: BlockId,
        stream: &'s [u64],
        threads: usize,
    ) -> Result<Recomputed<'s>, Error> {
        let workload = self.workload;
        let (summary, publication) = (Mutex::new(Vec::new()), Mutex::new(None));
        // In this order, so that one thread does the longer part first.
        let step = |(): &mut (), step| {
            match step {
                0 => *publication.lock() = workload.publish(block, stream),
                _ => *summary.lock() = workload.summarise(block, stream),
            }
            Ok::<(), Error>(())
        };
        parallel::for_each(threads.min(2), 2, || Ok(()), step).map_err(first)?;
        Ok(Recomputed { summary: summary.into_inner(), publication: publication.into_inner(), stream })
    }

    /// Returns the stream of the block that was computed last, in place of which there is other
    /// memory.
    ///
    /// # Errors
    /// Returns [`Error::OutOfMemory`]; nothing has changed then.
    pub fn take_stream(&mut self) -> Result<Bitmap, Error> {
        let other = self.spare()?;
        match self.buffers.last_mut() {
            Some(buffers) => Ok(std::mem::replace(&mut buffers.bitmap, other)),
            None => Ok(other),
        }
    }

    /// Returns a bitmap with any content.
    fn spare(&self) -> Result<Bitmap, Error> {
        self.sources.spare().map_or_else(|| Bitmap::zeroed(self.workload.stream_words()), Ok)
    }

    /// Applies the edges into a block, with the buffers of as many threads as there are.
    fn gather(&mut self, block: BlockId, auditor: Option<&Mutex<Box<dyn Auditor + 'a>>>) -> Result<(), Error> {
        let mut edges: BTreeMap<BlockId, Vec<Edge>> = BTreeMap::new();
        for edge in self.workload.edges_into(block) {
            edges.entry(edge.source).or_default().push(edge);
        }
        // What is in memory first: it may be needed no longer, and other files arrive meanwhile.
        let (held, mut others): (Vec<_>, Vec<_>) =
            edges.into_iter().partition(|(source, _)| self.sources.is_held(*source));
        // Blocks that are computed at the same time need much the same sources. Each begins
        // elsewhere, so that what one of them reads is in memory when another comes to it.
        if !others.is_empty() {
            let begin = (u64::from(block.0.wrapping_mul(GOLDEN)) * others.len() as u64) >> u32::BITS;
            others.rotate_left(begin as usize);
        }
        let edges: Vec<(BlockId, Vec<Edge>)> = held.into_iter().chain(others).collect();
        let pool = Mutex::new(std::mem::take(&mut self.buffers));
        let fresh = || Buffers::new(self.workload.stream_words());
        let task = |buffers: &mut Buffers, index: usize| {
            let (source, edges) = &edges[index];
            if !buffers.is_begun {
                buffers.begin();
            }
            self.update(buffers, *source, edges, auditor)
        };
        let gathered = parallel::for_each_with(&pool, self.threads, edges.len(), fresh, task);
        self.buffers = pool.into_inner();
        gathered.map_err(first)
    }

    /// Merges what the threads gathered into the last buffers.
    fn merge(&mut self) {
        self.buffers.sort_by_key(|buffers| buffers.is_begun);
        let begun = self.buffers.iter().position(|buffers| buffers.is_begun).unwrap_or(self.buffers.len());
        if let Some((last, others)) = self.buffers[begun..].split_last_mut() {
            for other in others.iter_mut() {
                let words = last.bitmap.words_mut().iter_mut().zip(other.bitmap.words());
                words.for_each(|(word, more)| *word |= more);
                other.is_begun = false;
            }
            last.is_begun = false;
        }
    }

    /// Applies the edges from one source.
    fn update(
        &self,
        buffers: &mut Buffers,
        source: BlockId,
        edges: &[Edge],
        auditor: Option<&Mutex<Box<dyn Auditor + 'a>>>,
    ) -> Result<(), Error> {
        let workload = self.workload;
        let Buffers { bitmap, stream, oriented, .. } = buffers;
        let held = match self.sources.held(source) {
            None if self.sources.wants(source) => Some(self.recall_to_hold(source)?),
            held => held,
        };
        let (words, skipped) = match &held {
            Some(held) => (held.words(), Vec::new()),
            None => {
                let unneeded: Vec<u64> = edges.iter().map(|edge| workload.unneeded(edge)).collect();
                let skipped = self.recall_needed(source, &unneeded, stream)?;
                (stream.words(), skipped)
            }
        };
        if let Some(auditor) = auditor {
            auditor.lock().see(&SourceStream { source, orientation: None, words, skipped: &skipped });
        }
        for edge in edges {
            let words = self.turned_for(edge, false, words, oriented)?;
            workload.apply(edge, words, bitmap.words_mut());
        }
        Ok(())
    }

    /// Returns a stream in the orientation of an edge: what this edge needs of it, or the whole for
    /// several edges of this orientation.
    pub(super) fn turned_for<'w>(
        &self,
        edge: &Edge,
        is_for_several: bool,
        words: &'w [u64],
        oriented: &'w mut Option<Bitmap>,
    ) -> Result<&'w [u64], Error> {
        if edge.orientation == 0 {
            return Ok(words);
        }
        let oriented = match oriented {
            Some(oriented) => oriented,
            None => oriented.insert(Bitmap::zeroed(self.workload.stream_words())?),
        };
        match is_for_several {
            false => self.workload.turn(edge, words, oriented.words_mut()),
            true => self.workload.orient(edge.orientation, 0, words, oriented.words_mut()),
        }
        Ok(oriented.words())
    }

    /// Returns the whole stream of a published block, oriented for its targets and without the part
    /// that `restriction` excludes.
    pub(super) fn turned(&mut self, source: BlockId, orientation: u8, restriction: u64) -> Result<&[u64], Error> {
        let words = self.workload.stream_words();
        let mut buffers = match self.buffers.pop() {
            Some(buffers) => buffers,
            None => Buffers::new(words)?,
        };
        let recalled = if self.recalled == Some(source) { Ok(()) } else { self.recall(source, &mut buffers.stream) };
        self.buffers.push(buffers);
        recalled?;
        let Some(Buffers { stream, oriented, .. }) = self.buffers.last_mut() else { return Ok(&[]) };
        if (orientation, restriction) == (0, 0) {
            return Ok(stream.words());
        }
        let oriented = match oriented {
            Some(oriented) => oriented,
            None => oriented.insert(Bitmap::zeroed(words)?),
        };
        self.workload.orient(orientation, restriction, stream.words(), oriented.words_mut());
        Ok(oriented.words())
    }

    fn recall(&mut self, source: BlockId, stream: &mut Bitmap) -> Result<(), Error> {
        self.recalled = None;
        self.recall_whole(source, stream)?;
        self.recalled = Some(source);
        Ok(())
    }

    /// Reads a stream and decodes what edges need that lack these words; returns what was skipped.
    pub(super) fn recall_needed(
        &self,
        source: BlockId,
        unneeded: &[u64],
        stream: &mut Bitmap,
    ) -> Result<Vec<Range<usize>>, Error> {
        let published = self.sources.read(source)?;
        let recalled = self.workload.recall_needed(source, &published, unneeded, stream.words_mut());
        recalled.map_err(|unreadable| self.damage(source, unreadable))
    }

    /// Reads and decodes the whole stream of a block.
    fn recall_whole(&self, source: BlockId, stream: &mut Bitmap) -> Result<(), Error> {
        let published = self.sources.read(source)?;
        let recalled = self.workload.recall(source, &published, stream.words_mut());
        recalled.map_err(|unreadable| self.damage(source, unreadable))
    }

    /// Decodes a stream that stays in memory.
    fn recall_to_hold(&self, source: BlockId) -> Result<Arc<Bitmap>, Error> {
        let _settled = Settled { sources: self.sources, source };
        let mut stream = self.spare()?;
        self.recall_whole(source, &mut stream)?;
        let stream = Arc::new(stream);
        self.sources.hold(source, Arc::clone(&stream));
        Ok(stream)
    }

    fn damage(&self, source: BlockId, unreadable: RecallError) -> Error {
        Error::corrupt(self.sources.path(source), unreadable.offset, unreadable.damage)
    }
}

/// Returns the first of the errors of several threads.
pub(super) fn first(mut errors: Vec<Error>) -> Error {
    errors.swap_remove(0)
}
