//! The disk behind [`super::SimulatedStorage`]: what is visible, what is safe, what lies between.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::{Fault, SECTOR_BYTES};
use crate::Error;
use crate::storage::folder_of;

/// Linux numbers of the errors that strike.
const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// Repeatable randomness (SplitMix64, Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn coin(&mut self) -> bool {
        self.next() & 1 == 1
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Folder,
    File(usize),
}

/// A change of the names of a folder.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Insert(String, Name),
    Remove(String),
    Rename(String, String, usize),
}

impl Change {
    fn folder(&self) -> &str {
        match self {
            Self::Insert(name, _) | Self::Remove(name) | Self::Rename(_, name, _) => folder_of(name),
        }
    }

    fn apply(&self, names: &mut BTreeMap<String, Name>) {
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

/// A change of the contents of a file.
#[derive(Clone, Debug)]
enum Write {
    Bytes(usize, Vec<u8>),
    Length(usize),
}

impl Write {
    fn apply(&self, contents: &mut Vec<u8>) {
        match self {
            Self::Bytes(start, bytes) => {
                let end = start + bytes.len();
                if contents.len() < end {
                    contents.resize(end, 0);
                }
                contents[*start..end].copy_from_slice(bytes);
            }
            Self::Length(length) => contents.resize(*length, 0),
        }
    }

    /// What a power cut in mid-write leaves.
    fn tear(&self, contents: &mut Vec<u8>, random: &mut Random) {
        let Self::Bytes(start, bytes) = self else {
            return;
        };
        let end = start + bytes.len();
        if contents.len() < end && random.coin() {
            contents.resize(end, 0);
        }
        let sectors = start / SECTOR_BYTES..end.div_ceil(SECTOR_BYTES);
        for sector in sectors {
            let whole = sector * SECTOR_BYTES..(sector + 1) * SECTOR_BYTES;
            let part = whole.start.max(*start)..whole.end.min(end);
            match random.below(3) {
                0 => {}
                1 => Self::Bytes(part.start, bytes[part.start - start..part.end - start].to_vec()).apply(contents),
                _ => {
                    let last = whole.end.min(contents.len());
                    for byte in contents.get_mut(whole.start..last).unwrap_or_default() {
                        *byte = random.next() as u8;
                    }
                }
            }
        }
    }
}

/// A file.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    pub(super) cached: Vec<u8>,
    safe: Vec<u8>,
    pending: Vec<Write>,
}

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Change,
    /// A change that needs space.
    Grow,
    SyncFile,
    SyncFolder,
}

/// Why a call fails, and whether a part of it may have happened.
pub(super) struct Struck {
    pub(super) error: io::Error,
    pub(super) partial: bool,
}

/// How the changes that are not safe fare in a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Lost,
    Kept,
    /// The first ones are kept.
    Prefix,
    /// Each one for itself.
    Mixed,
}

#[derive(Debug)]
pub(super) struct Disk {
    pub(super) files: Vec<Contents>,
    pub(super) names: BTreeMap<String, Name>,
    safe_names: BTreeMap<String, Name>,
    pending_names: Vec<Change>,
    pub(super) locks: BTreeSet<String>,
    pub(super) faults: Vec<(u64, Fault)>,
    pub(super) steps: u64,
    pub(super) stopped: bool,
    failing: bool,
    full: bool,
    pub(super) poisoned: bool,
    pub(super) free_bytes: u64,
    pub(super) random: Random,
}

impl Disk {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            files: Vec::new(),
            names: BTreeMap::new(),
            safe_names: BTreeMap::new(),
            pending_names: Vec::new(),
            locks: BTreeSet::new(),
            faults: Vec::new(),
            steps: 0,
            stopped: false,
            failing: false,
            full: false,
            poisoned: false,
            free_bytes: 1 << 40,
            random: Random(seed),
        }
    }

    /// Counts a call and decides whether it fails.
    pub(super) fn step(&mut self, kind: Kind) -> Result<(), Struck> {
        self.sync_step(kind).map(|_| ())
    }

    /// The same for a sync; says whether a sync that seems to succeed does anything.
    fn sync_step(&mut self, kind: Kind) -> Result<bool, Struck> {
        self.steps += 1;
        let struck = |error, partial| Err(Struck { error, partial });
        if self.stopped {
            return struck(io::Error::other("the simulated disk has stopped"), false);
        }
        let steps = self.steps;
        let strikes = |at: u64, fault: Fault| match fault {
            Fault::LoseSync => at <= steps && kind == Kind::SyncFile,
            Fault::LieSync => at <= steps && matches!(kind, Kind::SyncFile | Kind::SyncFolder),
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

    /// A step of a call without partial effects.
    pub(super) fn simple_step(&mut self, kind: Kind, operation: &'static str, name: &str) -> Result<(), Error> {
        self.step(kind).map_err(|struck| Error::io(operation, name, struck.error))
    }

    /// A call that changes the names of a folder.
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
                change.apply(&mut self.names);
                self.pending_names.push(change);
            }
        }
        match struck {
            None => Ok(()),
            Some(struck) => Err(Error::io(operation, name, struck.error)),
        }
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
        let names = self.names.keys().cloned();
        names.filter(|name| self.file(name).is_some()).collect()
    }

    pub(super) fn new_file(&mut self) -> usize {
        self.files.push(Contents::default());
        self.files.len() - 1
    }

    pub(super) fn write(&mut self, file: usize, start: usize, bytes: &[u8]) {
        self.push(file, Write::Bytes(start, bytes.to_vec()));
    }

    pub(super) fn set_length(&mut self, file: usize, length: usize) {
        self.push(file, Write::Length(length));
    }

    fn push(&mut self, file: usize, write: Write) {
        let contents = &mut self.files[file];
        write.apply(&mut contents.cached);
        contents.pending.push(write);
    }

    pub(super) fn sync_file(&mut self, file: usize) -> io::Result<()> {
        let result = self.sync_step(Kind::SyncFile);
        let contents = &mut self.files[file];
        match result {
            Ok(false) => {
                contents.pending.clear();
                Ok(())
            }
            Ok(true) => {
                for write in contents.pending.drain(..) {
                    write.apply(&mut contents.safe);
                }
                Ok(())
            }
            Err(struck) => {
                self.poisoned = true;
                if self.stopped {
                    return Err(struck.error);
                }
                let all_lost = self.random.coin();
                for write in contents.pending.drain(..) {
                    if !all_lost && self.random.coin() {
                        write.apply(&mut contents.safe);
                    }
                }
                Err(struck.error)
            }
        }
    }

    pub(super) fn sync_folder(&mut self, folder: &str) -> io::Result<()> {
        let honest = self.sync_step(Kind::SyncFolder).map_err(|struck| {
            self.poisoned = true;
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
        self.files[file].cached = bytes.to_vec();
        self.files[file].safe = bytes.to_vec();
        self.names.insert(name.to_string(), Name::File(file));
        self.safe_names.insert(name.to_string(), Name::File(file));
    }

    pub(super) fn take(&mut self, name: &str) {
        self.names.remove(name);
        self.safe_names.remove(name);
    }

    pub(super) fn restarted(&self) -> Self {
        Self {
            files: self.files.clone(),
            names: self.names.clone(),
            safe_names: self.safe_names.clone(),
            pending_names: self.pending_names.clone(),
            free_bytes: self.free_bytes,
            ..Self::new(self.random.0)
        }
    }

    pub(super) fn after_power_cut(&self, seed: u64) -> Self {
        let mut random = Random(seed);
        let random = &mut random;
        let (of_contents, of_names) = match seed {
            0 => (Fate::Lost, Fate::Lost),
            1 => (Fate::Kept, Fate::Kept),
            2 => (Fate::Lost, Fate::Kept),
            3 => (Fate::Kept, Fate::Lost),
            _ => {
                let fates = [Fate::Mixed, Fate::Mixed, Fate::Prefix, Fate::Kept, Fate::Lost];
                (Fate::Mixed, fates[random.below(fates.len())])
            }
        };
        let mut names = self.names_after(of_names, random);
        let lost: Vec<String> = names
            .keys()
            .filter(|name| {
                let folder = folder_of(name);
                !folder.is_empty() && !names.contains_key(folder)
            })
            .cloned()
            .collect();
        for name in lost {
            names.remove(&name);
        }
        let mut files = vec![Contents::default(); self.files.len()];
        for what in names.values() {
            if let Name::File(file) = *what {
                let contents = self.files[file].after(of_contents, random);
                files[file].cached.clone_from(&contents);
                files[file].safe = contents;
            }
        }
        Self { files, safe_names: names.clone(), names, free_bytes: self.free_bytes, ..Self::new(seed) }
    }

    fn names_after(&self, fate: Fate, random: &mut Random) -> BTreeMap<String, Name> {
        let mut names = self.safe_names.clone();
        let kept = random.below(self.pending_names.len() + 1);
        for (index, change) in self.pending_names.iter().enumerate() {
            let keep = match fate {
                Fate::Lost => false,
                Fate::Kept => true,
                Fate::Prefix => index < kept,
                Fate::Mixed => random.coin(),
            };
            match change {
                // Some file systems make a rename of two steps.
                Change::Rename(_, to, file) if keep && fate == Fate::Mixed && random.coin() => {
                    names.insert(to.clone(), Name::File(*file));
                }
                _ if keep => change.apply(&mut names),
                _ => {}
            }
        }
        names
    }
}

impl Contents {
    fn after(&self, fate: Fate, random: &mut Random) -> Vec<u8> {
        let mut contents = self.safe.clone();
        for write in &self.pending {
            match (fate, random.below(4)) {
                (Fate::Lost, _) => {}
                (Fate::Kept, _) | (_, 0) => write.apply(&mut contents),
                (_, 1) => {}
                // The new size without the data.
                (_, 2) => {
                    if let Write::Bytes(start, bytes) = write {
                        let end = start + bytes.len();
                        contents.resize(contents.len().max(end), 0);
                    }
                }
                _ => write.tear(&mut contents, random),
            }
        }
        contents
    }
}
