//! The storage seam: the only place of the package that calls the file system.
//!
//! Everything above speaks to a run folder through the two traits here, by names relative to the
//! folder. [`RealStorage`] is the file system; `SimulatedStorage` (feature `testing`) is a disk in memory that can
//! stop, fail and forget, so that the same code can be run through every crash.
//!
//! # Shape
//!
//! Names are relative, `/` between the parts, each part of letters, digits, `.`, `_` and `-`, not
//! beginning with a dot ([`is_valid_name`]). The empty name is the run folder itself. Reads and
//! writes are positional, so files have no cursor and are shared between threads.
//!
//! # Invariants
//!
//! 1. Every error carries operation, path and, for reads and writes, the offset.
//! 2. Interrupted calls and short reads and writes are repeated invisibly; nothing else is ever
//!    repeated. A read past the end is damage ([`Error::Corrupt`]), not an I/O error.
//! 3. After one failed sync the store is poisoned: each later change or sync returns
//!    [`Error::Poisoned`]. The kernel marks the pages of a failed sync clean, so a second sync
//!    would say "ok" about lost bytes.
//! 4. A file counts as durable after its own [`StorageFile::sync`], its *name* after
//!    [`Storage::sync_dir`] of its folder; neither implies the other.
//! 5. Closing is not a sync. Who writes a file keeps it open until it is synced.
//!
//! # Cost
//!
//! One system call for each operation; no buffering, no hidden copies, no threads.
//!
//! # Not here
//!
//! Memory maps (an I/O error there kills the process), direct I/O, and any notion of what the bytes
//! mean.

mod limited;
mod real;

use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;

use crate::Error;
use crate::finding::{Damage, Expected};

pub use limited::{ALLOTMENT_BYTES, LimitReached, LimitedStorage};
pub use real::RealStorage;

/// Longest name in bytes.
pub const NAME_BYTES_AT_MOST: usize = 200;

/// What a name in a folder stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// Anything else: a pipe, a device, a dangling link. Never opened.
    Other,
}

/// One name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name inside its folder, without the folder.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// Length of a file in bytes, 0 for others.
    pub length: u64,
}

/// What to do when the file to create exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Create {
    /// Fail.
    New,
    /// Cut it to length 0.
    Truncate,
}

/// Ownership of a run folder; ends when dropped, and with the process however that ends.
pub type LockGuard = Box<dyn Any + Send + Sync>;

/// A run folder.
pub trait Storage: Send + Sync {
    /// The full path of `name`, for messages only.
    fn path(&self, name: &str) -> PathBuf;

    /// Makes a folder; done already is fine. Its name is durable after `sync_dir` of the folder above.
    fn create_dir(&self, name: &str) -> Result<(), Error>;

    /// The names in a folder, in no particular order.
    fn list(&self, folder: &str) -> Result<Vec<Entry>, Error>;

    /// Length of a file in bytes, `None` if there is no such name.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the name is not a regular file.
    fn length(&self, name: &str) -> Result<Option<u64>, Error>;

    /// Creates a file for reading and writing.
    fn create(&self, name: &str, create: Create) -> Result<Arc<dyn StorageFile>, Error>;

    /// Opens a file for reading.
    fn open(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error>;

    /// Opens an existing file for reading and writing.
    fn open_write(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error>;

    /// Makes the names of a folder durable: creations, renames, removals. `""` is the run folder.
    fn sync_dir(&self, folder: &str) -> Result<(), Error>;

    /// Renames a file within its folder, atomically, in place of whatever has the new name.
    fn rename(&self, from: &str, to: &str) -> Result<(), Error>;

    /// Removes a file; not finding it is an error ([`Error::is_not_found`]).
    fn remove(&self, name: &str) -> Result<(), Error>;

    /// Creates the lock file if needed and takes it without waiting. The empty name takes the folder itself, in which nothing is made then.
    ///
    /// # Errors
    /// [`Error::Locked`] if somebody else has it.
    fn lock(&self, name: &str) -> Result<LockGuard, Error>;

    /// Bytes free for this user.
    fn free_bytes(&self) -> Result<u64, Error>;

    /// How many syncs are worth having under way at the same time.
    fn sync_parallelism(&self) -> usize {
        1
    }
}

/// An open file.
pub trait StorageFile: Send + Sync {
    /// The full path, for messages only.
    fn path(&self) -> PathBuf;

    /// Fills `buffer` from byte `offset` on.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the file ends before the buffer is full.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error>;

    /// Writes all of `bytes` at byte `offset`, lengthening the file if needed.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<(), Error>;

    /// Makes contents and length durable (`fdatasync`).
    fn sync(&self) -> Result<(), Error>;

    /// Length in bytes.
    fn length(&self) -> Result<u64, Error>;
}

/// The bytes of an open file of at most `most_bytes`.
///
/// # Errors
/// [`Error::Corrupt`] for a longer one; [`Error::OutOfMemory`]; [`Error::Io`].
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

/// `length` zero bytes, to be filled from a file.
pub(crate) fn zeroed(length: u64) -> Result<Vec<u8>, Error> {
    let refused = || Error::OutOfMemory { needed_bytes: length };
    let length = usize::try_from(length).map_err(|_| refused())?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| refused())?;
    bytes.resize(length, 0);
    Ok(bytes)
}

/// Whether `name` is a name of the shape that the module page describes (not the empty name).
pub fn is_valid_name(name: &str) -> bool {
    name.len() <= NAME_BYTES_AT_MOST
        && name.split('/').all(|part| {
            !part.is_empty()
                && !part.starts_with('.')
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        })
}

/// The folder part of a name: `m` for `m/manifest`, the empty name for `FORMAT`.
pub fn folder_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

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
