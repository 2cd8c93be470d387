//! Storage: the only module of the package that calls the file system.
//!
//! All other modules access a run folder through the two traits here, by names relative to the
//! folder. [`RealStorage`] is the file system. `SimulatedStorage` (package
//! `trinim-pipeline-testing`) is a disk in memory that can stop, fail and lose writes.
//!
//! # Names
//! Names are relative, with `/` between the parts. A part consists of letters, digits, `.`, `_` and
//! `-` and does not begin with a dot ([`is_valid_name`]). The empty name is the run folder itself.
//! Reads and writes are positional, so files have no cursor and threads can share them.
//!
//! # Invariants
//! 1. Every error carries operation, path and, for reads and writes, the offset.
//! 2. Interrupted calls and short reads and writes are repeated internally; other calls are never
//!    repeated. A read past the end is damage ([`Error::Corrupt`]), not an I/O error.
//! 3. One failed sync poisons the store: every later change or sync returns [`Error::Poisoned`].
//!    The kernel marks the pages of a failed sync clean, so a second sync would report success for
//!    lost bytes.
//! 4. A file is durable after its own [`StorageFile::sync`], its *name* after [`Storage::sync_dir`]
//!    of its folder; neither implies the other.
//! 5. Closing is not a sync. A writer keeps the file open until it is synced.
//!
//! Each operation is one system call. There are no memory maps, because an I/O error in one kills
//! the process, and no direct I/O.

mod limited;
mod real;
mod regular;
mod scratch;

use std::any::Any;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::Error;
use crate::finding::{Damage, Expected};

pub use limited::{ALLOTMENT_BYTES, LimitReached, LimitedStorage};
pub use real::RealStorage;
pub use regular::{close_at_the_limit, open_regular, read_regular};
pub use scratch::ScratchFolder;

/// Length of the longest name, in bytes.
pub const NAME_BYTES_AT_MOST: usize = 200;

/// The kind of file behind a name in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// Anything else: a pipe, a device, a dangling link. Storages never open it.
    Other,
}

/// One name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name inside its folder, without the folder.
    pub name: String,
    /// Its kind.
    pub kind: EntryKind,
    /// Length of a file in bytes; 0 for other kinds.
    pub length: u64,
}

/// What to do if the file to create exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Create {
    /// Return an error.
    New,
    /// Truncate it to length 0.
    Truncate,
}

/// Ownership of a run folder. It ends when this value is dropped or the process ends.
pub type LockGuard = Box<dyn Any + Send + Sync>;

/// A run folder.
pub trait Storage: Send + Sync {
    /// Returns the full path of `name`, for messages only.
    fn path(&self, name: &str) -> PathBuf;

    /// Creates a folder unless it exists. Its name is durable after `sync_dir` of the parent
    /// folder.
    fn create_dir(&self, name: &str) -> Result<(), Error>;

    /// Returns the names in a folder, in no particular order.
    fn list(&self, folder: &str) -> Result<Vec<Entry>, Error>;

    /// Returns the length of a file in bytes, or `None` if the name does not exist.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the name is not a regular file.
    fn length(&self, name: &str) -> Result<Option<u64>, Error>;

    /// Creates a file for reading and writing.
    fn create(&self, name: &str, create: Create) -> Result<Arc<dyn StorageFile>, Error>;

    /// Opens a file for reading.
    fn open(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error>;

    /// Announces that a part of a file will be read soon, so that a storage can prefetch it.
    /// Affects nothing but time.
    fn announce(&self, _name: &str, _offset: u64, _length: u64) {}

    /// Opens an existing file for reading and writing.
    fn open_write(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error>;

    /// Makes the names of a folder durable: creations, renames, removals. `""` is the run folder.
    fn sync_dir(&self, folder: &str) -> Result<(), Error>;

    /// Renames a file atomically and replaces any file with the new name. A run renames only within
    /// a folder, so that one sync of the folder makes the change durable.
    fn rename(&self, from: &str, to: &str) -> Result<(), Error>;

    /// Gives a file a second name, in any folder, atomically. If the name exists, it keeps its file
    /// and the call fails ([`Error::is_taken`]).
    ///
    /// By default, and on file systems without such links, it fails as unsupported
    /// ([`Error::is_unsupported`]).
    fn link(&self, from: &str, to: &str) -> Result<(), Error> {
        let _ = from;
        Err(Error::io("link", self.path(to), io::ErrorKind::Unsupported.into()))
    }

    /// Removes a file. A missing file is an error ([`Error::is_not_found`]).
    fn remove(&self, name: &str) -> Result<(), Error>;

    /// Returns the time since a file was last written, or `None` if the name does not exist or the
    /// time is unknown. By default `None`.
    fn idle(&self, name: &str) -> Result<Option<Duration>, Error> {
        let _ = name;
        Ok(None)
    }

    /// Creates the lock file if needed and takes the lock without waiting. With the empty name it
    /// locks the folder itself and creates no file.
    ///
    /// # Errors
    /// Returns [`Error::Locked`] if another owner has the lock.
    fn lock(&self, name: &str) -> Result<LockGuard, Error>;

    /// Returns the number of bytes that this user can still write.
    fn free_bytes(&self) -> Result<u64, Error>;

    /// Returns the worthwhile number of concurrent syncs.
    fn sync_parallelism(&self) -> usize {
        1
    }
}

/// An open file.
pub trait StorageFile: Send + Sync {
    /// Returns the full path, for messages only.
    fn path(&self) -> PathBuf;

    /// Fills `buffer` from byte `offset` on.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the file ends before the buffer is full.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error>;

    /// Writes all of `bytes` at byte `offset`, and extends the file if needed.
    ///
    /// By default, it fails as unsupported ([`Error::is_unsupported`]).
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        let _ = bytes;
        Err(Error::io_at("write", self.path(), offset, io::ErrorKind::Unsupported.into()))
    }

    /// Reserves disk space for the file up to byte `end`, so that no write before it finds the disk
    /// full. The length stays the same. By default, and where reserving is impossible, does
    /// nothing.
    ///
    /// # Errors
    /// [`Error::Io`] if there is no such space ([`Error::is_full_disk`]).
    fn reserve(&self, end: u64) -> Result<(), Error> {
        let _ = end;
        Ok(())
    }

    /// Makes contents and length durable (`fdatasync`); fails as unsupported by default.
    fn sync(&self) -> Result<(), Error> {
        Err(Error::io("sync", self.path(), io::ErrorKind::Unsupported.into()))
    }

    /// Returns the length in bytes.
    fn length(&self) -> Result<u64, Error>;
}

/// A file in memory that can be read like any other but not written.
#[derive(Debug)]
pub struct MemoryFile<B> {
    path: PathBuf,
    bytes: B,
}

impl<B: AsRef<[u8]>> MemoryFile<B> {
    /// Makes a file of these bytes; messages call it `path`.
    pub fn new(path: impl Into<PathBuf>, bytes: B) -> MemoryFile<B> {
        MemoryFile { path: path.into(), bytes }
    }
}

impl<B: AsRef<[u8]> + Send + Sync> StorageFile for MemoryFile<B> {
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error> {
        let begin = usize::try_from(offset).ok();
        let found = begin.and_then(|begin| self.bytes.as_ref().get(begin..begin.checked_add(buffer.len())?));
        buffer.copy_from_slice(found.ok_or_else(|| Error::early_end(&self.path, offset, buffer.len() as u64))?);
        Ok(())
    }

    fn length(&self) -> Result<u64, Error> {
        Ok(self.bytes.as_ref().len() as u64)
    }
}

/// Implements methods of a trait by the same methods of a field, for wrappers around a storage, a
/// file or a workload that change little.
///
/// ```
/// use trinim_pipeline::{Error, StorageFile, storage::pass_on};
/// use std::{path::PathBuf, sync::Arc};
///
/// struct ReadOnly(Arc<dyn StorageFile>);
///
/// impl StorageFile for ReadOnly {
///     pass_on! { self.0 =>
///         fn path(&self) -> PathBuf;
///         fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error>;
///         fn length(&self) -> Result<u64, Error>;
///     }
/// }
/// ```
#[macro_export]
macro_rules! pass_on {
    (self.$field:tt => $(fn $method:ident(&self $(, $argument:ident: $kind:ty)*) $(-> $result:ty)?;)*) => {
        $(fn $method(&self $(, $argument: $kind)*) $(-> $result)? {
            self.$field.$method($($argument),*)
        })*
    };
}
pub use pass_on;

/// Lists a folder; a missing one is empty.
///
/// # Errors
/// Returns [`Error::Io`] if it cannot be listed.
pub fn list(storage: &dyn Storage, folder: &str) -> Result<Vec<Entry>, Error> {
    match storage.list(folder) {
        Err(error) if error.is_not_found() => Ok(Vec::new()),
        other => other,
    }
}

/// Names that systems put into unused folders, in addition to hidden files: checks of file systems,
/// quotas, thumbnails and bins of file managers, and indexes of network drives.
const OF_THE_SYSTEM: &str = "lost+found|aquota.user|aquota.group|quota.user|quota.group|thumbs.db|desktop.ini|\
    icon\r|$recycle.bin|system volume information|@eadir|#recycle|#snapshot";

/// Returns whether a folder with this name in it still counts as empty, for every command that
/// needs a new or an empty folder.
pub fn is_of_the_system(name: &str) -> bool {
    name.starts_with('.') || OF_THE_SYSTEM.split('|').any(|one| one.eq_ignore_ascii_case(name))
}

/// Returns a name because of which a folder does not count as empty. `None` also if the folder does
/// not exist.
///
/// # Errors
/// [`Error::Io`].
pub fn occupant(folder: &Path) -> Result<Option<String>, Error> {
    match RealStorage::open(folder).and_then(|folder| folder.list("")) {
        Err(error) if error.is_not_found() => Ok(None),
        listed => Ok(listed?.into_iter().map(|entry| entry.name).find(|name| !is_of_the_system(name))),
    }
}

/// Reads all bytes of an open file of at most `most_bytes` bytes.
///
/// # Errors
/// Returns [`Error::Corrupt`] if the file is longer, [`Error::OutOfMemory`] or [`Error::Io`].
pub fn read_whole(file: &dyn StorageFile, most_bytes: u64) -> Result<Vec<u8>, Error> {
    let found = file.length()?;
    if found > most_bytes {
        let expected = Expected::AtMost(most_bytes);
        return Err(Error::corrupt(file.path(), None, Damage::Length { expected, found }));
    }
    let mut bytes = zeroed(found)?;
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

/// Allocates `length` zero bytes, to be filled from a file.
pub(crate) fn zeroed(length: u64) -> Result<Vec<u8>, Error> {
    let refused = || Error::OutOfMemory { needed_bytes: length };
    let length = usize::try_from(length).map_err(|_| refused())?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| refused())?;
    bytes.resize(length, 0);
    Ok(bytes)
}

/// Returns whether `name` has the form that the module page describes and is not empty.
pub fn is_valid_name(name: &str) -> bool {
    name.len() <= NAME_BYTES_AT_MOST
        && name.split('/').all(|part| {
            !part.is_empty()
                && !part.starts_with('.')
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        })
}

/// Returns the folder part of a name: `m` for `m/manifest`, the empty name for `FORMAT`.
pub fn folder_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_systems_leave_does_not_fill_a_folder() {
        let left =
            [".DS_Store", ".gitkeep", ".nfs01", "lost+found", "Thumbs.db", "Icon\r", "System Volume Information"];
        assert!(left.into_iter().chain(["aquota.user", "#snapshot"]).all(is_of_the_system));
        let folder = tempfile::tempdir().unwrap();
        for name in left {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(occupant(folder.path()).unwrap(), None);
        assert_eq!(occupant(&folder.path().join("absent")).unwrap(), None);
        for name in ["lost", "found", "|", "", "db", "notes.txt"] {
            assert!(!is_of_the_system(name), "{name}");
        }
        std::fs::create_dir(folder.path().join("notes")).unwrap();
        assert_eq!(occupant(folder.path()).unwrap().as_deref(), Some("notes"));
    }

    #[test]
    fn names_stay_inside_the_folder() {
        for good in ["FORMAT", "m/manifest.1.a", "logs/0000000a.g3", "a/b/c-d_e"] {
            assert!(is_valid_name(good), "{good}");
        }
        for bad in ["", "/", "/etc", "a//b", "..", "a/../b", ".x", "a/", "ü", "a\0"] {
            assert!(!is_valid_name(bad), "{bad}");
        }
        assert!(!is_valid_name(&"x".repeat(NAME_BYTES_AT_MOST + 1)));
        assert_eq!(folder_of("m/x"), "m");
        assert_eq!(folder_of("x"), "");
    }
}
