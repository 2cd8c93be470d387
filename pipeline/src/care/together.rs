//! Computes blocks together, with a bitmap in memory for each: a source is read and decoded once
//! for all of them, and turned once for all edges that need it in one orientation.
//!
//! ```text
//! each source outside:  published file  -->  stream  -->  turned  -->  applied to all targets
//! then, level by level: the streams of finished members applied, finish, summarise, publish
//! ```
//!
//! # Cost
//! Memory: a bitmap for each block, two for each thread, and the published files that are being
//! read. Where a source is in memory, it is not read at all.

use super::recompute::{Buffers, Recomputed, Recomputer, first};
use crate::audit::{Auditor, SourceStream};
use crate::bitmap::Bitmap;
use crate::error::Error;
use crate::ids::BlockId;
use crate::parallel;
use crate::workload::Edge;
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::ops::Range;

/// A block that is computed with others.
struct Member<'a> {
    block: BlockId,
    bitmap: RwLock<Bitmap>,
    auditor: Option<Mutex<Box<dyn Auditor + 'a>>>,
    /// Its edges from other members, with their places among the members.
    inner: Vec<(usize, Edge)>,
}

/// An edge, and the place of its target among the members.
type Route = (usize, Edge);

/// The members, and the edges from each source outside.
type Gathered<'a> = (Vec<Member<'a>>, Vec<(BlockId, Vec<Route>)>);

/// Called with each block once it is computed, before those that need it are finished.
type Done<'d, E> = &'d (dyn Fn(BlockId, Recomputed<'_>) -> Result<(), E> + Sync);

impl<'a> Recomputer<'a> {
    /// Computes blocks together and hands each to `done`. Sources must be published and intact, or
    /// among the blocks. Bitmaps for the blocks are taken from `spare` first, and left there.
    ///
    /// # Errors
    /// Those of [`Recomputer::block`], and of `done`.
    pub fn together<E: From<Error> + Send>(
        &mut self,
        blocks: &[BlockId],
        spare: &mut Vec<Bitmap>,
        done: Done<'_, E>,
    ) -> Result<(), E> {
        let (members, outside) = self.members(blocks, spare)?;
        let pool = Mutex::new(std::mem::take(&mut self.buffers));
        let fresh = || Buffers::new(self.workload.stream_words());
        let spread = |buffers: &mut Buffers, index: usize| {
            let (source, routes) = &outside[index];
            self.spread(buffers, *source, routes, &members)
        };
        let spread = parallel::for_each_with(&pool, self.threads, outside.len(), fresh, spread);
        let ended = spread.map_err(|errors| E::from(first(errors))).and_then(|()| {
            levels(&members).into_iter().try_for_each(|level| {
                let threads = self.threads.min(level.len());
                let finish = |buffers: &mut Buffers, index: usize| {
                    self.finish_member(buffers, level[index], &members, self.threads / threads, done)
                };
                let fresh = || fresh().map_err(E::from);
                let finished = parallel::for_each_with(&pool, threads, level.len(), fresh, finish);
                finished.map_err(|mut errors: Vec<E>| errors.swap_remove(0))
            })
        });
        spare.extend(members.into_iter().map(|member| member.bitmap.into_inner()));
        self.buffers = pool.into_inner();
        ended
    }

    /// Returns the members, and the edges from each source outside.
    fn members(&self, blocks: &[BlockId], spare: &mut Vec<Bitmap>) -> Result<Gathered<'a>, Error> {
        let workload = self.workload;
        let places: BTreeMap<BlockId, usize> = blocks.iter().copied().zip(0..).collect();
        let mut outside: BTreeMap<BlockId, Vec<Route>> = BTreeMap::new();
        let mut members = Vec::new();
        for (place, block) in blocks.iter().enumerate() {
            let mut bitmap = match spare.pop() {
                Some(bitmap) => bitmap,
                None => Bitmap::zeroed(workload.stream_words())?,
            };
            // Also what is zero: updates read a word first, and the system would map it twice.
            bitmap.words_mut().fill(0);
            workload.begin(*block, bitmap.words_mut());
            let mut inner = Vec::new();
            for edge in workload.edges_into(*block) {
                match places.get(&edge.source) {
                    Some(source) => inner.push((*source, edge)),
                    None => outside.entry(edge.source).or_default().push((place, edge)),
                }
            }
            let auditor = if self.audits { workload.audit(*block) } else { None };
            let (bitmap, auditor) = (RwLock::new(bitmap), auditor.map(Mutex::new));
            members.push(Member { block: *block, bitmap, auditor, inner });
        }
        // What is turned once stands together.
        outside.values_mut().for_each(|routes| routes.sort_by_key(|(_, edge)| edge.orientation));
        Ok((members, outside.into_iter().collect()))
    }

    /// Applies the edges from one source to the bitmaps of all its targets.
    fn spread(
        &self,
        buffers: &mut Buffers,
        source: BlockId,
        routes: &[Route],
        members: &[Member<'_>],
    ) -> Result<(), Error> {
        let Buffers { stream, oriented, .. } = buffers;
        let held = self.sources.held(source);
        let (words, skipped) = match &held {
            Some(held) => (held.words(), Vec::new()),
            None => {
                let unneeded: Vec<u64> = routes.iter().map(|(_, edge)| self.workload.unneeded(edge)).collect();
                let skipped = self.recall_needed(source, &unneeded, stream)?;
                (stream.words(), skipped)
            }
        };
        let mut targets: Vec<usize> = routes.iter().map(|(place, _)| *place).collect();
        targets.sort_unstable();
        targets.dedup();
        targets.iter().for_each(|target| members[*target].see(source, words, &skipped));
        for routes in routes.chunk_by(|(_, one), (_, next)| one.orientation == next.orientation) {
            let words = self.turned_for(&routes[0].1, routes.len() > 1, words, oriented)?;
            for (place, edge) in routes {
                self.workload.apply(edge, words, members[*place].bitmap.write().words_mut());
            }
        }
        Ok(())
    }

    /// Applies what finished members send to one of them, finishes it and hands it on.
    fn finish_member<E: From<Error>>(
        &self,
        buffers: &mut Buffers,
        place: usize,
        members: &[Member<'_>],
        threads: usize,
        done: Done<'_, E>,
    ) -> Result<(), E> {
        let member = &members[place];
        let mut bitmap = member.bitmap.write();
        for edges in member.inner.chunk_by(|(one, _), (next, _)| one == next) {
            let source = &members[edges[0].0];
            let stream = source.bitmap.read();
            member.see(source.block, stream.words(), &[]);
            for (_, edge) in edges {
                let words = self.turned_for(edge, false, stream.words(), &mut buffers.oriented)?;
                self.workload.apply(edge, words, bitmap.words_mut());
            }
        }
        self.workload.finish(member.block, bitmap.words_mut());
        if let Some(auditor) = &member.auditor {
            let judged = auditor.lock().judge(bitmap.words());
            judged.map_err(|what| Error::Audit { block: member.block, what })?;
        }
        done(member.block, self.result(member.block, bitmap.words(), threads)?)
    }
}

impl Member<'_> {
    /// Shows the auditor a stream that is about to update the block.
    fn see(&self, source: BlockId, words: &[u64], skipped: &[Range<usize>]) {
        if let Some(auditor) = &self.auditor {
            auditor.lock().see(&SourceStream { source, orientation: None, words, skipped });
        }
    }
}

/// Divides members into levels: those of one do not need each other.
fn levels(members: &[Member<'_>]) -> Vec<Vec<usize>> {
    let mut level_of: Vec<usize> = Vec::new();
    let mut levels: Vec<Vec<usize>> = Vec::new();
    for (place, member) in members.iter().enumerate() {
        let level = member.inner.iter().map(|(source, _)| level_of[*source] + 1).max().unwrap_or(0);
        level_of.push(level);
        levels.resize(levels.len().max(level + 1), Vec::new());
        levels[level].push(place);
    }
    levels
}
