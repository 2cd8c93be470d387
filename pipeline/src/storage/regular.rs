//! Opens files of unknown kind safely: without waiting for a pipe, reading a device endlessly, or
//! loading an oversized file.
#![expect(clippy::disallowed_types, reason = "opens the regular files of the storage")]

use crate::Error;
use crate::finding::{Damage, Expected};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::OnceLock;

/// Closes files that are only kept open for reuse.
static SURPLUS: OnceLock<fn()> = OnceLock::new();

/// Sets the function that closes such files, once for a process. It is called when the limit of
/// open files is reached, and the file is then tried again.
pub fn close_at_the_limit(close: fn()) {
    SURPLUS.get_or_init(|| close);
}

/// Opens a regular file for reading.
///
/// # Errors
/// [`Error::Corrupt`] with [`Damage::NotAFile`] for any other kind of file; [`Error::Io`].
pub fn open_regular(path: &Path) -> Result<File, Error> {
    open_regular_at("open", CWD, path, path, OFlags::RDONLY)
}

/// Reads a regular file of at most `most_bytes` bytes.
///
/// # Errors
/// Those of [`open_regular`]; [`Error::Corrupt`] with [`Damage::Length`] for a larger file.
pub fn read_regular(path: &Path, most_bytes: u64) -> Result<Vec<u8>, Error> {
    let file = open_regular(path)?;
    let failed = |error| Error::io("read", path, error);
    let mut bytes = Vec::new();
    // A file that grows meanwhile can be longer than its length.
    (&file).take(most_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most_bytes {
        let found = file.metadata().map_err(failed)?.len();
        return Err(Error::corrupt(path, None, Damage::Length { expected: Expected::AtMost(most_bytes), found }));
    }
    Ok(bytes)
}

/// Opens a name relative to a folder.
pub(super) fn open_at(folder: impl AsFd, name: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let open = || openat(folder.as_fd(), name, flags | OFlags::CLOEXEC, Mode::from_raw_mode(0o666));
    let opened = rustix::io::retry_on_intr(open);
    match (&opened, SURPLUS.get()) {
        (Err(Errno::MFILE | Errno::NFILE), Some(close)) => {
            close();
            Ok(rustix::io::retry_on_intr(open)?)
        }
        _ => Ok(opened?),
    }
}

/// Opens a regular file relative to a folder; an error names the operation and `path`.
pub(super) fn open_regular_at(
    operation: &'static str,
    folder: impl AsFd,
    name: &Path,
    path: &Path,
    flags: OFlags,
) -> Result<File, Error> {
    let failed = |error| Error::io(operation, path, error);
    // Opening a pipe would otherwise wait for its other end.
    let file = File::from(open_at(folder, name, flags | OFlags::NONBLOCK | OFlags::NOCTTY).map_err(failed)?);
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
