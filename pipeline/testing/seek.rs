//! A device with one arm in front of any storage. It counts bytes and seeks, and takes the time for
//! them if it has a speed.
//!
//! Sorting log writes into runs pays on devices that seek; an SSD hardly shows the difference. Each
//! file is contiguous and far from every other file. A read or write seeks unless it begins where
//! the last one ended, or a short gap later in the same file. Nothing is cached, and operations on
//! names and syncs are free.

use parking_lot::Mutex;
use pipeline::storage::{Create, Entry, LockGuard, pass_on};
use pipeline::{Error, Storage, StorageFile};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A gap that passes under the head in the time of a seek: 8 ms at 150 MB/s.
const GAP_BYTES: u64 = 1_200_000;

/// How fast a device is.
#[derive(Clone, Copy, Debug)]
pub struct Speed {
    /// Time of a seek.
    pub seek: Duration,
    /// Bytes that pass in a second.
    pub bytes_per_second: u64,
}

/// What a device has transferred.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passed {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Reads and writes that did not continue the previous one.
    pub seeks: u64,
    /// Seeks for writes to logs, included above.
    pub seeks_to_write_logs: u64,
}

#[derive(Default)]
struct Arm {
    speed: Option<Speed>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// File and offset.
    head: Option<(String, u64)>,
    passed: Passed,
}

/// A storage on a device that seeks.
pub struct SeekStorage {
    inner: Arc<dyn Storage>,
    arm: Arc<Arm>,
}

struct SeekFile {
    file: Arc<dyn StorageFile>,
    name: String,
    arm: Arc<Arm>,
}

impl SeekStorage {
    /// Puts the device in front of `inner`; without a speed it only counts.
    pub fn new(inner: Arc<dyn Storage>, speed: Option<Speed>) -> SeekStorage {
        SeekStorage { inner, arm: Arc::new(Arm { speed, ..Arm::default() }) }
    }

    /// Returns what was transferred so far.
    pub fn passed(&self) -> Passed {
        self.arm.state.lock().passed
    }

    fn file(&self, name: &str, file: Arc<dyn StorageFile>) -> Arc<dyn StorageFile> {
        Arc::new(SeekFile { file, name: name.to_owned(), arm: self.arm.clone() })
    }
}

impl SeekFile {
    /// Moves the head over these bytes. There is one arm, so other calls wait.
    fn pass(&self, offset: u64, bytes: usize, is_write: bool) {
        let mut state = self.arm.state.lock();
        let before = state.head.replace((self.name.clone(), offset + bytes as u64));
        let seeks =
            !before.is_some_and(|(name, head)| name == self.name && (head..=head + GAP_BYTES).contains(&offset));
        let passed = &mut state.passed;
        *(if is_write { &mut passed.written_bytes } else { &mut passed.read_bytes }) += bytes as u64;
        passed.seeks += u64::from(seeks);
        passed.seeks_to_write_logs += u64::from(seeks && is_write && self.name.starts_with("logs/"));
        if let Some(Speed { seek, bytes_per_second }) = self.arm.speed {
            let transfer = Duration::from_secs_f64(bytes as f64 / bytes_per_second as f64);
            std::thread::sleep(if seeks { seek + transfer } else { transfer });
        }
    }
}

impl Storage for SeekStorage {
    pass_on! { self.inner =>
        fn path(&self, name: &str) -> PathBuf;
        fn create_dir(&self, name: &str) -> Result<(), Error>;
        fn list(&self, folder: &str) -> Result<Vec<Entry>, Error>;
        fn length(&self, name: &str) -> Result<Option<u64>, Error>;
        fn sync_dir(&self, folder: &str) -> Result<(), Error>;
        fn rename(&self, from: &str, to: &str) -> Result<(), Error>;
        fn remove(&self, name: &str) -> Result<(), Error>;
        fn lock(&self, name: &str) -> Result<LockGuard, Error>;
        fn free_bytes(&self) -> Result<u64, Error>;
    }
    fn create(&self, name: &str, create: Create) -> Result<Arc<dyn StorageFile>, Error> {
        Ok(self.file(name, self.inner.create(name, create)?))
    }
    fn open(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error> {
        Ok(self.file(name, self.inner.open(name)?))
    }
    fn open_write(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error> {
        Ok(self.file(name, self.inner.open_write(name)?))
    }
}

impl StorageFile for SeekFile {
    pass_on! { self.file =>
        fn path(&self) -> PathBuf;
        fn reserve(&self, end: u64) -> Result<(), Error>;
        fn sync(&self) -> Result<(), Error>;
        fn length(&self) -> Result<u64, Error>;
    }
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error> {
        self.pass(offset, buffer.len(), false);
        self.file.read_exact_at(buffer, offset)
    }
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        self.pass(offset, bytes.len(), true);
        self.file.write_all_at(bytes, offset)
    }
}
