//! A process at work in a store of tasks: its calls in the folder until it is killed, with one rule
//! of the store's protocol left out.

use crate::summary_first::SummaryFirst;
use pipeline::storage::{Create, Entry, LockGuard, folder_of, pass_on};
use pipeline::{Error, Storage, StorageFile};
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use testing::SimulatedStorage;
use trinim_task::{DATABASE, DEFINITION, FolderStore, SUMMARIES, Store};

/// Age from which a sweep removes a temporary file.
pub const IDLE: Duration = Duration::from_secs(3600);

/// The last action of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    /// It made a folder.
    MadeFolder,
    /// It found that a name is taken, before it wrote.
    FoundName,
    /// It gave a file its name.
    Named,
    /// It lost the race for a name.
    LostName,
    /// It removed a file that is not temporary.
    Removed,
    /// It listed a folder.
    Listed,
    /// It synced a folder.
    Synced,
    /// It read.
    Read,
}

/// The rule of the store's protocol to leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Omit {
    /// None.
    Nothing,
    /// A file is synced before it has its name.
    FileSync,
    /// A folder is synced after this.
    FolderSync(Last, &'static str),
    /// A file is written under a temporary name.
    Temporary,
    /// A sweep leaves temporary files that are being written.
    Idle,
    /// Where summaries decide, the file of a block comes before its summary.
    FileFirst,
}

/// Names of the processes at work on a disk.
pub type Alive = Arc<Mutex<BTreeSet<String>>>;

struct Process {
    name: String,
    omit: Omit,
    alive: Alive,
    last: Mutex<Last>,
    /// Calls until it is killed.
    left: Mutex<u64>,
}

impl Process {
    /// Counts a call; fails once the process is dead.
    fn call(&self, operation: &'static str, name: &str) -> Result<(), Error> {
        let mut left = self.left.lock().unwrap();
        if *left == 0 {
            self.alive.lock().unwrap().remove(&self.name);
            return Err(Error::io(operation, name, io::Error::other("the process was killed")));
        }
        *left -= 1;
        Ok(())
    }

    fn did(&self, last: Last) {
        *self.last.lock().unwrap() = last;
    }
}

/// The folder of a store, as a process sees it.
pub struct Folder {
    disk: SimulatedStorage,
    process: Arc<Process>,
    has_links: bool,
}

impl Folder {
    /// Returns the store of a process on this disk, which is killed after so many calls.
    pub fn store(
        disk: &SimulatedStorage,
        name: &str,
        (omit, has_links): (Omit, bool),
        alive: &Alive,
        calls: u64,
    ) -> Box<dyn Store> {
        alive.lock().unwrap().insert(name.to_owned());
        let process = Process {
            name: name.to_owned(),
            omit,
            alive: Arc::clone(alive),
            last: Mutex::new(Last::Synced),
            left: Mutex::new(calls),
        };
        let folder = Folder { disk: disk.clone(), process: Arc::new(process), has_links };
        let store = FolderStore::new(Arc::new(folder), name);
        if omit == Omit::FileFirst { Box::new(SummaryFirst::new(store)) } else { Box::new(store) }
    }

    /// Returns the place of a file with a temporary name.
    fn place(&self, name: &str) -> String {
        let Some(temporary) = name.strip_prefix("tmp/").filter(|_| self.process.omit == Omit::Temporary) else {
            return name.to_owned();
        };
        let last = temporary.split(&format!(".{}.", self.process.name)).next().unwrap();
        match last {
            DEFINITION => last.to_owned(),
            _ if last.parse::<u32>().is_ok() => format!("{SUMMARIES}/{last}"),
            _ => format!("{DATABASE}/{last}"),
        }
    }
}

impl Storage for Folder {
    pass_on! { self.disk =>
        fn path(&self, name: &str) -> PathBuf;
        fn open_write(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error>;
        fn lock(&self, name: &str) -> Result<LockGuard, Error>;
        fn free_bytes(&self) -> Result<u64, Error>;
    }
    fn create_dir(&self, name: &str) -> Result<(), Error> {
        self.process.call("create", name)?;
        self.process.did(Last::MadeFolder);
        self.disk.create_dir(name)
    }
    fn list(&self, folder: &str) -> Result<Vec<Entry>, Error> {
        self.process.call("list", folder)?;
        self.process.did(Last::Listed);
        self.disk.list(folder)
    }
    fn length(&self, name: &str) -> Result<Option<u64>, Error> {
        self.process.call("measure", name)?;
        let length = self.disk.length(name)?;
        self.process.did(if length.is_some() { Last::FoundName } else { Last::Read });
        Ok(length)
    }
    fn create(&self, name: &str, create: Create) -> Result<Arc<dyn StorageFile>, Error> {
        self.process.call("create", name)?;
        let file = self.disk.create(&self.place(name), create)?;
        Ok(Arc::new(OpenFile { file, process: Arc::clone(&self.process) }))
    }
    fn open(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error> {
        self.process.call("open", name)?;
        self.process.did(Last::Read);
        let file = self.disk.open(name)?;
        Ok(Arc::new(OpenFile { file, process: Arc::clone(&self.process) }))
    }
    fn sync_dir(&self, folder: &str) -> Result<(), Error> {
        self.process.call("sync", folder)?;
        let last = std::mem::replace(&mut *self.process.last.lock().unwrap(), Last::Synced);
        match self.process.omit {
            Omit::FolderSync(after, omitted) if (after, omitted) == (last, folder) => Ok(()),
            _ => self.disk.sync_dir(folder),
        }
    }
    fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        self.process.call("rename to", to)?;
        self.process.did(Last::Named);
        self.disk.rename(from, to)
    }
    fn link(&self, from: &str, to: &str) -> Result<(), Error> {
        self.process.call("link", to)?;
        if !self.has_links {
            return Err(Error::io("link", to, io::ErrorKind::Unsupported.into()));
        }
        let linked = if self.place(from) == to { Ok(()) } else { self.disk.link(from, to) };
        let is_lost = linked.as_ref().is_err_and(Error::is_taken);
        self.process.did(if is_lost { Last::LostName } else { Last::Named });
        linked
    }
    fn remove(&self, name: &str) -> Result<(), Error> {
        self.process.call("remove", name)?;
        if folder_of(name) != "tmp" {
            self.process.did(Last::Removed);
        } else if self.process.omit == Omit::Temporary {
            return Ok(());
        }
        self.disk.remove(name)
    }
    fn idle(&self, name: &str) -> Result<Option<Duration>, Error> {
        self.process.call("measure", name)?;
        let is_written = self.process.alive.lock().unwrap().iter().any(|writer| name.contains(&format!(".{writer}.")));
        let idle = if is_written && self.process.omit != Omit::Idle { Duration::ZERO } else { IDLE };
        Ok(self.disk.length(name)?.map(|_| idle))
    }
}

struct OpenFile {
    file: Arc<dyn StorageFile>,
    process: Arc<Process>,
}

impl StorageFile for OpenFile {
    pass_on! { self.file =>
        fn path(&self) -> PathBuf;
        fn length(&self) -> Result<u64, Error>;
    }
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error> {
        self.process.call("read", "a file")?;
        self.file.read_exact_at(buffer, offset)
    }
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        self.process.call("write", "a file")?;
        self.file.write_all_at(bytes, offset)
    }
    fn sync(&self) -> Result<(), Error> {
        self.process.call("sync", "a file")?;
        if self.process.omit == Omit::FileSync { Ok(()) } else { self.file.sync() }
    }
}
