//! The writer: one thread that gathers the entries of many blocks and writes them in long sequential runs.
//!
//! Workers hand over *pieces*: one encoded stream with the routes it is for. The writer gathers pieces until [`GATHER_BYTES`] wait, a worker
//! is starved, or nothing has come for a while; then it sorts them by log file and offset and writes every file's share as one run of
//! up to [`RUN_BYTES`].
//!
//! # Invariants
//! 1. A block counts as written only after every entry it sent is in its file and its published file is complete; the ledger learns the
//!    extents before the schedule releases the targets.
//! 2. Entries start at multiples of [`ENTRY_ALIGNMENT`]; a file of an older generation is never written to.
//! 3. A handle with unsynced bytes stays open until the commit that syncs it or needs it no more ([`Unsynced`]). Of the others at most [`HANDLES_KEPT`] stay open, so that the
//!    number of buckets is not bounded by the number of descriptors.

use crate::checkpoint::{BlockRecord, Extent, PUBLISHED, PublishedFile, sync_all};
use crate::error::Error;
use crate::ids::{BlockId, RunId};
use crate::log::frame::{ENTRY_ALIGNMENT, EntryHeader, ExtentHash, Frame, Place};
use crate::measure::metrics::{Metrics, Stage};
#[cfg(any(test, simulated))]
use crate::omitted::{Rule, omits};
use crate::run::budget::Lease;
use crate::run::ledger::{Ledger, LogFile};
use crate::run::schedule::Schedule;
use crate::storage::{Create, Storage, StorageFile};
use crate::sync::{Condvar, Mutex, Receiver, RecvTimeoutError};
use crate::workload::Publication;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use xxhash_rust::xxh3::xxh3_128;

/// Encoded bytes that may be gathered before a flush, at most: several entries for every bucket. With 64 MiB the eight-layer solve was 7 % slower
/// (pairs in turn): entries had left the caches when they were written, and their targets waited.
pub const GATHER_BYTES: u64 = 16 << 20;
/// Longest single write of a run.
pub const RUN_BYTES: usize = 4 << 20;
/// Silence after which gathered pieces are written anyway.
const PATIENCE: Duration = Duration::from_millis(100);
/// Unsynced handles at which a commit is asked for, and at which the writer waits for it.
const HANDLES_SOFT: usize = 256;
const HANDLES_HARD: usize = 640;
/// Unsynced handles of one gathering at which the writer syncs them itself: with blocks of a few KiB, one gathering goes to thousands of buckets.
const HANDLES_GATHERED: usize = 512;
/// Handles of log files that stay open for the next entries though they are synced.
const HANDLES_KEPT: usize = 128;

/// What workers send to the writer.
pub enum Message<'a> {
    /// An encoded stream and the entries to make of it, with the lease that pays for it.
    Piece(Piece, Lease<'a>),
    /// A file to publish, with its lease.
    Publish(BlockId, Publication, Lease<'a>),
    /// The block has sent everything.
    Finish(BlockId, Vec<u8>),
    /// A worker is starved: write what is there.
    Flush,
}

/// One encoded stream and where it goes.
pub struct Piece {
    /// Entries to write; each is a header and the same frames. The block is the bucket.
    pub entries: Vec<(BlockId, EntryHeader)>,
    /// The frames.
    pub frames: Arc<Vec<Frame>>,
}

/// Written blocks and files that wait for the next commit.
#[derive(Default)]
pub struct Unsynced {
    inner: Mutex<Pending>,
    changed: Condvar,
}

/// Content of [`Unsynced`].
#[derive(Default)]
pub struct Pending {
    /// Blocks whose bytes are written.
    pub records: Vec<BlockRecord>,
    /// Files with unsynced bytes.
    pub dirty: BTreeMap<String, Arc<dyn StorageFile>>,
    /// Whether the writer ended, orderly or not.
    pub over: bool,
    /// Whether a commit is wanted before its time.
    pub wanted: bool,
}

impl Unsynced {
    /// Waits for `interval`, or until a commit is wanted or the writer is over; then takes everything.
    pub fn take(&self, interval: Duration) -> Pending {
        let mut inner = self.inner.lock();
        if !inner.over && !inner.wanted {
            self.changed.wait_while_for(&mut inner, |pending| !pending.over && !pending.wanted, interval);
        }
        let over = inner.over;
        std::mem::replace(&mut *inner, Pending { over, ..Pending::default() })
    }

    /// Wakes a writer that waits for handles.
    pub fn committed(&self) {
        self.changed.notify_all();
    }

    fn add(&self, records: Vec<BlockRecord>, dirty: BTreeMap<String, Arc<dyn StorageFile>>) {
        let mut inner = self.inner.lock();
        inner.records.extend(records);
        inner.dirty.extend(dirty);
        if inner.dirty.len() >= HANDLES_SOFT {
            inner.wanted = true;
            self.changed.notify_all();
        }
        while inner.dirty.len() >= HANDLES_HARD && !inner.over {
            inner.wanted = true;
            self.changed.notify_all();
            self.changed.wait(&mut inner);
        }
    }

    /// Puts back files that were taken without a block to commit.
    pub fn restore(&self, dirty: BTreeMap<String, Arc<dyn StorageFile>>) {
        self.inner.lock().dirty.extend(dirty);
    }

    /// Says that nothing more will be written.
    pub fn end(&self) {
        self.inner.lock().over = true;
        self.changed.notify_all();
    }
}

/// The parts of the engine the writer works with.
pub struct Writer<'a> {
    /// Where the files are.
    pub storage: &'a dyn Storage,
    /// Run and generation of this session.
    pub run_id: RunId,
    /// Generation that names the files of this session.
    pub generation: u64,
    /// Counters.
    pub metrics: &'a Metrics,
    /// To be told of written blocks.
    pub schedule: &'a Schedule,
    /// To be told of extents.
    pub ledger: &'a Ledger,
    /// To be told of files to sync.
    pub unsynced: &'a Unsynced,
    /// Log files whose bucket is consumed: their handles can go.
    pub retired: &'a Mutex<Vec<LogFile>>,
    /// Gather limit in encoded bytes.
    pub gather_bytes: u64,
}

/// An entry that waits to be written.
struct Waiting {
    bucket: BlockId,
    header: EntryHeader,
    frames: Arc<Vec<Frame>>,
}

/// A log file of this session; without a handle when it was closed to make room.
struct OpenLog {
    file: Option<Arc<dyn StorageFile>>,
    end: u64,
}

/// Closes handles until [`HANDLES_KEPT`] are left. Whoever is to sync a file holds its handle as well: those that only the writer holds are synced, or nobody's.
fn close_surplus(open: &mut BTreeMap<LogFile, OpenLog>) {
    let mut surplus = open.values().filter(|log| log.file.is_some()).count().saturating_sub(HANDLES_KEPT);
    for log in open.values_mut() {
        if surplus == 0 {
            break;
        }
        if log.file.as_ref().is_some_and(|file| Arc::strong_count(file) == 1) {
            log.file = None;
            surplus -= 1;
        }
    }
}

#[derive(Default)]
struct Gathered<'a> {
    entries: Vec<Waiting>,
    finished: Vec<(BlockId, Vec<u8>)>,
    leases: Vec<Lease<'a>>,
    bytes: u64,
    published: BTreeMap<BlockId, PublishedFile>,
    extents: BTreeMap<BlockId, Vec<Extent>>,
    dirty: BTreeMap<String, Arc<dyn StorageFile>>,
}

impl Writer<'_> {
    /// Serves messages until every worker has hung up, then writes what is left.
    ///
    /// # Errors
    /// The first storage error; nothing is written after it.
    pub fn serve<'m>(&self, messages: &Receiver<Message<'m>>) -> Result<(), Error> {
        let mut open: BTreeMap<LogFile, OpenLog> = BTreeMap::new();
        let mut gathered = Gathered::default();
        loop {
            match messages.recv_timeout(PATIENCE) {
                Ok(Message::Piece(piece, lease)) => {
                    gathered.bytes += piece.frames.iter().map(|frame| frame.stored_bytes() as u64).sum::<u64>();
                    for (bucket, header) in piece.entries {
                        gathered.entries.push(Waiting { bucket, header, frames: piece.frames.clone() });
                    }
                    gathered.leases.push(lease);
                }
                Ok(Message::Publish(block, publication, lease)) => {
                    let published = self.publish(&publication, &mut gathered)?;
                    gathered.published.insert(block, published);
                    drop(lease);
                }
                Ok(Message::Finish(block, summary)) => {
                    #[cfg(any(test, simulated))]
                    if omits(Rule::WrittenFirst) {
                        self.schedule.written(block);
                    }
                    gathered.finished.push((block, summary));
                }
                Ok(Message::Flush) | Err(RecvTimeoutError::Timeout) => {
                    self.flush(&mut open, &mut gathered)?;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.flush(&mut open, &mut gathered)?;
                    return Ok(());
                }
            }
            let starved = !gathered.finished.is_empty() && messages.is_empty() && self.schedule.starved();
            if gathered.bytes >= self.gather_bytes || starved {
                self.flush(&mut open, &mut gathered)?;
            }
        }
    }

    fn publish(&self, publication: &Publication, gathered: &mut Gathered<'_>) -> Result<PublishedFile, Error> {
        let name = format!("{PUBLISHED}/{}", publication.name);
        let file = self.metrics.time(Stage::Write, || {
            let file = self.storage.create(&name, Create::Truncate)?;
            file.write_all_at(&publication.bytes, 0)?;
            Ok::<_, Error>(file)
        })?;
        let length = publication.bytes.len() as u64;
        Metrics::add(&self.metrics.published_bytes, length);
        gathered.dirty.insert(name.clone(), file);
        Ok(PublishedFile { name, length, hash: xxh3_128(&publication.bytes) })
    }

    fn flush(&self, open: &mut BTreeMap<LogFile, OpenLog>, gathered: &mut Gathered<'_>) -> Result<(), Error> {
        for log in self.retired.lock().drain(..) {
            open.remove(&log);
        }
        close_surplus(open);
        let mut entries = std::mem::take(&mut gathered.entries);
        // Stable: entries of one file keep the order of their arrival, so offsets ascend.
        entries.sort_by_key(|entry| (entry.header.shared, entry.bucket));
        self.metrics.time(Stage::Write, || self.write_entries(open, &entries, gathered))?;
        drop(entries);
        gathered.leases.clear();
        gathered.bytes = 0;

        let mut records = Vec::new();
        for (block, summary) in gathered.finished.drain(..) {
            let extents = gathered.extents.remove(&block).unwrap_or_default();
            records.push(BlockRecord { block, published: gathered.published.remove(&block), summary, extents });
        }
        for record in &records {
            self.ledger.add(record);
        }
        let blocks: Vec<BlockId> = records.iter().map(|record| record.block).collect();
        self.unsynced.add(records, std::mem::take(&mut gathered.dirty));
        #[cfg(any(test, simulated))]
        let blocks = if omits(Rule::WrittenFirst) { Vec::new() } else { blocks };
        for block in blocks {
            self.schedule.written(block);
        }
        Ok(())
    }

    fn write_entries(
        &self,
        open: &mut BTreeMap<LogFile, OpenLog>,
        entries: &[Waiting],
        gathered: &mut Gathered<'_>,
    ) -> Result<(), Error> {
        let mut run = Run { bytes: Vec::new(), offset: 0, file: None, metrics: self.metrics };
        for entry in entries {
            if gathered.dirty.len() >= HANDLES_GATHERED {
                // What the run still holds back belongs to one of these files.
                run.write()?;
                let files: Vec<_> = std::mem::take(&mut gathered.dirty).into_values().collect();
                sync_all(&files, self.storage.sync_parallelism())?;
                drop(files);
                close_surplus(open);
            }
            let name = LogFile { shared: entry.header.shared, bucket: entry.bucket, generation: self.generation };
            let (file, log) = match open.entry(name) {
                std::collections::btree_map::Entry::Occupied(found) => {
                    let log = found.into_mut();
                    let file = match &log.file {
                        Some(file) => file.clone(),
                        None => self.storage.open_write(&name.name())?,
                    };
                    log.file = Some(file.clone());
                    (file, log)
                }
                std::collections::btree_map::Entry::Vacant(free) => {
                    let file = self.storage.create(&name.name(), Create::New)?;
                    (file.clone(), free.insert(OpenLog { file: Some(file), end: 0 }))
                }
            };
            let offset = log.end.next_multiple_of(ENTRY_ALIGNMENT);
            #[cfg(any(test, simulated))]
            let offset = if omits(Rule::FreshSectors) { log.end } else { offset };
            let place = Place {
                run_id: self.run_id,
                bucket: entry.bucket,
                shared: entry.header.shared,
                file_generation: self.generation,
                offset,
            };
            run.begin(&file, offset)?;
            let (header, entry_hash) = entry.header.to_bytes(&place);
            let mut hash = ExtentHash::new(entry_hash);
            run.bytes.extend_from_slice(&header);
            for (index, frame) in entry.frames.iter().enumerate() {
                frame.append_to(index as u32, entry_hash, &mut hash, &mut run.bytes);
                if run.bytes.len() >= RUN_BYTES {
                    run.write()?;
                }
            }
            let end = run.end();
            log.end = end;
            self.metrics.log_added(end - offset);
            gathered.dirty.insert(name.name(), file);
            gathered.extents.entry(entry.header.source).or_default().push(Extent {
                bucket: entry.bucket,
                shared: entry.header.shared,
                file_generation: self.generation,
                offset,
                length: end - offset,
                hash: hash.value(),
                source: entry.header.source,
            });
        }
        run.write()
    }
}

/// Bytes for consecutive offsets of one file.
struct Run<'a> {
    bytes: Vec<u8>,
    offset: u64,
    file: Option<Arc<dyn StorageFile>>,
    metrics: &'a Metrics,
}

impl Run<'_> {
    /// Continues at `offset` of `file`; zeros fill the gap to it, another file ends the run.
    fn begin(&mut self, file: &Arc<dyn StorageFile>, offset: u64) -> Result<(), Error> {
        let same = self.file.as_ref().is_some_and(|current| Arc::ptr_eq(current, file));
        let end = self.end();
        if same && end <= offset && offset - end < ENTRY_ALIGNMENT && !self.bytes.is_empty() {
            self.bytes.resize(self.bytes.len() + (offset - end) as usize, 0);
            return Ok(());
        }
        self.write()?;
        self.file = Some(file.clone());
        self.offset = offset;
        Ok(())
    }

    fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }

    fn write(&mut self) -> Result<(), Error> {
        if let Some(file) = &self.file
            && !self.bytes.is_empty()
        {
            file.write_all_at(&self.bytes, self.offset)?;
            Metrics::add(&self.metrics.log_bytes_written, self.bytes.len() as u64);
            Metrics::add(&self.metrics.log_writes, 1);
            self.offset += self.bytes.len() as u64;
            self.bytes.clear();
        }
        Ok(())
    }
}
