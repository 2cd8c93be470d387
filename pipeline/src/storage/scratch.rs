//! Folders for temporary files that do not accumulate when processes are killed.
//!
//! A folder is locked while its process lives. A process that makes another one beside it first
//! removes those that are not locked. A server that is killed and restarted again and again leaves
//! one folder, not hundreds.
//!
//! # Invariants
//! 1. Only folders with a name that this module gives are removed, and only under their lock.
//! 2. Where folders cannot be locked, none is removed.
#![expect(clippy::disallowed_methods, reason = "temporary folders are the file system's")]

use super::{LockGuard, RealStorage, Storage};
use crate::Error;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

/// Length of the random end of a name.
const RANDOM_LETTERS: usize = 16;

/// A folder for temporary files, removed when this value is dropped.
pub struct ScratchFolder {
    path: PathBuf,
    _lock: Option<LockGuard>,
}

impl ScratchFolder {
    /// Makes a folder whose name begins with `prefix`, and removes those in `parent` whose
    /// processes were killed.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn new(parent: &Path, prefix: &str) -> Result<ScratchFolder, Error> {
        let failed = |error| Error::io("create a folder in", parent, error);
        let parent = std::path::absolute(parent).map_err(failed)?;
        sweep(&parent, prefix);
        loop {
            let path = parent.join(format!("{prefix}{}", random_name()));
            match fs::create_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made.map_err(failed)?,
            }
            let lock = match RealStorage::open(&path).and_then(|folder| folder.lock("")) {
                Ok(lock) => Some(lock),
                // Another process took it for an abandoned one.
                Err(error) if error.is_not_found() || matches!(error, Error::Locked { .. }) => continue,
                Err(_) => None,
            };
            if path.is_dir() {
                return Ok(ScratchFolder { path, _lock: lock });
            }
        }
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // If this fails, a sweep removes it later.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn random_name() -> String {
    // The hash of a new hasher differs from that of any other.
    format!("{:016x}", RandomState::new().hash_one(0))
}

/// Removes the folders that no process holds. Folders that cannot be removed are left: they may be
/// another user's.
fn sweep(parent: &Path, prefix: &str) {
    let is_ours = |name: &str| {
        let random = name.strip_prefix(prefix);
        random
            .is_some_and(|random| random.len() == RANDOM_LETTERS && random.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    for entry in fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok) {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder || !entry.file_name().to_str().is_some_and(is_ours) {
            continue;
        }
        if let Ok(_lock) = RealStorage::open(entry.path()).and_then(|folder| folder.lock("")) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Regression: folders of processes that were killed stayed for ever.
    #[test]
    fn what_nobody_holds_is_removed_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let others = ["x.0", "x.notes", &format!("y.{}", random_name()), &format!("x.{}0", random_name())];
        for name in others {
            fs::create_dir(parent.path().join(name)).unwrap();
        }
        fs::write(parent.path().join(format!("x.{}", random_name())), "a file").unwrap();
        let before = names(parent.path());
        let held = ScratchFolder::new(parent.path(), "x.").unwrap();
        fs::write(held.path().join("file"), "1").unwrap();
        // As a killed process leaves it.
        let left = parent.path().join(format!("x.{}", random_name()));
        fs::create_dir_all(left.join("db")).unwrap();
        fs::write(left.join("db/000000.blk"), "1").unwrap();
        let other = ScratchFolder::new(parent.path(), "x.").unwrap();
        assert!(!left.exists() && held.path().join("file").exists() && other.path().is_dir());
        drop((held, other));
        assert_eq!(names(parent.path()), before);
    }

    #[test]
    fn many_processes_at_once_take_nothing_from_each_other() {
        let parent = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for number in 0..50 {
                        let folder = ScratchFolder::new(parent.path(), "x.").unwrap();
                        let file = folder.path().join("file");
                        fs::write(&file, number.to_string()).unwrap();
                        assert_eq!(fs::read_to_string(file).unwrap(), number.to_string());
                    }
                });
            }
        });
        assert_eq!(names(parent.path()), [""; 0]);
    }
}
