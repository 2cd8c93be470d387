//! Written blocks that are not committed yet, on their way from the writer to the committer.

use crate::checkpoint::BlockRecord;
use crate::log::writer::Dirty;
use crate::sync::{Condvar, Mutex};
use crate::thresholds::Thresholds;
use std::time::Duration;

/// Written blocks and files that wait for the next commit.
pub(super) struct CommitQueue {
    thresholds: Thresholds,
    inner: Mutex<CommitBatch>,
    changed: Condvar,
}

#[derive(Default)]
pub(super) struct CommitBatch {
    /// Blocks whose bytes are written.
    pub records: Vec<BlockRecord>,
    /// Files with unsynced bytes.
    pub dirty: Dirty,
    /// Whether the writer has ended, for any reason.
    pub over: bool,
    /// Whether a commit is requested before its time.
    pub wanted: bool,
    /// Journal bytes of the records here, and of those that a commit has taken.
    bytes: u64,
    taken_bytes: u64,
}

impl CommitQueue {
    pub(super) fn new(thresholds: Thresholds) -> CommitQueue {
        CommitQueue { thresholds, inner: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits for `interval`, for a requested commit or for the end of the writer, then takes
    /// everything. Takes nothing if there is neither a block to commit nor a request.
    pub(super) fn take(&self, interval: Duration) -> CommitBatch {
        let mut inner = self.inner.lock();
        self.changed.wait_while_for(&mut inner, |pending| !pending.over && !pending.wanted, interval);
        let over = inner.over;
        if inner.records.is_empty() && !inner.wanted {
            return CommitBatch { over, ..CommitBatch::default() };
        }
        let taken_bytes = inner.bytes;
        std::mem::replace(&mut *inner, CommitBatch { over, taken_bytes, ..CommitBatch::default() })
    }

    /// Records that the taken files are durable, and wakes a writer that waits for handles.
    pub(super) fn committed(&self) {
        self.inner.lock().taken_bytes = 0;
        self.changed.notify_all();
    }

    /// Returns the journal bytes of these records and of all blocks that are not committed yet.
    pub(super) fn journal_bytes(&self, records: &[BlockRecord]) -> u64 {
        let inner = self.inner.lock();
        inner.bytes + inner.taken_bytes + records.iter().map(BlockRecord::bytes_at_most).sum::<u64>()
    }

    /// Adds written blocks and files with unsynced bytes; waits while too many files are unsynced.
    pub(super) fn add(&self, records: Vec<BlockRecord>, dirty: Dirty) {
        let mut inner = self.inner.lock();
        inner.bytes += records.iter().map(BlockRecord::bytes_at_most).sum::<u64>();
        inner.records.extend(records);
        inner.dirty.extend(dirty);
        let (files, waiting) = (inner.dirty.len(), self.thresholds.waiting.max(1));
        let is_within = inner.over || files < waiting.saturating_add(self.thresholds.gathered.max(1));
        assert!(is_within, "thresholds, invariant 2: {files} files wait for the commit, {waiting} stop the writer");
        if inner.dirty.len() >= self.thresholds.requested {
            inner.wanted = true;
            self.changed.notify_all();
        }
        while inner.dirty.len() >= self.thresholds.waiting.max(1) && !inner.over {
            inner.wanted = true;
            self.changed.notify_all();
            self.changed.wait(&mut inner);
        }
    }

    /// Records that nothing more will be written.
    pub(super) fn end(&self) {
        self.inner.lock().over = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::BlockId;
    use crate::storage::{Create, Storage};
    use crate::testing::SimulatedStorage;

    const AT_ONCE: Duration = Duration::from_millis(1);
    /// Longer than any test takes, unless it fails.
    const LONG: Duration = Duration::from_secs(100);

    fn queue(requested: usize, waiting: usize) -> CommitQueue {
        CommitQueue::new(Thresholds { requested, waiting, ..Thresholds::SMALLEST })
    }

    fn files(numbers: std::ops::Range<u32>) -> Dirty {
        let disk = SimulatedStorage::new(1);
        numbers
            .map(|number| format!("x{number}"))
            .map(|name| (name.clone(), disk.create(&name, Create::New).unwrap()))
            .collect()
    }

    fn block(number: u32) -> Vec<BlockRecord> {
        vec![BlockRecord { block: BlockId(number), ..BlockRecord::default() }]
    }

    /// Blocks, files, end and request of what was taken.
    fn seen(pending: &CommitBatch) -> (usize, usize, bool, bool) {
        (pending.records.len(), pending.dirty.len(), pending.over, pending.wanted)
    }

    #[test]
    fn files_wait_for_a_block_or_a_request() {
        let queue = queue(3, 9);
        assert_eq!(seen(&queue.take(AT_ONCE)), (0, 0, false, false));
        queue.add(Vec::new(), files(0..1));
        assert_eq!(seen(&queue.take(AT_ONCE)), (0, 0, false, false));
        queue.add(block(1), files(1..2));
        assert_eq!(seen(&queue.take(AT_ONCE)), (1, 2, false, false));
        assert_eq!(seen(&queue.take(AT_ONCE)), (0, 0, false, false));
        queue.add(Vec::new(), files(0..3));
        assert_eq!(seen(&queue.take(LONG)), (0, 3, false, true));
        assert_eq!(seen(&queue.take(AT_ONCE)), (0, 0, false, false));
    }

    #[test]
    fn a_commit_waits_for_its_time() {
        let queue = queue(3, 9);
        queue.add(block(1), files(0..1));
        let (begin, interval) = (std::time::Instant::now(), Duration::from_millis(50));
        assert_eq!(seen(&queue.take(interval)), (1, 1, false, false));
        assert!(begin.elapsed() >= interval);
    }

    #[test]
    fn the_end_wakes_and_stays() {
        let queue = queue(3, 9);
        let begin = std::time::Instant::now();
        std::thread::scope(|scope| {
            let taken = scope.spawn(|| queue.take(LONG));
            queue.end();
            assert_eq!(seen(&taken.join().unwrap()), (0, 0, true, false));
        });
        queue.add(block(1), files(0..1));
        for blocks in [1, 0] {
            assert_eq!(seen(&queue.take(LONG)), (blocks, blocks, true, false));
        }
        // After the end nobody would take the files: an addition does not wait for that.
        queue.add(Vec::new(), files(0..9));
        assert!(begin.elapsed() < LONG);
    }

    #[test]
    fn the_writer_waits_until_its_files_are_taken() {
        let queue = queue(usize::MAX, 2);
        queue.add(Vec::new(), files(0..1));
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| queue.add(block(1), files(1..2)));
            let taken = queue.take(LONG);
            let waits = !writer.is_finished();
            queue.committed();
            let begin = std::time::Instant::now();
            while !writer.is_finished() && begin.elapsed() < LONG {
                std::thread::yield_now();
            }
            let is_woken = writer.is_finished();
            // A failed test ends, too.
            queue.end();
            assert_eq!(seen(&taken), (1, 2, false, true));
            assert!(waits && is_woken, "it waits until the files are synced: {waits}, {is_woken}");
        });
    }
}
