//! Appends log entries to the files of one generation, in long writes.
//!
//! # Invariants
//! 1. An entry begins at a multiple of [`ENTRY_ALIGNMENT`] after everything written before it: no
//!    later write touches a sector with committed bytes.
//! 2. Consecutive entries of one file are written together, up to [`Thresholds::write_bytes`].
//!    [`LogWriter::flush`] writes pending bytes, and precedes every sync.

use super::entry::{ENTRY_FIXED_BYTES, EntryHeader, ROUTES_BYTES_MAX};
use super::frame::{ExtentHash, Frame};
use super::place::{ENTRY_ALIGNMENT, Extent, LogFile, Place};
use crate::error::Error;
use crate::ids::{BlockId, RunId};
use crate::measure::metrics::Metrics;
use crate::storage::{Create, Storage, StorageFile};
use crate::thresholds::Thresholds;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Files with unsynced bytes, by name.
pub(crate) type Dirty = BTreeMap<String, Arc<dyn StorageFile>>;

pub(crate) struct LogWriter<'a> {
    storage: &'a dyn Storage,
    run_id: RunId,
    generation: u64,
    metrics: &'a Metrics,
    thresholds: Thresholds,
    open: BTreeMap<LogFile, OpenLog>,
    dirty: Dirty,
    run: WriteRun<'a>,
}

/// A log file of this generation. It has no handle once it was closed to make room.
struct OpenLog {
    file: Option<Arc<dyn StorageFile>>,
    end: u64,
}

impl<'a> LogWriter<'a> {
    /// Creates a writer of entries of run `run_id` to files of `generation`, none of which exists
    /// yet.
    pub(crate) fn new(
        storage: &'a dyn Storage,
        run_id: RunId,
        generation: u64,
        metrics: &'a Metrics,
        thresholds: &Thresholds,
    ) -> LogWriter<'a> {
        let thresholds = *thresholds;
        let run = WriteRun { bytes: Vec::new(), offset: 0, file: None, metrics };
        let (open, dirty) = (BTreeMap::new(), Dirty::new());
        LogWriter { storage, run_id, generation, metrics, thresholds, open, dirty, run }
    }

    /// Appends an entry to the log file of `bucket`. Its last bytes can stay pending until
    /// [`LogWriter::flush`].
    pub(crate) fn append(&mut self, bucket: BlockId, header: &EntryHeader, frames: &[Frame]) -> Result<Extent, Error> {
        let name = LogFile { placement: header.placement, bucket, generation: self.generation };
        let (file, end) = self.open(name)?;
        let offset = end.next_multiple_of(ENTRY_ALIGNMENT);
        assert_eq!(frames.len(), header.frames as usize, "frames, invariant 2: frames of an entry");
        let place = Place { run_id: self.run_id, file: name, offset };
        self.run.begin(&file, offset)?;
        let (header_bytes, entry_hash) = header.to_bytes(&place);
        let (value, limit) = ((header_bytes.len() - ENTRY_FIXED_BYTES) as u64, ROUTES_BYTES_MAX as u64);
        if value > limit {
            return Err(Error::Limit { what: "length of the routes of an entry", value, limit });
        }
        let mut hash = ExtentHash::new(entry_hash);
        self.run.bytes.extend_from_slice(&header_bytes);
        for (index, frame) in frames.iter().enumerate() {
            frame.append_to(index as u32, entry_hash, &mut hash, &mut self.run.bytes);
            if self.run.bytes.len() >= self.thresholds.write_bytes {
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

    /// Writes the pending bytes.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        self.run.write()?;
        self.run.file = None;
        Ok(())
    }

    /// Returns whether no bytes are pending.
    pub(crate) fn is_flushed(&self) -> bool {
        self.run.bytes.is_empty()
    }

    /// Returns the number of files with unsynced bytes.
    pub(crate) fn unsynced(&self) -> usize {
        self.dirty.len()
    }

    /// Writes the pending bytes and returns the files with unsynced bytes, to be synced.
    pub(crate) fn take_dirty(&mut self) -> Result<Dirty, Error> {
        self.flush()?;
        Ok(std::mem::take(&mut self.dirty))
    }

    /// Forgets a file that will get no more entries.
    pub(crate) fn retire(&mut self, file: &LogFile) {
        self.open.remove(file);
    }

    /// Closes handles until [`Thresholds::kept`] are left, but none that still needs a sync; such
    /// handles are also held elsewhere.
    pub(crate) fn close_surplus(&mut self) {
        let handles = self.open.values().filter(|log| log.file.is_some()).count();
        let mut surplus = handles.saturating_sub(self.thresholds.kept);
        for (name, log) in &mut self.open {
            if surplus == 0 {
                break;
            }
            if log.file.as_ref().is_some_and(|file| Arc::strong_count(file) == 1) {
                let is_synced = !self.dirty.contains_key(&name.name());
                assert!(is_synced, "storage, invariant 5: {} is closed before its sync", name.name());
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
        assert!(offset.is_multiple_of(ENTRY_ALIGNMENT), "log writer, invariant 1: an entry begins at byte {offset}");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{Raw, Scratch};
    use crate::log::entry::Route;
    use crate::log::place::{LOGS, Placement};
    use crate::log::reader::EntryReader;
    use crate::testing::SimulatedStorage;

    const RUN: RunId = RunId(3);

    /// Appends an entry of `words` words to the log of `bucket`.
    fn append(logs: &mut LogWriter<'_>, bucket: u32, words: u64) -> Extent {
        let stream: Vec<u64> = (1..=words).collect();
        let (mut scratch, mut bytes) = (Scratch::new(), Vec::new());
        let frame = Frame::encode(&Raw, &stream, &mut scratch, &mut bytes);
        let (source, placement, routes) = (BlockId(9), Placement::Dedicated, Vec::new());
        let header = EntryHeader { source, placement, stream_words: words, frames: 1, routes };
        logs.append(BlockId(bucket), &header, &[frame]).unwrap()
    }

    fn assert_readable(disk: &SimulatedStorage, extents: &[Extent]) {
        let metrics = Metrics::default();
        for extent in extents {
            let (_, mut entry) = EntryReader::open(disk, RUN, &metrics, extent).unwrap();
            while entry.next_frame().unwrap().is_some() {}
        }
    }

    fn disk() -> SimulatedStorage {
        let disk = SimulatedStorage::new(1);
        disk.create_dir(LOGS).unwrap();
        disk
    }

    fn sync(logs: &mut LogWriter<'_>) {
        logs.take_dirty().unwrap().values().for_each(|file| file.sync().unwrap());
        logs.close_surplus();
    }

    /// Entries of one file are written together up to the limit; another file, or a write that
    /// reached the limit, begins a new write.
    #[test]
    fn consecutive_entries_of_a_file_are_one_write() {
        let (disk, metrics) = (disk(), Metrics::default());
        let thresholds = Thresholds { write_bytes: 10_000, ..Thresholds::LARGEST };
        let mut logs = LogWriter::new(&disk, RUN, 1, &metrics, &thresholds);
        let mut extents = Vec::new();
        let mut calls = |logs: &mut LogWriter<'_>, buckets: &[u32], words| {
            let before = disk.steps();
            extents.extend(buckets.iter().map(|bucket| append(logs, *bucket, words)));
            disk.steps() - before
        };
        // One call creates the file; the bytes stay pending.
        assert_eq!(calls(&mut logs, &[0, 0, 0], 10), 1);
        // The second one writes the pending bytes of the first file.
        assert_eq!(calls(&mut logs, &[1], 10), 2);
        assert_eq!(calls(&mut logs, &[0], 10), 1);
        assert_eq!(calls(&mut logs, &[0], 400), 0, "3,200 bytes after 4,096");
        assert_eq!(calls(&mut logs, &[0], 2000), 1, "16,000 bytes reach the limit");
        assert_eq!(logs.unsynced(), 2);
        sync(&mut logs);
        assert_eq!(logs.unsynced(), 0);
        assert!(extents.iter().all(|extent| extent.offset.is_multiple_of(ENTRY_ALIGNMENT)));
        let offsets: Vec<u64> = extents.iter().map(|extent| extent.offset / ENTRY_ALIGNMENT).collect();
        assert_eq!(offsets, [0, 1, 2, 0, 3, 4, 5]);
        assert_readable(&disk, &extents);
        let lengths = extents.iter().map(|extent| extent.length).sum::<u64>();
        assert_eq!(metrics.snapshot().log_bytes_live, lengths);
    }

    /// No reader accepts longer routes.
    #[test]
    fn an_entry_that_could_not_be_read_is_not_written() {
        let (disk, metrics) = (disk(), Metrics::default());
        let mut logs = LogWriter::new(&disk, RUN, 1, &metrics, &Thresholds::LARGEST);
        let operations = vec![1; (ROUTES_BYTES_MAX - 24) / 8 + 1];
        let route = Route { target: BlockId(0), orientation: 0, restriction: 0, operations };
        let (source, placement) = (BlockId(9), Placement::Dedicated);
        let mut header = EntryHeader { source, placement, stream_words: 0, frames: 0, routes: vec![route] };
        let refused = logs.append(BlockId(0), &header, &[]);
        assert!(matches!(refused, Err(Error::Limit { limit: 0x400_0000, .. })), "{refused:?}");
        header.routes[0].operations.pop();
        let extent = logs.append(BlockId(1), &header, &[]).unwrap();
        sync(&mut logs);
        assert_readable(&disk, &[extent]);
    }

    /// A synced file is closed if too many are open, and opened again for the next entry; an
    /// unsynced one stays open; a retired one is forgotten.
    #[test]
    fn synced_files_are_closed_beyond_those_that_are_kept() {
        let (disk, metrics) = (disk().with_handles_at_most(3), Metrics::default());
        let thresholds = Thresholds { kept: 2, ..Thresholds::LARGEST };
        let mut logs = LogWriter::new(&disk, RUN, 1, &metrics, &thresholds);
        let mut extents: Vec<Extent> = (0..3).map(|bucket| append(&mut logs, bucket, 10)).collect();
        logs.close_surplus();
        assert!(disk.open(&extents[0].file.name()).is_err(), "unsynced files are not closed");
        // Opening one of them again would take a fourth handle.
        extents.extend([0, 1, 2].map(|bucket| append(&mut logs, bucket, 10)));
        sync(&mut logs);
        // The first of three is closed; the others are still open.
        let other = disk.open(&extents[0].file.name()).unwrap();
        assert!(disk.open(&extents[0].file.name()).is_err());
        drop(other);
        let before = disk.steps();
        extents.extend([1, 2].map(|bucket| append(&mut logs, bucket, 10)));
        assert_eq!(disk.steps() - before, 1, "a write of the first, held back of the second");
        extents.push(append(&mut logs, 0, 10));
        assert!(disk.open(&extents[0].file.name()).is_err());
        sync(&mut logs);
        logs.retire(&extents[1].file);
        logs.retire(&extents[2].file);
        let [_one, _two] = [0, 1].map(|at: usize| disk.open(&extents[at].file.name()).unwrap());
        assert_readable(&disk.kill(), &extents);
    }
}
