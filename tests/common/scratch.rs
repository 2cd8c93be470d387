//! Folders for the files of a test.

use pipeline::{RealStorage, Storage};
use std::path::Path;
use tempfile::TempDir;

/// Where the system keeps a file system in memory.
const MEMORY: &str = "/dev/shm";

/// More than all tests that run at the same time take, in bytes; some systems set aside 64 MiB.
const ENOUGH_BYTES: u64 = 2 << 30;

/// An empty folder, in memory where there is room, because a test mostly waits for its disk.
///
/// What a sync is worth on a real disk, the fault harness of `tools` shows.
pub fn scratch() -> TempDir {
    let free_bytes = |folder: &Path| RealStorage::open(folder).and_then(|storage| storage.free_bytes());
    match free_bytes(Path::new(MEMORY)) {
        Ok(free_bytes) if free_bytes >= ENOUGH_BYTES => tempfile::tempdir_in(MEMORY),
        _ => tempfile::tempdir(),
    }
    .expect("a folder for the files of a test")
}
