//! Opens files of unknown kind safely: without waiting for a pipe, reading a device endlessly, or
//! loading an oversized file.
#![expect(clippy::disallowed_types, reason = "opens the regular files of the storage")]

use crate::Error;
use crate::finding::{Damage, Expected};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a regular file for reading.
///
/// # Errors
/// [`Error::Corrupt`] with [`Damage::NotAFile`] for any other kind of file; [`Error::Io`].
pub fn open_regular(path: &Path) -> Result<File, Error> {
    open_as("open", path, OpenOptions::new().read(true))
}

/// Reads a regular file of at most `most_bytes` bytes.
///
/// # Errors
/// Those of [`open_regular`]; [`Error::Corrupt`] with [`Damage::Length`] for a larger file.
pub fn read_regular(path: &Path, most_bytes: u64) -> Result<Vec<u8>, Error> {
    let file = open_regular(path)?;
    let failed = |error| Error::io("read", path, error);
    let mut bytes = Vec::new();
    // The length of a file that grows meanwhile is not a bound.
    (&file).take(most_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most_bytes {
        let found = file.metadata().map_err(failed)?.len();
        return Err(Error::corrupt(path, None, Damage::Length { expected: Expected::AtMost(most_bytes), found }));
    }
    Ok(bytes)
}

/// Opens a regular file with `options`; `operation` is the one that an error names.
pub(super) fn open_as(operation: &'static str, path: &Path, options: &mut OpenOptions) -> Result<File, Error> {
    let failed = |error| Error::io(operation, path, error);
    // Opening a pipe would otherwise wait for its other end.
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = options.custom_flags(flags).open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(not_a_file(path));
    }
    Ok(file)
}

/// Builds the error for anything but a regular file.
pub(super) fn not_a_file(path: &Path) -> Error {
    Error::corrupt(path, None, Damage::NotAFile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_bounded_length_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "12345678").unwrap();
        assert_eq!(read_regular(&path, 8).unwrap(), b"12345678");
        let too_long = Damage::Length { expected: Expected::AtMost(7), found: 8 };
        assert!(matches!(read_regular(&path, 7), Err(Error::Corrupt { damage, .. }) if damage == too_long));
        let pipe = folder.path().join("pipe");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).unwrap();
        for other in [folder.path(), Path::new("/dev/zero"), &pipe] {
            let refused = read_regular(other, 7);
            assert!(matches!(refused, Err(Error::Corrupt { damage: Damage::NotAFile, .. })), "{}", other.display());
        }
        assert!(read_regular(&folder.path().join("none"), 7).unwrap_err().is_not_found());
    }
}
