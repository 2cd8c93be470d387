//! `SUMS` and the files of the `db` folder.

use super::workers::{Halt, Watch, run};
use super::{Finding, Progress};
use crate::database::{BLOCK_BYTES_MAX, DatabaseError, LIST_BYTES_MAX, SUMS, Sums, plain};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Bytes read at once; also how often a stop is noticed.
const READ_BYTES: usize = 1 << 20;

/// What was seen of the files.
#[derive(Default)]
pub(super) struct Checked {
    /// Files whose bytes were hashed.
    pub files: u64,
    /// Their bytes.
    pub file_bytes: u64,
    /// What is wrong, by the place in the folder's alphabet.
    pub findings: Vec<Finding>,
}

/// Checks every file of a `db` folder against `SUMS`; `None` when stopped.
///
/// `expected` names the files that a database has; without it the list in `SUMS` is taken as it is. `also(name)` is called for every file
/// that was hashed, with memory of the worker.
pub(super) fn check<S>(
    folder: &Path,
    expected: Option<&BTreeSet<String>>,
    threads: usize,
    stop: &AtomicBool,
    progress: Progress<'_>,
    scratch: impl Fn() -> Result<S, DatabaseError> + Sync,
    also: impl Fn(&mut S, &str) -> Result<Option<Finding>, DatabaseError> + Sync,
) -> Result<Option<Checked>, DatabaseError> {
    let mut findings = Vec::new();
    let sums = read_sums(&folder.join(SUMS), &mut findings)?;
    let present = present(folder)?;
    for name in present.keys().filter(|name| *name != SUMS && !sums.contains_key(*name)) {
        findings.push(Finding(format!("{} is not named in {SUMS}", folder.join(name).display())));
    }
    for name in expected.into_iter().flatten().filter(|name| !sums.contains_key(*name)) {
        findings.push(Finding(format!("{}: the line for {name} is missing", folder.join(SUMS).display())));
    }
    for name in sums.keys().filter(|name| expected.is_some_and(|expected| !expected.contains(*name))) {
        findings
            .push(Finding(format!("{} names {name}, which is no file of this database", folder.join(SUMS).display())));
    }
    let tasks: Vec<(&String, &blake3::Hash)> = sums.iter().collect();
    let length = |name: &String| present.get(name).copied().flatten();
    let all = tasks.iter().filter_map(|(name, _)| length(name)).sum();
    let watch = Watch::new(stop, progress, all);
    let results = Mutex::new(BTreeMap::new());
    let finished = run(
        threads,
        tasks.len(),
        &watch,
        || Ok((scratch()?, vec![0; READ_BYTES])),
        |(scratch, buffer), index| {
            let (name, sum) = tasks[index];
            let path = folder.join(name);
            let seen = match length(name) {
                Some(length) if length > BLOCK_BYTES_MAX => {
                    (Some(0), Some(format!("{} has {length} bytes: no file of a database is so long", path.display())))
                }
                Some(_) => check_file(&path, sum, buffer, &watch)?,
                None if present.contains_key(name) => (None, Some(format!("{} is not a file", path.display()))),
                None => (None, Some(format!("{} is missing", path.display()))),
            };
            let also = if seen.0.is_some() { also(scratch, name)? } else { None };
            results.lock().insert(index, (seen.0, seen.1.map(Finding), also));
            Ok(())
        },
    )?;
    let mut checked = Checked { findings, ..Checked::default() };
    for (bytes, finding, also) in results.into_inner().into_values() {
        checked.files += u64::from(bytes.is_some());
        checked.file_bytes += bytes.unwrap_or(0);
        checked.findings.extend(finding.into_iter().chain(also));
    }
    Ok(finished.then_some(checked))
}

/// The bytes hashed, or nothing if the file vanished, and what is wrong.
fn check_file(
    path: &Path,
    expected: &blake3::Hash,
    buffer: &mut [u8],
    watch: &Watch<'_>,
) -> Result<(Option<u64>, Option<String>), Halt> {
    let failed = |operation, source| DatabaseError::Io { operation, path: path.into(), source };
    let mut file = match plain::open(path) {
        Ok(file) => file,
        Err(error) if is_missing(&error) => {
            return Ok((None, Some(format!("{} is missing", path.display()))));
        }
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
    let found = hasher.finalize();
    let wrong = found != *expected;
    Ok((Some(bytes), wrong.then(|| format!("{}: BLAKE3 is {found}, {SUMS} says {expected}", path.display()))))
}

/// Everything in the folder, with the length of what is a plain file.
fn present(folder: &Path) -> Result<BTreeMap<String, Option<u64>>, DatabaseError> {
    let failed = |source| DatabaseError::Io { operation: "list", path: folder.into(), source };
    let mut present = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // Of a link, that to which it leads; a broken one is no file. Any other error says nothing about the file.
        let length = match std::fs::metadata(entry.path()) {
            Ok(found) => found.is_file().then_some(found.len()),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(source) => return Err(DatabaseError::Io { operation: "measure", path: entry.path(), source }),
        };
        present.insert(entry.file_name().to_string_lossy().into_owned(), length);
    }
    Ok(present)
}

fn is_missing(error: &DatabaseError) -> bool {
    matches!(error, DatabaseError::Io { source, .. } if source.kind() == ErrorKind::NotFound)
}

/// The sums by name. Lines that the `b3sum` program would not have written are findings.
fn read_sums(path: &Path, findings: &mut Vec<Finding>) -> Result<BTreeMap<String, blake3::Hash>, DatabaseError> {
    let bytes = match plain::read(path, LIST_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(error) if is_missing(&error) => {
            findings.push(Finding(format!("{} is missing", path.display())));
            return Ok(BTreeMap::new());
        }
        Err(DatabaseError::Corrupt { path, what, .. }) => {
            findings.push(Finding(format!("{} is damaged: {what}", path.display())));
            return Ok(BTreeMap::new());
        }
        Err(error) => return Err(error),
    };
    let Sums { lines, wrong } = Sums::parse(&bytes);
    findings.extend(wrong.into_iter().map(|(_, what)| Finding(format!("{} {what}", path.display()))));
    Ok(lines.into_iter().map(|(name, (sum, _))| (name, sum)).collect())
}
