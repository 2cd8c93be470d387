//! `SUMS` and the files of the `db` folder.

use super::Report;
use crate::database::{BLOCK_BYTES_MAX, DatabaseError, SUMS, Sums, below, is_database_file};
use crate::maintenance::workers::{Halt, Request, Watch};
use parking_lot::Mutex;
use pipeline::storage::EntryKind;
use pipeline::{Damage, Expected, Finding, Severity, Storage};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes read at once, which also bounds the reaction time to a stop.
const READ_BYTES: usize = 1 << 20;

#[derive(Clone, Copy)]
pub(super) struct FileCheck<'a> {
    /// The files of the database; without them the list in `SUMS` is trusted.
    pub names: Option<&'a BTreeSet<String>>,
    /// Whether a file is to be hashed.
    pub is_hashed: &'a dyn Fn(&str) -> bool,
    /// Whether to report errors of the list itself, and files that it lacks.
    pub with_list: bool,
}

/// Checks the files of a `db` folder, a folder of a storage, against `SUMS`; returns a report of
/// these alone, its findings in the order of the file names, or `None` if stopped. `also(name)` is
/// called for every hashed file, with the memory of its worker.
pub(super) fn check<S: Send>(
    (storage, folder): (&dyn Storage, &str),
    wanted: FileCheck<'_>,
    request: &Request<'_>,
    scratch: impl Fn() -> Result<S, DatabaseError> + Sync,
    also: impl Fn(&mut S, &str) -> Result<Option<super::Finding>, DatabaseError> + Sync,
) -> Result<Option<Report>, DatabaseError> {
    let below = |name: &str| below(folder, name);
    let (sums, mut findings) = match Sums::load(storage, &below(SUMS)) {
        Ok(sums) => {
            let listed = || sums.lines.keys().map(|name| (name.clone(), None)).collect();
            let expected = wanted.names.map(|names| names.iter().map(|name| (name.clone(), None)).collect());
            let findings = sums.compare(&expected.unwrap_or_else(listed));
            (sums, findings)
        }
        Err(error) => (Sums::default(), vec![DatabaseError::from(error).into_finding()?]),
    };
    let length = |kind: EntryKind, length: u64| (kind == EntryKind::File).then_some(length);
    let present: BTreeMap<String, Option<u64>> =
        storage.list(folder)?.into_iter().map(|entry| (entry.name, length(entry.kind, entry.length))).collect();
    for name in present.keys().filter(|name| is_database_file(name) && *name != SUMS && !sums.lines.contains_key(*name))
    {
        let damage = Damage::Superfluous("not named in SUMS");
        findings.push(Finding::new(Severity::Damage, storage.path(&below(name)), damage));
    }
    if !wanted.with_list {
        findings.clear();
    }
    let tasks: Vec<&String> = sums.lines.keys().filter(|name| (wanted.is_hashed)(name)).collect();
    let length = |name: &String| present.get(name).copied().flatten();
    let all = tasks.iter().filter_map(|name| length(name)).sum();
    let watch = Watch::new(request, all);
    let results = Mutex::new(BTreeMap::new());
    let finished = watch.run(
        tasks.len(),
        || Ok((scratch()?, vec![0; READ_BYTES])),
        |(scratch, buffer), index| {
            let name = tasks[index];
            let path = storage.path(&below(name));
            let (bytes, damage) = match length(name) {
                Some(found) if found > BLOCK_BYTES_MAX => {
                    (Some(0), Some(Damage::Length { expected: Expected::AtMost(BLOCK_BYTES_MAX), found }))
                }
                Some(_) => match hash_file(storage, &below(name), buffer, &watch) {
                    Ok((bytes, found)) => (Some(bytes), sums.check(name, found).and_then(Result::err)),
                    // It vanished, or became shorter.
                    Err(Halt::Failed(error)) => (None, Some(error.into_finding()?.damage)),
                    Err(Halt::Stopped) => return Err(Halt::Stopped),
                },
                None if present.contains_key(name) => (None, Some(Damage::NotAFile)),
                None => (None, Some(Damage::MISSING)),
            };
            let also = if bytes.is_some() { also(scratch, name)? } else { None };
            let finding = damage.map(|damage| Finding::new(Severity::Damage, path, damage));
            results.lock().insert(index, (bytes, finding, also));
            Ok(())
        },
    )?;
    let findings = findings.into_iter().map(super::Finding::File).collect();
    let mut report = Report { findings, ..Report::default() };
    for (bytes, finding, also) in results.into_inner().into_values() {
        report.files += u64::from(bytes.is_some());
        report.file_bytes += bytes.unwrap_or(0);
        report.findings.extend(finding.into_iter().map(super::Finding::File).chain(also));
    }
    Ok(finished.then_some(report))
}

/// Returns the length of a file and its BLAKE3.
fn hash_file(
    storage: &dyn Storage,
    name: &str,
    buffer: &mut [u8],
    watch: &Watch<'_>,
) -> Result<(u64, blake3::Hash), Halt<DatabaseError>> {
    let file = storage.open(name).map_err(DatabaseError::from)?;
    let bytes = file.length().map_err(DatabaseError::from)?;
    let (mut hasher, mut at) = (blake3::Hasher::new(), 0);
    while at < bytes {
        let length = (bytes - at).min(buffer.len() as u64);
        let part = &mut buffer[..length as usize];
        file.read_exact_at(part, at).map_err(DatabaseError::from)?;
        hasher.update(part);
        at += length;
        watch.advance(length)?;
    }
    Ok((bytes, hasher.finalize()))
}
