//! The only wrapper around a file-backed memory map.
#![expect(clippy::disallowed_types, reason = "readers open files themselves")]
#![expect(unsafe_code, reason = "a map of a file cannot be made from safe code")]

use memmap2::Mmap;
use std::fs::File;

/// Maps a whole file for reading.
///
/// # Errors
/// Returns the error of the operating system.
pub(super) fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: published block files are written once and never changed by this program. If another
    // process changes one, the copies taken from the map fail their hashes; if it truncates one,
    // the system kills this process, a risk that callers accept by choosing maps.
    unsafe { Mmap::map(file) }
}
