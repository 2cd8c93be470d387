//! Opens files of unknown kind safely: without waiting for a pipe, reading a device endlessly, or
//! loading an oversized file.

use super::DatabaseError;
use pipeline::Damage;
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a regular file for reading.
///
/// # Errors
/// [`DatabaseError::Corrupt`] for any other kind of file; [`DatabaseError::Io`].
pub(crate) fn open(path: &Path) -> Result<File, DatabaseError> {
    let failed = |error| DatabaseError::io("open", path, error);
    // Opening a pipe would otherwise wait for its other end.
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(DatabaseError::corrupt(path, None, Damage::NotAFile));
    }
    Ok(file)
}

/// Reads a regular file of at most `most_bytes` bytes.
///
/// # Errors
/// Those of [`open`]; [`DatabaseError::Corrupt`] for a larger file.
pub(crate) fn read(path: &Path, most_bytes: u64) -> Result<Vec<u8>, DatabaseError> {
    let mut bytes = Vec::new();
    let read = open(path)?.take(most_bytes + 1).read_to_end(&mut bytes);
    read.map_err(|error| DatabaseError::io("read", path, error))?;
    if bytes.len() as u64 > most_bytes {
        return Err(DatabaseError::corrupt(path, most_bytes, format!("larger than the {most_bytes}-byte limit")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_bounded_length_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "12345678").unwrap();
        assert_eq!(read(&path, 8).unwrap(), b"12345678");
        assert!(matches!(read(&path, 7), Err(DatabaseError::Corrupt { offset: Some(7), .. })));
        assert!(matches!(read(folder.path(), 7), Err(DatabaseError::Corrupt { .. })));
        assert!(matches!(read(Path::new("/dev/zero"), 7), Err(DatabaseError::Corrupt { .. })));
        assert!(matches!(read(&folder.path().join("none"), 7), Err(DatabaseError::Io { .. })));
    }
}
