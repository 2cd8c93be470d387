//! The reader of a worker: a thread that reads the log entries of a block ahead of their use.
//!
//! A bounded channel between the two threads holds at most [`READ_AHEAD_FRAMES`] frames.
//! [`EntryReader`] defines where each part of an entry is verified.

use super::session::{Halt, Session};
use crate::error::Error;
use crate::log::entry::EntryHeader;
use crate::log::place::Extent;
use crate::log::reader::{EntryReader, StoredFrame};
use crate::measure::metrics::Metrics;
use crate::measure::stage::Stage;
use crate::sync::{Receiver, Sender, bounded};

/// Most frames that wait between a reader and its worker.
pub(super) const READ_AHEAD_FRAMES: usize = 4;

/// One message of a reader; they arrive in the order of the entry's bytes.
enum Delivery {
    /// A new entry begins.
    Entry(Extent, EntryHeader),
    /// The next frame of the entry.
    Frame(StoredFrame),
    /// The entry is complete and its hash is right.
    EntryEnd,
    /// Every requested extent has been delivered.
    End,
    /// Reading failed; nothing follows for this request.
    Failed(Error),
}

/// The worker's end of a reader.
pub(super) struct Reader<'s> {
    requests: Sender<Vec<Extent>>,
    deliveries: Receiver<Delivery>,
    metrics: &'s Metrics,
}

/// The reading thread's end of a reader.
pub(super) struct Serving<'s> {
    requests: Receiver<Vec<Extent>>,
    deliveries: Sender<Delivery>,
    session: &'s Session<'s>,
}

/// Creates both ends of a reader.
pub(super) fn pair<'s>(session: &'s Session<'s>) -> (Reader<'s>, Serving<'s>) {
    let (requests, requested) = bounded(1);
    let (deliver, deliveries) = bounded(READ_AHEAD_FRAMES);
    let reader = Reader { requests, deliveries, metrics: session.metrics };
    (reader, Serving { requests: requested, deliveries: deliver, session })
}

impl Serving<'_> {
    /// Serves requests until the worker hangs up.
    pub(super) fn serve(&self) {
        for extents in &self.requests {
            let end = match self.deliver(&extents) {
                Ok(()) => Delivery::End,
                Err(Halt::Failed(error)) => Delivery::Failed(error),
                Err(Halt::GivenUp) => return,
            };
            if self.send(end).is_err() {
                return;
            }
        }
    }

    fn deliver(&self, extents: &[Extent]) -> Result<(), Halt> {
        let Session { storage, run_id, metrics, .. } = self.session;
        for extent in extents {
            let (header, mut entry) = EntryReader::open(*storage, *run_id, metrics, extent)?;
            self.send(Delivery::Entry(*extent, header))?;
            while let Some(frame) = entry.next_frame()? {
                self.send(Delivery::Frame(frame))?;
            }
            self.send(Delivery::EntryEnd)?;
        }
        Ok(())
    }

    fn send(&self, delivery: Delivery) -> Result<(), Halt> {
        self.deliveries.send(delivery).map_err(|_| Halt::GivenUp)
    }
}

impl Reader<'_> {
    /// Requests the entries of `extents`, in this order; every earlier request must be at its end.
    pub(super) fn request(&self, extents: Vec<Extent>) -> Result<Entries<'_>, Halt> {
        self.requests.send(extents).map_err(|_| Halt::GivenUp)?;
        Ok(Entries { reader: self })
    }

    fn receive(&self) -> Result<Delivery, Halt> {
        let _time = self.metrics.enter(Stage::AwaitRead);
        match self.deliveries.recv() {
            Ok(Delivery::Failed(error)) => Err(Halt::Failed(error)),
            Ok(delivery) => Ok(delivery),
            Err(_) => Err(Halt::GivenUp),
        }
    }
}

/// Entries of a request.
pub(super) struct Entries<'r> {
    reader: &'r Reader<'r>,
}

impl<'r> Entries<'r> {
    /// Returns the next entry; skips the remaining frames of the previous one.
    pub(super) fn next(&mut self) -> Result<Option<Entry<'r>>, Halt> {
        loop {
            match self.reader.receive()? {
                Delivery::Entry(extent, header) => return Ok(Some(Entry { reader: self.reader, extent, header })),
                Delivery::End => return Ok(None),
                _ => {}
            }
        }
    }
}

/// One entry of a request.
pub(super) struct Entry<'r> {
    reader: &'r Reader<'r>,
    /// Where the entry is.
    pub(super) extent: Extent,
    /// Header of the entry.
    pub(super) header: EntryHeader,
}

impl Entry<'_> {
    /// Returns the next frame, or `None` if the entry is complete and its hash is right.
    pub(super) fn next_frame(&mut self) -> Result<Option<StoredFrame>, Halt> {
        match self.reader.receive()? {
            Delivery::Frame(frame) => Ok(Some(frame)),
            _ => Ok(None),
        }
    }
}
