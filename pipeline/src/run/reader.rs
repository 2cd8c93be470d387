//! The reader of a worker: a thread that reads the log entries of a block ahead of their use.
//!
//! Between the two threads is a bounded channel: at most [`READ_AHEAD_FRAMES`] frames wait in memory. What is checked of an entry,
//! and where: [`EntryReader`].

use super::session::{Halt, Session};
use crate::error::Error;
use crate::log::entry::EntryHeader;
use crate::log::place::Extent;
use crate::log::reader::{EntryReader, StoredFrame};
use crate::measure::metrics::Metrics;
use crate::measure::stage::Stage;
use crate::sync::{Receiver, Sender, bounded};

/// Frames that may wait between a reader and its worker.
pub(super) const READ_AHEAD_FRAMES: usize = 4;

/// What a reader delivers, in order.
enum Delivery {
    /// A new entry begins.
    Entry(Extent, EntryHeader),
    /// Next frame of the entry.
    Frame(StoredFrame),
    /// The entry is complete and its hash was right.
    EntryEnd,
    /// Every extent asked for has been delivered.
    End,
    /// Reading failed; nothing more comes for this request.
    Failed(Error),
}

/// The worker's end of a reader.
pub(super) struct Reader<'s> {
    requests: Sender<Vec<Extent>>,
    deliveries: Receiver<Delivery>,
    metrics: &'s Metrics,
}

/// The end of the thread that reads.
pub(super) struct Serving<'s> {
    requests: Receiver<Vec<Extent>>,
    deliveries: Sender<Delivery>,
    session: &'s Session<'s>,
}

/// Both ends of a reader.
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
    /// Asks for the entries of these extents, in this order; those of an earlier request have to be at their end.
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

/// The entries of a request.
pub(super) struct Entries<'r> {
    reader: &'r Reader<'r>,
}

impl<'r> Entries<'r> {
    /// The next entry; what was not taken of the one before is passed over.
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
    /// Where it lies.
    pub(super) extent: Extent,
    /// What it says of itself.
    pub(super) header: EntryHeader,
}

impl Entry<'_> {
    /// The next frame; `None` when the entry is complete and its hash was right.
    pub(super) fn next_frame(&mut self) -> Result<Option<StoredFrame>, Halt> {
        match self.reader.receive()? {
            Delivery::Frame(frame) => Ok(Some(frame)),
            _ => Ok(None),
        }
    }
}
