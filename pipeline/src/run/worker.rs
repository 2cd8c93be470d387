//! A worker: computes one block after another, steps 1 to 4 of a block.

use super::budget::Lease;
use super::gather::{Buffers, Gather};
use super::reader::Reader;
use super::schedule::Next;
use super::session::{Halt, Session};
use super::writer::{Message, Piece};
use crate::error::Error;
use crate::ids::BlockId;
use crate::log::entry::{EntryHeader, Route};
use crate::log::frame::{Frame, frame_words};
use crate::log::place::Placement;
use crate::measure::stage::Stage;
use crate::sync::Sender;
use crate::workload::Edge;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

struct Worker<'s> {
    session: &'s Session<'s>,
    reader: Reader<'s>,
    writer: Sender<Message<'s>>,
    buffers: Buffers,
}

/// Computes blocks until the session is over.
pub(super) fn work<'s>(session: &'s Session<'s>, reader: Reader<'s>, writer: Sender<Message<'s>>) -> Result<(), Error> {
    let buffers = Buffers::new(&session.bitmaps)?;
    match (Worker { session, reader, writer, buffers }).serve() {
        Ok(()) => Ok(()),
        Err(Halt::Failed(error)) => Err(error),
        Err(Halt::GivenUp) => {
            // Others may wait for the block that was given up.
            session.schedule.stop();
            Ok(())
        }
    }
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
        let mut auditor = {
            let _time = metrics.enter(Stage::Audit);
            workload.audit(block)?
        };
        let auditors = workload.auditors();
        // New memory takes room only after it is touched.
        let borrowed = match auditor {
            Some(_) if !auditors.are_everywhere => Some(self.lease(auditors.bytes)?),
            _ => None,
        };
        let edges = workload.edges_into(block);
        Gather::new(self.session, block, &edges, &mut self.buffers, auditor.as_deref_mut()).run(&self.reader)?;
        {
            let _time = metrics.enter(Stage::Settle);
            workload.finish(block, self.buffers.bitmap.words_mut());
        }
        if let Some(mut auditor) = auditor {
            let _time = metrics.enter(Stage::Audit);
            auditor.judge(self.buffers.bitmap.words()).map_err(|what| Error::Audit { block, what })?;
        }
        drop(borrowed);
        let summary = self.publish(block)?;
        self.emit(block)?;
        // Before the schedule hands out a target.
        held.keep(schedule, block, None, &mut self.buffers.bitmap);
        metrics.counters.blocks_computed.add(1);
        self.send(Message::Finish(block, summary))
    }

    /// Sends the published file of a finished block to the writer; returns the summary of the
    /// block.
    fn publish(&self, block: BlockId) -> Result<Vec<u8>, Halt> {
        let (summary, publication) = {
            let _time = self.session.metrics.enter(Stage::Publish);
            let stream = self.buffers.bitmap.words();
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
                let (from, to) = (self.buffers.bitmap.words(), self.buffers.stream.words_mut());
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
        let Buffers { bitmap, stream, scratch, encoded, .. } = &mut self.buffers;
        let stream = if oriented { stream.words() } else { bitmap.words() };
        let frames: Vec<Frame> = {
            let _time = metrics.enter(Stage::Encode);
            let frame_words = frame_words(stream.len() as u64);
            stream.chunks(frame_words).map(|words| Frame::encode(options.codec, words, scratch, encoded)).collect()
        };
        metrics.counters.raw_bytes_encoded.add(stream.len() as u64 * 8);
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
