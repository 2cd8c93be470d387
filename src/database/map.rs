//! The one wrapper around a file-backed memory map.
#![expect(unsafe_code, reason = "a map of a file cannot be made from safe code")]

use memmap2::Mmap;
use std::fs::File;

/// Maps a whole file for reading.
///
/// # Errors
/// What the operating system says.
pub(super) fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: published block files are written once and never changed by this program. If another process changes one, the copies taken
    // from the map fail their hashes; if another cuts one, the process is killed, which the caller accepted by asking for maps.
    unsafe { Mmap::map(file) }
}
