//! The reader of a worker: a thread that reads the log entries and published files of a block's
//! sources ahead of their use.
//!
//! A bounded channel between the two threads holds at most [`READ_AHEAD_FRAMES`] frames.
//! [`EntryReader`] defines where each part of an entry is verified. A published file is compared
//! with its record as a whole; it is leased from the worker's own budget until it is decoded, so
//! the reader waits for its worker only.

use super::budget::{Budget, Lease};
use super::ledger::StreamPlace;
use super::session::{Halt, Session};
use crate::checkpoint::PublishedFile;
use crate::error::Error;
use crate::ids::BlockId;
use crate::log::entry::EntryHeader;
use crate::log::place::Extent;
use crate::log::reader::{EntryReader, StoredFrame};
use crate::measure::metrics::Metrics;
use crate::measure::stage::Stage;
use crate::storage::Storage;
use crate::sync::{Receiver, Sender, bounded};

/// Most frames that wait between a reader and its worker.
pub(super) const READ_AHEAD_FRAMES: usize = 4;

/// Bytes that are announced to the storage before they are read: a few streams, so that the disk
/// works while the worker does. They take no memory of the budget, because the system caches files
/// in free memory.
const ANNOUNCED_BYTES: u64 = 64 << 20;
/// Shorter parts of files are not announced: the call costs more than it gains.
const ANNOUNCED_BYTES_LEAST: u64 = 1 << 20;

/// One message of a reader; they arrive in the order of the entry's bytes.
enum Delivery<'s> {
    Entry(Extent, EntryHeader),
    Frame(StoredFrame),
    /// The entry is complete and its hash is right.
    EntryEnd,
    /// The published file of a source, with the hash in its record.
    Published(PublishedBytes<'s>),
    /// Everything that was requested has been delivered.
    End,
    /// Reading failed; nothing follows for this request.
    Failed(Error),
}

/// The worker's end of a reader.
pub(super) struct Reader<'s> {
    requests: Sender<Vec<StreamPlace>>,
    deliveries: Receiver<Delivery<'s>>,
    ahead: &'s Budget,
    metrics: &'s Metrics,
}

impl Drop for Reader<'_> {
    /// Wakes the reading thread if it waits for the memory of a file that is no longer decoded.
    fn drop(&mut self) {
        self.ahead.close();
    }
}

/// The reading thread's end of a reader.
pub(super) struct ReadingEnd<'s> {
    requests: Receiver<Vec<StreamPlace>>,
    deliveries: Sender<Delivery<'s>>,
    ahead: &'s Budget,
    session: &'s Session<'s>,
}

/// Creates both ends of the reader of worker `number`, counted from 1.
pub(super) fn pair<'s>(session: &'s Session<'s>, number: usize) -> (Reader<'s>, ReadingEnd<'s>) {
    let (requests, requested) = bounded(1);
    let (deliver, deliveries) = bounded(READ_AHEAD_FRAMES);
    let ahead = &session.read_ahead[number - 1];
    let reader = Reader { requests, deliveries, ahead, metrics: session.metrics };
    (reader, ReadingEnd { requests: requested, deliveries: deliver, ahead, session })
}

impl<'s> ReadingEnd<'s> {
    /// Serves requests until the worker hangs up.
    pub(super) fn serve(&self) {
        for incoming in &self.requests {
            let end = match self.deliver(incoming) {
                Ok(()) => Delivery::End,
                Err(Halt::Failed(error)) => Delivery::Failed(error),
                Err(Halt::GivenUp) => return,
            };
            if self.send(end).is_err() {
                return;
            }
        }
    }

    fn deliver(&self, incoming: Vec<StreamPlace>) -> Result<(), Halt> {
        let Session { storage, run_id, metrics, .. } = self.session;
        assert!(
            incoming.is_sorted_by_key(StreamPlace::place),
            "ledger, invariant 3: streams out of order: {incoming:?}"
        );
        let mut to_announce = incoming.iter();
        let mut ahead = 0;
        for one in &incoming {
            while ahead < ANNOUNCED_BYTES
                && let Some(later) = to_announce.next()
            {
                ahead += announce(*storage, later);
            }
            ahead -= one.length();
            let extent = match one {
                StreamPlace::Entry(extent) => extent,
                StreamPlace::Published(source, file) => {
                    let lease = self.ahead.lease(file.length).ok_or(Halt::GivenUp)?;
                    let bytes = {
                        let _time = metrics.enter(Stage::Read);
                        file.read(*storage)?
                    };
                    metrics.counters.published_bytes_read.add(file.length);
                    let (source, file) = (*source, file.clone());
                    self.send(Delivery::Published(PublishedBytes { source, file, bytes, _lease: lease }))?;
                    continue;
                }
            };
            let (header, mut entry) = EntryReader::open(*storage, *run_id, metrics, extent)?;
            self.send(Delivery::Entry(*extent, header))?;
            while let Some(frame) = entry.next_frame()? {
                self.send(Delivery::Frame(frame))?;
            }
            self.send(Delivery::EntryEnd)?;
        }
        Ok(())
    }

    fn send(&self, delivery: Delivery<'s>) -> Result<(), Halt> {
        self.deliveries.send(delivery).map_err(|_| Halt::GivenUp)
    }
}

/// Announces a stream that will be read; returns its stored bytes.
fn announce(storage: &dyn Storage, stream: &StreamPlace) -> u64 {
    let length = stream.length();
    if length >= ANNOUNCED_BYTES_LEAST {
        match stream {
            StreamPlace::Entry(extent) => storage.announce(&extent.file.name(), extent.offset, length),
            StreamPlace::Published(_, file) => storage.announce(&file.name, 0, length),
        }
    }
    length
}

impl<'s> Reader<'s> {
    /// Requests entries and files, in this order; every earlier request must be at its end.
    pub(super) fn request(&self, incoming: Vec<StreamPlace>) -> Result<(), Halt> {
        self.requests.send(incoming).map_err(|_| Halt::GivenUp)
    }

    /// Returns the next stream of the request; skips the remaining frames of the previous one.
    pub(super) fn next(&self) -> Result<Option<Stream<'_, 's>>, Halt> {
        loop {
            match self.receive()? {
                Delivery::Entry(extent, header) => {
                    return Ok(Some(Stream::Entry(Entry { reader: self, extent, header })));
                }
                Delivery::Published(published) => return Ok(Some(Stream::Published(published))),
                Delivery::End => return Ok(None),
                _ => {}
            }
        }
    }

    fn receive(&self) -> Result<Delivery<'s>, Halt> {
        let _time = self.metrics.enter(Stage::AwaitRead);
        match self.deliveries.recv() {
            Ok(Delivery::Failed(error)) => Err(Halt::Failed(error)),
            Ok(delivery) => Ok(delivery),
            Err(_) => Err(Halt::GivenUp),
        }
    }
}

/// A stream of a request.
pub(super) enum Stream<'r, 's> {
    /// As a log entry, whose frames follow.
    Entry(Entry<'r, 's>),
    /// As a published file.
    Published(PublishedBytes<'s>),
}

/// A published file that has the length and the hash in its record.
pub(super) struct PublishedBytes<'s> {
    pub(super) source: BlockId,
    pub(super) file: PublishedFile,
    pub(super) bytes: Vec<u8>,
    _lease: Lease<'s>,
}

pub(super) struct Entry<'r, 's> {
    reader: &'r Reader<'s>,
    pub(super) extent: Extent,
    pub(super) header: EntryHeader,
}

impl Entry<'_, '_> {
    /// Returns the next frame, or `None` if the entry is complete and its hash is right.
    pub(super) fn next_frame(&mut self) -> Result<Option<StoredFrame>, Halt> {
        match self.reader.receive()? {
            Delivery::Frame(frame) => Ok(Some(frame)),
            _ => Ok(None),
        }
    }
}
