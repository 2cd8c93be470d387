//! The storage of a solve in tasks: whole files under names, created once.
//!
//! # Invariants
//! 1. A file appears under its name whole or not at all, and its bytes never change.
//! 2. Of several creations of a name exactly one succeeds; the others learn that it is taken.
//! 3. A file is safe from power cuts at once if [`Store::create`] created it, and after the next
//!    [`Store::sync`] if it returned that the name is taken.
//! 4. A listing can be old: it can lack new names and have removed ones.

mod bucket;
mod folder;

pub use bucket::{ATTEMPTS, BucketStore, PUT_BYTES_MAX};
pub use folder::FolderStore;

/// Name of the definition inside a store.
pub const DEFINITION: &str = "task.json";
/// Folder of the database inside a store.
pub const DATABASE: &str = "db";
/// Folder of the summaries inside a store.
pub const SUMMARIES: &str = "summaries";
/// Folder of temporary files in a store that has them.
const TEMPORARY: &str = "tmp";

use pipeline::storage::is_of_the_system;
use pipeline::{Damage, Error};
use std::path::PathBuf;
use std::time::Duration;

/// Number of attempts to create a file whose name is taken although it does not exist.
const CREATIONS: usize = 3;

/// A file that a stop left over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Temporary {
    /// Its name.
    pub name: String,
    /// The time since it was last written, if known.
    pub idle: Option<Duration>,
}

/// The first bytes of a file, and the length of the whole file in bytes.
pub type Begin = (Vec<u8>, u64);

/// A store. Names are those of [`pipeline::storage`].
pub trait Store: Send + Sync {
    /// Returns the full name of a file, for messages.
    fn path(&self, name: &str) -> PathBuf;

    /// Makes what must exist before files are created.
    ///
    /// # Errors
    /// [`Error::NotEmpty`] if the place is in use for something else, [`Error::Io`].
    fn prepare(&self) -> Result<(), Error>;

    /// Reads a file of at most `most_bytes` bytes; `None` if there is none.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for a longer file, [`Error::Io`].
    fn read(&self, name: &str, most_bytes: u64) -> Result<Option<Vec<u8>>, Error>;

    /// Reads the first `bytes` bytes of a file, or all if it is shorter; `None` if there is none.
    ///
    /// # Errors
    /// [`Error::Io`].
    fn begin(&self, name: &str, bytes: usize) -> Result<Option<Begin>, Error>;

    /// Creates a file; returns false, and changes nothing, if the name is taken. If the answer to a
    /// creation was lost, its own file can be the one that has the name.
    ///
    /// # Errors
    /// [`Error::Io`]; the file is then there as a whole, or not at all.
    fn create(&self, name: &str, bytes: &[u8]) -> Result<bool, Error>;

    /// Returns the names of the files in a folder, without it, and their lengths in bytes. A
    /// missing folder has no files.
    ///
    /// # Errors
    /// [`Error::Io`].
    fn list(&self, folder: &str) -> Result<Vec<(String, u64)>, Error>;

    /// Removes a file, if it exists.
    ///
    /// # Errors
    /// [`Error::Io`].
    fn remove(&self, name: &str) -> Result<(), Error>;

    /// Makes all names that exist in a folder safe from power cuts.
    ///
    /// # Errors
    /// [`Error::Io`].
    fn sync(&self, folder: &str) -> Result<(), Error>;

    /// Returns the temporary files: those that stops left, and those that are being written.
    ///
    /// # Errors
    /// [`Error::Io`].
    fn temporaries(&self) -> Result<Vec<Temporary>, Error>;
}

/// Returns whether a name can exist at the top of a place before a store is begun in it.
fn is_ours(name: &str) -> bool {
    [DEFINITION, DATABASE, SUMMARIES, TEMPORARY].contains(&name) || is_of_the_system(name)
}

/// Creates a file, or finds that it exists with the same bytes; returns whether it created it.
pub(super) fn commit(store: &dyn Store, name: &str, bytes: &[u8]) -> Result<bool, Error> {
    for _ in 0..CREATIONS {
        // If it does not exist after all, it was removed meanwhile, or another creation is under
        // way that can fail.
        let created = store.create(name, bytes)?;
        if created || is_there(store, name, bytes)? {
            return Ok(created);
        }
    }
    Err(Error::io("create", store.path(name), std::io::ErrorKind::NotFound.into()))
}

/// Returns whether a file exists with these bytes; false if it does not exist.
pub(super) fn is_there(store: &dyn Store, name: &str, bytes: &[u8]) -> Result<bool, Error> {
    match store.read(name, bytes.len() as u64) {
        Ok(None) => Ok(false),
        Ok(Some(found)) if found == bytes => Ok(true),
        Ok(Some(_)) | Err(Error::Corrupt { .. }) => Err(Error::corrupt(store.path(name), None, differing())),
        Err(error) => Err(error),
    }
}

fn differing() -> Damage {
    "the file exists with different contents; it was left unchanged".into()
}
