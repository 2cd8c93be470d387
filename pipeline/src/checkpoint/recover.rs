//! Reads the metadata of a run folder, without changing anything.

use std::collections::{BTreeMap, BTreeSet};

use super::identity::{IDENTITY_BYTES_AT_MOST, Identity, Parameters};
use super::record::{BLOCKS_AT_MOST, BlockRecord};
use super::{journal, manifest, names};
use crate::Error;
use crate::bytes::first_repeated;
use crate::finding::{Damage, Expected};
use crate::ids::{BlockId, RunId};
use crate::log::place::{Extent, LogFile};
use crate::log::reader::refuse_withdrawn;
use crate::storage::{Entry, EntryKind, Storage, is_valid_name, list, read_whole};

/// The finished blocks of a run.
pub type FinishedBlocks = BTreeSet<BlockId>;

/// Result of [`inspect`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Inspection {
    /// Identity of the run.
    pub run_id: RunId,
    /// Parameters of the run.
    pub parameters: Parameters,
    /// Current generation; 0 if the first one has not begun yet.
    pub generation: u64,
    /// Finished blocks, in the order of their commits.
    pub records: Vec<BlockRecord>,
    /// Number of records with which the current generation began; the others were committed since.
    pub in_manifest: usize,
    /// Whether `FORMAT` is damaged, so that the identity comes from the manifest.
    pub format_damaged: bool,
}

impl Inspection {
    /// Returns the finished blocks.
    pub fn finished(&self) -> FinishedBlocks {
        self.records.iter().map(|record| record.block).collect()
    }
}

/// Reads the metadata of a folder, without a lock and without changing it; it may have a running
/// owner.
///
/// # Errors
/// Returns [`Error::NotARun`] if there is no `FORMAT`, and otherwise the errors of
/// [`super::Checkpoint::open`].
pub fn inspect(storage: &dyn Storage) -> Result<Inspection, Error> {
    let mut generation = highest_generation(storage);
    let mut attempt = recover(storage);
    // An owner that begins a generation removes the files of the one that is being read. So an
    // error counts only if it persists while the generation stays the same; otherwise the owner was
    // faster than this reader.
    let mut unchanged = 0;
    while attempt.is_err() && unchanged < 3 {
        let now = highest_generation(storage);
        unchanged = if now == generation { unchanged + 1 } else { 0 };
        generation = now;
        attempt = recover(storage);
    }
    attempt?.ok_or_else(|| Error::NotARun { path: storage.path("") })
}

/// Returns the generation that a reader would take now, if the folder can be read.
fn highest_generation(storage: &dyn Storage) -> Option<u64> {
    let metadata = list(storage, names::METADATA).ok()?;
    metadata.iter().filter_map(|entry| names::manifest_generation(&entry.name)).max()
}

/// Returns something in a folder that a run can have left, rather than the file system or a file
/// manager. In a folder that is not known to be a run's, anything with a plain name qualifies.
fn trace(storage: &dyn Storage, folder: &str, is_run: bool) -> Result<Option<Entry>, Error> {
    let is_trace = |entry: &Entry| match folder {
        names::LOGS if is_run => names::is_log(&entry.name),
        _ => is_valid_name(&entry.name),
    };
    Ok(list(storage, folder)?.into_iter().find(is_trace))
}

/// Reads the metadata. Returns `None` if no run was begun here, or its start was interrupted before
/// `FORMAT` existed.
pub(super) fn recover(storage: &dyn Storage) -> Result<Option<Inspection>, Error> {
    recover_with(storage, false)
}

/// Like [`recover`], but with `from_manifest` a manifest can replace a missing `FORMAT`, not only a
/// damaged one. An opening must not allow that: without `FORMAT` it cannot be sure that the folder
/// is the right one.
pub(super) fn recover_with(storage: &dyn Storage, from_manifest: bool) -> Result<Option<Inspection>, Error> {
    let identity = match read_identity(storage) {
        Err(error) if error.is_not_found() && !(from_manifest && highest_generation(storage).is_some()) => {
            for folder in [names::METADATA, names::PUBLISHED, names::LOGS] {
                if let Some(entry) = &trace(storage, folder, false)? {
                    return Err(missing(storage, names::FORMAT, folder, entry));
                }
            }
            return Ok(None);
        }
        other => other,
    };
    // In another version everything else can differ too.
    let identity = match identity {
        Err(error) if !matches!(error, Error::Corrupt { .. }) && !error.is_not_found() => return Err(error),
        other => other,
    };
    let metadata = list(storage, names::METADATA)?;
    let generations = metadata.iter().filter_map(|entry| names::manifest_generation(&entry.name));
    let Some(generation) = generations.max() else {
        let Identity { run_id, parameters } = identity?;
        for folder in [names::PUBLISHED, names::LOGS] {
            if let Some(entry) = &trace(storage, folder, true)? {
                return Err(missing(storage, "m/manifest", folder, entry));
            }
        }
        // The journals of a generation are created, still empty, before its manifest.
        let is_used = |entry: &&Entry| entry.length > 0 && !entry.name.ends_with(names::TEMPORARY);
        if let Some(entry) = metadata.iter().filter(|entry| names::is_metadata(&entry.name)).find(is_used) {
            return Err(missing(storage, "m/manifest", names::METADATA, entry));
        }
        let records = Vec::new();
        let begun = Inspection { run_id, parameters, generation: 0, records, in_manifest: 0, format_damaged: false };
        return Ok(Some(begun));
    };
    let manifest = manifest::read_either(storage, generation)?;
    let format_damaged = identity.is_err();
    if let Ok(identity) = &identity
        && *identity != manifest.identity
    {
        let path = storage.path(&names::manifests(generation)[0]);
        return Err(Error::corrupt(path, None, other_run(identity, &manifest.identity)));
    }
    let in_manifest = manifest.records.len();
    let mut records = manifest.records;
    records.extend(journal::read(storage, generation, manifest.hash)?);
    check_records(storage, generation, &records)?;
    let Identity { run_id, parameters } = manifest.identity;
    Ok(Some(Inspection { run_id, parameters, generation, records, in_manifest, format_damaged }))
}

pub(super) fn read_identity(storage: &dyn Storage) -> Result<Identity, Error> {
    let bytes = read_whole(&*storage.open(names::FORMAT)?, IDENTITY_BYTES_AT_MOST as u64)?;
    Identity::decode(&bytes, &storage.path(names::FORMAT), 0)
}

/// Builds the damage of a manifest whose identity differs from `FORMAT`.
pub(super) fn other_run(format: &Identity, manifest: &Identity) -> Damage {
    format!("the manifest is of run {}, FORMAT of run {}", manifest.run_id, format.run_id).into()
}

fn missing(storage: &dyn Storage, name: &str, folder: &str, entry: &Entry) -> Error {
    let beside = Some(format!("{folder}/{}", entry.name));
    Error::corrupt(storage.path(name), None, Damage::Missing { beside })
}

/// Checks the rules that hold across records.
pub(super) fn check_records(storage: &dyn Storage, generation: u64, records: &[BlockRecord]) -> Result<(), Error> {
    let path = || storage.path(&names::manifests(generation)[0]);
    let number =
        |of, expected: Expected, found| Err(Error::corrupt(path(), None, Damage::Number { of, expected, found }));
    let expected = Expected::AtMost(BLOCKS_AT_MOST as u64);
    if !expected.holds(records.len() as u64) {
        return number("number of finished blocks", expected, records.len() as u64);
    }
    if let Some(block) = first_repeated(records.iter().map(|record| record.block)) {
        return Err(Error::corrupt(path(), None, format!("block {block} is recorded twice")));
    }
    let extents = || records.iter().flat_map(|record| &record.extents);
    let expected = Expected::AtMost(generation);
    if let Some(extent) = extents().find(|extent| !expected.holds(extent.file.generation)) {
        return number("generation of a log file", expected, extent.file.generation);
    }
    let mut places: Vec<(LogFile, u64, u64)> =
        extents().map(|extent| (extent.file, extent.offset, extent.end())).collect();
    places.sort_unstable();
    if let Some([first, _]) =
        places.array_windows().find(|[(file, _, end), (next, offset, _)]| file == next && end > offset)
    {
        let rule = format!("two entries share bytes of {}", first.0.name());
        return Err(Error::corrupt(path(), None, rule));
    }
    Ok(())
}

/// Checks existence and length of the files that records name, and the codecs of the logs. Checks
/// only those logs for which `needs` returns true.
pub(super) fn check_files(
    storage: &dyn Storage,
    run_id: RunId,
    records: &[BlockRecord],
    needs: &dyn Fn(&Extent) -> bool,
) -> Result<(), Error> {
    let lengths = |folder: &str| -> Result<BTreeMap<String, u64>, Error> {
        let entries = list(storage, folder)?.into_iter();
        let files = entries.filter(|entry| entry.kind == EntryKind::File);
        Ok(files.map(|entry| (format!("{folder}/{}", entry.name), entry.length)).collect())
    };
    let published = lengths(names::PUBLISHED)?;
    let logs = lengths(names::LOGS)?;
    for record in records {
        if let Some(file) = &record.published {
            check_length(storage, &file.name, published.get(&file.name), Expected::Exactly(file.length))?;
        }
        for extent in record.extents.iter().filter(|extent| needs(extent)) {
            let name = extent.file.name();
            check_length(storage, &name, logs.get(&name), Expected::AtLeast(extent.end()))?;
            refuse_withdrawn(storage, run_id, extent)?;
        }
    }
    Ok(())
}

fn check_length(storage: &dyn Storage, name: &str, length: Option<&u64>, expected: Expected) -> Result<(), Error> {
    let damage = match length {
        Some(&length) if expected.holds(length) => return Ok(()),
        Some(&found) => Damage::Length { expected, found },
        None => Damage::MISSING,
    };
    Err(Error::corrupt(storage.path(name), None, damage))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::place::Placement;
    use crate::testing::SimulatedStorage;

    const GENERATION: u64 = 3;

    fn record(block: u32, extents: &[Extent]) -> BlockRecord {
        BlockRecord { block: BlockId(block), extents: extents.to_vec(), ..BlockRecord::default() }
    }

    fn extent(bucket: u32, generation: u64, offset: u64, length: u64) -> Extent {
        let file = LogFile { placement: Placement::Dedicated, bucket: BlockId(bucket), generation };
        Extent { file, offset, length, hash: 0, source: BlockId(0) }
    }

    #[test]
    fn records_contradict_each_other_in_known_ways() {
        let check = |records: &[BlockRecord]| check_records(&SimulatedStorage::new(1), GENERATION, records);
        let refused = |records: &[BlockRecord]| match check(records) {
            Err(Error::Corrupt { damage, .. }) => damage.in_words().join("; "),
            other => panic!("{other:?}"),
        };
        let sound = [
            // Adjacent entries, and the same bytes of another file and of another generation.
            record(4, &[extent(7, 1, 0, 512), extent(7, 1, 512, 512)]),
            record(2, &[extent(8, 1, 100, 512), extent(7, 3, 100, 512), extent(7, 1, 1024, 1)]),
        ];
        check(&sound).unwrap();
        check(&[]).unwrap();
        assert!(refused(&[record(2, &[]), record(4, &[]), record(2, &[])]).contains("block 2 is recorded twice"));
        assert!(refused(&[record(4, &[extent(7, 4, 0, 1)])]).contains("at most 3; 4"));
        let overlap = [record(4, &[extent(7, 1, 0, 513)]), record(2, &[extent(7, 1, 512, 512)])];
        assert!(refused(&overlap).contains("two entries share bytes of logs/00000007.g1"));
    }

    #[test]
    fn only_a_manifest_makes_a_generation() {
        let disk = SimulatedStorage::new(1);
        assert_eq!(highest_generation(&disk), None);
        disk.create_dir(names::METADATA).unwrap();
        for (name, highest) in [("journal.20.a", None), ("manifest.3.a", Some(3)), ("manifest.12.b", Some(12))] {
            disk.put(&format!("m/{name}"), b"");
            assert_eq!(highest_generation(&disk), highest, "{name}");
        }
    }

    /// A start that stopped before its manifest leaves empty journals and temporary files; a
    /// journal with bytes had a manifest once.
    #[test]
    fn a_journal_without_a_manifest_must_be_empty() {
        let disk = SimulatedStorage::new(1);
        disk.create_dir(names::METADATA).unwrap();
        let identity = Identity { run_id: RunId(7), parameters: Parameters::default() };
        disk.put(names::FORMAT, &identity.encode().unwrap());
        disk.put("m/journal.1.a", b"");
        disk.put("m/manifest.1.a.tmp", b"part of one");
        assert_eq!(inspect(&disk).unwrap().generation, 0);
        disk.put("m/journal.1.a", b"x");
        match inspect(&disk) {
            Err(Error::Corrupt { path, damage: Damage::Missing { beside }, .. }) => {
                assert_eq!((path, beside.as_deref()), (disk.path("m/manifest"), Some("m/journal.1.a")));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_named_file_is_there_and_long_enough() {
        let disk = SimulatedStorage::new(1);
        for folder in [names::LOGS, names::PUBLISHED] {
            disk.create_dir(folder).unwrap();
        }
        let log = extent(7, 1, 512, 100);
        let published = |length: u64| Some(super::super::PublishedFile { name: "db/x".to_owned(), length, hash: 0 });
        let records = |length: u64| [BlockRecord { published: published(length), ..record(0, &[log]) }];
        let check = |length: u64, needs: bool| match check_files(&disk, RunId(1), &records(length), &|_| needs) {
            Ok(()) => None,
            Err(Error::Corrupt { path, damage, .. }) => Some((path.display().to_string(), damage)),
            Err(error) => panic!("{error}"),
        };
        let missing = |name: &str| Some((name.to_owned(), Damage::MISSING));
        let length = |name: &str, expected, found| Some((name.to_owned(), Damage::Length { expected, found }));
        assert_eq!(check(5, false), missing("db/x"));
        disk.put("db/x", b"12345");
        assert_eq!(check(4, false), length("db/x", Expected::Exactly(4), 5));
        assert_eq!(check(6, false), length("db/x", Expected::Exactly(6), 5));
        // A log counts only while it is needed, and can be longer than its entry.
        assert_eq!(check(5, false), None);
        assert_eq!(check(5, true), missing("logs/00000007.g1"));
        disk.put("logs/00000007.g1", &[0; 611]);
        assert_eq!(check(5, true), length("logs/00000007.g1", Expected::AtLeast(612), 611));
        for enough in [612, 700] {
            disk.put("logs/00000007.g1", &vec![0; enough]);
            assert_eq!(check(5, true), None);
        }
    }
}
