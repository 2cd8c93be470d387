//! The owner of a run folder.
//!
//! The kernel's list of locks, `/proc/locks`, names the owner, unless a container hides it. If the
//! list names no owner, an attempt to take the lock decides.
//!
//! # Invariants
//! 1. No solve is disturbed. The lock is taken only if the list names no owner, shared and for an
//!    instant; a solve that begins at that moment tries again.
//! 2. No answer is a guess. If the lock cannot be tried, the owner is [`Owner::Unknown`]. A lock
//!    that is held all the time is found, however many others come and go: see `listed`.
//!    [`Owner::Free`] only means that no process of this machine holds the lock: some file systems
//!    hide the locks of other machines.

use crate::database::Game;
use pipeline::checkpoint::{self, LOCK, PUBLISHED};
use pipeline::{Error, RealStorage};
use schemars::JsonSchema;
use serde::Serialize;
use std::fs::{self, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use terminal::exit::{Exit, Refused};
use terminal::output::{counted, grouped};
use terminal::refusal::quoted;

/// A list below this length is complete after one read: a page, minus a little more than a line.
const SHORT_LIST_BYTES: usize = 3 << 10;
/// Number of reads of a longer list before a lock counts as not held.
const LONG_LISTS: usize = 16;

/// The owner of a run folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "lock", content = "pid", rename_all = "lowercase")]
pub enum Owner {
    /// A process with this number; null if it is not visible from here.
    Held(Option<u32>),
    /// No process of this machine.
    Free,
    /// The system does not say.
    Unknown,
}

impl Owner {
    /// Describes the process that holds the lock.
    pub fn process(self) -> Option<String> {
        let Owner::Held(pid) = self else { return None };
        Some(pid.map_or("a process that is not visible from here".to_owned(), |pid| format!("process {pid}")))
    }
}

/// Returns the owner of the file `lock`.
pub fn of(lock: &Path) -> Owner {
    let file = match fs::metadata(lock) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Owner::Free,
        Err(_) => return Owner::Unknown,
    };
    let visible = || listed(&file).ok().flatten();
    if let Some(pid) = visible() {
        return Owner::Held(Some(pid));
    }
    let opened = if file.is_file() { fs::File::open(lock).ok() } else { None };
    // Closing is not enough: a process that is just being started has a copy of the file.
    match opened.map(|file| (file.try_lock_shared(), file.unlock()).0) {
        Some(Ok(())) => Owner::Free,
        // It may have been taken just now.
        Some(Err(TryLockError::WouldBlock)) => Owner::Held(visible()),
        Some(Err(TryLockError::Error(_))) | None => Owner::Unknown,
    }
}

/// Returns the owner of a run, or of the run around its `db` folder.
pub fn of_folder(folder: &Path) -> Owner {
    let around = folder.parent().filter(|run| folder.ends_with(PUBLISHED) && run.join(LOCK).exists());
    of(&around.unwrap_or(folder).join(LOCK))
}

/// Finds the owner of the lock of `file` in the kernel's list.
///
/// The kernel counts lines between two reads of the list, so a line is skipped if a lock of an
/// earlier line is released meanwhile. One read returns up to a page, made under one lock of the
/// kernel, so a short list is a consistent snapshot. A longer one is read again.
fn listed(file: &fs::Metadata) -> io::Result<Option<u32>> {
    let mut found = None;
    for _ in 0..LONG_LISTS {
        let (mut list, mut reads) = (Vec::new(), 0);
        let mut source = fs::File::open("/proc/locks")?;
        let mut part = vec![0; 1 << 16];
        loop {
            let length = source.read(&mut part)?;
            list.extend_from_slice(&part[..length]);
            reads += 1;
            if length == 0 || reads == 1 && length < SHORT_LIST_BYTES {
                break;
            }
        }
        let list = String::from_utf8_lossy(&list);
        let mut locks = list.lines().filter_map(flock).filter(|(inode, _)| *inode == file.ino());
        found = locks.find(|(_, pid)| has_open(*pid, file)).map(|(_, pid)| pid);
        if found.is_some() || reads == 1 {
            break;
        }
    }
    Ok(found)
}

/// Returns the error with the owner of a locked run folder and the progress of the run.
pub fn in_use(error: Error, folder: &Path) -> anyhow::Error {
    // Without a process, the owner has just ended.
    let Some(process) = of(&folder.join(LOCK)).process() else { return error.into() };
    let progress = RealStorage::open(folder).ok().and_then(|storage| {
        let run = checkpoint::inspect(&storage).ok()?;
        let blocks = Game::from_parameters(&run.parameters.0)?.layout.canonical_blocks().len();
        Some(format!(", {} of {} saved", grouped(run.records.len() as u64), counted(blocks as u64, "block")))
    });
    let (shown, progress) = (folder.display(), progress.unwrap_or_default());
    let message = format!("{shown} is in use by {process}{progress}");
    let quoted = quoted(&folder.to_string_lossy());
    let hint = format!("wait, or choose another folder; run trinim status {quoted} to see the progress");
    Refused::with(Exit::InUse, message, hint).into()
}

/// Parses inode and process from a line about a whole-file lock, like
/// `1: FLOCK ADVISORY WRITE 123 fe:00:456 0 EOF`.
fn flock(line: &str) -> Option<(u64, u32)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [_, "FLOCK", _, "WRITE", pid, place, ..] = fields[..] else { return None };
    let (_, inode) = place.rsplit_once(':')?;
    Some((inode.parse().ok()?, pid.parse().ok()?))
}

/// Whether a process has this file open. Inode numbers repeat across devices, and the device in the
/// list can differ from the file's (subvolumes). The open files of another user's process are
/// hidden; then the inode number decides.
fn has_open(pid: u32, file: &fs::Metadata) -> bool {
    let handles = match fs::read_dir(format!("/proc/{pid}/fd")) {
        // It has ended, and another one has inherited its lock.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return false,
        Err(_) => return true,
        Ok(handles) => handles,
    };
    let is_same = |found: fs::Metadata| (found.dev(), found.ino()) == (file.dev(), file.ino());
    handles.filter_map(|handle| fs::metadata(handle.ok()?.path()).ok()).any(is_same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

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
        // A file that cannot be looked at may be locked.
        let endless = folder.path().join("endless");
        std::os::unix::fs::symlink(&endless, &endless).unwrap();
        assert_eq!(of(&endless), Owner::Unknown);
        let file = fs::File::create(&path).unwrap();
        assert_eq!(of(&path), Owner::Free);
        file.try_lock().unwrap();
        assert_eq!(of(&path), Owner::Held(Some(std::process::id())));
        file.unlock().unwrap();
        assert_eq!(of(&path), Owner::Free);
        fs::File::open(&path).unwrap().try_lock().unwrap();
    }

    /// Regression: an owner in another container was reported as none.
    #[test]
    fn an_owner_that_cannot_be_seen_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("LOCK");
        let file = fs::File::create(&path).unwrap();
        // The process that took the lock has ended, and the list does not name the current holder.
        let lock = std::process::Command::new("flock").arg("0").stdin(file.try_clone().unwrap()).status();
        assert!(lock.unwrap().success());
        assert_eq!(of(&path), Owner::Held(None));
        file.unlock().unwrap();
        assert_eq!(of(&path), Owner::Free);
    }

    /// Regression: a check said that a running solve had ended, because the list was read in parts
    /// and other locks were released in between.
    #[test]
    fn locks_that_come_and_go_hide_no_owner() {
        for others in [2, 200] {
            let folder = tempfile::tempdir().unwrap();
            let files: Vec<fs::File> =
                (0..others).map(|number| fs::File::create(folder.path().join(number.to_string())).unwrap()).collect();
            let path = folder.path().join("LOCK");
            let file = fs::File::create(&path).unwrap();
            let done = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        files.iter().for_each(|file| file.try_lock().unwrap());
                        files.iter().for_each(|file| file.unlock().unwrap());
                    }
                });
                for _ in 0..200 {
                    // Taken between other locks, because the newest one is listed first or last.
                    file.try_lock().unwrap();
                    let found = of(&path);
                    file.unlock().unwrap();
                    if found != Owner::Held(Some(std::process::id())) {
                        done.store(true, Ordering::Relaxed);
                        panic!("{others}: {found:?}");
                    }
                }
                done.store(true, Ordering::Relaxed);
            });
        }
    }
}
