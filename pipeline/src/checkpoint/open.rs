//! Opening a run folder: lock, read, check, begin a new generation.

use std::sync::Arc;

use super::identity::{Identity, Parameters};
use super::journal::Journal;
use super::record::{BlockRecord, Extent};
use super::recover::{Finished, Recovered, check_files, list, recover};
use super::{Checkpoint, Opened, manifest, names};
use crate::Error;
#[cfg(any(test, simulated))]
use crate::storage::Entry;
use crate::storage::{Create, EntryKind, Storage};

const FOLDERS: [&str; 3] = [names::METADATA, names::LOGS, names::PUBLISHED];

pub(super) fn open(
    storage: Arc<dyn Storage>,
    parameters: &Parameters,
    run_id: u128,
    needs: &dyn Fn(&Finished, &Extent) -> bool,
) -> Result<Opened, Error> {
    let store = &*storage;
    refuse_foreign(store)?;
    let lock = store.lock(names::LOCK)?;
    let wanted = Identity { run_id, parameters: parameters.clone() };
    let (identity, write_format, mut records, finished, fresh) = match recover(store)? {
        Recovered::Empty => (wanted, true, Vec::new(), Finished::default(), true),
        Recovered::Begun { identity } => (identity, false, Vec::new(), Finished::default(), true),
        Recovered::Run { identity, format_damaged, records, finished, .. } => {
            (identity, format_damaged, records, finished, false)
        }
    };
    identity.agree(parameters, &store.path(names::FORMAT))?;
    let needed = |extent: &Extent| needs(&finished, extent);
    check_files(store, &records, &needed)?;
    for record in &mut records {
        record.extents.retain(needed);
    }

    prepare(store, &identity, write_format)?;
    let (generation, journal) = begin(store, &identity, &records)?;
    let published =
        records.iter().filter_map(|record| record.published.as_ref()).map(|file| file.name.clone()).collect();
    let checkpoint =
        Checkpoint { storage, identity, generation, journal, finished, published, failed: false, _lock: lock };
    Ok(Opened { checkpoint, recovered: records, fresh })
}

/// Refuses a folder without `FORMAT` that holds anything an interrupted start cannot have left.
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
    if let Some(entry) = entries.iter().find(|entry| !is_ours(&entry.name, entry.kind)) {
        return Err(Error::NotEmpty { path: storage.path(""), name: entry.name.clone() });
    }
    // Without LOCK nobody can be at work here, so what the folders hold can be judged right now,
    // before LOCK is made in what may be somebody else's folder.
    if !has(names::LOCK) {
        recover(storage)?;
    }
    Ok(())
}

/// Folders and `FORMAT`, with their names made durable even if an earlier start made them: it may
/// have ended before it synced them.
fn prepare(storage: &dyn Storage, identity: &Identity, write_format: bool) -> Result<(), Error> {
    for folder in FOLDERS {
        storage.create_dir(folder)?;
    }
    storage.sync_dir("")?;
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

/// Writes the next generation, makes it the current one and removes all others.
fn begin(storage: &dyn Storage, identity: &Identity, records: &[BlockRecord]) -> Result<(u64, Journal), Error> {
    let old = storage.list(names::METADATA)?;
    let logs = storage.list(names::LOGS)?;
    let seen = old.iter().chain(&logs);
    let generation = 1 + seen.map(|entry| names::generation_in(&entry.name)).max().unwrap_or(0);

    #[cfg(any(test, simulated))]
    if let Some(journal) = continued(storage, &old)? {
        return Ok((generation, journal));
    }

    let (bytes, hash) = manifest::encode(identity, generation, records)?;
    let copies = names::Copy::BOTH.map(|copy| names::manifest(generation, copy));
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
    Ok((generation, journal))
}

/// The journal of the highest generation, if the rule that each opening begins a new one is left out.
#[cfg(any(test, simulated))]
fn continued(storage: &dyn Storage, metadata: &[Entry]) -> Result<Option<Journal>, Error> {
    use crate::omitted::{Rule, omits};
    let generations = metadata.iter().filter_map(|entry| names::manifest_generation(&entry.name));
    let Some(current) = generations.max().filter(|_| omits(Rule::NewGeneration)) else {
        return Ok(None);
    };
    for entry in metadata {
        let is_temporary = entry.name.ends_with(names::TEMPORARY);
        if is_temporary || names::generation_in(&entry.name) != current {
            storage.remove(&format!("{}/{}", names::METADATA, entry.name))?;
        }
    }
    storage.sync_dir(names::METADATA)?;
    let hash = manifest::read_either(storage, current)?.hash;
    Journal::reopen(storage, current, hash).map(Some)
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
