//! `SUMS` and the files of the `db` folder.
#![expect(clippy::disallowed_methods, reason = "the check lists and hashes files itself")]

use super::Report;
use crate::care::workers::{Halt, Request, Watch};
use crate::database::{BLOCK_BYTES_MAX, DatabaseError, SUMS, Sums};
use parking_lot::Mutex;
use pipeline::storage::open_regular;
use pipeline::{Damage, Expected, Finding, Weight};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{ErrorKind, Read};
use std::path::Path;

/// Bytes read at once, which also bounds the reaction time to a stop.
const READ_BYTES: usize = 1 << 20;

/// The files to check.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// The files of the database; without them the list in `SUMS` is taken as it is.
    pub names: Option<&'a BTreeSet<String>>,
    /// Whether a file is to be hashed.
    pub is_hashed: &'a dyn Fn(&str) -> bool,
    /// Whether to tell what is wrong with the list itself, and which files are not in it.
    pub with_list: bool,
}

/// Checks the files of a `db` folder against `SUMS`; returns a report of these alone, its findings
/// in the order of the file names, or `None` if stopped. `also(name)` is called for every hashed
/// file, with the memory of its worker.
pub(super) fn check<S>(
    folder: &Path,
    wanted: Wanted<'_>,
    request: &Request<'_>,
    scratch: impl Fn() -> Result<S, DatabaseError> + Sync,
    also: impl Fn(&mut S, &str) -> Result<Option<super::Finding>, DatabaseError> + Sync,
) -> Result<Option<Report>, DatabaseError> {
    let (sums, mut findings) = match Sums::load(folder) {
        Ok(sums) => {
            let listed = || sums.lines.keys().map(|name| (name.clone(), None)).collect();
            let expected = wanted.names.map(|names| names.iter().map(|name| (name.clone(), None)).collect());
            let findings = sums.compare(&expected.unwrap_or_else(listed));
            (sums, findings)
        }
        Err(error) => (Sums::default(), vec![DatabaseError::of_file(&folder.join(SUMS), error).into_finding()?]),
    };
    let present = present(folder)?;
    for name in present.keys().filter(|name| *name != SUMS && !sums.lines.contains_key(*name)) {
        let damage = Damage::Superfluous("not named in SUMS");
        findings.push(Finding::new(Weight::Damage, folder.join(name), damage));
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
            let path = folder.join(name);
            let (bytes, damage) = match length(name) {
                Some(found) if found > BLOCK_BYTES_MAX => {
                    (Some(0), Some(Damage::Length { expected: Expected::AtMost(BLOCK_BYTES_MAX), found }))
                }
                Some(_) => match hash_file(&path, buffer, &watch)? {
                    Some((bytes, found)) => (Some(bytes), sums.check(name, found).and_then(Result::err)),
                    None => (None, Some(Damage::MISSING)),
                },
                None if present.contains_key(name) => (None, Some(Damage::NotAFile)),
                None => (None, Some(Damage::MISSING)),
            };
            let also = if bytes.is_some() { also(scratch, name)? } else { None };
            let finding = damage.map(|damage| Finding::new(Weight::Damage, path, damage));
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

/// Returns the length of a file and its BLAKE3, or nothing if the file vanished.
fn hash_file(
    path: &Path,
    buffer: &mut [u8],
    watch: &Watch<'_>,
) -> Result<Option<(u64, blake3::Hash)>, Halt<DatabaseError>> {
    let failed = |operation, source| DatabaseError::Io { operation, path: path.into(), source };
    let mut file = match open_regular(path).map_err(|error| DatabaseError::of_file(path, error)) {
        Ok(file) => file,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mut hasher = blake3::Hasher::new();
    let mut bytes = 0;
    loop {
        let read = match file.read(buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(failed("read", error).into()),
        };
        hasher.update(&buffer[..read]);
        bytes += read as u64;
        watch.advance(read as u64)?;
    }
    Ok(Some((bytes, hasher.finalize())))
}

/// Returns every name in the folder, with the length of each regular file.
fn present(folder: &Path) -> Result<BTreeMap<String, Option<u64>>, DatabaseError> {
    let failed = |source| DatabaseError::Io { operation: "list", path: folder.into(), source };
    let mut present = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // Links are followed; a broken one is no file. Any other error proves nothing about the
        // file.
        let length = match std::fs::metadata(entry.path()) {
            Ok(found) => found.is_file().then_some(found.len()),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(source) => return Err(DatabaseError::Io { operation: "measure", path: entry.path(), source }),
        };
        present.insert(entry.file_name().to_string_lossy().into_owned(), length);
    }
    Ok(present)
}
