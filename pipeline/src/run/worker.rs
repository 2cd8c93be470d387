//! A worker: computes one block after another, steps 1 to 4 of a block.

use super::budget::Lease;
use super::reader::{self, Entry, PublishedBytes, Reader, Stream};
use super::schedule::Next;
use super::session::{Halt, Session};
use super::writer::{Message, Piece};
use crate::audit::{Auditor, SourceStream};
use crate::bitmap::Bitmap;
use crate::codec::{FRAME_WORDS, Scratch};
use crate::error::Error;
use crate::ids::BlockId;
use crate::log::entry::{EntryHeader, Route};
use crate::log::frame::{Frame, frame_words};
use crate::log::place::Placement;
use crate::measure::stage::Stage;
use crate::sync::{self, Sender};
use crate::workload::{Edge, Workload};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

struct Worker<'s> {
    session: &'s Session<'s>,
    reader: Reader<'s>,
    writer: Sender<Message<'s>>,
    buffers: Buffers,
}

struct Buffers {
    target: Target,
    /// An incoming stream, or an oriented outgoing one.
    stream: Bitmap,
    /// Allocated when the first shared stream must be oriented or is audited.
    oriented: Option<Bitmap>,
    scratch: Scratch,
    encoded: Vec<u8>,
}

struct Target {
    bitmap: Bitmap,
    /// Whether the bitmap is that of the block: it begins with its first update.
    has_begun: bool,
}

impl Target {
    /// Begins a block that no edge began.
    fn begin(&mut self, workload: &dyn Workload, block: BlockId) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.bitmap.words_mut().fill(0);
            workload.begin(block, self.bitmap.words_mut());
        }
    }

    fn apply(&mut self, workload: &dyn Workload, edge: &Edge, stream: &[u64]) {
        if !std::mem::replace(&mut self.has_begun, true) {
            return workload.apply_first(edge, stream, self.bitmap.words_mut());
        }
        let before = cfg!(debug_assertions).then(|| self.bitmap.words().to_vec());
        workload.apply(edge, stream, self.bitmap.words_mut());
        debug_assert!(
            before.iter().flatten().zip(self.bitmap.words()).all(|(before, after)| before & !after == 0),
            "workload, invariant 2: bits are cleared by {edge:?}"
        );
    }
}

/// Computes blocks until the session is over.
pub(super) fn work<'s>(session: &'s Session<'s>, number: usize, writer: Sender<Message<'s>>) -> Result<(), Error> {
    let words = session.workload.stream_words();
    let buffers = Buffers {
        target: Target { bitmap: Bitmap::zeroed(words)?, has_begun: false },
        stream: Bitmap::zeroed(words)?,
        oriented: None,
        scratch: Scratch::new(),
        encoded: Vec::new(),
    };
    let (reader, serving) = reader::pair(session, number);
    sync::scope(|scope| {
        sync::start(scope, move || {
            let _lane = session.metrics.lane(|| format!("reader {number}"));
            serving.serve();
        })?;
        // The reader waits for this worker, so the closure owns the channels' ends and drops them
        // on every return.
        let mut worker = Worker { session, reader, writer, buffers };
        match worker.serve() {
            Ok(()) => Ok(()),
            Err(Halt::Failed(error)) => Err(error),
            Err(Halt::GivenUp) => {
                // Others may wait for the block that was given up.
                session.schedule.stop();
                Ok(())
            }
        }
    })
}

impl<'s> Worker<'s> {
    fn serve(&mut self) -> Result<(), Halt> {
        let Session { schedule, options, metrics, .. } = self.session;
        loop {
            if options.stop.load(Ordering::Relaxed) {
                schedule.stop();
            }
            match schedule.next() {
                Next::Over => return Ok(()),
                Next::Block(block) => self.compute(block)?,
                Next::Starved => {
                    self.writer.send(Message::Flush).map_err(|_| Halt::GivenUp)?;
                    let _time = metrics.enter(Stage::Idle);
                    schedule.wait();
                }
            }
        }
    }

    /// Runs steps 1 to 4 of a block.
    fn compute(&mut self, block: BlockId) -> Result<(), Halt> {
        let Session { workload, metrics, held, schedule, .. } = self.session;
        self.buffers.target.has_begun = false;
        let mut auditor = {
            let _time = metrics.enter(Stage::Audit);
            workload.audit(block)?
        };
        let auditors = workload.auditors();
        // New memory takes room only once it is used.
        let borrowed = match auditor {
            Some(_) if !auditors.are_everywhere => Some(self.lease(auditors.bytes)?),
            _ => None,
        };
        self.gather(block, auditor.as_deref_mut())?;
        self.buffers.target.begin(*workload, block);
        {
            let _time = metrics.enter(Stage::Settle);
            workload.finish(block, self.buffers.target.bitmap.words_mut());
        }
        if let Some(mut auditor) = auditor {
            let _time = metrics.enter(Stage::Audit);
            auditor.judge(self.buffers.target.bitmap.words()).map_err(|what| Error::Audit { block, what })?;
        }
        drop(borrowed);
        let summary = self.publish(block)?;
        self.emit(block)?;
        // Before the schedule hands out a target.
        held.keep(schedule, block, None, &mut self.buffers.target.bitmap);
        metrics.block_computed();
        self.send(Message::Finish(block, summary))
    }

    /// Merges and applies the bucket of `block`, and shows the auditor what it applies.
    fn gather(&mut self, block: BlockId, mut auditor: Option<&mut (dyn Auditor + '_)>) -> Result<(), Halt> {
        let Session { held, schedule, metrics, ledger, .. } = self.session;
        let session = self.session;
        let mut edges = IncomingEdges::new(block, session.workload.edges_into(block));
        let sources = edges.sources();
        let streams = held.take(&sources);
        debug_assert!(
            ledger.incoming(block, &sources).iter().map(|one| one.place().0).collect::<BTreeSet<_>>() == sources,
            "held streams, invariant 3: a stream for block {block} is in no log and no published file"
        );
        let others = sources.iter().filter(|source| !streams.contains_key(source)).copied().collect();
        let mut incoming = self.reader.request(ledger.incoming(block, &others))?;
        // Those in memory first, while the reader reads ahead.
        for (source, stream) in streams {
            let served = edges.take_all(source);
            let Buffers { target, oriented, .. } = &mut self.buffers;
            look(session, &mut auditor, Placement::Shared, &SourceStream::new(source, stream.words(), &[]), oriented)?;
            for edge in served {
                apply(session, target, stream.words(), oriented, Placement::Shared, edge)?;
            }
            metrics.stream_held();
            give_up_on_stop(session)?;
        }
        while let Some(stream) = incoming.next()? {
            let DecodedStream { source, placement, served, skipped, keeps } = match stream {
                Stream::Entry(entry) => decode(session, &mut self.buffers, entry, &mut edges, auditor.is_some())?,
                Stream::Published(published) => recall(session, &mut self.buffers, &published, &mut edges)?,
            };
            let Buffers { target, stream, oriented, .. } = &mut self.buffers;
            look(session, &mut auditor, placement, &SourceStream::new(source, stream.words(), &skipped), oriented)?;
            for edge in served {
                apply(session, target, stream.words(), oriented, placement, edge)?;
            }
            metrics.stream_read();
            if keeps {
                assert!(skipped.is_empty(), "held streams, invariant 1: words of block {source} are left out");
                held.keep(schedule, source, Some(block), stream);
            }
            give_up_on_stop(session)?;
        }
        held.gathered(schedule, block, &sources);
        Ok(edges.all_taken()?)
    }

    /// Sends the published file of a finished block to the writer; returns the summary of the
    /// block.
    fn publish(&self, block: BlockId) -> Result<Vec<u8>, Halt> {
        let (summary, publication) = {
            let _time = self.session.metrics.enter(Stage::Publish);
            let stream = self.buffers.target.bitmap.words();
            (self.session.workload.summarise(block, stream), self.session.workload.publish(block, stream))
        };
        if publication.is_none() && self.session.workload.publishes_streams() {
            return Err(Error::workload(format!("block {block} publishes no file, so its stream is lost")).into());
        }
        if let Some(publication) = publication {
            let lease = self.lease(publication.bytes.len() as u64)?;
            self.send(Message::Publish(block, publication, lease))?;
        }
        Ok(summary)
    }

    /// Encodes the stream of a finished block and sends its entries to the writer.
    fn emit(&mut self, block: BlockId) -> Result<(), Halt> {
        let Session { workload, metrics, options, .. } = self.session;
        let edges = workload.edges_from(block);
        let is_published = options.placement == Placement::Shared && workload.publishes_streams();
        if edges.is_empty() || is_published {
            return Ok(());
        }
        if options.placement == Placement::Shared {
            let routes = edges.iter().map(Route::from).collect();
            let header = EntryHeader::new(*workload, block, Placement::Shared, routes);
            return self.emit_entries(vec![(block, header)], false);
        }
        let mut groups: BTreeMap<(u8, u64), Vec<&Edge>> = BTreeMap::new();
        for edge in &edges {
            groups.entry((edge.orientation, edge.restriction)).or_default().push(edge);
        }
        for ((orientation, restriction), group) in groups {
            let oriented = (orientation, restriction) != (0, 0);
            if oriented {
                let _time = metrics.enter(Stage::Orient);
                let (from, to) = (self.buffers.target.bitmap.words(), self.buffers.stream.words_mut());
                workload.orient(orientation, restriction, from, to);
            }
            let header = |edge| EntryHeader::new(*workload, block, Placement::Dedicated, vec![Route::from(edge)]);
            let entries = group.into_iter().map(|edge| (edge.target, header(edge))).collect();
            self.emit_entries(entries, oriented)?;
        }
        Ok(())
    }

    /// Encodes one stream (the oriented one, or the bitmap itself) and sends it with its entries.
    fn emit_entries(&mut self, entries: Vec<(BlockId, EntryHeader)>, oriented: bool) -> Result<(), Halt> {
        let Session { metrics, options, .. } = self.session;
        let Buffers { target: Target { bitmap, .. }, stream, scratch, encoded, .. } = &mut self.buffers;
        let stream = if oriented { stream.words() } else { bitmap.words() };
        let frames: Vec<Frame> = {
            let _time = metrics.enter(Stage::Encode);
            let frame_words = frame_words(stream.len() as u64);
            stream.chunks(frame_words).map(|words| Frame::encode(options.codec, words, scratch, encoded)).collect()
        };
        metrics.encoded(stream.len() as u64 * 8);
        let lease = self.lease(frames.iter().map(|frame| frame.stored_bytes() as u64).sum())?;
        self.send(Message::Piece(Piece { entries, frames: Arc::new(frames) }, lease))
    }

    /// Leases room in the queue; if there is none, asks the writer to flush and waits.
    fn lease(&self, bytes: u64) -> Result<Lease<'s>, Halt> {
        let session = self.session;
        if let Some(lease) = session.queue.try_lease(bytes) {
            return Ok(lease);
        }
        self.send(Message::Flush)?;
        let _time = session.metrics.enter(Stage::AwaitWrite);
        session.queue.lease(bytes).ok_or(Halt::GivenUp)
    }

    fn send(&self, message: Message<'s>) -> Result<(), Halt> {
        let _time = self.session.metrics.enter(Stage::AwaitWrite);
        self.writer.send(message).map_err(|_| Halt::GivenUp)
    }
}

/// What `gather` has in the worker's stream buffer.
struct DecodedStream<'e> {
    source: BlockId,
    /// Whether the words are already oriented. Those of a published file are not, as those of a
    /// shared log.
    placement: Placement,
    /// The edges that are still to be applied.
    served: Vec<&'e Edge>,
    /// Words that were left out, because no edge needs them.
    skipped: Vec<Range<usize>>,
    /// Whether the stream is to be held for later targets. Then nothing is left out.
    keeps: bool,
}

/// Decodes the frames of a log entry. Those edges that need no orientation are applied on the way,
/// while a frame is in the cache; if that is all that is wanted of the stream, every frame is
/// decoded to the same place.
fn decode<'e>(
    session: &Session<'_>,
    buffers: &mut Buffers,
    mut entry: Entry<'_, '_>,
    edges: &'e mut IncomingEdges,
    is_audited: bool,
) -> Result<DecodedStream<'e>, Halt> {
    let block = edges.block;
    let served = edges.take(&entry.header).filter(|_| is_whole_stream(session, &entry.header));
    let served = served.ok_or_else(|| damage(session, &entry, "entry that is not an edge of the block graph"))?;
    let (source, placement) = (entry.header.source, entry.header.placement);
    let keeps = placement == Placement::Shared && session.held.has_room(&session.schedule, source, block);
    let as_it_is = |edge: &&Edge| placement == Placement::Dedicated || edge.orientation == 0;
    let (at_once, served): (Vec<&Edge>, Vec<&Edge>) =
        served.into_iter().partition(|edge| session.workload.applies_frames() && as_it_is(edge));
    let with_masks = |edges: &[&'e Edge]| -> Vec<(&'e Edge, u64)> {
        edges.iter().map(|edge| (*edge, unneeded(session, placement, edge))).collect()
    };
    let (at_once, later) = (with_masks(&at_once), with_masks(&served));
    let is_kept = keeps || is_audited || !later.is_empty();
    if !at_once.is_empty() {
        buffers.target.begin(session.workload, block);
    }
    let Buffers { target: Target { bitmap, .. }, stream, scratch, .. } = buffers;
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
        let words = &mut stream.words_mut()[place];
        {
            let _time = session.metrics.enter(Stage::Decode);
            frame.decode_into(words, scratch).map_err(|what| damage(session, &entry, what.0))?;
            session.metrics.decoded(words.len() as u64 * 8);
        }
        let _time = session.metrics.enter(Stage::Apply);
        for (part, words) in (begin / FRAME_WORDS..).zip(words.chunks(FRAME_WORDS)) {
            for (edge, _) in at_once.iter().filter(|(_, mask)| is_needed(part * FRAME_WORDS, *mask)) {
                session.workload.apply_frame(edge, part, words, bitmap.words_mut());
            }
        }
    }
    assert_eq!(next, stream.words().len(), "log reader, invariant 2: words of an entry that ended");
    at_once.iter().for_each(|_| session.metrics.edge_applied());
    Ok(DecodedStream { source, placement, served, skipped, keeps })
}

/// Decodes the stream of a source from the file that it published.
fn recall<'e>(
    session: &Session<'_>,
    buffers: &mut Buffers,
    published: &PublishedBytes<'_>,
    edges: &'e mut IncomingEdges,
) -> Result<DecodedStream<'e>, Halt> {
    let PublishedBytes { source, file, bytes, .. } = published;
    let keeps = session.held.has_room(&session.schedule, *source, edges.block);
    let served = edges.take_all(*source);
    let unneeded: Vec<u64> = match keeps {
        true => vec![0],
        false => served.iter().map(|edge| session.workload.unneeded(edge)).collect(),
    };
    let stream = buffers.stream.words_mut();
    let _time = session.metrics.enter(Stage::Decode);
    let skipped = session
        .workload
        .recall_needed(*source, bytes, &unneeded, stream)
        .map_err(|unreadable| Error::corrupt(session.storage.path(&file.name), unreadable.offset, unreadable.damage))?;
    let left_out: usize = skipped.iter().map(ExactSizeIterator::len).sum();
    session.metrics.decoded((stream.len() - left_out) as u64 * 8);
    Ok(DecodedStream { source: *source, placement: Placement::Shared, served, skipped, keeps })
}

/// Dedicated streams are oriented and restricted already: what is not needed there is zero.
fn unneeded(session: &Session<'_>, placement: Placement, edge: &Edge) -> u64 {
    match placement {
        Placement::Shared => session.workload.unneeded(edge),
        Placement::Dedicated => 0,
    }
}

/// Shows a stream to the auditor, if there is one.
fn look(
    session: &Session<'_>,
    auditor: &mut Option<&mut (dyn Auditor + '_)>,
    placement: Placement,
    stream: &SourceStream<'_>,
    oriented: &mut Option<Bitmap>,
) -> Result<(), Error> {
    let Some(auditor) = auditor else { return Ok(()) };
    if placement == Placement::Dedicated {
        let source = stream.source;
        return Err(Error::workload(format!(
            "an audit needs shared logs: block {source} oriented its log for one target"
        )));
    }
    let _time = session.metrics.enter(Stage::Audit);
    auditor.see(stream, bitmap(session, oriented)?.words_mut());
    Ok(())
}

/// Returns the bitmap in this place, which has any contents.
fn bitmap<'b>(session: &Session<'_>, place: &'b mut Option<Bitmap>) -> Result<&'b mut Bitmap, Error> {
    match place {
        Some(bitmap) => Ok(bitmap),
        None => Ok(place.insert(Bitmap::zeroed(session.workload.stream_words())?)),
    }
}

fn give_up_on_stop(session: &Session<'_>) -> Result<(), Halt> {
    if session.options.stop.load(Ordering::Relaxed) { Err(Halt::GivenUp) } else { Ok(()) }
}

fn apply(
    session: &Session<'_>,
    target: &mut Target,
    stream: &[u64],
    oriented: &mut Option<Bitmap>,
    placement: Placement,
    edge: &Edge,
) -> Result<(), Error> {
    let stream = if placement == Placement::Shared && edge.orientation != 0 {
        let oriented = bitmap(session, oriented)?;
        let _time = session.metrics.enter(Stage::Orient);
        session.workload.orient_needed(edge, stream, oriented.words_mut());
        oriented.words()
    } else {
        stream
    };
    let _time = session.metrics.enter(Stage::Apply);
    target.apply(session.workload, edge, stream);
    session.metrics.edge_applied();
    Ok(())
}

/// The edges into a block. Each waits for one log entry, or for the published file of its source.
struct IncomingEdges {
    block: BlockId,
    edges: Vec<Edge>,
    taken: Vec<bool>,
}

impl IncomingEdges {
    fn new(block: BlockId, edges: Vec<Edge>) -> IncomingEdges {
        let taken = vec![false; edges.len()];
        IncomingEdges { block, edges, taken }
    }

    fn sources(&self) -> BTreeSet<BlockId> {
        self.edges.iter().map(|edge| edge.source).collect()
    }

    /// Returns the edges that an entry serves. Returns `None` if they are not the expected ones or
    /// one was served before.
    fn take(&mut self, header: &EntryHeader) -> Option<Vec<&Edge>> {
        let of_source = |edge: &&Edge| edge.source == header.source;
        let expected = match header.placement {
            Placement::Dedicated => 1,
            Placement::Shared => self.edges.iter().filter(of_source).count(),
        };
        let mine = header.routes.iter().filter(|route| route.target == self.block);
        let edge_of = |route: &Route| self.edges.iter().position(|edge| of_source(&edge) && route.is(edge));
        let served: Vec<usize> = mine.filter_map(edge_of).collect();
        let is_new = served.iter().all(|edge| !std::mem::replace(&mut self.taken[*edge], true));
        (is_new && served.len() == expected).then(|| served.into_iter().map(|edge| &self.edges[edge]).collect())
    }

    /// Returns all edges from a source, whose whole stream serves them.
    fn take_all(&mut self, source: BlockId) -> Vec<&Edge> {
        let edges = self.edges.iter().zip(&mut self.taken).filter(|(edge, _)| edge.source == source);
        edges
            .map(|(edge, taken)| {
                *taken = true;
                edge
            })
            .collect()
    }

    fn all_taken(&self) -> Result<(), Error> {
        let Some(missing) = self.taken.iter().position(|taken| !taken) else { return Ok(()) };
        let source = self.edges[missing].source;
        Err(Error::workload(format!("no log entry from block {source} for block {}", self.block)))
    }
}

fn is_whole_stream(session: &Session<'_>, header: &EntryHeader) -> bool {
    header.stream_words == session.workload.stream_words() as u64
}

fn damage(session: &Session<'_>, entry: &Entry<'_, '_>, what: &'static str) -> Error {
    let path = session.storage.path(&entry.extent.file.name());
    Error::corrupt(path, entry.extent.offset, what)
}
