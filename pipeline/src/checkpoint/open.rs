//! Opening a run folder: lock, read, check, begin a new generation.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::identity::{Identity, Parameters};
use super::journal::Journal;
use super::record::BlockRecord;
use super::recover::{FinishedBlocks, Inspection, check_files, recover, recover_with};
use super::{Checkpoint, Opening, manifest, names, require_file};
use crate::Error;
use crate::ids::{BlockId, RunId};
use crate::log::place::Extent;
use crate::storage::{Create, EntryKind, LockGuard, Storage, is_of_the_system, list};

const FOLDERS: [&str; 3] = [names::METADATA, names::LOGS, names::PUBLISHED];

/// A run folder that is locked and read but not changed yet: between the lock and the new
/// generation.
///
/// Its owner can write log files of [`LockedRun::generation`]. They count only after
/// [`LockedRun::begin`] has returned: until then no manifest of that generation exists, and a stop
/// leaves files that no record names.
pub struct LockedRun {
    storage: Arc<dyn Storage>,
    identity: Identity,
    write_format: bool,
    records: Vec<BlockRecord>,
    /// The index in `records` of each block.
    places: BTreeMap<BlockId, usize>,
    finished: FinishedBlocks,
    generation: u64,
    lock: LockGuard,
}

impl LockedRun {
    /// Takes a run folder with any parameters for repair, even if `FORMAT` is missing but a
    /// manifest is intact. It does not check whether the named files exist.
    ///
    /// # Errors
    /// Returns the errors of [`Checkpoint::open`], and [`Error::NotARun`] if no run was ever begun.
    pub fn take(storage: Arc<dyn Storage>) -> Result<LockedRun, Error> {
        let lock = storage.lock(names::LOCK)?;
        let found = recover_with(&*storage, true)?;
        LockedRun::new(storage, lock, found, None)
    }

    fn new(
        storage: Arc<dyn Storage>,
        lock: LockGuard,
        found: Option<Inspection>,
        wanted: Option<Identity>,
    ) -> Result<LockedRun, Error> {
        let (identity, write_format, records) = match (found, wanted) {
            (None, None) => return Err(Error::NotARun { path: storage.path("") }),
            (None, Some(wanted)) => (wanted, true, Vec::new()),
            (Some(Inspection { run_id, parameters, format_damaged, records, .. }), _) => {
                (Identity { run_id, parameters }, format_damaged, records)
            }
        };
        let seen = [names::METADATA, names::LOGS].map(|folder| list(&*storage, folder));
        let [metadata, logs] = seen;
        let seen = metadata?.into_iter().chain(logs?);
        let newest = seen.map(|entry| names::generation_in(&entry.name)).max().unwrap_or(0);
        let generation = newest.saturating_add(1);
        if generation >= names::GENERATIONS {
            let rule = format!("a name has the generation {newest}, after which there can be no other");
            return Err(Error::corrupt(storage.path(names::METADATA), None, rule));
        }
        let finished = records.iter().map(|record| record.block).collect();
        let places = records.iter().map(|record| record.block).zip(0..).collect();
        Ok(LockedRun { storage, identity, write_format, records, places, finished, generation, lock })
    }

    /// Returns the number of the generation that is about to begin.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the identity of the run.
    pub fn run_id(&self) -> RunId {
        self.identity.run_id
    }

    /// Returns the finished blocks, in the order of their commits, with all their extents.
    pub fn records(&self) -> &[BlockRecord] {
        &self.records
    }

    /// Returns the record of a finished block.
    pub fn record(&self, block: BlockId) -> Option<&BlockRecord> {
        self.places.get(&block).map(|place| &self.records[*place])
    }

    /// Returns the committed blocks.
    pub fn finished(&self) -> &FinishedBlocks {
        &self.finished
    }

    /// Creates the missing folders of a run, durably.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn make_folders(&self) -> Result<(), Error> {
        make_folders(&*self.storage)
    }

    /// Replaces the extents in the record of a block. The new ones are in files of
    /// [`LockedRun::generation`] or existed before.
    pub fn set_extents(&mut self, block: BlockId, extents: Vec<Extent>) {
        if let Some(place) = self.places.get(&block) {
            self.records[*place].extents = extents;
        }
    }

    /// Begins the generation, with the extents that `needs` returns true for.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if a named file is missing or cut, [`Error::Codec`], or
    /// [`Error::Io`].
    pub fn begin(self, needs: &dyn Fn(&FinishedBlocks, &Extent) -> bool) -> Result<Opening, Error> {
        let LockedRun { storage, identity, write_format, mut records, finished, generation, lock, .. } = self;
        let store = &*storage;
        let needed = |extent: &Extent| needs(&finished, extent);
        check_files(store, identity.run_id, &records, &needed)?;
        for record in &mut records {
            record.extents.retain(needed);
        }
        prepare(store, &identity, write_format)?;
        let journal = begin(store, &identity, generation, &records)?;
        let published =
            records.iter().filter_map(|record| record.published.as_ref()).map(|file| file.name.clone()).collect();
        let order = records.iter().map(|record| record.block).collect();
        let checkpoint = Checkpoint {
            storage,
            identity,
            generation,
            journal,
            finished,
            order,
            published,
            failed: false,
            _lock: lock,
        };
        Ok(Opening { checkpoint, recovered: records })
    }
}

pub(super) fn open(
    storage: Arc<dyn Storage>,
    parameters: &Parameters,
    run_id: RunId,
    needs: &dyn Fn(&FinishedBlocks, &Extent) -> bool,
) -> Result<Opening, Error> {
    refuse_foreign(&*storage)?;
    let lock = storage.lock(names::LOCK)?;
    let wanted = Identity { run_id, parameters: parameters.clone() };
    let found = recover(&*storage)?;
    let locked = LockedRun::new(storage, lock, found, Some(wanted))?;
    locked.identity.agree(parameters, &locked.storage.path(names::FORMAT))?;
    locked.begin(needs)
}

/// Refuses a folder without `FORMAT` that has anything beside the files of an interrupted start and
/// of the system.
fn refuse_foreign(storage: &dyn Storage) -> Result<(), Error> {
    let entries = list(storage, "")?;
    let has = |name: &str| entries.iter().any(|entry| entry.name == name);
    if has(names::FORMAT) {
        return Ok(());
    }
    let is_ours = |name: &str, kind: EntryKind| match kind {
        EntryKind::File => name == names::LOCK || name == names::temporary(names::FORMAT),
        EntryKind::Folder => FOLDERS.contains(&name),
        EntryKind::Other => false,
    };
    let mut foreign = entries.iter().filter(|entry| !is_ours(&entry.name, entry.kind));
    if let Some(entry) = foreign.find(|entry| !is_of_the_system(&entry.name)) {
        return Err(Error::NotEmpty { path: storage.path(""), name: entry.name.clone() });
    }
    // Without LOCK no owner can be at work here, so the folder can be judged now, before LOCK is
    // created in what may be another program's folder.
    if !has(names::LOCK)
        && let Err(error) = recover(storage)
    {
        // An owner that has begun meanwhile has a LOCK; its folder is judged under the lock.
        let now = list(storage, "")?;
        if !now.iter().any(|entry| entry.name == names::LOCK) {
            return Err(error);
        }
    }
    Ok(())
}

/// Makes the folders and `FORMAT` durable, even if an earlier start created them: it may have ended
/// before it synced their names.
fn prepare(storage: &dyn Storage, identity: &Identity, write_format: bool) -> Result<(), Error> {
    make_folders(storage)?;
    if write_format {
        let temporary = names::temporary(names::FORMAT);
        write_new(storage, &temporary, &identity.encode()?)?;
        storage.rename(&temporary, names::FORMAT)?;
        storage.sync_dir("")?;
    } else {
        remove_if_there(storage, &names::temporary(names::FORMAT))?;
    }
    Ok(())
}

fn make_folders(storage: &dyn Storage) -> Result<(), Error> {
    for folder in FOLDERS {
        storage.create_dir(folder)?;
    }
    storage.sync_dir("")
}

/// Writes the next generation, makes it current and removes all others.
pub(super) fn begin(
    storage: &dyn Storage,
    identity: &Identity,
    generation: u64,
    records: &[BlockRecord],
) -> Result<Journal, Error> {
    let newest = records.iter().flat_map(|record| &record.extents).map(|extent| extent.file.generation).max();
    assert!(newest <= Some(generation), "checkpoint, invariant 2: {newest:?} in front of generation {generation}");
    let mut old = storage.list(names::METADATA)?;
    old.retain(|entry| names::is_metadata(&entry.name));
    for entry in &old {
        require_file(storage, &format!("{}/{}", names::METADATA, entry.name), entry.kind)?;
    }

    // Files of an incomplete switch mean nothing, and on a full disk each attempt would leave more
    // of them.
    let current = old.iter().filter_map(|entry| names::manifest_generation(&entry.name)).max().unwrap_or(0);
    for entry in old.iter().filter(|entry| entry.kind == EntryKind::File) {
        if entry.name.ends_with(names::TEMPORARY) || names::generation_in(&entry.name) > current {
            remove_if_there(storage, &format!("{}/{}", names::METADATA, entry.name))?;
        }
    }
    let (bytes, hash) = manifest::encode(identity, generation, records)?;
    let copies = names::manifests(generation);
    for name in &copies {
        write_new(storage, &names::temporary(name), &bytes)?;
    }
    let journal = Journal::create(storage, generation, hash)?;
    storage.sync_dir(names::METADATA)?;
    for name in &copies {
        storage.rename(&names::temporary(name), name)?;
    }
    storage.sync_dir(names::METADATA)?;

    for entry in old.iter().filter(|entry| entry.kind == EntryKind::File) {
        remove_if_there(storage, &format!("{}/{}", names::METADATA, entry.name))?;
    }
    storage.sync_dir(names::METADATA)?;
    Ok(journal)
}

pub(super) fn remove_if_there(storage: &dyn Storage, name: &str) -> Result<(), Error> {
    match storage.remove(name) {
        Err(error) if error.is_not_found() => Ok(()),
        other => other,
    }
}

pub(super) fn write_new(storage: &dyn Storage, name: &str, bytes: &[u8]) -> Result<(), Error> {
    let file = storage.create(name, Create::Truncate)?;
    file.write_all_at(bytes, 0)?;
    file.sync()
}
