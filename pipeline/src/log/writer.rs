//! Appends log entries to the files of one generation, in long writes.
//!
//! # Invariants
//! 1. An entry begins at a multiple of [`ENTRY_ALIGNMENT`] after everything written before it: no
//!    later write touches a sector with committed bytes.
//! 2. Consecutive entries of one file are written together, up to [`RUN_BYTES`].
//!    [`LogWriter::flush`] writes what is held back, and precedes every sync.

use super::entry::EntryHeader;
use super::frame::{ExtentHash, Frame};
use super::place::{ENTRY_ALIGNMENT, Extent, LogFile, Place};
use crate::error::Error;
use crate::ids::{BlockId, RunId};
use crate::measure::metrics::Metrics;
use crate::storage::{Create, Storage, StorageFile};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Length of the longest single write, in bytes.
const RUN_BYTES: usize = 4 << 20;
/// Number of handles of synced log files that stay open for further entries.
const HANDLES_KEPT: usize = 128;

/// Files with unsynced bytes, by name.
pub(crate) type Dirty = BTreeMap<String, Arc<dyn StorageFile>>;

/// Writes log entries.
pub(crate) struct LogWriter<'a> {
    storage: &'a dyn Storage,
    run_id: RunId,
    generation: u64,
    metrics: &'a Metrics,
    open: BTreeMap<LogFile, OpenLog>,
    dirty: Dirty,
    run: WriteRun<'a>,
}

/// A log file of this generation; it has no handle after it was closed to make room.
struct OpenLog {
    file: Option<Arc<dyn StorageFile>>,
    end: u64,
}

impl<'a> LogWriter<'a> {
    /// Creates a writer of entries of run `run_id` to files of `generation`, none of which exists
    /// yet.
    pub(crate) fn new(storage: &'a dyn Storage, run_id: RunId, generation: u64, metrics: &'a Metrics) -> LogWriter<'a> {
        let run = WriteRun { bytes: Vec::new(), offset: 0, file: None, metrics };
        LogWriter { storage, run_id, generation, metrics, open: BTreeMap::new(), dirty: Dirty::new(), run }
    }

    /// Appends an entry to the log file of `bucket`. Its last bytes may be held back until
    /// [`LogWriter::flush`].
    pub(crate) fn append(&mut self, bucket: BlockId, header: &EntryHeader, frames: &[Frame]) -> Result<Extent, Error> {
        let name = LogFile { placement: header.placement, bucket, generation: self.generation };
        let (file, end) = self.open(name)?;
        let offset = end.next_multiple_of(ENTRY_ALIGNMENT);
        let place = Place { run_id: self.run_id, file: name, offset };
        self.run.begin(&file, offset)?;
        let (header_bytes, entry_hash) = header.to_bytes(&place);
        let mut hash = ExtentHash::new(entry_hash);
        self.run.bytes.extend_from_slice(&header_bytes);
        for (index, frame) in frames.iter().enumerate() {
            frame.append_to(index as u32, entry_hash, &mut hash, &mut self.run.bytes);
            if self.run.bytes.len() >= RUN_BYTES {
                self.run.write()?;
            }
        }
        let end = self.run.end();
        self.open.insert(name, OpenLog { file: Some(file.clone()), end });
        self.metrics.log_added(end - offset);
        self.dirty.insert(name.name(), file);
        Ok(Extent { file: name, offset, length: end - offset, hash: hash.value(), source: header.source })
    }

    /// Returns the file and its length so far.
    fn open(&self, name: LogFile) -> Result<(Arc<dyn StorageFile>, u64), Error> {
        Ok(match self.open.get(&name) {
            None => (self.storage.create(&name.name(), Create::New)?, 0),
            Some(OpenLog { file: None, end }) => (self.storage.open_write(&name.name())?, *end),
            Some(OpenLog { file: Some(file), end }) => (file.clone(), *end),
        })
    }

    /// Writes what is held back.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        self.run.write()?;
        self.run.file = None;
        Ok(())
    }

    /// Returns the number of files with unsynced bytes.
    pub(crate) fn unsynced(&self) -> usize {
        self.dirty.len()
    }

    /// Writes what is held back and hands over the files with unsynced bytes, to be synced.
    pub(crate) fn take_dirty(&mut self) -> Result<Dirty, Error> {
        self.flush()?;
        Ok(std::mem::take(&mut self.dirty))
    }

    /// Forgets a file to which nothing will be appended.
    pub(crate) fn retire(&mut self, file: &LogFile) {
        self.open.remove(file);
    }

    /// Closes handles until [`HANDLES_KEPT`] are left. Only handles held elsewhere still need a
    /// sync, so it closes the others.
    pub(crate) fn close_surplus(&mut self) {
        let mut surplus = self.open.values().filter(|log| log.file.is_some()).count().saturating_sub(HANDLES_KEPT);
        for log in self.open.values_mut() {
            if surplus == 0 {
                break;
            }
            if log.file.as_ref().is_some_and(|file| Arc::strong_count(file) == 1) {
                log.file = None;
                surplus -= 1;
            }
        }
    }
}

/// Bytes for consecutive offsets of one file.
struct WriteRun<'a> {
    bytes: Vec<u8>,
    offset: u64,
    file: Option<Arc<dyn StorageFile>>,
    metrics: &'a Metrics,
}

impl WriteRun<'_> {
    /// Continues at `offset` of `file`: zeros fill a gap, a different file ends the run.
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
            self.metrics.log_written(self.bytes.len() as u64);
            self.offset += self.bytes.len() as u64;
            self.bytes.clear();
        }
        Ok(())
    }
}
