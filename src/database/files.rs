//! The files of a database: in a storage, mapped into memory, or built into the program.
#![expect(unsafe_code, reason = "a map of a file cannot be made from safe code")]

use super::DatabaseError;
use super::built_in::BuiltIn;
use memmap2::Mmap;
use pipeline::storage::{MemoryFile, open_regular};
use pipeline::{Storage, StorageFile};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A place that has the files of a database.
pub(super) enum Files {
    /// A storage, and the folder there.
    Stored(Arc<dyn Storage>, &'static str),
    /// A folder whose files are mapped into memory.
    Mapped(PathBuf),
    /// The program.
    BuiltIn(&'static BuiltIn),
}

impl Files {
    /// Opens a file for reading.
    pub(super) fn open(&self, name: &str) -> Result<Arc<dyn StorageFile>, DatabaseError> {
        Ok(match self {
            Files::Stored(storage, folder) => storage.open(&below(folder, name))?,
            Files::Mapped(folder) => {
                let path = folder.join(name);
                let bytes = map(&path)?;
                Arc::new(MemoryFile::new(path, bytes))
            }
            Files::BuiltIn(built_in) => Arc::new(MemoryFile::new(built_in.place().join(name), built_in.file(name)?)),
        })
    }
}

/// Returns the name of a file in a folder of a storage.
pub(super) fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Maps a whole file for reading; the only place that maps a file.
fn map(path: &Path) -> Result<Mmap, DatabaseError> {
    let file = open_regular(path)?;
    // SAFETY: published block files are written once and never changed by this program. If another
    // process changes one, the copies taken from the map fail their hashes; if it truncates one,
    // the system kills this process, a risk that callers accept by choosing maps.
    unsafe { Mmap::map(&file) }.map_err(|error| DatabaseError::io("map", path, error))
}
