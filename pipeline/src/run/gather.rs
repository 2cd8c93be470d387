//! Gathering: all updates of one block, from the streams of its sources; step 2 of a block.

use super::reader::{Entry, PublishedBytes, Reader, Stream};
use super::session::{Halt, Session};
use crate::audit::{Auditor, SourceStream};
use crate::bitmaps::{Bitmaps, PooledBitmap};
use crate::codec::{FRAME_WORDS, Scratch};
use crate::error::Error;
use crate::ids::BlockId;
use crate::log::entry::{EntryHeader, Route};
use crate::log::place::Placement;
use crate::measure::stage::Stage;
use crate::workload::Edge;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// The memory of a worker.
pub(super) struct Buffers {
    /// The block that is computed.
    pub(super) bitmap: PooledBitmap,
    /// An incoming stream, or an oriented outgoing one.
    pub(super) stream: PooledBitmap,
    /// Taken when the first shared stream must be oriented or is audited.
    oriented: Option<PooledBitmap>,
    pub(super) scratch: Scratch,
    pub(super) encoded: Vec<u8>,
}

impl Buffers {
    /// Most bitmaps that a worker takes.
    pub(super) const BITMAPS: usize = 3;

    pub(super) fn new(bitmaps: &Bitmaps) -> Result<Buffers, Error> {
        let (bitmap, stream) = (bitmaps.take()?, bitmaps.take()?);
        Ok(Buffers { bitmap, stream, oriented: None, scratch: Scratch::new(), encoded: Vec::new() })
    }
}

/// The gathering of one block.
pub(super) struct Gather<'g, 's> {
    session: &'s Session<'s>,
    /// The edges into the block. Each waits for one log entry, or for the published file of its
    /// source.
    edges: &'g [Edge],
    /// By edge: whether its stream has come.
    taken: Vec<bool>,
    target: Target<'g, 's>,
    stream: &'g mut PooledBitmap,
    scratch: &'g mut Scratch,
}

/// The block that is gathered, and its auditor.
struct Target<'g, 's> {
    session: &'s Session<'s>,
    block: BlockId,
    bitmap: &'g mut PooledBitmap,
    /// Whether the bitmap belongs to the block: it begins with its first update.
    has_begun: bool,
    oriented: &'g mut Option<PooledBitmap>,
    auditor: Option<&'g mut (dyn Auditor + 's)>,
}

/// A stream in the worker's buffer.
struct DecodedStream<'g> {
    source: BlockId,
    /// Whether the words are already oriented. A published file is like a shared log: it is not.
    placement: Placement,
    /// The edges that are still to be applied.
    served: Vec<&'g Edge>,
    /// Words that were left out, because no edge needs them.
    skipped: Vec<Range<usize>>,
    /// Whether the stream is to be held for later targets. Then nothing is left out.
    keeps: bool,
}

impl<'g, 's> Gather<'g, 's> {
    /// Prepares the gathering of `block`; `edges` are all edges into it.
    pub(super) fn new(
        session: &'s Session<'s>,
        block: BlockId,
        edges: &'g [Edge],
        buffers: &'g mut Buffers,
        auditor: Option<&'g mut (dyn Auditor + 's)>,
    ) -> Gather<'g, 's> {
        let Buffers { bitmap, stream, oriented, scratch, .. } = buffers;
        let target = Target { session, block, bitmap, has_begun: false, oriented, auditor };
        Gather { session, edges, taken: vec![false; edges.len()], target, stream, scratch }
    }

    /// Merges and applies the bucket of the block, and shows the auditor what it applies.
    pub(super) fn run(mut self, reader: &Reader<'_>) -> Result<(), Halt> {
        let Session { held, schedule, metrics, ledger, .. } = self.session;
        let block = self.target.block;
        let sources = self.edges.iter().map(|edge| edge.source).collect();
        let streams = held.take(&sources);
        debug_assert!(
            ledger.incoming(block, &sources).iter().map(|one| one.place().0).collect::<BTreeSet<_>>() == sources,
            "held streams, invariant 2: a stream for block {block} is in no log and no published file"
        );
        let others = sources.iter().filter(|source| !streams.contains_key(source)).copied().collect();
        reader.request(ledger.incoming(block, &others))?;
        // Those in memory first, while the reader reads ahead.
        for (source, stream) in streams {
            let served = self.take_all(source);
            self.target.update(Placement::Shared, &SourceStream::new(source, stream.words(), &[]), &served)?;
            metrics.counters.streams_held.add(1);
            self.give_up_on_stop()?;
        }
        while let Some(stream) = reader.next()? {
            let DecodedStream { source, placement, served, skipped, keeps } = match stream {
                Stream::Entry(entry) => self.decode(entry)?,
                Stream::Published(published) => self.recall(&published)?,
            };
            self.target.update(placement, &SourceStream::new(source, self.stream.words(), &skipped), &served)?;
            metrics.counters.streams_read.add(1);
            if keeps {
                assert!(skipped.is_empty(), "held streams, invariant 1: words of block {source} are left out");
                held.keep(schedule, source, Some(block), self.stream);
            }
            self.give_up_on_stop()?;
        }
        held.gathered(schedule, block, &sources);
        if let Some(missing) = self.taken.iter().position(|taken| !taken) {
            let source = self.edges[missing].source;
            return Err(Error::workload(format!("no log entry from block {source} for block {block}")).into());
        }
        self.target.begin();
        Ok(())
    }

    /// Decodes the frames of a log entry. Edges that need no orientation are applied frame by
    /// frame, while the frame is in the cache. If nothing else needs the stream, every frame is
    /// decoded to the same place.
    fn decode(&mut self, mut entry: Entry<'_, '_>) -> Result<DecodedStream<'g>, Halt> {
        let Session { workload, held, schedule, metrics, .. } = self.session;
        let is_whole = entry.header.stream_words == workload.stream_words() as u64;
        let served = self.take(&entry.header).filter(|_| is_whole);
        let served = served.ok_or_else(|| self.damage(&entry, "entry that is not an edge of the block graph"))?;
        let (source, placement) = (entry.header.source, entry.header.placement);
        let keeps = placement == Placement::Shared && held.has_room(schedule, source, self.target.block);
        let as_it_is = |edge: &&Edge| placement == Placement::Dedicated || edge.orientation == 0;
        let (at_once, served): (Vec<&Edge>, Vec<&Edge>) =
            served.into_iter().partition(|edge| workload.applies_frames() && as_it_is(edge));
        let with_masks = |edges: &[&'g Edge]| -> Vec<(&'g Edge, u64)> {
            // Dedicated streams are oriented and restricted: words that are not needed are zero.
            let is_shared = placement == Placement::Shared;
            edges.iter().map(|edge| (*edge, if is_shared { workload.unneeded(edge) } else { 0 })).collect()
        };
        let (at_once, later) = (with_masks(&at_once), with_masks(&served));
        let is_kept = keeps || self.target.auditor.is_some() || !later.is_empty();
        if !at_once.is_empty() {
            self.target.begin();
        }
        let mut skipped = Vec::new();
        let mut next = 0;
        while let Some(frame) = entry.next_frame()? {
            let begin = next;
            next += frame.words();
            // The number of the first word of a frame has the bits that all of its words have.
            let is_needed = |first: usize, mask: u64| first as u64 & mask == 0;
            if !keeps && !at_once.iter().chain(&later).any(|(_, mask)| is_needed(begin, *mask)) {
                skipped.push(begin..next);
                continue;
            }
            let place = if is_kept { begin..next } else { 0..frame.words() };
            {
                let _time = metrics.enter(Stage::Decode);
                let words = &mut self.stream.words_mut()[place.clone()];
                let decoded = frame.decode_into(words, self.scratch);
                decoded.map_err(|what| self.damage(&entry, what.0))?;
                metrics.counters.raw_bytes_decoded.add(place.len() as u64 * 8);
            }
            let _time = metrics.enter(Stage::Apply);
            for (part, words) in (begin / FRAME_WORDS..).zip(self.stream.words()[place].chunks(FRAME_WORDS)) {
                for (edge, _) in at_once.iter().filter(|(_, mask)| is_needed(part * FRAME_WORDS, *mask)) {
                    workload.apply_frame(edge, part, words, self.target.bitmap.words_mut());
                }
            }
        }
        assert_eq!(next, self.stream.words().len(), "log reader, invariant 2: words of an entry that ended");
        metrics.counters.edges_applied.add(at_once.len() as u64);
        Ok(DecodedStream { source, placement, served, skipped, keeps })
    }

    /// Decodes the stream of a source from the file that it published.
    fn recall(&mut self, published: &PublishedBytes<'_>) -> Result<DecodedStream<'g>, Halt> {
        let Session { workload, storage, held, schedule, metrics, .. } = self.session;
        let PublishedBytes { source, file, bytes, .. } = published;
        let keeps = held.has_room(schedule, *source, self.target.block);
        let served = self.take_all(*source);
        let unneeded: Vec<u64> = match keeps {
            true => vec![0],
            false => served.iter().map(|edge| workload.unneeded(edge)).collect(),
        };
        let stream = self.stream.words_mut();
        let _time = metrics.enter(Stage::Decode);
        let skipped = workload
            .recall_needed(*source, bytes, &unneeded, stream)
            .map_err(|unreadable| Error::corrupt(storage.path(&file.name), unreadable.offset, unreadable.damage))?;
        let left_out: usize = skipped.iter().map(ExactSizeIterator::len).sum();
        metrics.counters.raw_bytes_decoded.add((stream.len() - left_out) as u64 * 8);
        Ok(DecodedStream { source: *source, placement: Placement::Shared, served, skipped, keeps })
    }

    /// Takes the edges that an entry serves. Returns `None` if they are not the expected ones or
    /// one was served before.
    fn take(&mut self, header: &EntryHeader) -> Option<Vec<&'g Edge>> {
        let edges = self.edges;
        let of_source = |edge: &&Edge| edge.source == header.source;
        let expected = match header.placement {
            Placement::Dedicated => 1,
            Placement::Shared => edges.iter().filter(of_source).count(),
        };
        let mine = header.routes.iter().filter(|route| route.target == self.target.block);
        let edge_of = |route: &Route| edges.iter().position(|edge| of_source(&edge) && route.is(edge));
        let served: Vec<usize> = mine.filter_map(edge_of).collect();
        let is_new = served.iter().all(|edge| !std::mem::replace(&mut self.taken[*edge], true));
        (is_new && served.len() == expected).then(|| served.into_iter().map(|edge| &edges[edge]).collect())
    }

    /// Takes all edges from a source, whose whole stream serves them.
    fn take_all(&mut self, source: BlockId) -> Vec<&'g Edge> {
        let edges = self.edges.iter().zip(&mut self.taken).filter(|(edge, _)| edge.source == source);
        let take = |(edge, taken): (&'g Edge, &mut bool)| {
            *taken = true;
            edge
        };
        edges.map(take).collect()
    }

    fn give_up_on_stop(&self) -> Result<(), Halt> {
        if self.session.options.stop.load(Ordering::Relaxed) { Err(Halt::GivenUp) } else { Ok(()) }
    }

    fn damage(&self, entry: &Entry<'_, '_>, what: &'static str) -> Error {
        let path = self.session.storage.path(&entry.extent.file.name());
        Error::corrupt(path, entry.extent.offset, what)
    }
}

impl Target<'_, '_> {
    /// Begins the block, unless an edge began it.
    fn begin(&mut self) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.bitmap.words_mut().fill(0);
            self.session.workload.begin(self.block, self.bitmap.words_mut());
        }
    }

    /// Shows a stream to the auditor, if there is one, and applies the edges that it serves.
    fn update(&mut self, placement: Placement, stream: &SourceStream<'_>, served: &[&Edge]) -> Result<(), Error> {
        if let Some(auditor) = &mut self.auditor {
            if placement == Placement::Dedicated {
                let source = stream.source;
                return Err(Error::workload(format!(
                    "an audit needs shared logs: block {source} oriented its log for one target"
                )));
            }
            let _time = self.session.metrics.enter(Stage::Audit);
            auditor.see(stream, self.session.bitmaps.take_into(self.oriented)?.words_mut());
        }
        served.iter().try_for_each(|edge| self.apply(placement, stream.words, edge))
    }

    fn apply(&mut self, placement: Placement, stream: &[u64], edge: &Edge) -> Result<(), Error> {
        let Session { workload, metrics, bitmaps, .. } = self.session;
        let stream = if placement == Placement::Shared && edge.orientation != 0 {
            let oriented = bitmaps.take_into(self.oriented)?;
            let _time = metrics.enter(Stage::Orient);
            workload.orient_needed(edge, stream, oriented.words_mut());
            oriented.words()
        } else {
            stream
        };
        let _time = metrics.enter(Stage::Apply);
        let bitmap = self.bitmap.words_mut();
        if std::mem::replace(&mut self.has_begun, true) {
            let before = cfg!(debug_assertions).then(|| bitmap.to_vec());
            workload.apply(edge, stream, bitmap);
            debug_assert!(
                before.iter().flatten().zip(&*bitmap).all(|(before, after)| before & !after == 0),
                "workload, invariant 2: bits are cleared by {edge:?}"
            );
        } else {
            workload.apply_first(edge, stream, bitmap);
        }
        metrics.counters.edges_applied.add(1);
        Ok(())
    }
}
