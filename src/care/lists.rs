//! The two lists of a database, `manifest.json` and `SUMS`: reads them and compares them with the
//! expected bytes. Both checks and the repair share this module.

use super::{Damage, Expected, Finding, Weight};
use crate::database::{LIST_BYTES_MAX, MANIFEST, SUMS};
use pipeline::Storage;
use pipeline::storage::{EntryKind, read_whole};

/// Reads a manifest or a `SUMS`, or returns what is wrong with the file as a whole; `missing` is
/// the weight of its absence.
pub(super) fn contents(
    storage: &dyn Storage,
    name: &str,
    missing: Weight,
) -> Result<Result<Vec<u8>, Finding>, pipeline::Error> {
    match storage.open(name).and_then(|file| read_whole(&*file, LIST_BYTES_MAX)) {
        Ok(bytes) => Ok(Ok(bytes)),
        Err(error) if pipeline::Error::is_not_found(&error) => Ok(Err(Finding::of(missing, error)?)),
        Err(error) => Ok(Err(Finding::of(Weight::Damage, error)?)),
    }
}

/// Returns the first difference of two small files.
pub(super) fn difference(storage: &dyn Storage, name: &str, expected: &[u8], found: &[u8]) -> Option<Finding> {
    if expected == found {
        return None;
    }
    let offset = expected.iter().zip(found).take_while(|(one, other)| one == other).count();
    let damage = match (expected.get(offset), found.get(offset)) {
        (Some(expected), Some(found)) => {
            Damage::Number { of: "byte", expected: Expected::Exactly((*expected).into()), found: (*found).into() }
        }
        _ => Damage::Length { expected: Expected::Exactly(expected.len() as u64), found: found.len() as u64 },
    };
    Some(Finding::new(Weight::Damage, storage.path(name), damage).at(offset as u64))
}

/// Returns the names of temporary files that an interrupted repair left in a database.
pub(super) fn temporary_files(storage: &dyn Storage) -> Result<Vec<String>, pipeline::Error> {
    let is_ours = |name: &str| {
        let name = name.strip_suffix(pipeline::checkpoint::TEMPORARY);
        name.is_some_and(|name| name == MANIFEST || name == SUMS || name.ends_with(".blk"))
    };
    let ours = storage.list("")?.into_iter().filter(|entry| entry.kind == EntryKind::File && is_ours(&entry.name));
    Ok(ours.map(|entry| entry.name).collect())
}
