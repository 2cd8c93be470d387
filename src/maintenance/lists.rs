//! The two lists of a database, `manifest.json` and `SUMS`: reads them, compares them with the
//! expected bytes and replaces them.

use super::{Damage, Expected, Finding, Severity};
use crate::database::{LIST_BYTES_MAX, Sums, block_file_name, is_database_file};
use pipeline::checkpoint::{TEMPORARY, write_atomically};
use pipeline::storage::{EntryKind, read_whole};
use pipeline::{BlockId, Error, Storage};

/// Turns an error of a file as a whole into a finding; `missing` is the severity of its absence.
pub(super) fn or_finding<T>(read: Result<T, Error>, missing: Severity) -> Result<Result<T, Finding>, Error> {
    read.map(Ok).or_else(|error| {
        let severity = if error.is_not_found() { missing } else { Severity::Damage };
        Finding::from_error(severity, error).map(Err)
    })
}

pub(super) fn contents(storage: &dyn Storage, name: &str) -> Result<Vec<u8>, Error> {
    read_whole(&*storage.open(name)?, LIST_BYTES_MAX)
}

/// Writes a manifest or a `SUMS`, unless the file has these bytes.
pub(super) fn replace(storage: &dyn Storage, name: &str, right: &[u8]) -> Result<(), Error> {
    match or_finding(contents(storage, name), Severity::Damage)? {
        Ok(found) if found == right => Ok(()),
        _ => write_atomically(storage, name, right),
    }
}

/// Returns the text of the `SUMS` of these blocks.
pub(super) fn sums_text(blocks: impl IntoIterator<Item = (BlockId, blake3::Hash)>, manifest: &[u8]) -> String {
    Sums::text(blocks.into_iter().map(|(block, sum)| (block_file_name(block), sum)), manifest)
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
    Some(Finding::new(Severity::Damage, storage.path(name), damage).at(offset as u64))
}

/// Returns the names of temporary files that an interrupted repair left in a database.
pub(super) fn temporary_files(storage: &dyn Storage) -> Result<Vec<String>, Error> {
    let is_ours = |name: &str| name.strip_suffix(TEMPORARY).is_some_and(is_database_file);
    let ours = storage.list("")?.into_iter().filter(|entry| entry.kind == EntryKind::File && is_ours(&entry.name));
    Ok(ours.map(|entry| entry.name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use testing::SimulatedStorage;

    #[test]
    fn a_difference_is_told_with_its_first_byte() {
        let disk = SimulatedStorage::new(1);
        let found = |found: &[u8]| difference(&disk, "x", b"abc", found).map(|one| (one.offset, one.damage));
        let byte = |expected: u8, found: u8| {
            let (expected, found) = (Expected::Exactly(expected.into()), found.into());
            Damage::Number { of: "byte", expected, found }
        };
        let length = |found| Damage::Length { expected: Expected::Exactly(3), found };
        assert_eq!(found(b"abc"), None);
        assert_eq!(found(b"xbx"), Some((Some(0), byte(b'a', b'x'))));
        assert_eq!(found(b"abx"), Some((Some(2), byte(b'c', b'x'))));
        assert_eq!(found(b"ab"), Some((Some(2), length(2))));
        assert_eq!(found(b"abcd"), Some((Some(3), length(4))));
    }
}
