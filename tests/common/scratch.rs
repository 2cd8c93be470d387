//! Folders of tests: new ones, and what is in one.

use pipeline::{RealStorage, Storage};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
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

/// Every file below a folder, with its content.
pub fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            files.extend(tree(&entry.path()));
        } else {
            files.insert(entry.path(), fs::read(entry.path()).unwrap());
        }
    }
    files
}

/// Copies a folder with everything in it.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
