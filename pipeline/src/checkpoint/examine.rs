//! Examines all metadata and reports everything that is wrong, not only what prevents an opening.
//!
//! A single look at a live run may see only half of a commit; a second look can tell that from
//! damage. [`crate::maintenance::check`] checks log entries and published files.
//!
//! # Invariants
//! 1. Nothing is changed and no lock is needed.
//! 2. Anything that a stop, a kill or a power cut of an intact run can leave is never damage: it is
//!    [`Severity::Leftover`](crate::Severity::Leftover).
//! 3. Metadata that [`super::inspect`] accepts is valid; this module only adds what it ignored.

use super::manifest::{self, Manifest};
use super::recover::{check_records, other_run, read_identity, recover};
use super::{Inspection, journal, names};
use crate::Error;
use crate::finding::{Damage, Finding, Severity};
use crate::storage::{Entry, EntryKind, Storage, list};

/// Result of [`examine`].
#[derive(Debug)]
pub struct Examination {
    /// Damage, and files that a stop left.
    pub findings: Vec<Finding>,
    /// Content of the metadata; `None` if they are too damaged to read.
    pub inspection: Option<Inspection>,
}

/// Examines `FORMAT`, manifests and journals, every copy of them.
///
/// # Errors
/// Returns [`Error::NotARun`], [`Error::Version`], or [`Error::Io`] if nothing can be read at all.
pub fn examine(storage: &dyn Storage) -> Result<Examination, Error> {
    let metadata = list(storage, names::METADATA)?;
    let generations = metadata.iter().filter_map(|entry| names::manifest_generation(&entry.name));
    let Some(generation) = generations.max() else { return without_generation(storage) };

    let mut findings = Vec::new();
    let identity = match read_identity(storage) {
        Ok(identity) => Some(identity),
        Err(error) => {
            // An opening refuses a missing `FORMAT`, but replaces a damaged one from the manifest.
            let severity = if error.is_not_found() { Severity::Damage } else { Severity::Copy };
            findings.push(Finding::from_error(severity, error)?);
            None
        }
    };
    let Some((name, manifest)) = first_manifest(storage, generation, &metadata, &mut findings)? else {
        return Ok(Examination { findings, inspection: None });
    };
    if let Some(identity) = identity.filter(|identity| *identity != manifest.identity) {
        let damage = other_run(&identity, &manifest.identity);
        findings.push(Finding::new(Severity::Damage, storage.path(&name), damage));
        return Ok(Examination { findings, inspection: None });
    }
    let current = [names::manifests(generation), names::journals(generation)].concat();
    for entry in metadata.iter().filter(|entry| names::is_metadata(&entry.name)) {
        let name = format!("{}/{}", names::METADATA, entry.name);
        if !current.contains(&name) {
            findings.push(left_over(storage, &name, entry, "left over from a switch of generations"));
        }
    }
    let in_manifest = manifest.records.len();
    let mut records = manifest.records;
    let Some(journal) = journal::examine(storage, generation, manifest.hash, &mut findings)? else {
        return Ok(Examination { findings, inspection: None });
    };
    records.extend(journal);
    if let Err(error) = check_records(storage, generation, &records) {
        findings.push(Finding::from_error(Severity::Damage, error)?);
        return Ok(Examination { findings, inspection: None });
    }
    let identity = manifest.identity;
    let (run_id, parameters) = (identity.run_id, identity.parameters);
    let inspection = Inspection { run_id, parameters, generation, records, in_manifest, format_damaged: false };
    Ok(Examination { findings, inspection: Some(inspection) })
}

/// Builds the finding of a file that nothing needs, or of something else with its name.
pub(crate) fn left_over(storage: &dyn Storage, name: &str, entry: &Entry, why: &'static str) -> Finding {
    let (severity, damage) = match entry.kind {
        EntryKind::File => (Severity::Leftover, Damage::Superfluous(why)),
        EntryKind::Folder | EntryKind::Other => (Severity::Damage, Damage::NotAFile),
    };
    Finding::new(severity, storage.path(name), damage)
}

/// Reads both copies of a manifest; returns the first intact one, with its name.
fn first_manifest(
    storage: &dyn Storage,
    generation: u64,
    metadata: &[Entry],
    findings: &mut Vec<Finding>,
) -> Result<Option<(String, Manifest)>, Error> {
    let mut copies = Vec::new();
    let mut wrong = Vec::new();
    for name in names::manifests(generation) {
        match manifest::read(storage, &name, generation) {
            Ok(manifest) => copies.push((name, manifest)),
            Err(error) => {
                // A stop between the two renames of a switch leaves one copy under its temporary
                // name.
                let renamed = !error.is_not_found()
                    || !metadata.iter().any(|entry| format!("m/{}", entry.name) == names::temporary(&name));
                wrong.push(Finding::from_error(if renamed { Severity::Copy } else { Severity::Leftover }, error)?);
            }
        }
    }
    if wrong.len() == 2 {
        wrong.iter_mut().for_each(|finding| finding.severity = Severity::Damage);
    }
    findings.extend(wrong);
    if let [(_, first), (name, second)] = &copies[..]
        && first.hash != second.hash
    {
        let damage = Damage::hash("hash of the manifest, which differs from copy a,", first.hash, second.hash);
        findings.push(Finding::new(Severity::Copy, storage.path(name), damage));
    }
    Ok(copies.into_iter().next())
}

/// Examines a folder without a complete manifest name: its first generation has not begun, or its
/// manifests are lost.
fn without_generation(storage: &dyn Storage) -> Result<Examination, Error> {
    let mut findings = Vec::new();
    let inspection = match recover(storage) {
        Ok(None) => return Err(Error::NotARun { path: storage.path("") }),
        Ok(found) => {
            for entry in list(storage, names::METADATA)?.iter().filter(|entry| names::is_metadata(&entry.name)) {
                let name = format!("{}/{}", names::METADATA, entry.name);
                let why = "left over from a start that was interrupted";
                findings.push(left_over(storage, &name, entry, why));
            }
            found
        }
        Err(error) => {
            findings.push(Finding::from_error(Severity::Damage, error)?);
            None
        }
    };
    Ok(Examination { findings, inspection })
}
