//! The file system as a [`Storage`]: plain positional calls of the standard library.
//!
//! Every file is opened by its full path below one root folder and kept as a [`File`]. All calls go
//! through the C library, so tools that interpose calls see them.
//!
//! The invariants are those of [`super`], and one more: a name that is a pipe, a device or a folder
//! is refused without waiting for it, because files are opened non-blocking and their kind is
//! checked first.
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "the storage on real folders")]

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::num::NonZeroU64;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{Create, Entry, EntryKind, LockGuard, Storage, StorageFile, is_valid_name, regular};
use crate::Error;
use rustix::fs::Advice;

/// Concurrent syncs. On a virtual disk with 2 cores, syncing 1,024 files of 64 KiB took 5.6 s one
/// by one and 0.1 to 0.8 s with 16 threads.
const SYNC_PARALLELISM: usize = 16;

/// Bytes of an announcement. Linux fetches no more at once than the read-ahead of the device, 128
/// KiB unless set, or its largest request, and drops the rest.
const ANNOUNCED_AT_ONCE: u64 = 128 << 10;

/// State shared by the store and its files.
#[derive(Debug)]
struct Health {
    syncs: bool,
    poisoned: AtomicBool,
}

impl Health {
    fn check(&self) -> Result<(), Error> {
        if self.poisoned.load(Ordering::SeqCst) {
            return Err(Error::Poisoned);
        }
        Ok(())
    }

    fn sync(&self, path: &Path, sync: impl FnOnce() -> io::Result<()>) -> Result<(), Error> {
        self.check()?;
        if !self.syncs {
            return Ok(());
        }
        sync().map_err(|source| {
            self.poisoned.store(true, Ordering::SeqCst);
            Error::io("sync", path, source)
        })
    }
}

/// A lock, which ends here and not with the last copy of the file: another thread may be starting a
/// program, which has every open file for a moment.
struct LockedFile(File);

impl Drop for LockedFile {
    fn drop(&mut self) {
        // If this fails, the lock ends when the file is closed.
        let _ = self.0.unlock();
    }
}

/// A run folder on the file system.
#[derive(Debug)]
pub struct RealStorage {
    root: PathBuf,
    health: Arc<Health>,
}

impl RealStorage {
    /// Opens the folder; creates it and its parents durably if needed.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn create(root: impl Into<PathBuf>) -> Result<Self, Error> {
        let root = root.into();
        let root = std::path::absolute(&root).map_err(|error| Error::io("find", &root, error))?;
        let missing: Vec<&Path> = root.ancestors().take_while(|folder| !folder.exists()).collect();
        fs::create_dir_all(&root).map_err(|error| Error::io("create", &root, error))?;
        for folder in missing.iter().rev().filter_map(|folder| folder.parent()) {
            sync_folder(folder).map_err(|error| Error::io("sync", folder, error))?;
        }
        if missing.is_empty()
            && let Some(parent) = root.parent()
        {
            // An earlier start may have ended between creating the folder and syncing its name. If
            // this program may not read a folder, it did not create it, so an error here means
            // nothing.
            let _ = sync_folder(parent);
        }
        Self::open(root)
    }

    /// Opens an existing folder.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if it does not exist or is not a folder.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, Error> {
        let root = root.into();
        let metadata = fs::metadata(&root).map_err(|error| Error::io("open", &root, error))?;
        if !metadata.is_dir() {
            let kind = io::Error::from(io::ErrorKind::NotADirectory);
            return Err(Error::io("open", &root, kind));
        }
        Ok(Self { root, health: Arc::new(Health { syncs: true, poisoned: AtomicBool::new(false) }) })
    }

    /// Removes a folder for temporary files with all that is in it.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn remove_folder(folder: &Path) -> Result<(), Error> {
        fs::remove_dir_all(folder).map_err(|error| Error::io("remove", folder, error))
    }

    /// Returns the folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Turns syncs on or off. Without them a power cut may cost the whole run; use it to measure
    /// the cost of durability, and for scratch runs on a folder in memory.
    #[must_use]
    pub fn with_syncs(self, syncs: bool) -> Self {
        let poisoned = AtomicBool::new(self.health.poisoned.load(Ordering::SeqCst));
        Self { root: self.root, health: Arc::new(Health { syncs, poisoned }) }
    }

    fn full(&self, operation: &'static str, name: &str) -> Result<PathBuf, Error> {
        let path = self.path(name);
        if !name.is_empty() && !is_valid_name(name) {
            let kind = io::Error::from(io::ErrorKind::InvalidFilename);
            return Err(Error::io(operation, path, kind));
        }
        Ok(path)
    }

    fn open_as(&self, operation: &'static str, name: &str, options: &mut OpenOptions) -> Result<RealFile, Error> {
        let path = self.full(operation, name)?;
        let file = regular::open_as(operation, &path, options)?;
        Ok(RealFile { file, path, health: Arc::clone(&self.health) })
    }
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

impl Storage for RealStorage {
    fn path(&self, name: &str) -> PathBuf {
        // Joined with an empty name, it would end in a slash.
        if name.is_empty() { self.root.clone() } else { self.root.join(name) }
    }

    fn create_dir(&self, name: &str) -> Result<(), Error> {
        self.health.check()?;
        let path = self.full("create", name)?;
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
            other => other.map_err(|error| Error::io("create", &path, error)),
        }
    }

    fn list(&self, folder: &str) -> Result<Vec<Entry>, Error> {
        let path = self.full("list", folder)?;
        let failed = |error| Error::io("list", &path, error);
        let mut entries = Vec::new();
        for entry in fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            // Follows links; a dangling one, or a file removed meanwhile, is "other".
            let (kind, length) = match fs::metadata(entry.path()) {
                Ok(metadata) if metadata.is_file() => (EntryKind::File, metadata.len()),
                Ok(metadata) if metadata.is_dir() => (EntryKind::Folder, 0),
                Ok(_) => (EntryKind::Other, 0),
                Err(error) if error.kind() == io::ErrorKind::NotFound => (EntryKind::Other, 0),
                Err(error) => return Err(Error::io("measure", entry.path(), error)),
            };
            entries.push(Entry { name: entry.file_name().to_string_lossy().into_owned(), kind, length });
        }
        Ok(entries)
    }

    fn length(&self, name: &str) -> Result<Option<u64>, Error> {
        let path = self.full("measure", name)?;
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => Ok(Some(metadata.len())),
            Ok(_) => Err(regular::not_a_file(&path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("measure", &path, error)),
        }
    }

    fn create(&self, name: &str, create: Create) -> Result<Arc<dyn StorageFile>, Error> {
        self.health.check()?;
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        match create {
            Create::New => options.create_new(true),
            Create::Truncate => options.create(true).truncate(true),
        };
        Ok(Arc::new(self.open_as("create", name, &mut options)?))
    }

    fn open(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error> {
        let mut options = OpenOptions::new();
        options.read(true);
        Ok(Arc::new(self.open_as("open", name, &mut options)?))
    }

    fn announce(&self, name: &str, offset: u64, length: u64) {
        let mut options = OpenOptions::new();
        // Anything wrong with the file shows when it is read.
        if let Ok(file) = self.open_as("open", name, options.read(true)) {
            let end = offset.saturating_add(length);
            for at in (offset..end).step_by(ANNOUNCED_AT_ONCE as usize) {
                let length = NonZeroU64::new(ANNOUNCED_AT_ONCE.min(end - at));
                let _ = rustix::fs::fadvise(&file.file, at, length, Advice::WillNeed);
            }
        }
    }

    fn open_write(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error> {
        self.health.check()?;
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        Ok(Arc::new(self.open_as("open", name, &mut options)?))
    }

    fn sync_dir(&self, folder: &str) -> Result<(), Error> {
        let path = self.full("sync", folder)?;
        self.health.sync(&path, || sync_folder(&path))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        self.health.check()?;
        let target = self.full("rename", to)?;
        fs::rename(self.full("rename", from)?, &target).map_err(|error| Error::io("rename to", &target, error))
    }

    fn link(&self, from: &str, to: &str) -> Result<(), Error> {
        self.health.check()?;
        let target = self.full("link", to)?;
        fs::hard_link(self.full("link", from)?, &target).map_err(|error| {
            // EPERM, EXDEV, EMLINK: what file systems say that have no links, or not these.
            let unsupported = matches!(error.raw_os_error(), Some(1 | 18 | 31));
            let error = if unsupported { io::Error::new(io::ErrorKind::Unsupported, error) } else { error };
            Error::io("link", &target, error)
        })
    }

    fn remove(&self, name: &str) -> Result<(), Error> {
        self.health.check()?;
        let path = self.full("remove", name)?;
        fs::remove_file(&path).map_err(|error| Error::io("remove", &path, error))
    }

    fn idle(&self, name: &str) -> Result<Option<Duration>, Error> {
        let path = self.full("measure", name)?;
        match fs::metadata(&path).and_then(|metadata| metadata.modified()) {
            // A file from the future, by another machine's clock, was written just now.
            Ok(modified) => Ok(Some(modified.elapsed().unwrap_or_default())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("measure", &path, error)),
        }
    }

    fn lock(&self, name: &str) -> Result<LockGuard, Error> {
        let (file, path) = if name.is_empty() {
            let file = File::open(&self.root).map_err(|error| Error::io("lock", &self.root, error))?;
            (file, self.root.clone())
        } else {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            let RealFile { file, path, .. } = self.open_as("lock", name, &mut options)?;
            (file, path)
        };
        let failed = |error| Error::io("lock", &path, error);
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Locked { path }),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // The lock belongs to the file, not to its name: if the name was replaced since the file
        // was opened, another process can hold the lock of the new file.
        let held = file.metadata().map_err(failed)?;
        let named = fs::metadata(&path).map_err(failed)?;
        if (held.dev(), held.ino()) != (named.dev(), named.ino()) {
            return Err(Error::Locked { path });
        }
        Ok(Box::new(LockedFile(file)))
    }

    fn free_bytes(&self) -> Result<u64, Error> {
        let figures =
            rustix::fs::statvfs(&self.root).map_err(|error| Error::io("measure", &self.root, error.into()))?;
        // Available, not free: part of the free blocks may be reserved for the system.
        Ok(figures.f_bavail.saturating_mul(figures.f_frsize))
    }

    fn sync_parallelism(&self) -> usize {
        SYNC_PARALLELISM
    }
}

/// An open file of a [`RealStorage`].
#[derive(Debug)]
struct RealFile {
    file: File,
    path: PathBuf,
    health: Arc<Health>,
}

impl StorageFile for RealFile {
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error> {
        self.file.read_exact_at(buffer, offset).map_err(|error| {
            if error.kind() == io::ErrorKind::UnexpectedEof {
                Error::early_end(&self.path, offset, buffer.len() as u64)
            } else {
                Error::io_at("read", &self.path, offset, error)
            }
        })
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        self.health.check()?;
        self.file.write_all_at(bytes, offset).map_err(|error| Error::io_at("write", &self.path, offset, error))
    }

    fn sync(&self) -> Result<(), Error> {
        self.health.sync(&self.path, || self.file.sync_data())
    }

    fn length(&self) -> Result<u64, Error> {
        let metadata = self.file.metadata();
        Ok(metadata.map_err(|error| Error::io("measure", &self.path, error))?.len())
    }
}
