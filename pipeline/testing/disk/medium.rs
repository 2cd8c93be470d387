//! The disk behind [`super::SimulatedStorage`]: what is visible, what is safe, and the changes in
//! between.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::super::random::Random;
use super::contents::{Contents, Fate, Handle, Write};
use super::{Fault, Witness};
use pipeline::Error;
use pipeline::storage::folder_of;

/// Linux error numbers of the faults.
const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const EMFILE: i32 = 24;

/// What a name refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Folder,
    File(usize),
}

/// Names of files and folders; copies of a disk share them until one of them changes.
pub(super) type Names = Arc<BTreeMap<Arc<str>, Name>>;

/// A change of the names of a folder.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Insert(Arc<str>, Name),
    Remove(Arc<str>),
    Rename(Arc<str>, Arc<str>, usize),
}

impl Change {
    fn folder(&self) -> &str {
        match self {
            Self::Insert(name, _) | Self::Remove(name) | Self::Rename(_, name, _) => folder_of(name),
        }
    }

    fn apply(&self, names: &mut Names) {
        let names = Arc::make_mut(names);
        match self {
            Self::Insert(name, what) => {
                names.insert(name.clone(), *what);
            }
            Self::Remove(name) => {
                names.remove(name);
            }
            Self::Rename(from, to, file) => {
                names.remove(from);
                names.insert(to.clone(), Name::File(*file));
            }
        }
    }
}

/// The effect of a call, as far as faults distinguish it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Change,
    /// A change that needs space.
    Grow,
    SyncFile,
    SyncFolder,
}

/// Why a call fails, and whether part of its effect may have happened.
pub(super) struct Failure {
    pub(super) error: io::Error,
    pub(super) partial: bool,
}

pub(super) struct Disk {
    pub(super) files: Vec<Arc<Contents>>,
    pub(super) names: Names,
    safe_names: Names,
    pending_names: Vec<Change>,
    pub(super) locks: BTreeSet<String>,
    /// How far each file has reserved space. It ends with the process, which is enough for the
    /// tests.
    reserved: BTreeMap<usize, usize>,
    /// Number of open handles, and the largest number that the process can have.
    pub(super) handles: usize,
    pub(super) handles_at_most: usize,
    /// The next handle, and the first one of this process.
    next: Handle,
    first: Handle,
    pub(super) faults: Vec<(u64, Fault)>,
    pub(super) steps: u64,
    pub(super) stopped: bool,
    failing: bool,
    full: bool,
    pub(super) poisoned: bool,
    pub(super) forgiving: bool,
    pub(super) random: Random,
    pub(super) witness: Option<Witness>,
}

/// A write that is about to happen: file, first byte, bytes.
pub(super) type Coming<'a> = (usize, usize, &'a [u8]);

impl Disk {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            files: Vec::new(),
            names: Names::default(),
            safe_names: Names::default(),
            pending_names: Vec::new(),
            locks: BTreeSet::new(),
            reserved: BTreeMap::new(),
            handles: 0,
            handles_at_most: usize::MAX,
            next: 0,
            first: 0,
            faults: Vec::new(),
            steps: 0,
            stopped: false,
            failing: false,
            full: false,
            poisoned: false,
            forgiving: false,
            random: Random::new(seed),
            witness: None,
        }
    }

    /// Counts a call and decides whether it fails.
    pub(super) fn step(&mut self, kind: Kind) -> Result<(), Failure> {
        self.sync_step(kind).map(|_| ())
    }

    /// Counts a write and decides whether it fails.
    pub(super) fn write_step(&mut self, kind: Kind, coming: Coming<'_>) -> Result<(), Failure> {
        self.show(kind, Some(coming));
        self.count(kind).map(|_| ())
    }

    /// Counts a sync and decides whether it fails; returns whether a successful one has any effect.
    fn sync_step(&mut self, kind: Kind) -> Result<bool, Failure> {
        self.show(kind, None);
        self.count(kind)
    }

    /// Shows the disk before a call to the witness.
    fn show(&self, kind: Kind, coming: Option<Coming<'_>>) {
        if let Some(witness) = &self.witness
            && kind != Kind::Read
            && !self.stopped
        {
            witness(&super::Moment { step: self.steps + 1, disk: self, coming });
        }
    }

    fn count(&mut self, kind: Kind) -> Result<bool, Failure> {
        self.steps += 1;
        let struck = |error, partial| Err(Failure { error, partial });
        if self.stopped {
            return struck(io::Error::other("the simulated disk has stopped"), false);
        }
        let steps = self.steps;
        let strikes = |at: u64, fault: Fault| match fault {
            Fault::LoseSync => at <= steps && kind == Kind::SyncFile,
            Fault::LieSync => at <= steps && matches!(kind, Kind::SyncFile | Kind::SyncFolder),
            // These affect the next read or write, which looks for them.
            Fault::FlipRead | Fault::MisdirectRead | Fault::StaleRead | Fault::LoseWrite | Fault::MisdirectWrite => {
                false
            }
            _ => at == steps,
        };
        let index = self.faults.iter().position(|(at, fault)| strikes(*at, *fault));
        match index.map(|index| self.faults.swap_remove(index).1) {
            None => {}
            Some(Fault::LieSync) => return Ok(false),
            Some(Fault::Stop) => {
                self.stopped = true;
                return struck(io::Error::other("the simulated disk stops"), true);
            }
            Some(Fault::FailOnce | Fault::LoseSync) => {
                return struck(io::Error::from_raw_os_error(EIO), true);
            }
            Some(Fault::Rot) => self.rot(),
            Some(Fault::FlipRead | Fault::MisdirectRead | Fault::StaleRead) => {}
            Some(Fault::LoseWrite | Fault::MisdirectWrite) => {}
            Some(Fault::FailForever) => self.failing = true,
            Some(Fault::Full) => self.full = true,
        }
        if self.failing {
            return struck(io::Error::from_raw_os_error(EIO), false);
        }
        if self.full && kind == Kind::Grow {
            return struck(io::Error::from_raw_os_error(ENOSPC), true);
        }
        Ok(true)
    }

    /// Counts a call without partial effects.
    pub(super) fn simple_step(&mut self, kind: Kind, operation: &'static str, name: &str) -> Result<(), Error> {
        self.step(kind).map_err(|struck| Error::io(operation, name, struck.error))
    }

    /// Carries out a call that changes the names of a folder.
    pub(super) fn change_name(
        &mut self,
        operation: &'static str,
        name: &str,
        change: impl FnOnce(&mut Self) -> io::Result<Option<Change>>,
    ) -> Result<(), Error> {
        let kind = match operation {
            "remove" | "rename to" => Kind::Change,
            _ => Kind::Grow,
        };
        let struck = self.step(kind).err();
        let happens = match &struck {
            None => true,
            Some(struck) => struck.partial && !self.full && self.random.coin(),
        };
        if happens {
            let failed = |error| Error::io(operation, name, error);
            if !self.is_folder(folder_of(name)) {
                return Err(failed(io::ErrorKind::NotFound.into()));
            }
            if let Some(change) = change(self).map_err(failed)? {
                self.change(change);
            }
        }
        match struck {
            None => Ok(()),
            Some(struck) => Err(Error::io(operation, name, struck.error)),
        }
    }

    /// Changes a name, visibly but not safely.
    pub(super) fn change(&mut self, change: Change) {
        change.apply(&mut self.names);
        self.pending_names.push(change);
    }

    pub(super) fn is_folder(&self, name: &str) -> bool {
        name.is_empty() || self.names.get(name) == Some(&Name::Folder)
    }

    pub(super) fn file(&self, name: &str) -> Option<usize> {
        match self.names.get(name) {
            Some(Name::File(file)) => Some(*file),
            _ => None,
        }
    }

    pub(super) fn file_names(&self) -> Vec<String> {
        let names = self.names.iter().filter(|(_, what)| matches!(what, Name::File(_)));
        names.map(|(name, _)| name.to_string()).collect()
    }

    pub(super) fn reserve(&mut self, file: usize, end: usize) {
        self.reserved.insert(file, end);
    }

    pub(super) fn reserved(&self, file: usize) -> usize {
        self.reserved.get(&file).copied().unwrap_or(0)
    }

    pub(super) fn new_file(&mut self) -> usize {
        self.files.push(Arc::default());
        self.files.len() - 1
    }

    /// Fails unless the process can open another file now.
    pub(super) fn check_handles(&self) -> io::Result<()> {
        if self.handles < self.handles_at_most { Ok(()) } else { Err(io::Error::from_raw_os_error(EMFILE)) }
    }

    /// Counts a new handle and returns its number.
    pub(super) fn new_handle(&mut self) -> Handle {
        self.handles += 1;
        self.next += 1;
        self.next
    }

    pub(super) fn write(&mut self, file: usize, start: usize, bytes: &[u8], by: Handle) {
        if !self.faults.is_empty() && !bytes.is_empty() {
            match self.silent_fault(&[Fault::LoseWrite, Fault::MisdirectWrite]) {
                Some(Fault::LoseWrite) => return self.lengthen(file, start + bytes.len(), by),
                Some(Fault::MisdirectWrite) => {
                    self.lengthen(file, start + bytes.len(), by);
                    let (to, place) = self.anywhere(file, start);
                    return self.push(to, Write::Bytes(place, bytes.into()), by);
                }
                _ => {}
            }
        }
        self.push(file, Write::Bytes(start, bytes.into()), by);
    }

    /// Sets the length of a file that the next handle opens.
    pub(super) fn set_length(&mut self, file: usize, length: usize) {
        self.push(file, Write::Length(length), self.next + 1);
    }

    pub(super) fn push(&mut self, file: usize, write: Write, by: Handle) {
        let contents = Arc::make_mut(&mut self.files[file]);
        write.apply(Arc::make_mut(&mut contents.cached));
        contents.pending.push((write, by));
    }

    pub(super) fn sync_file(&mut self, file: usize, by: Handle) -> io::Result<()> {
        let result = self.sync_step(Kind::SyncFile);
        let is_covered = |of: Handle| of == by || of < self.first;
        let of_others = self.files[file].pending.iter().any(|(_, of)| !is_covered(*of));
        if self.files[file].pending.is_empty() && result.is_ok() {
            return Ok(());
        }
        let contents = Arc::make_mut(&mut self.files[file]);
        let pending = std::mem::take(&mut contents.pending);
        let (pending, others): (Vec<_>, _) = pending.into_iter().partition(|(_, of)| is_covered(*of));
        contents.pending = others;
        match result {
            Ok(false) => {
                contents.diverged = true;
                Ok(())
            }
            Ok(true) => {
                if contents.diverged || of_others {
                    pending.iter().for_each(|(write, _)| contents.save(write));
                } else {
                    contents.safe = Arc::clone(&contents.cached);
                }
                Ok(())
            }
            Err(struck) => {
                self.poisoned = !self.forgiving;
                if self.stopped {
                    contents.pending.extend(pending);
                    return Err(struck.error);
                }
                contents.diverged = true;
                let all_lost = self.random.coin();
                for (write, _) in &pending {
                    if !all_lost && self.random.coin() {
                        contents.save(write);
                    }
                }
                Err(struck.error)
            }
        }
    }

    pub(super) fn sync_folder(&mut self, folder: &str) -> io::Result<()> {
        let honest = self.sync_step(Kind::SyncFolder).map_err(|struck| {
            self.poisoned = !self.forgiving;
            struck.error
        })?;
        let (inside, outside) =
            std::mem::take(&mut self.pending_names).into_iter().partition(|change| change.folder() == folder);
        self.pending_names = outside;
        let inside: Vec<Change> = inside;
        for change in inside.iter().filter(|_| honest) {
            change.apply(&mut self.safe_names);
        }
        Ok(())
    }

    pub(super) fn put(&mut self, name: &str, bytes: &[u8]) {
        assert!(self.is_folder(folder_of(name)), "no folder for {name}");
        let file = self.new_file();
        self.files[file] = Arc::new(Contents::settled(bytes.to_vec()));
        let change = Change::Insert(name.into(), Name::File(file));
        change.apply(&mut self.names);
        change.apply(&mut self.safe_names);
    }

    pub(super) fn take(&mut self, name: &str) {
        let change = Change::Remove(name.into());
        change.apply(&mut self.names);
        change.apply(&mut self.safe_names);
    }

    /// Returns the hash of everything that decides what can still happen to the disk.
    pub(super) fn digest(&self) -> u128 {
        let mut hash = Xxh3::new();
        let number = |hash: &mut Xxh3, number: usize| hash.update(&(number as u64).to_le_bytes());
        let seen = |hash: &mut Xxh3, bytes: &[u8]| {
            number(hash, bytes.len());
            hash.update(&xxh3_64(bytes).to_le_bytes());
        };
        let file = |hash: &mut Xxh3, file: usize| {
            let contents = &self.files[file];
            seen(hash, &contents.cached);
            if !Arc::ptr_eq(&contents.cached, &contents.safe) {
                seen(hash, &contents.safe);
            }
            for (write, _) in &contents.pending {
                match write {
                    Write::Bytes(start, bytes) => {
                        number(hash, *start);
                        seen(hash, bytes);
                    }
                    Write::Length(length) => number(hash, *length),
                }
            }
        };
        for names in [&self.names, &self.safe_names] {
            for (name, what) in names.iter() {
                seen(&mut hash, name.as_bytes());
                if let Name::File(index) = what {
                    file(&mut hash, *index);
                }
            }
            if Arc::ptr_eq(&self.names, &self.safe_names) {
                break;
            }
        }
        for change in &self.pending_names {
            let (kind, first, second) = match change {
                Change::Insert(name, _) => (0, name, name),
                Change::Remove(name) => (1, name, name),
                Change::Rename(from, to, _) => (2, from, to),
            };
            number(&mut hash, kind);
            seen(&mut hash, first.as_bytes());
            seen(&mut hash, second.as_bytes());
        }
        hash.digest128()
    }

    pub(super) fn restarted(&self) -> Self {
        Self {
            files: self.files.clone(),
            names: self.names.clone(),
            safe_names: self.safe_names.clone(),
            pending_names: self.pending_names.clone(),
            random: self.random,
            next: self.next + 1,
            first: self.next + 1,
            ..Self::new(0)
        }
    }

    pub(super) fn after_power_cut(&self, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let random = &mut random;
        let (of_contents, of_names) = match seed {
            0 => (Fate::Lost, Fate::Lost),
            1 => (Fate::Kept, Fate::Kept),
            2 => (Fate::Lost, Fate::Kept),
            3 => (Fate::Kept, Fate::Lost),
            _ => {
                let fates = [Fate::Mixed, Fate::Mixed, Fate::Prefix, Fate::Kept, Fate::Lost];
                (Fate::Mixed, fates[random.index(fates.len())])
            }
        };
        let mut names = self.names_after(of_names, random);
        let lost: Vec<Arc<str>> = names
            .keys()
            .filter(|name| {
                let folder = folder_of(name);
                !folder.is_empty() && !names.contains_key(folder)
            })
            .cloned()
            .collect();
        for name in lost {
            Change::Remove(name).apply(&mut names);
        }
        let mut files = vec![Arc::default(); self.files.len()];
        for what in names.values() {
            if let Name::File(file) = *what {
                files[file] = Arc::new(self.files[file].after(of_contents, random));
            }
        }
        Self { files, safe_names: names.clone(), names, ..Self::new(seed) }
    }

    fn names_after(&self, fate: Fate, random: &mut Random) -> Names {
        let mut names = Arc::clone(&self.safe_names);
        let kept = random.index(self.pending_names.len() + 1);
        for (index, change) in self.pending_names.iter().enumerate() {
            let keep = match fate {
                Fate::Lost => false,
                Fate::Kept => true,
                Fate::Prefix => index < kept,
                Fate::Mixed => random.coin(),
            };
            match change {
                // Some file systems carry out a rename in two steps.
                Change::Rename(_, to, file) if keep && fate == Fate::Mixed && random.coin() => {
                    Change::Insert(to.clone(), Name::File(*file)).apply(&mut names);
                }
                _ if keep => change.apply(&mut names),
                _ => {}
            }
        }
        names
    }
}
