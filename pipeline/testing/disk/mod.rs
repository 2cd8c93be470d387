//! A disk in memory that stops, fails and loses data: the second implementation of [`Storage`], for
//! tests. The code that runs on the file system runs here through every crash, thousands of times a
//! second.
//!
//! Each file has contents as a running program sees them (the cache), contents that are safe, and
//! the list of writes in between; each folder has the same for its names. Every call counts one
//! *step*, and a [`Fault`] strikes at chosen steps. Then [`SimulatedStorage::kill`] returns the
//! disk that the next process finds after `kill -9`, cache included, and
//! [`SimulatedStorage::power_cut`] one of the disks that a power cut can leave. To examine every
//! possible stop in a single run, a [`Witness`] sees the disk before every call and can take
//! copies, which share all equal parts.
//!
//! A power cut, under a seed, keeps, loses or tears each unsynced write, in any order. A tear keeps
//! some sectors of [`SECTOR_BYTES`], loses some and fills some with garbage, together with their
//! neighbours in the same sector; a file can have its new size without its data. Each unsynced
//! change of a name is kept or lost, and a rename can leave both names. A rename into another
//! folder is a new name there and a removal here, each safe with its own folder: a power cut can
//! leave both names, or none.
//!
//! # Invariants
//! 1. Syncing a file does not make its name safe; syncing a folder does not make its files safe.
//! 2. Closing is not a sync.
//! 3. A failed sync leaves the writes visible and clean: no later sync makes them safe.
//! 4. A sync makes safe what was written through its own handle and by earlier processes. POSIX
//!    promises no more: writes through another handle of the process can be lost with that handle.
//! 5. With one seed, one sequence of calls and one thread, everything is repeatable.
//! 6. After a stop nothing reaches the disk.
//!
//! # Not here
//! Time, disk space (only [`Fault::Full`]), permissions, symbolic links.

mod contents;
mod medium;
mod silent;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use medium::{Change, Coming, Disk, Kind, Name};
use pipeline::storage::{Create, Entry, EntryKind, LockGuard, Storage, StorageFile, folder_of, is_valid_name};
use pipeline::{Damage, Error, pause};

/// The free space that is always reported.
const FREE_BYTES: u64 = 1 << 40;
/// Unit in which a power cut tears a write, in bytes.
pub const SECTOR_BYTES: usize = 512;

/// A fault that strikes at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The process ends: this call can still have an effect; it and all later calls fail.
    Stop,
    /// This call fails with an I/O error, perhaps after part of its effect.
    FailOnce,
    /// From this call on all calls fail with an I/O error.
    FailForever,
    /// From this call on the disk is full: files cannot grow and names cannot be created.
    Full,
    /// The next sync of a file fails; its writes stay visible but are marked clean.
    LoseSync,
    /// The next sync of a file or folder does nothing and reports success: a disk that lies.
    LieSync,
    /// One bit of one file flips, in the cache and on the disk.
    Rot,
    /// One bit of the next read is flipped; the file is unchanged.
    FlipRead,
    /// One sector of the next read is some other sector of the disk.
    MisdirectRead,
    /// One sector of the next read is that of the last sync, or zeros if it has not changed since.
    StaleRead,
    /// The next write changes only the length and reports success.
    LoseWrite,
    /// The next write goes to a different place on the disk and reports success.
    MisdirectWrite,
}

impl Fault {
    /// Faults that no call reports and no sync prevents: a read can return anything that was ever
    /// on the disk.
    pub const SILENT: [Fault; 6] =
        [Fault::Rot, Fault::FlipRead, Fault::MisdirectRead, Fault::StaleRead, Fault::LoseWrite, Fault::MisdirectWrite];
}

/// Called with the disk before every call that changes something.
pub type Witness = Arc<dyn Fn(&Moment<'_>) + Send + Sync>;

/// The disk before a call.
pub struct Moment<'a> {
    /// The number of the call.
    pub step: u64,
    disk: &'a Disk,
    coming: Option<Coming<'a>>,
}

impl Moment<'_> {
    /// Returns the disk that the next process finds if this one is killed now.
    pub fn kill(&self) -> SimulatedStorage {
        SimulatedStorage::from_disk(self.disk.restarted())
    }

    /// Returns the disk after a kill inside the call, when the first `share`/256 of a write's bytes
    /// are written. Returns `None` if the call is not a write.
    pub fn kill_within(&self, share: u8) -> Option<SimulatedStorage> {
        let (file, start, bytes) = self.coming?;
        let mut disk = self.disk.restarted();
        disk.write(file, start, &bytes[..bytes.len() * usize::from(share) / 256], 0);
        Some(SimulatedStorage::from_disk(disk))
    }
}

/// A run folder on a simulated disk. Clones share the disk.
#[derive(Clone)]
pub struct SimulatedStorage {
    disk: Arc<Mutex<Disk>>,
}

impl std::fmt::Debug for SimulatedStorage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl SimulatedStorage {
    /// Creates an empty disk. The seed decides how much of a failing call takes effect.
    pub fn new(seed: u64) -> Self {
        Self::from_disk(Disk::new(seed))
    }

    fn from_disk(disk: Disk) -> Self {
        Self { disk: Arc::new(Mutex::new(disk)) }
    }

    /// Adds a fault at a step; steps count from 1.
    #[must_use]
    pub fn with_fault(self, step: u64, fault: Fault) -> Self {
        self.disk.lock().faults.push((step, fault));
        self
    }

    /// Adds a witness that sees the disk before every call that changes something.
    #[must_use]
    pub fn with_witness(self, witness: Witness) -> Self {
        self.disk.lock().witness = Some(witness);
        self
    }

    /// Disables the poison after a failed sync. The kernel marks the pages clean and continues;
    /// this shows what happens to programs that also continue.
    #[must_use]
    pub fn forgiving(self) -> Self {
        self.disk.lock().forgiving = true;
        self
    }

    /// Returns the hash of everything that decides what can still happen to the disk: names,
    /// contents, and what is not safe.
    pub fn digest(&self) -> u128 {
        self.disk.lock().digest()
    }

    /// Returns the disk that the next process finds when this one is killed: nothing is lost, and
    /// unsafe changes are still unsafe. Locks, faults, poison and the step count are reset.
    #[must_use]
    pub fn kill(&self) -> Self {
        Self::from_disk(self.disk.lock().restarted())
    }

    /// Returns a disk that a power cut can leave; different seeds give different ones. Seeds 0 to 3
    /// are the corners: all lost; all kept; names kept, contents lost; contents kept, names lost.
    #[must_use]
    pub fn power_cut(&self, seed: u64) -> Self {
        Self::from_disk(self.disk.lock().after_power_cut(seed))
    }

    /// Returns the number of calls so far.
    pub fn steps(&self) -> u64 {
        self.disk.lock().steps
    }

    /// Returns whether a [`Fault::Stop`] has struck.
    pub fn stopped(&self) -> bool {
        self.disk.lock().stopped
    }

    /// Returns the names of all files, in order.
    pub fn names(&self) -> Vec<String> {
        self.disk.lock().file_names()
    }

    /// Returns the contents of a file as a program sees them.
    pub fn contents(&self, name: &str) -> Option<Vec<u8>> {
        self.shared_contents(name).map(|bytes| Vec::clone(&bytes))
    }

    /// Returns the shared contents of a file, without a copy.
    pub fn shared_contents(&self, name: &str) -> Option<Arc<Vec<u8>>> {
        let disk = self.disk.lock();
        let file = disk.file(name)?;
        Some(Arc::clone(&disk.files[file].cached))
    }

    /// Simulates damage: puts a file with these contents on the disk, safely and without any call.
    ///
    /// # Panics
    /// Panics if the folder does not exist.
    pub fn put(&self, name: &str, contents: &[u8]) {
        self.disk.lock().put(name, contents);
    }

    /// Removes a file from the disk without any call.
    pub fn take(&self, name: &str) {
        self.disk.lock().take(name);
    }

    /// Limits the handles that the process can have open at the same time, including the lock. The
    /// limit ends with the process.
    #[must_use]
    pub fn with_handles_at_most(self, handles: usize) -> Self {
        self.disk.lock().handles_at_most = handles;
        self
    }

    fn handle(&self, disk: &mut Disk, name: &str, file: usize) -> Arc<dyn StorageFile> {
        let by = disk.new_handle();
        Arc::new(SimulatedFile { disk: Arc::clone(&self.disk), name: name.to_string(), file, by })
    }

    /// Returns the disk for a call of a program; another thread can be first.
    fn call(&self) -> MutexGuard<'_, Disk> {
        pause();
        self.disk.lock()
    }
}

fn failed(operation: &'static str, name: &str, error: impl Into<io::Error>) -> Error {
    Error::io(operation, name, error.into())
}

fn not_found(operation: &'static str, name: &str) -> Error {
    failed(operation, name, io::ErrorKind::NotFound)
}

fn check_name(operation: &'static str, name: &str) -> Result<(), Error> {
    if is_valid_name(name) { Ok(()) } else { Err(failed(operation, name, io::ErrorKind::InvalidFilename)) }
}

fn check_health(disk: &Disk) -> Result<(), Error> {
    if disk.poisoned { Err(Error::Poisoned) } else { Ok(()) }
}

impl Storage for SimulatedStorage {
    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(if name.is_empty() { "." } else { name })
    }

    fn create_dir(&self, name: &str) -> Result<(), Error> {
        check_name("create", name)?;
        let disk = &mut *self.call();
        check_health(disk)?;
        disk.change_name("create", name, |disk| match disk.names.get(name) {
            Some(Name::Folder) => Ok(None),
            Some(Name::File(_)) => Err(io::ErrorKind::AlreadyExists.into()),
            None => Ok(Some(Change::Insert(name.into(), Name::Folder))),
        })
    }

    fn list(&self, folder: &str) -> Result<Vec<Entry>, Error> {
        let disk = &mut *self.call();
        disk.check_handles().map_err(|error| failed("list", folder, error))?;
        disk.simple_step(Kind::Read, "list", folder)?;
        if !disk.is_folder(folder) {
            return Err(not_found("list", folder));
        }
        let inside = disk.names.iter().filter(|(name, _)| folder_of(name) == folder);
        Ok(inside
            .map(|(name, what)| {
                let (kind, length) = match what {
                    Name::Folder => (EntryKind::Folder, 0),
                    Name::File(file) => (EntryKind::File, disk.files[*file].cached.len() as u64),
                };
                let name = name.rsplit('/').next().unwrap_or_default().to_string();
                Entry { name, kind, length }
            })
            .collect())
    }

    fn length(&self, name: &str) -> Result<Option<u64>, Error> {
        let disk = &mut *self.call();
        disk.simple_step(Kind::Read, "measure", name)?;
        match disk.names.get(name) {
            None => Ok(None),
            Some(Name::File(file)) => Ok(Some(disk.files[*file].cached.len() as u64)),
            Some(Name::Folder) => Err(Error::corrupt(name, None, Damage::NotAFile)),
        }
    }

    fn create(&self, name: &str, create: Create) -> Result<Arc<dyn StorageFile>, Error> {
        check_name("create", name)?;
        let disk = &mut *self.call();
        check_health(disk)?;
        disk.check_handles().map_err(|error| failed("create", name, error))?;
        disk.change_name("create", name, |disk| match disk.names.get(name) {
            Some(Name::Folder) => Err(io::ErrorKind::IsADirectory.into()),
            Some(Name::File(_)) if create == Create::New => Err(io::ErrorKind::AlreadyExists.into()),
            Some(Name::File(file)) => {
                let file = *file;
                disk.set_length(file, 0);
                Ok(None)
            }
            None => {
                let file = disk.new_file();
                Ok(Some(Change::Insert(name.into(), Name::File(file))))
            }
        })?;
        let file = disk.file(name).ok_or_else(|| not_found("create", name))?;
        Ok(self.handle(disk, name, file))
    }

    fn open(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error> {
        let disk = &mut *self.call();
        disk.check_handles().map_err(|error| failed("open", name, error))?;
        disk.simple_step(Kind::Read, "open", name)?;
        if disk.is_folder(name) {
            return Err(Error::corrupt(name, None, Damage::NotAFile));
        }
        let file = disk.file(name).ok_or_else(|| not_found("open", name))?;
        Ok(self.handle(disk, name, file))
    }

    fn open_write(&self, name: &str) -> Result<Arc<dyn StorageFile>, Error> {
        check_health(&self.call())?;
        self.open(name)
    }

    fn sync_dir(&self, folder: &str) -> Result<(), Error> {
        let disk = &mut *self.call();
        check_health(disk)?;
        if !disk.is_folder(folder) {
            return Err(not_found("sync", folder));
        }
        disk.check_handles().map_err(|error| failed("sync", folder, error))?;
        disk.sync_folder(folder).map_err(|error| failed("sync", folder, error))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        check_name("rename to", to)?;
        let disk = &mut *self.call();
        check_health(disk)?;
        disk.change_name("rename to", to, |disk| {
            let file = disk.file(from).ok_or(io::ErrorKind::NotFound)?;
            if folder_of(from) == folder_of(to) {
                return Ok(Some(Change::Rename(from.into(), to.into(), file)));
            }
            disk.change(Change::Insert(to.into(), Name::File(file)));
            Ok(Some(Change::Remove(from.into())))
        })
    }

    fn link(&self, from: &str, to: &str) -> Result<(), Error> {
        check_name("link", to)?;
        let disk = &mut *self.call();
        check_health(disk)?;
        disk.change_name("link", to, |disk| {
            let file = disk.file(from).ok_or(io::ErrorKind::NotFound)?;
            match disk.names.get(to) {
                Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
                None => Ok(Some(Change::Insert(to.into(), Name::File(file)))),
            }
        })
    }

    fn remove(&self, name: &str) -> Result<(), Error> {
        let disk = &mut *self.call();
        check_health(disk)?;
        disk.change_name("remove", name, |disk| {
            disk.file(name).ok_or(io::ErrorKind::NotFound)?;
            Ok(Some(Change::Remove(name.into())))
        })
    }

    fn lock(&self, name: &str) -> Result<LockGuard, Error> {
        {
            let disk = &mut *self.call();
            disk.check_handles().map_err(|error| failed("lock", name, error))?;
            disk.change_name("lock", name, |disk| match disk.names.get(name) {
                Some(Name::Folder) => Err(io::ErrorKind::IsADirectory.into()),
                Some(Name::File(_)) => Ok(None),
                None if name.is_empty() => Ok(None),
                None => {
                    let file = disk.new_file();
                    Ok(Some(Change::Insert(name.into(), Name::File(file))))
                }
            })?;
            if !disk.locks.insert(name.to_string()) {
                return Err(Error::Locked { path: name.into() });
            }
            disk.new_handle();
        }
        Ok(Box::new(SimulatedLock { disk: Arc::clone(&self.disk), name: name.to_string() }))
    }

    fn free_bytes(&self) -> Result<u64, Error> {
        let disk = &mut *self.call();
        disk.simple_step(Kind::Read, "measure", ".")?;
        Ok(FREE_BYTES)
    }
}

struct SimulatedLock {
    disk: Arc<Mutex<Disk>>,
    name: String,
}

impl Drop for SimulatedLock {
    fn drop(&mut self) {
        let disk = &mut *self.disk.lock();
        disk.locks.remove(&self.name);
        disk.handles -= 1;
    }
}

struct SimulatedFile {
    disk: Arc<Mutex<Disk>>,
    name: String,
    file: usize,
    by: u64,
}

impl Drop for SimulatedFile {
    fn drop(&mut self) {
        self.disk.lock().handles -= 1;
    }
}

impl SimulatedFile {
    fn call(&self) -> MutexGuard<'_, Disk> {
        pause();
        self.disk.lock()
    }
}

impl StorageFile for SimulatedFile {
    fn path(&self) -> PathBuf {
        PathBuf::from(&self.name)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error> {
        let disk = &mut *self.call();
        let step = disk.step(Kind::Read);
        step.map_err(|fault| Error::io_at("read", &self.name, offset, fault.error))?;
        let found = usize::try_from(offset).ok().and_then(|start| disk.read(self.file, start, buffer));
        found.ok_or_else(|| Error::early_end(&self.path(), offset, buffer.len() as u64))
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        let disk = &mut *self.call();
        check_health(disk)?;
        let start = usize::try_from(offset).expect("offsets of simulated files fit in memory");
        let grows = start + bytes.len() > disk.files[self.file].cached.len().max(disk.reserved(self.file));
        let kind = if grows { Kind::Grow } else { Kind::Change };
        match disk.write_step(kind, (self.file, start, bytes)) {
            Ok(()) => {
                disk.write(self.file, start, bytes, self.by);
                Ok(())
            }
            Err(fault) => {
                if fault.partial {
                    let kept = disk.random.index(bytes.len() + 1);
                    disk.write(self.file, start, &bytes[..kept], self.by);
                }
                Err(Error::io_at("write", &self.name, offset, fault.error))
            }
        }
    }

    fn reserve(&self, end: u64) -> Result<(), Error> {
        let disk = &mut *self.call();
        check_health(disk)?;
        disk.simple_step(Kind::Grow, "reserve", &self.name)?;
        disk.reserve(self.file, end as usize);
        Ok(())
    }

    fn sync(&self) -> Result<(), Error> {
        let disk = &mut *self.call();
        check_health(disk)?;
        disk.sync_file(self.file, self.by).map_err(|error| failed("sync", &self.name, error))
    }

    fn length(&self) -> Result<u64, Error> {
        let disk = &mut *self.call();
        disk.simple_step(Kind::Read, "measure", &self.name)?;
        Ok(disk.files[self.file].cached.len() as u64)
    }
}
