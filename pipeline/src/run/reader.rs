//! The reader: one thread per worker that reads the log entries of a target ahead of their use, and distrusts every byte.
//!
//! # Path of an entry
//! extent (from the ledger) → header, checked against its place → frame headers and payloads, checked by their hashes → a bounded channel,
//! so that at most [`READ_AHEAD_FRAMES`] frames wait in memory → the worker, which decodes and applies.
//!
//! # Invariants
//! 1. Only bytes inside the extent are read. An extent that ends inside a frame, or holds more than its frames, is damage.
//! 2. The hash over all header hashes equals the one in the journal, or the entry is damage.

use crate::checkpoint::Extent;
use crate::error::Error;
use crate::ids::RunId;
use crate::log::frame::{ENTRY_FIXED_BYTES, EntryHeader, ExtentHash, FRAME_HEADER_BYTES, FrameHeader, Place};
use crate::measure::metrics::{Metrics, Stage};
use crate::run::ledger::LogFile;
use crate::storage::{Storage, StorageFile};
use crate::sync::{Receiver, Sender};
use std::sync::Arc;

/// Frames that may wait between a reader and its worker.
pub const READ_AHEAD_FRAMES: usize = 4;
/// Bytes asked of storage at a time for headers; the rest of a payload is read straight into its own buffer.
const READ_BYTES: usize = 64 << 10;

/// What a reader delivers, in order.
pub enum Delivery {
    /// A new entry begins.
    Entry(EntryHeader),
    /// Next frame of the entry.
    Frame(FrameHeader, Vec<u8>),
    /// The entry is complete and its hash was right.
    EntryEnd,
    /// Every extent asked for has been delivered.
    End,
    /// Reading failed; nothing more comes for this request.
    Failed(Error),
}

/// Serves requests until the worker hangs up.
pub fn serve(
    storage: &dyn Storage,
    run_id: RunId,
    metrics: &Metrics,
    requests: &Receiver<Vec<Extent>>,
    deliveries: &Sender<Delivery>,
) {
    for extents in requests {
        let mut end = Delivery::End;
        for extent in &extents {
            let mut deliver = |delivery| deliveries.send(delivery).is_ok();
            match read_entry(storage, run_id, metrics, extent, &mut deliver) {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    end = Delivery::Failed(error);
                    break;
                }
            }
        }
        if deliveries.send(end).is_err() {
            return;
        }
    }
}

/// Reads the entry in one extent, checks every byte of it and hands its parts to `deliver`; `Ok(false)` as soon as that says no.
pub(crate) fn read_entry(
    storage: &dyn Storage,
    run_id: RunId,
    metrics: &Metrics,
    extent: &Extent,
    deliver: &mut dyn FnMut(Delivery) -> bool,
) -> Result<bool, Error> {
    let name = LogFile::of(extent).name();
    let mut source = Source {
        file: metrics.time(Stage::Read, || storage.open(&name))?,
        metrics,
        at: extent.offset,
        end: extent.offset + extent.length,
        buffer: Vec::new(),
        start: 0,
    };
    let place = Place {
        run_id,
        bucket: extent.bucket,
        shared: extent.shared,
        file_generation: extent.file_generation,
        offset: extent.offset,
    };
    let begin = source.position();
    let mut fixed_bytes = [0; ENTRY_FIXED_BYTES];
    fixed_bytes.copy_from_slice(source.take(ENTRY_FIXED_BYTES)?);
    let fixed = EntryHeader::parse_fixed(&fixed_bytes, &place).map_err(|what| source.damage(begin, what))?;
    let begin = source.position();
    let header = EntryHeader::parse_routes(&fixed, source.take(fixed.routes_bytes)?)
        .map_err(|what| source.damage(begin, what))?;
    if header.source != extent.source || header.shared != extent.shared {
        return Err(source.damage(begin, "entry of another source than the journal says"));
    }
    let (frames, stream_words) = (header.frames, header.stream_words);
    if !deliver(Delivery::Entry(header)) {
        return Ok(false);
    }
    let mut hash = ExtentHash::new(fixed.hash);
    for index in 0..frames {
        let begin = source.position();
        let mut header_bytes = [0; FRAME_HEADER_BYTES];
        header_bytes.copy_from_slice(source.take(FRAME_HEADER_BYTES)?);
        let header = FrameHeader::parse(&header_bytes, index, fixed.hash, stream_words)
            .map_err(|what| source.damage(begin, what))?;
        hash.add(header.hash);
        let payload = source.payload(header.payload_bytes)?;
        if !header.fits(&payload) {
            return Err(source.damage(begin, "frame payload hash"));
        }
        if !deliver(Delivery::Frame(header, payload)) {
            return Ok(false);
        }
    }
    if source.position() != source.end {
        return Err(source.damage(source.position(), "bytes behind the last frame of an entry"));
    }
    #[cfg(any(test, simulated))]
    if crate::omitted::omits(crate::omitted::Rule::ExtentHash) {
        return Ok(deliver(Delivery::EntryEnd));
    }
    if hash.value() != extent.hash {
        return Err(source.damage(extent.offset, "extent hash (a frame was lost, doubled or is stale)"));
    }
    Ok(deliver(Delivery::EntryEnd))
}

/// Sequential reads inside one extent.
struct Source<'a> {
    file: Arc<dyn StorageFile>,
    metrics: &'a Metrics,
    /// Offset in the file up to which the buffer holds bytes.
    at: u64,
    end: u64,
    buffer: Vec<u8>,
    start: usize,
}

impl Source<'_> {
    fn position(&self) -> u64 {
        self.at - (self.buffer.len() - self.start) as u64
    }

    fn take(&mut self, bytes: usize) -> Result<&[u8], Error> {
        let have = self.buffer.len() - self.start;
        if have < bytes {
            let left = self.end - self.at;
            let missing = (bytes - have) as u64;
            if missing > left {
                return Err(self.damage(self.position(), "entry ends inside a frame"));
            }
            self.buffer.drain(..self.start);
            self.start = 0;
            let amount = left.min(missing.max(READ_BYTES as u64)) as usize;
            self.buffer.resize(have + amount, 0);
            let (file, buffer, at) = (&self.file, &mut self.buffer[have..], self.at);
            self.metrics.time(Stage::Read, || file.read_exact_at(buffer, at))?;
            Metrics::add(&self.metrics.log_bytes_read, amount as u64);
            self.at += amount as u64;
        }
        let start = self.start;
        self.start += bytes;
        Ok(&self.buffer[start..start + bytes])
    }

    /// The next `bytes` bytes in a buffer of their own; only the part that came with a header is copied.
    fn payload(&mut self, bytes: usize) -> Result<Vec<u8>, Error> {
        let missing = bytes.saturating_sub(self.buffer.len() - self.start) as u64;
        if missing > self.end - self.at {
            return Err(self.damage(self.position(), "entry ends inside a frame"));
        }
        let mut payload = vec![0; bytes];
        let (buffered, rest) = payload.split_at_mut(bytes - missing as usize);
        buffered.copy_from_slice(&self.buffer[self.start..self.start + buffered.len()]);
        self.start += buffered.len();
        if !rest.is_empty() {
            let (file, at) = (&self.file, self.at);
            self.metrics.time(Stage::Read, || file.read_exact_at(rest, at))?;
            Metrics::add(&self.metrics.log_bytes_read, missing);
            self.at += missing;
        }
        Ok(payload)
    }

    fn damage(&self, offset: u64, what: &'static str) -> Error {
        Error::corrupt(self.file.path(), offset, what)
    }
}
