//! A device with one arm in front of any storage: it counts how often writes to logs seek.
//!
//! Sorting log writes into runs pays on devices that seek; an SSD hardly shows the difference. Each
//! file is contiguous and far from every other file. A read or write that begins where the last one
//! ended, or little further on in the same file, continues; every other one seeks first. Operations
//! on names and syncs are free.

use pipeline::storage::{Create, Entry, LockGuard, pass_on};
use pipeline::{Error, Storage, StorageFile};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A gap that passes under the head in the time of a seek: 8 ms at 150 MB/s.
const GAP_BYTES: u64 = 1_200_000;

#[derive(Default)]
struct Arm {
    /// File and offset.
    head: Mutex<Option<(String, u64)>>,
    seeks_to_write_logs: AtomicU64,
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
    pub fn new(inner: Arc<dyn Storage>) -> SeekStorage {
        SeekStorage { inner, arm: Arc::default() }
    }

    /// Returns how many writes to logs had to seek.
    pub fn seeks_to_write_logs(&self) -> u64 {
        self.arm.seeks_to_write_logs.load(Ordering::Relaxed)
    }

    fn file(&self, name: &str, file: Arc<dyn StorageFile>) -> Arc<dyn StorageFile> {
        Arc::new(SeekFile { file, name: name.to_owned(), arm: self.arm.clone() })
    }
}

impl SeekFile {
    /// Moves the head over these bytes; returns whether it had to seek.
    fn pass(&self, offset: u64, bytes: usize) -> bool {
        let before = self.arm.head.lock().unwrap().replace((self.name.clone(), offset + bytes as u64));
        !before.is_some_and(|(name, head)| name == self.name && (head..=head + GAP_BYTES).contains(&offset))
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
        fn sync(&self) -> Result<(), Error>;
        fn length(&self) -> Result<u64, Error>;
    }
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error> {
        self.pass(offset, buffer.len());
        self.file.read_exact_at(buffer, offset)
    }
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        if self.pass(offset, bytes.len()) && self.name.starts_with("logs/") {
            self.arm.seeks_to_write_logs.fetch_add(1, Ordering::Relaxed);
        }
        self.file.write_all_at(bytes, offset)
    }
}
