//! The owner of a run folder, found without touching its lock.
//!
//! # Invariants
//! 1. Nothing is locked, not even briefly: a solve that starts at that moment would find its folder
//!    in use. The kernel's list of locks, `/proc/locks`, is read instead.
//! 2. No answer is a guess. If the list cannot be read, the owner is [`Owner::Unknown`].
//!    [`Owner::Free`] only means that no process visible to this one holds the lock; a container
//!    hides the others.
//!
//! Writers take the lock through the storage.

use crate::cli::face::output::{counted, grouped};
use pipeline::checkpoint::{self, LOCK};
use pipeline::{Error, RealStorage};
use schemars::JsonSchema;
use serde::Serialize;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use trinim::database::Game;

/// Who holds the lock of a run folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "lock", content = "pid", rename_all = "lowercase")]
pub enum Owner {
    /// A process with this number.
    Held(u32),
    /// No process that this one can see.
    Free,
    /// The system does not say.
    Unknown,
}

/// Returns the owner of the file `lock`.
pub fn of(lock: &Path) -> Owner {
    let Ok(file) = fs::metadata(lock) else { return Owner::Free };
    let Ok(locks) = fs::read_to_string("/proc/locks") else { return Owner::Unknown };
    let held = locks.lines().filter_map(flock).find(|(inode, pid)| *inode == file.ino() && has_open(*pid, &file));
    match held {
        Some((_, pid)) => Owner::Held(pid),
        None => Owner::Free,
    }
}

/// Names who holds a locked run folder, and how far the run is.
pub fn in_use(error: Error, folder: &Path) -> anyhow::Error {
    match refuse_in_use(folder) {
        Err(in_use) => in_use.into(),
        // The owner has just ended, or is hidden.
        Ok(()) => error.into(),
    }
}

/// Refuses a folder that another process can be seen to hold.
///
/// # Errors
/// Returns [`InUse`] if a process holds the lock.
pub fn refuse_in_use(folder: &Path) -> Result<(), InUse> {
    let Owner::Held(pid) = of(&folder.join(LOCK)) else { return Ok(()) };
    let progress = RealStorage::open(folder).ok().and_then(|storage| {
        let run = checkpoint::inspect(&storage).ok()?;
        let blocks = Game::from_parameters(&run.parameters.0)?.layout.canonical_blocks().len();
        Some(format!(", {} of {} saved", grouped(run.records.len() as u64), counted(blocks as u64, "block")))
    });
    Err(InUse { folder: folder.to_path_buf(), pid, progress: progress.unwrap_or_default() })
}

/// A run folder that another process holds.
#[derive(Debug, thiserror::Error)]
#[error("{} is in use by process {pid}{progress}", folder.display())]
pub struct InUse {
    /// The folder.
    pub folder: PathBuf,
    pid: u32,
    progress: String,
}

/// Parses inode and process of a line about a whole-file lock, like `1: FLOCK ADVISORY
/// WRITE 123 fe:00:456 0 EOF`.
fn flock(line: &str) -> Option<(u64, u32)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [_, "FLOCK", _, "WRITE", pid, place, ..] = fields[..] else { return None };
    let (_, inode) = place.rsplit_once(':')?;
    Some((inode.parse().ok()?, pid.parse().ok()?))
}

/// Whether a process has this file open. Inode numbers repeat across devices, and the device in the
/// list may differ from the file's (subvolumes). The open files of another user's process are
/// hidden; then the inode number decides.
fn has_open(pid: u32, file: &fs::Metadata) -> bool {
    let Ok(handles) = fs::read_dir(format!("/proc/{pid}/fd")) else { return true };
    let is_same = |found: fs::Metadata| (found.dev(), found.ino()) == (file.dev(), file.ino());
    handles.filter_map(|handle| fs::metadata(handle.ok()?.path()).ok()).any(is_same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_read_as_the_kernel_writes_them() {
        assert_eq!(flock("1: FLOCK  ADVISORY  WRITE 25982 fe:00:10011103 0 EOF"), Some((10_011_103, 25_982)));
        for other in [
            "",
            "2: FLOCK  ADVISORY  READ 25982 fe:00:10133509 0 EOF",
            "3: POSIX  ADVISORY  WRITE 25982 fe:00:10133509 0 EOF",
            "3: -> FLOCK  ADVISORY  WRITE 25982 fe:00:10133509 0 EOF",
            "4: FLOCK  ADVISORY  WRITE -1 fe:00:10133509 0 EOF",
        ] {
            assert_eq!(flock(other), None, "{other}");
        }
    }

    #[test]
    fn an_owner_is_seen_and_not_disturbed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("LOCK");
        assert_eq!(of(&path), Owner::Free);
        let file = fs::File::create(&path).unwrap();
        assert_eq!(of(&path), Owner::Free);
        file.try_lock().unwrap();
        assert_eq!(of(&path), Owner::Held(std::process::id()));
        drop(file);
        assert_eq!(of(&path), Owner::Free);
        fs::File::open(&path).unwrap().try_lock().unwrap();
    }
}
