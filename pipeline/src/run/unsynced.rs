//! Written blocks that are not committed yet, on their way from the writer to the committer.

use crate::checkpoint::BlockRecord;
use crate::log::writer::Dirty;
use crate::sync::{Condvar, Mutex};
use std::time::Duration;

/// Number of unsynced handles at which a commit is requested and the writer waits for it.
const HANDLES_SOFT: usize = 256;
const HANDLES_HARD: usize = 640;

/// Written blocks and files that wait for the next commit.
#[derive(Default)]
pub(super) struct Unsynced {
    inner: Mutex<Pending>,
    changed: Condvar,
}

/// Content of [`Unsynced`].
#[derive(Default)]
pub(super) struct Pending {
    /// Blocks whose bytes are written.
    pub records: Vec<BlockRecord>,
    /// Files with unsynced bytes.
    pub dirty: Dirty,
    /// Whether the writer has ended, for whatever reason.
    pub over: bool,
    /// Whether a commit is requested before its time.
    pub wanted: bool,
}

impl Unsynced {
    /// Waits for `interval`, for a requested commit or for the end of the writer, then takes
    /// everything.
    pub(super) fn take(&self, interval: Duration) -> Pending {
        let mut inner = self.inner.lock();
        if !inner.over && !inner.wanted {
            self.changed.wait_while_for(&mut inner, |pending| !pending.over && !pending.wanted, interval);
        }
        let over = inner.over;
        std::mem::replace(&mut *inner, Pending { over, ..Pending::default() })
    }

    /// Wakes a writer that waits for handles.
    pub(super) fn committed(&self) {
        self.changed.notify_all();
    }

    /// Adds written blocks and files with unsynced bytes; waits while there are too many of these.
    pub(super) fn add(&self, records: Vec<BlockRecord>, dirty: Dirty) {
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
    pub(super) fn restore(&self, dirty: Dirty) {
        self.inner.lock().dirty.extend(dirty);
    }

    /// Records that nothing more will be written.
    pub(super) fn end(&self) {
        self.inner.lock().over = true;
        self.changed.notify_all();
    }
}
