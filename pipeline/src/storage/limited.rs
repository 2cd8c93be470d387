//! A run folder with a byte limit: an artificial full disk.
//!
//! Every file counts with its length, or with its reserved space if that is more, rounded up to
//! [`ALLOTMENT_BYTES`], the unit in which file systems allot space. Folders and the file system's
//! own metadata do not count.
//!
//! # Invariants
//! 1. Changes made through this storage never raise the sum above the limit. Files that existed
//!    before count, and can exceed it.
//! 2. A write beyond the limit changes nothing and fails as on a full disk
//!    ([`Error::is_full_disk`]), so every caller behaves as it does there.
//! 3. A write that fails in the inner storage stays counted: the size of its effect is unknown.
//!
//! The limit stops a run instead of slowing it down: the block graph determines the peak space, and
//! waiting does not lower it.

use super::{Create, Entry, EntryKind, LockGuard, Storage, StorageFile, pass_on};
use crate::Error;
use crate::sync::Mutex;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The space of a file is a multiple of this, in bytes.
pub const ALLOTMENT_BYTES: u64 = 4096;

/// A refused write, as the source of an [`Error::Io`].
#[derive(Debug, thiserror::Error)]
#[error("the limit of the folder is reached")]
pub struct LimitReached {
    /// The limit, in bytes.
    pub limit_bytes: u64,
    /// Space that the folder takes now, in bytes.
    pub used_bytes: u64,
}

/// A storage that limits the space of its files.
pub struct LimitedStorage {
    inner: Arc<dyn Storage>,
    usage: Arc<Usage>,
}

struct Usage {
    limit_bytes: u64,
    counted: Mutex<FileSizes>,
}

#[derive(Default)]
struct FileSizes {
    used_bytes: u64,
    /// Files by name; a removed or replaced one has no name and does not count.
    names: BTreeMap<String, u64>,
    /// Lengths of the files that have a name, by number.
    lengths: BTreeMap<u64, u64>,
    next: u64,
}

impl FileSizes {
    /// Returns the number of a file, and counts the file from now on.
    fn number(&mut self, name: &str, length: u64) -> u64 {
        if let Some(number) = self.names.get(name) {
            return *number;
        }
        let number = self.next;
        self.next += 1;
        self.names.insert(name.to_string(), number);
        self.lengths.insert(number, length);
        self.used_bytes = self.used_bytes.saturating_add(allotted(length));
        number
    }

    fn add_name(&mut self, from: &str, to: &str) {
        if let Some(number) = self.names.get(from).copied() {
            self.names.insert(to.to_string(), number);
        }
    }

    fn forget(&mut self, name: &str) {
        let number = self.names.remove(name);
        // The file may still exist under another name.
        let gone = number.filter(|number| !self.names.values().any(|other| other == number));
        if let Some(length) = gone.and_then(|number| self.lengths.remove(&number)) {
            self.used_bytes = self.used_bytes.saturating_sub(allotted(length));
        }
    }

    fn set_length(&mut self, number: u64, length: u64) {
        if let Some(counted) = self.lengths.get_mut(&number) {
            self.used_bytes = (self.used_bytes - allotted(*counted)).saturating_add(allotted(length));
            *counted = length;
        }
    }
}

fn allotted(length: u64) -> u64 {
    length.div_ceil(ALLOTMENT_BYTES).saturating_mul(ALLOTMENT_BYTES)
}

impl Usage {
    /// Counts a file that a write extends to `end`, or refuses the write.
    fn grow(&self, number: u64, end: u64) -> Result<(), io::Error> {
        let mut counted = self.counted.lock();
        let Some(length) = counted.lengths.get(&number).copied().filter(|length| *length < end) else {
            return Ok(());
        };
        let more = allotted(end) - allotted(length);
        if more > 0 && counted.used_bytes.saturating_add(more) > self.limit_bytes {
            let reached = LimitReached { limit_bytes: self.limit_bytes, used_bytes: counted.used_bytes };
            return Err(io::Error::new(io::ErrorKind::StorageFull, reached));
        }
        counted.set_length(number, end);
        assert!(more == 0 || counted.used_bytes <= self.limit_bytes, "limited storage, invariant 1: {more} bytes more");
        debug_assert_eq!(
            counted.used_bytes,
            counted.lengths.values().fold(0, |sum: u64, length| sum.saturating_add(allotted(*length))),
            "limited storage, invariant 1: the sum of the files"
        );
        Ok(())
    }
}

impl LimitedStorage {
    /// Counts the files in the folder and the folders in it, and every change from now on.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the folder cannot be listed.
    pub fn new(inner: Arc<dyn Storage>, limit_bytes: u64) -> Result<LimitedStorage, Error> {
        let mut counted = FileSizes::default();
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            let entries = match inner.list(&folder) {
                // The folder may be someone else's; if it is the run's, opening reports the error.
                Err(_) if !folder.is_empty() => continue,
                entries => entries?,
            };
            for entry in entries {
                let is_top = folder.is_empty();
                let name = if is_top { entry.name } else { format!("{folder}/{}", entry.name) };
                match entry.kind {
                    EntryKind::File => drop(counted.number(&name, entry.length)),
                    EntryKind::Folder if is_top && super::is_valid_name(&name) => folders.push(name),
                    EntryKind::Folder | EntryKind::Other => {}
                }
            }
        }
        Ok(LimitedStorage { inner, usage: Arc::new(Usage { limit_bytes, counted: Mutex::new(counted) }) })
    }

    /// Returns the space that the files take now, in bytes.
    pub fn used_bytes(&self) -> u64 {
        self.usage.counted.lock().used_bytes
    }

    fn file(&self, number: u64, inner: Arc<dyn StorageFile>) -> Arc<dyn StorageFile> {
        Arc::new(LimitedFile { inner, number, usage: Arc::clone(&self.usage) })
    }
}

impl Storage for LimitedStorage {
    pass_on! { self.inner =>
        fn path(&self, name: &str) -> PathBuf;
        fn create_dir(&self, name: &str) -> Result<(), Error>;
        fn list(&self, folder: &str) -> Result<Vec<Entry>, Error>;
        fn length(&self, name: &str) -> Result<Option<u64>, Error>;
        fn open(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error>;
        fn announce(&self, name: &str, offset: u64, length: u64);
        fn sync_dir(&self, folder: &str) -> Result<(), Error>;
        fn idle(&self, name: &str) -> Result<Option<Duration>, Error>;
        fn lock(&self, name: &str) -> Result<LockGuard, Error>;
        fn sync_parallelism(&self) -> usize;
    }

    fn create(&self, name: &str, create: Create) -> Result<Arc<dyn StorageFile>, Error> {
        let file = self.inner.create(name, create)?;
        let mut counted = self.usage.counted.lock();
        let number = counted.number(name, 0);
        counted.set_length(number, 0);
        drop(counted);
        Ok(self.file(number, file))
    }

    fn open_write(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error> {
        let file = self.inner.open_write(name)?;
        let length = file.length()?;
        let number = self.usage.counted.lock().number(name, length);
        Ok(self.file(number, file))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        self.inner.rename(from, to)?;
        let mut counted = self.usage.counted.lock();
        counted.forget(to);
        if let Some(number) = counted.names.remove(from) {
            counted.names.insert(to.to_string(), number);
        }
        Ok(())
    }

    fn link(&self, from: &str, to: &str) -> Result<(), Error> {
        self.inner.link(from, to)?;
        self.usage.counted.lock().add_name(from, to);
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<(), Error> {
        self.inner.remove(name)?;
        self.usage.counted.lock().forget(name);
        Ok(())
    }

    fn free_bytes(&self) -> Result<u64, Error> {
        let left = self.usage.limit_bytes.saturating_sub(self.used_bytes());
        Ok(self.inner.free_bytes()?.min(left))
    }
}

struct LimitedFile {
    inner: Arc<dyn StorageFile>,
    number: u64,
    usage: Arc<Usage>,
}

impl StorageFile for LimitedFile {
    pass_on! { self.inner =>
        fn path(&self) -> PathBuf;
        fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error>;
        fn sync(&self) -> Result<(), Error>;
        fn length(&self) -> Result<u64, Error>;
    }

    fn reserve(&self, end: u64) -> Result<(), Error> {
        let grown = self.usage.grow(self.number, end);
        grown.map_err(|error| Error::io("reserve", self.inner.path(), error))?;
        self.inner.reserve(end)
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        let grown = self.usage.grow(self.number, offset.saturating_add(bytes.len() as u64));
        grown.map_err(|error| Error::io_at("write", self.inner.path(), offset, error))?;
        self.inner.write_all_at(bytes, offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SimulatedStorage;

    fn limited(limit_bytes: u64) -> LimitedStorage {
        let disk = SimulatedStorage::new(1);
        disk.create_dir("logs").unwrap();
        disk.put("logs/old", &[1; 5000]);
        LimitedStorage::new(Arc::new(disk), limit_bytes).unwrap()
    }

    #[test]
    fn files_count_in_whole_allotments_until_they_are_gone() {
        let storage = limited(5 << 12);
        assert_eq!(storage.used_bytes(), 2 << 12);
        let file = storage.create("logs/new", Create::New).unwrap();
        file.write_all_at(&[1; 4096], 0).unwrap();
        file.write_all_at(&[2; 4096], 0).unwrap();
        assert_eq!(storage.used_bytes(), 3 << 12);
        file.write_all_at(&[3], 4096).unwrap();
        assert_eq!((storage.used_bytes(), storage.free_bytes().unwrap()), (4 << 12, 1 << 12));
        storage.rename("logs/new", "logs/old").unwrap();
        assert_eq!(storage.used_bytes(), 2 << 12);
        // The handle follows the file to its new name.
        file.write_all_at(&[4; 4096], 8192).unwrap();
        assert_eq!(storage.used_bytes(), 3 << 12);
        storage.remove("logs/old").unwrap();
        assert_eq!(storage.used_bytes(), 0);
        file.write_all_at(&[5; 1 << 16], 0).unwrap();
        assert_eq!(storage.used_bytes(), 0);
    }

    #[test]
    fn a_file_with_two_names_counts_once_until_both_are_gone() {
        let storage = limited(5 << 12);
        storage.link("logs/old", "logs/new").unwrap();
        assert_eq!(storage.used_bytes(), 2 << 12);
        storage.remove("logs/old").unwrap();
        assert_eq!(storage.used_bytes(), 2 << 12);
        storage.remove("logs/new").unwrap();
        assert_eq!(storage.used_bytes(), 0);
    }

    #[test]
    fn what_is_reserved_counts_and_can_be_written() {
        let storage = limited(4 << 12);
        let file = storage.create("logs/new", Create::New).unwrap();
        file.reserve(2 << 12).unwrap();
        assert_eq!((storage.used_bytes(), file.length().unwrap()), (4 << 12, 0));
        assert!(file.reserve((2 << 12) + 1).unwrap_err().is_full_disk());
        let other = storage.create("logs/other", Create::New).unwrap();
        assert!(other.write_all_at(&[1], 0).unwrap_err().is_full_disk());
        file.write_all_at(&[1; 2 << 12], 0).unwrap();
    }

    #[test]
    fn a_write_beyond_the_limit_is_a_full_disk_and_changes_nothing() {
        let storage = limited(3 << 12);
        let file = storage.create("logs/new", Create::New).unwrap();
        file.write_all_at(&[1; 10], 0).unwrap();
        let error = file.write_all_at(&[2; 5000], 5).unwrap_err();
        assert!(error.is_full_disk(), "{error:?}");
        assert!(matches!(&error, Error::Io { operation: "write", offset: Some(5), .. }), "{error:?}");
        assert_eq!(storage.length("logs/new").unwrap(), Some(10));
        // A write within the allotment fits.
        file.write_all_at(&[3; 4000], 10).unwrap();
        let cut = storage.create("logs/old", Create::Truncate).unwrap();
        cut.write_all_at(&[4; 8192], 0).unwrap();
        assert_eq!(storage.used_bytes(), 3 << 12);
        let opened = storage.open_write("logs/new").unwrap();
        assert!(opened.write_all_at(&[5; 4096], 1).unwrap_err().is_full_disk());
    }
}
