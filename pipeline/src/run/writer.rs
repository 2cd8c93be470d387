//! The writer: one thread that gathers log entries from the workers, writes them in long runs
//! sorted by file and offset, and reports written blocks; step 5 of a block.
//!
//! # Invariants
//! 1. The entries of a block are in their files before the block counts as written.
//! 2. Nothing is written after an error, with which [`Writer::serve`] ends and consumes the writer.
//! 3. The journal has room for the record of a block before the block counts as written.

use super::budget::Lease;
use super::session::Session;
use crate::checkpoint::{BlockRecord, PUBLISHED, PublishedFile, sync_all};
use crate::error::Error;
use crate::ids::BlockId;
use crate::log::entry::EntryHeader;
use crate::log::frame::Frame;
use crate::log::place::Extent;
use crate::log::writer::{Dirty, LogWriter};
use crate::measure::stage::Stage;
use crate::storage::Create;
use crate::sync::{Receiver, RecvTimeoutError};
use crate::workload::Publication;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use xxhash_rust::xxh3::xxh3_128;

/// Silence after which gathered pieces are written.
const PATIENCE: Duration = Duration::from_millis(100);

pub(super) enum Message<'a> {
    /// An encoded stream and its entries, with the lease that pays for it.
    Piece(Piece, Lease<'a>),
    /// A file to publish, with its lease.
    Publish(BlockId, Publication, Lease<'a>),
    /// A block has sent everything; its summary.
    Finish(BlockId, Vec<u8>),
    /// A worker is starved: write what is gathered.
    Flush,
}

/// One encoded stream and its targets.
pub(super) struct Piece {
    /// Entries to write, each with its bucket: a header, followed by the same frames.
    pub(super) entries: Vec<(BlockId, EntryHeader)>,
    pub(super) frames: Arc<Vec<Frame>>,
}

pub(super) struct Writer<'s> {
    session: &'s Session<'s>,
    logs: LogWriter<'s>,
    /// Gather limit in encoded bytes.
    gather_bytes: u64,
    gathered: Gathering<'s>,
}

/// An entry that waits to be written.
struct PendingEntry {
    bucket: BlockId,
    header: EntryHeader,
    frames: Arc<Vec<Frame>>,
}

#[derive(Default)]
struct Gathering<'a> {
    entries: Vec<PendingEntry>,
    finished: Vec<(BlockId, Vec<u8>)>,
    leases: Vec<Lease<'a>>,
    bytes: u64,
    published: BTreeMap<BlockId, PublishedFile>,
    extents: BTreeMap<BlockId, Vec<Extent>>,
    dirty: Dirty,
}

impl<'s> Writer<'s> {
    /// Creates a writer that holds back up to `gather_bytes` encoded bytes.
    pub(super) fn new(session: &'s Session<'s>, gather_bytes: u64) -> Writer<'s> {
        let Session { storage, run_id, generation, metrics, thresholds, .. } = session;
        let logs = LogWriter::new(*storage, *run_id, *generation, metrics, thresholds);
        Writer { session, logs, gather_bytes, gathered: Gathering::default() }
    }

    /// Serves messages until every worker has hung up, then writes the rest.
    pub(super) fn serve(mut self, messages: &Receiver<Message<'s>>) -> Result<(), Error> {
        loop {
            match messages.recv_timeout(PATIENCE) {
                Ok(Message::Piece(piece, lease)) => self.gather(piece, lease),
                Ok(Message::Publish(block, publication, lease)) => {
                    let published = self.publish(&publication)?;
                    self.gathered.published.insert(block, published);
                    drop(lease);
                }
                Ok(Message::Finish(block, summary)) => {
                    self.gathered.finished.push((block, summary));
                }
                Ok(Message::Flush) | Err(RecvTimeoutError::Timeout) => self.flush()?,
                Err(RecvTimeoutError::Disconnected) => return self.flush(),
            }
            let is_starved =
                || !self.gathered.finished.is_empty() && messages.is_empty() && self.session.schedule.starved();
            if self.gathered.bytes >= self.gather_bytes || is_starved() {
                self.flush()?;
            }
        }
    }

    fn gather(&mut self, piece: Piece, lease: Lease<'s>) {
        let Piece { entries, frames } = piece;
        self.gathered.bytes += frames.iter().map(|frame| frame.stored_bytes() as u64).sum::<u64>();
        let waiting = |(bucket, header)| PendingEntry { bucket, header, frames: frames.clone() };
        self.gathered.entries.extend(entries.into_iter().map(waiting));
        self.gathered.leases.push(lease);
    }

    fn publish(&mut self, publication: &Publication) -> Result<PublishedFile, Error> {
        let name = format!("{PUBLISHED}/{}", publication.name);
        let _time = self.session.metrics.enter(Stage::Write);
        self.make_room()?;
        let file = self.session.storage.create(&name, Create::Truncate)?;
        file.write_all_at(&publication.bytes, 0)?;
        let length = publication.bytes.len() as u64;
        self.session.metrics.counters.published_bytes.add(length);
        self.gathered.dirty.insert(name.clone(), file);
        Ok(PublishedFile { name, length, hash: xxh3_128(&publication.bytes) })
    }

    /// Writes everything gathered and marks the blocks whose bytes are now complete as written.
    fn flush(&mut self) -> Result<(), Error> {
        for file in self.session.retired.lock().drain(..) {
            self.logs.retire(&file);
        }
        self.logs.close_surplus();
        self.write_entries()?;
        self.gathered.leases.clear();
        self.gathered.bytes = 0;

        let gathered = &mut self.gathered;
        let mut records = Vec::new();
        for (block, summary) in gathered.finished.drain(..) {
            let extents = gathered.extents.remove(&block).unwrap_or_default();
            records.push(BlockRecord { block, published: gathered.published.remove(&block), summary, extents });
        }
        let is_written = gathered.entries.is_empty() && self.logs.is_flushed();
        assert!(
            is_written,
            "writer, invariant 1: {} blocks would count before their entries are written",
            records.len()
        );
        let (files, most) = (gathered.dirty.len(), self.session.thresholds.gathered.max(1));
        assert!(files <= most, "thresholds, invariant 2: {files} files in one gathering, at most {most} may be");
        self.session.journal.reserve(self.session.commits.journal_bytes(&records))?;
        for record in &records {
            self.session.ledger.add(record);
        }
        let blocks: Vec<BlockId> = records.iter().map(|record| record.block).collect();
        self.session.commits.add(records, std::mem::take(&mut gathered.dirty));
        for block in blocks {
            self.session.schedule.written(block);
        }
        Ok(())
    }

    fn write_entries(&mut self) -> Result<(), Error> {
        let _time = self.session.metrics.enter(Stage::Write);
        let mut entries = std::mem::take(&mut self.gathered.entries);
        // The sort is stable: entries of one file keep the order of their arrival, so offsets
        // ascend.
        entries.sort_by_key(|entry| (entry.header.placement, entry.bucket));
        for PendingEntry { bucket, header, frames } in &entries {
            self.make_room()?;
            let extent = self.logs.append(*bucket, header, frames)?;
            self.gathered.extents.entry(header.source).or_default().push(extent);
        }
        self.gathered.dirty.extend(self.logs.take_dirty()?);
        Ok(())
    }

    /// Syncs the gathered files if there are as many as there may be, before another is opened.
    fn make_room(&mut self) -> Result<(), Error> {
        if self.gathered.dirty.len() + self.logs.unsynced() < self.session.thresholds.gathered {
            return Ok(());
        }
        self.gathered.dirty.extend(self.logs.take_dirty()?);
        let files: Vec<_> = std::mem::take(&mut self.gathered.dirty).into_values().collect();
        sync_all(&files, self.session.storage.sync_parallelism())?;
        drop(files);
        self.logs.close_surplus();
        Ok(())
    }
}
