//! The files of a database: in a storage, or built into the program.

use super::DatabaseError;
use super::built_in::BuiltIn;
use pipeline::storage::MemoryFile;
use pipeline::{Storage, StorageFile};
use std::sync::Arc;

/// A place that has the files of a database.
pub(super) enum Files {
    /// A storage, and the folder there.
    Stored(Arc<dyn Storage>, &'static str),
    BuiltIn(&'static BuiltIn),
}

impl Files {
    pub(super) fn open(&self, name: &str) -> Result<Arc<dyn StorageFile>, DatabaseError> {
        Ok(match self {
            Files::Stored(storage, folder) => storage.open(&below(folder, name))?,
            Files::BuiltIn(built_in) => Arc::new(MemoryFile::new(built_in.place().join(name), built_in.file(name)?)),
        })
    }

    /// Returns the storage of the files, and the folder there; `None` if they are built in.
    pub(super) fn storage(&self) -> Option<(&dyn Storage, &'static str)> {
        match self {
            Files::Stored(storage, folder) => Some((&**storage, folder)),
            Files::BuiltIn(_) => None,
        }
    }
}

/// Returns the name of a file in a folder of a storage.
pub(crate) fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
