//! A storage between the protocol and the simulated disk that leaves out one rule of the protocol.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use pipeline::storage::{Create, Entry, LockGuard, pass_on};
use pipeline::{Error, Storage, StorageFile};
use testing::SimulatedStorage;

/// The rule of the protocol to leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Omit {
    /// None.
    Nothing,
    /// Sync of files whose names start with this.
    Files(&'static str),
    /// Sync of a folder.
    Folder(&'static str),
    /// Logs and published files are synced after the journal, not before it.
    DataBeforeJournal,
    /// Files are renamed before they are synced, not after.
    SyncBeforeRename,
    /// A failed sync is retried instead of final, and the kernel reports success.
    NoRetry,
    /// Removal of log files.
    Removal,
}

type Late = Arc<Mutex<Vec<Arc<dyn StorageFile>>>>;

/// A disk with one rule left out.
pub struct OmittingStorage {
    disk: SimulatedStorage,
    omit: Omit,
    late: Late,
}

struct OmittingFile {
    file: Arc<dyn StorageFile>,
    name: String,
    omit: Omit,
    late: Late,
}

impl OmittingStorage {
    /// Wraps a disk to leave out the rule.
    pub fn new(disk: SimulatedStorage, omit: Omit) -> Self {
        let disk = if omit == Omit::NoRetry { disk.forgiving() } else { disk };
        Self { disk, omit, late: Arc::default() }
    }

    fn wrap(&self, name: &str, file: Arc<dyn StorageFile>) -> Arc<dyn StorageFile> {
        Arc::new(OmittingFile { file, name: name.to_string(), omit: self.omit, late: Arc::clone(&self.late) })
    }
}

impl Storage for OmittingStorage {
    pass_on! { self.disk =>
        fn path(&self, name: &str) -> PathBuf;
        fn create_dir(&self, name: &str) -> Result<(), Error>;
        fn list(&self, folder: &str) -> Result<Vec<Entry>, Error>;
        fn length(&self, name: &str) -> Result<Option<u64>, Error>;
        fn open(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error>;
        fn lock(&self, name: &str) -> Result<LockGuard, Error>;
        fn free_bytes(&self) -> Result<u64, Error>;
    }
    fn create(&self, name: &str, create: Create) -> Result<Arc<dyn StorageFile>, Error> {
        Ok(self.wrap(name, self.disk.create(name, create)?))
    }
    fn open_write(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error> {
        Ok(self.wrap(name, self.disk.open_write(name)?))
    }
    fn sync_dir(&self, folder: &str) -> Result<(), Error> {
        if matches!(self.omit, Omit::Folder(omitted) if omitted == folder) {
            return Ok(());
        }
        self.disk.sync_dir(folder)
    }
    fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        self.disk.rename(from, to)?;
        if self.omit == Omit::SyncBeforeRename {
            self.sync_dir(to.rsplit_once('/').map_or("", |(folder, _)| folder))?;
            let late = std::mem::take(&mut *self.late.lock().unwrap());
            late.iter().try_for_each(|file| file.sync())?;
        }
        Ok(())
    }
    fn remove(&self, name: &str) -> Result<(), Error> {
        if self.omit == Omit::Removal && name.starts_with("logs/") {
            return Ok(());
        }
        self.disk.remove(name)
    }
}

impl StorageFile for OmittingFile {
    pass_on! { self.file =>
        fn path(&self) -> PathBuf;
        fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error>;
        fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<(), Error>;
        fn length(&self) -> Result<u64, Error>;
    }
    fn sync(&self) -> Result<(), Error> {
        match self.omit {
            Omit::Files(prefix) if self.name.starts_with(prefix) => return Ok(()),
            Omit::DataBeforeJournal if !self.name.starts_with("m/") && self.name != "FORMAT.tmp" => {
                self.late.lock().unwrap().push(Arc::clone(&self.file));
                return Ok(());
            }
            Omit::SyncBeforeRename if self.name.ends_with(".tmp") => {
                self.late.lock().unwrap().push(Arc::clone(&self.file));
                return Ok(());
            }
            Omit::NoRetry => return self.file.sync().or_else(|_| self.file.sync()),
            _ => {}
        }
        self.file.sync()?;
        if self.omit == Omit::DataBeforeJournal && self.name.starts_with("m/journal") {
            let late = std::mem::take(&mut *self.late.lock().unwrap());
            late.iter().try_for_each(|file| file.sync())?;
        }
        Ok(())
    }
}
