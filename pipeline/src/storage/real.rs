//! The file system as a [`Storage`]: positional calls, by names relative to one open folder.
//!
//! The folder is opened once, and every name is resolved from its descriptor. If the folder is
//! renamed, work in it continues, and a folder that takes its name is neither read nor written.
//! Messages keep the path that the caller gave. `benches/DECISIONS.md` compares this with checking
//! the lock's name before each commit.
//!
//! All calls go through the C library (feature `use-libc` of `rustix`), so tools that interpose
//! calls see them.
//!
//! The invariants are those of [`super`], and one more: a name that is a pipe, a device or a folder
//! is refused without waiting for it, because files are opened non-blocking and their kind is
//! checked first.
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "the storage on real folders")]

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{Create, Entry, EntryKind, LockGuard, Storage, StorageFile, is_valid_name, regular};
use crate::Error;
use rustix::fs::{self as calls, Advice, AtFlags, CWD, Dir, FallocateFlags, FileType, Mode, OFlags};

/// Concurrent syncs. On a virtual disk with 2 cores, syncing 1,024 files of 64 KiB took 5.6 s one
/// by one and 0.1 to 0.8 s with 16 threads.
const SYNC_PARALLELISM: usize = 16;

/// Bytes of an announcement. Linux fetches at most the read-ahead of the device at once, 128 KiB
/// unless set, or its largest request, and drops the rest.
const ANNOUNCED_AT_ONCE: u64 = 128 << 10;

/// Number of attempts to take a lock: a reader of its state ([`File::try_lock_shared`], in
/// `trinim status`) holds it for an instant.
const LOCK_TRIES: usize = 10;
const LOCK_PAUSE: Duration = Duration::from_millis(5);

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

/// A lock that is released when this value is dropped, not with the last copy of the file: while
/// another thread starts a program, that program has every open file for a moment.
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
    /// The caller's path, for messages.
    root: PathBuf,
    /// The folder itself, a handle that neither reads nor writes.
    folder: OwnedFd,
    health: Arc<Health>,
}

impl RealStorage {
    /// Opens the folder; creates it and its parents durably if needed.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn create(root: impl Into<PathBuf>) -> Result<Self, Error> {
        let root = root.into();
        let whole = std::path::absolute(&root).map_err(|error| Error::io("find", &root, error))?;
        let missing: Vec<&Path> = whole.ancestors().take_while(|folder| !folder.exists()).collect();
        fs::create_dir_all(&whole).map_err(|error| Error::io("create", &root, error))?;
        for folder in missing.iter().rev().filter_map(|folder| folder.parent()) {
            File::open(folder)
                .and_then(|folder| folder.sync_all())
                .map_err(|error| Error::io("sync", folder, error))?;
        }
        let storage = Self::open(root)?;
        if missing.is_empty() {
            // An earlier start may have ended between creating the folder and syncing its name. If
            // this program cannot read a folder, it did not create it, so an error here has no
            // meaning.
            let _ = storage.open_folder("..").and_then(|parent| parent.sync_all());
        }
        Ok(storage)
    }

    /// Opens an existing folder.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if it does not exist or is not a folder.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, Error> {
        let root = root.into();
        let opened = regular::open_at(CWD, &root, OFlags::PATH | OFlags::DIRECTORY);
        let folder = opened.map_err(|error| Error::io("open", &root, error))?;
        Ok(Self::from_folder(root, folder))
    }

    fn from_folder(root: PathBuf, folder: OwnedFd) -> Self {
        Self { root, folder, health: Arc::new(Health { syncs: true, poisoned: AtomicBool::new(false) }) }
    }

    /// Opens a folder in this one.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if it does not exist or is not a folder.
    pub fn inner(&self, name: &str) -> Result<Self, Error> {
        let path = self.full("open", name)?;
        let opened = regular::open_at(&self.folder, name.as_ref(), OFlags::PATH | OFlags::DIRECTORY);
        let folder = opened.map_err(|error| Error::io("open", &path, error))?;
        Ok(Self::from_folder(path, folder))
    }

    /// Opens the parent folder, unless this program has no permission.
    pub fn outer(&self) -> Option<Self> {
        let folder = regular::open_at(&self.folder, "..".as_ref(), OFlags::PATH | OFlags::DIRECTORY).ok()?;
        let root = self.root.parent().filter(|root| !root.as_os_str().is_empty() && self.root.file_name().is_some());
        Some(Self::from_folder(root.map_or_else(|| self.root.join(".."), Path::to_path_buf), folder))
    }

    /// Removes a folder for temporary files with everything in it.
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

    /// Returns whether the name exists, with a file of any kind.
    pub fn has(&self, name: &str) -> bool {
        self.kind(name.as_ref()).is_ok()
    }

    /// Turns syncs on or off. Without them a power cut can cost the whole run; use it to measure
    /// the cost of durability, and for temporary runs on a folder in memory.
    #[must_use]
    pub fn with_syncs(self, syncs: bool) -> Self {
        let poisoned = AtomicBool::new(self.health.poisoned.load(Ordering::SeqCst));
        Self { health: Arc::new(Health { syncs, poisoned }), ..self }
    }

    fn full(&self, operation: &'static str, name: &str) -> Result<PathBuf, Error> {
        let path = self.path(name);
        if !name.is_empty() && !is_valid_name(name) {
            let kind = io::Error::from(io::ErrorKind::InvalidFilename);
            return Err(Error::io(operation, path, kind));
        }
        Ok(path)
    }

    fn open_as(&self, operation: &'static str, name: &str, flags: OFlags) -> Result<RealFile, Error> {
        let path = self.full(operation, name)?;
        let file = regular::open_regular_at(operation, &self.folder, name.as_ref(), &path, flags)?;
        Ok(RealFile { file, path, health: Arc::clone(&self.health) })
    }

    /// Opens a folder to list or sync it.
    fn open_folder(&self, name: &str) -> io::Result<File> {
        let name = if name.is_empty() { "." } else { name };
        regular::open_at(&self.folder, name.as_ref(), OFlags::RDONLY | OFlags::DIRECTORY).map(File::from)
    }

    /// Returns kind and length of the file with this name; follows links.
    fn kind(&self, name: &Path) -> io::Result<(EntryKind, u64)> {
        let found = calls::statat(&self.folder, name, AtFlags::empty())?;
        Ok(match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => (EntryKind::File, u64::try_from(found.st_size).unwrap_or(0)),
            FileType::Directory => (EntryKind::Folder, 0),
            _ => (EntryKind::Other, 0),
        })
    }

    fn is_link(&self, name: &Path) -> bool {
        calls::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
    }

    /// Returns the system's metadata of a file without reading it.
    fn metadata(&self, name: &str) -> io::Result<fs::Metadata> {
        File::from(regular::open_at(&self.folder, name.as_ref(), OFlags::PATH)?).metadata()
    }
}

/// Returns whether a link leads to something that this program cannot reach.
fn leads_nowhere(error: &io::Error) -> bool {
    // ELOOP has no stable kind.
    let is_circle = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    is_circle || matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::NotADirectory)
}

impl Storage for RealStorage {
    fn path(&self, name: &str) -> PathBuf {
        // Joined with an empty name, it would end in a slash.
        if name.is_empty() { self.root.clone() } else { self.root.join(name) }
    }

    fn create_dir(&self, name: &str) -> Result<(), Error> {
        self.health.check()?;
        let path = self.full("create", name)?;
        match calls::mkdirat(&self.folder, name, Mode::from_raw_mode(0o777)).map_err(io::Error::from) {
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists
                    && matches!(self.kind(name.as_ref()), Ok((EntryKind::Folder, _))) =>
            {
                Ok(())
            }
            other => other.map_err(|error| Error::io("create", &path, error)),
        }
    }

    fn list(&self, folder: &str) -> Result<Vec<Entry>, Error> {
        let path = self.full("list", folder)?;
        let failed = |error: io::Error| Error::io("list", &path, error);
        let opened = self.open_folder(folder).map_err(failed)?;
        let mut entries = Vec::new();
        for entry in Dir::new(opened).map_err(|error| failed(error.into()))? {
            let entry = entry.map_err(|error| failed(error.into()))?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let inner = Path::new(folder).join(name);
            // Follows links; a dangling one, or a file removed meanwhile, is "other". So is any
            // name that this storage cannot open, of any kind.
            let (kind, length) = match self.kind(&inner) {
                Ok(found) => found,
                Err(error) if error.kind() == io::ErrorKind::NotFound => (EntryKind::Other, 0),
                Err(_) if !name.to_str().is_some_and(is_valid_name) => (EntryKind::Other, 0),
                Err(error) if leads_nowhere(&error) && self.is_link(&inner) => (EntryKind::Other, 0),
                Err(error) => return Err(Error::io("measure", path.join(name), error)),
            };
            entries.push(Entry { name: name.to_string_lossy().into_owned(), kind, length });
        }
        Ok(entries)
    }

    fn length(&self, name: &str) -> Result<Option<u64>, Error> {
        let path = self.full("measure", name)?;
        match self.kind(name.as_ref()) {
            Ok((EntryKind::File, length)) => Ok(Some(length)),
            Ok(_) => Err(regular::not_a_file(&path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("measure", &path, error)),
        }
    }

    fn create(&self, name: &str, create: Create) -> Result<Arc<dyn StorageFile>, Error> {
        self.health.check()?;
        let how = match create {
            Create::New => OFlags::EXCL,
            Create::Truncate => OFlags::TRUNC,
        };
        Ok(Arc::new(self.open_as("create", name, OFlags::RDWR | OFlags::CREATE | how)?))
    }

    fn open(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error> {
        Ok(Arc::new(self.open_as("open", name, OFlags::RDONLY)?))
    }

    fn announce(&self, name: &str, offset: u64, length: u64) {
        // Errors are ignored here; they show when the file is read.
        if let Ok(file) = self.open_as("open", name, OFlags::RDONLY) {
            let end = offset.saturating_add(length);
            for at in (offset..end).step_by(ANNOUNCED_AT_ONCE as usize) {
                let length = NonZeroU64::new(ANNOUNCED_AT_ONCE.min(end - at));
                let _ = calls::fadvise(&file.file, at, length, Advice::WillNeed);
            }
        }
    }

    fn open_write(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error> {
        self.health.check()?;
        Ok(Arc::new(self.open_as("open", name, OFlags::RDWR)?))
    }

    fn sync_dir(&self, folder: &str) -> Result<(), Error> {
        let path = self.full("sync", folder)?;
        self.health.sync(&path, || self.open_folder(folder)?.sync_all())
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        self.health.check()?;
        let target = self.full("rename", to)?;
        self.full("rename", from)?;
        let renamed = calls::renameat(&self.folder, from, &self.folder, to);
        renamed.map_err(|error| Error::io("rename to", &target, error.into()))
    }

    fn link(&self, from: &str, to: &str) -> Result<(), Error> {
        self.health.check()?;
        let target = self.full("link", to)?;
        self.full("link", from)?;
        calls::linkat(&self.folder, from, &self.folder, to, AtFlags::empty()).map_err(|error| {
            let error = io::Error::from(error);
            // EPERM, EXDEV, EMLINK: the errors of file systems that do not support links, or not
            // these.
            let unsupported = matches!(error.raw_os_error(), Some(1 | 18 | 31));
            let error = if unsupported { io::Error::new(io::ErrorKind::Unsupported, error) } else { error };
            Error::io("link", &target, error)
        })
    }

    fn remove(&self, name: &str) -> Result<(), Error> {
        self.health.check()?;
        let path = self.full("remove", name)?;
        let removed = calls::unlinkat(&self.folder, name, AtFlags::empty());
        removed.map_err(|error| Error::io("remove", &path, error.into()))
    }

    fn idle(&self, name: &str) -> Result<Option<Duration>, Error> {
        let path = self.full("measure", name)?;
        match self.metadata(name).and_then(|metadata| metadata.modified()) {
            // A file from the future, by another machine's clock, was written just now.
            Ok(modified) => Ok(Some(modified.elapsed().unwrap_or_default())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("measure", &path, error)),
        }
    }

    fn lock(&self, name: &str) -> Result<LockGuard, Error> {
        let path = self.path(name);
        let failed = |error| Error::io("lock", &path, error);
        let file = if name.is_empty() {
            self.open_folder("").map_err(failed)?
        } else {
            self.open_as("lock", name, OFlags::RDWR | OFlags::CREATE)?.file
        };
        // Only the lock file is looked at by others, not the lock of a folder.
        let mut tries = 1..if name.is_empty() { 1 } else { LOCK_TRIES };
        let mut locked = file.try_lock();
        while matches!(locked, Err(TryLockError::WouldBlock)) && tries.next().is_some() {
            std::thread::sleep(LOCK_PAUSE);
            locked = file.try_lock();
        }
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Locked { path }),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // The lock belongs to the file, not to its name: if the name was replaced since the file
        // was opened, another process can hold the lock of the new file.
        let number = |found: io::Result<fs::Metadata>| found.map(|found| (found.dev(), found.ino())).map_err(failed);
        let named = || number(self.metadata(if name.is_empty() { "." } else { name }));
        let (held, found) = (number(file.metadata())?, named()?);
        // Numbers that change from look to look, as on some network file systems, prove nothing.
        if held != found && (held, found) == (number(file.metadata())?, named()?) {
            return Err(Error::Locked { path });
        }
        Ok(Box::new(LockedFile(file)))
    }

    fn free_bytes(&self) -> Result<u64, Error> {
        let figures = calls::fstatvfs(&self.folder);
        let figures = figures.map_err(|error| Error::io("measure", &self.root, error.into()))?;
        // File systems that are not on a disk have no blocks, and refuse files themselves.
        if figures.f_blocks == 0 {
            return Ok(u64::MAX);
        }
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

    fn reserve(&self, end: u64) -> Result<(), Error> {
        self.health.check()?;
        match calls::fallocate(&self.file, FallocateFlags::KEEP_SIZE, 0, end).map_err(io::Error::from) {
            Err(error)
                if error.kind() == io::ErrorKind::StorageFull || error.kind() == io::ErrorKind::QuotaExceeded =>
            {
                Err(Error::io("reserve", &self.path, error))
            }
            // Many file systems do not support it. A write reports any other problem.
            _ => Ok(()),
        }
    }

    fn sync(&self) -> Result<(), Error> {
        self.health.sync(&self.path, || self.file.sync_data())
    }

    fn length(&self) -> Result<u64, Error> {
        let metadata = self.file.metadata();
        Ok(metadata.map_err(|error| Error::io("measure", &self.path, error))?.len())
    }
}
