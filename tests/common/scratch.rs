//! Temporary folders for tests.

use pipeline::{RealStorage, Storage};
use std::path::Path;
use tempfile::TempDir;

/// The usual file system in memory.
const MEMORY: &str = "/dev/shm";

/// An upper bound on the bytes of all tests that run at the same time; some systems reserve only 64
/// MiB.
const ENOUGH_BYTES: u64 = 2 << 30;

/// Creates an empty folder, in memory if there is room, because a test mostly waits for its disk.
///
/// The fault harness of `tools` tests syncs on a real disk.
pub fn scratch() -> TempDir {
    let free_bytes = |folder: &Path| RealStorage::open(folder).and_then(|storage| storage.free_bytes());
    match free_bytes(Path::new(MEMORY)) {
        Ok(free_bytes) if free_bytes >= ENOUGH_BYTES => tempfile::tempdir_in(MEMORY),
        _ => tempfile::tempdir(),
    }
    .expect("a folder for the files of a test")
}
