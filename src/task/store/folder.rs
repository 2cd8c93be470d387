//! A store in a folder that all machines share.
//!
//! # Commit
//! ```text
//! tmp/<file>.<writer>.<number>   written, synced          a kill leaves it there, for a sweep
//! link to the final name         one creation wins        the file is there, as a whole
//! remove the temporary name, sync the folder
//! ```
//! A subfolder is made before its first file, and its name is safe before that file is. On a file
//! system without links, a rename replaces the link, after a check that the name is free. Two
//! creations between check and rename both succeed, with equal bytes unless there is a bug.

use super::{Begin, DATABASE, DEFINITION, SUMMARIES, Store, TEMPORARY, Temporary, is_ours};
use parking_lot::Mutex;
use pipeline::storage::{Create, EntryKind, folder_of, is_valid_name, list, read_whole};
use pipeline::{Error, Storage};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use trinim::database::is_database_file;

/// A shared folder.
pub struct FolderStore {
    storage: Arc<dyn Storage>,
    writer: String,
    next: AtomicU64,
    /// Subfolders that this process knows to be safe.
    made: Mutex<BTreeSet<String>>,
}

impl FolderStore {
    /// Returns the store in the folder of `storage`. No two processes, on any machines, can use the
    /// same writer name; characters that are not allowed in file names are replaced.
    pub fn new(storage: Arc<dyn Storage>, writer: &str) -> FolderStore {
        let plain = |char: char| if char.is_ascii_alphanumeric() || ".-".contains(char) { char } else { '-' };
        let writer = writer.chars().take(100).map(plain).collect();
        FolderStore { storage, writer, next: AtomicU64::new(0), made: Mutex::default() }
    }

    /// Makes the folder of a file. Tools that copy files only lose an empty one.
    fn make_folder(&self, name: &str) -> Result<(), Error> {
        let folder = folder_of(name);
        if folder.is_empty() || self.made.lock().contains(folder) {
            return Ok(());
        }
        self.storage.create_dir(folder)?;
        // The process that made it may have been killed before its name was safe.
        self.storage.sync_dir(folder_of(folder))?;
        self.made.lock().insert(folder.to_owned());
        Ok(())
    }

    /// Gives a synced file its final name; returns false if that is taken.
    fn publish(&self, temporary: &str, name: &str) -> Result<bool, Error> {
        match self.storage.link(temporary, name) {
            Ok(()) => self.storage.remove(temporary).map(|()| true),
            Err(error) if error.is_taken() => Ok(false),
            Err(error) if error.is_unsupported() => {
                let is_free = self.storage.length(name)?.is_none();
                if is_free {
                    self.storage.rename(temporary, name)?;
                }
                Ok(is_free)
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns whether this is the name of a store's temporary file; other files in the folder belong
/// to someone else.
fn is_temporary(name: &str) -> bool {
    let is_whole = |name: &str| {
        let is_summary = name.len() >= 6 && name.bytes().all(|byte| byte.is_ascii_digit());
        is_summary || name == DEFINITION || is_database_file(name)
    };
    let of_writer = name.rsplit_once('.').filter(|(_, number)| number.parse::<u64>().is_ok());
    is_valid_name(name)
        && of_writer.is_some_and(|(name, _)| name.match_indices('.').any(|(end, _)| is_whole(&name[..end])))
}

impl Store for FolderStore {
    fn path(&self, name: &str) -> PathBuf {
        self.storage.path(name)
    }

    fn prepare(&self) -> Result<(), Error> {
        if let Some(foreign) = self.storage.list("")?.into_iter().find(|entry| !is_ours(&entry.name)) {
            return Err(Error::NotEmpty { path: self.path(""), name: foreign.name });
        }
        for folder in [TEMPORARY, SUMMARIES, DATABASE] {
            self.storage.create_dir(folder)?;
        }
        self.storage.sync_dir("")
    }

    fn read(&self, name: &str, most_bytes: u64) -> Result<Option<Vec<u8>>, Error> {
        match self.storage.open(name) {
            Ok(file) => read_whole(&*file, most_bytes).map(Some),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn begin(&self, name: &str, bytes: usize) -> Result<Option<Begin>, Error> {
        let file = match self.storage.open(name) {
            Ok(file) => file,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        let length = file.length()?;
        let mut begin = vec![0; length.min(bytes as u64) as usize];
        file.read_exact_at(&mut begin, 0)?;
        Ok(Some((begin, length)))
    }

    fn create(&self, name: &str, bytes: &[u8]) -> Result<bool, Error> {
        self.make_folder(name)?;
        if self.storage.length(name)?.is_some() {
            self.storage.sync_dir(folder_of(name))?;
            return Ok(false);
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let last = name.rsplit('/').next().unwrap_or(name);
        let temporary = format!("{TEMPORARY}/{last}.{}.{number}", self.writer);
        self.make_folder(&temporary)?;
        let created = self.storage.create(&temporary, Create::New).and_then(|file| {
            file.write_all_at(bytes, 0)?;
            file.sync()?;
            self.publish(&temporary, name)
        });
        if !matches!(created, Ok(true)) {
            // The error is reported already; a sweep removes the file later.
            let _ = self.storage.remove(&temporary);
        }
        let created = created?;
        self.storage.sync_dir(folder_of(name))?;
        Ok(created)
    }

    fn list(&self, folder: &str) -> Result<Vec<(String, u64)>, Error> {
        let files = list(&*self.storage, folder)?.into_iter().filter(|entry| entry.kind == EntryKind::File);
        Ok(files.map(|entry| (entry.name, entry.length)).collect())
    }

    fn remove(&self, name: &str) -> Result<(), Error> {
        match self.storage.remove(name) {
            Err(error) if error.is_not_found() => Ok(()),
            other => other,
        }
    }

    fn sync(&self, folder: &str) -> Result<(), Error> {
        self.storage.sync_dir(folder)
    }

    fn temporaries(&self) -> Result<Vec<Temporary>, Error> {
        let mut found = Vec::new();
        for (name, _) in self.list(TEMPORARY)?.into_iter().filter(|(name, _)| is_temporary(name)) {
            let name = format!("{TEMPORARY}/{name}");
            found.push(Temporary { idle: self.storage.idle(&name)?, name });
        }
        Ok(found)
    }
}
