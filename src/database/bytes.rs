//! The bytes of a database file, wherever they are.
#![expect(clippy::disallowed_types, reason = "readers open files themselves")]

use super::DatabaseError;
use memmap2::Mmap;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A file of a database that is read by position.
pub(super) enum Bytes {
    /// Read when asked for.
    File(File),
    /// Mapped into memory.
    Map(Mmap),
    /// Part of the program.
    BuiltIn(&'static [u8]),
}

impl Bytes {
    /// Returns the length in bytes.
    ///
    /// # Errors
    /// [`DatabaseError::Io`] with `path`.
    pub(super) fn length(&self, path: &Path) -> Result<u64, DatabaseError> {
        match self {
            Bytes::File(file) => {
                let length = file.metadata().map(|metadata| metadata.len());
                length.map_err(|error| DatabaseError::io("read the length of", path, error))
            }
            Bytes::Map(map) => Ok(map.len() as u64),
            Bytes::BuiltIn(bytes) => Ok(bytes.len() as u64),
        }
    }

    /// Fills the buffer with the bytes from `offset` on.
    ///
    /// # Errors
    /// [`DatabaseError::Corrupt`] with `path` if the file ends early, [`DatabaseError::Io`].
    pub(super) fn read(&self, path: &Path, offset: u64, buffer: &mut [u8]) -> Result<(), DatabaseError> {
        let early = || DatabaseError::corrupt(path, offset, "the file ends early");
        let bytes: &[u8] = match self {
            Bytes::File(file) => {
                return file.read_exact_at(buffer, offset).map_err(|error| match error.kind() {
                    ErrorKind::UnexpectedEof => early(),
                    _ => DatabaseError::io("read", path, error),
                });
            }
            Bytes::Map(map) => map,
            Bytes::BuiltIn(bytes) => bytes,
        };
        let begin = usize::try_from(offset).ok();
        let found = begin.and_then(|begin| bytes.get(begin..begin.checked_add(buffer.len())?));
        buffer.copy_from_slice(found.ok_or_else(early)?);
        Ok(())
    }
}
