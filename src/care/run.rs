//! The check of a run folder: what the engine checks, and of a finished run the manifest and `SUMS`, which follow from its journal.

use super::{Damage, Error, Expected, Finding, Report, Request, Subject, Weight, alone, sort_findings};
use crate::database::{BlockSummary, Game, LIST_BYTES_MAX, MANIFEST, Manifest, SUMS, Sums, block_file_name};
use crate::kernel::Kernel;
use crate::solve::RemovalGame;
use parking_lot::Mutex;
use pipeline::care::check;
use pipeline::checkpoint::{FORMAT, PUBLISHED, examine};
use pipeline::storage::{EntryKind, read_whole};
use pipeline::{BlockId, RealStorage, Storage};
use std::collections::BTreeMap;

/// What is known of a run folder after a check.
pub(super) struct Looked {
    pub(super) report: Report,
    /// What the engine found; without it nothing says which game it is.
    pub(super) engine: Option<(Game, check::Report)>,
    /// The bytes of the manifest, if all blocks are finished.
    pub(super) manifest: Option<Vec<u8>>,
    /// BLAKE3 of the files of sound blocks; of a check of hashes.
    pub(super) sums: BTreeMap<BlockId, blake3::Hash>,
    /// Whether the manifest in the folder is another, or none.
    pub(super) manifest_wrong: bool,
    /// Whether `SUMS` is another, or none.
    pub(super) sums_wrong: bool,
}

/// Looks at a run folder.
pub(super) fn look(storage: &RealStorage, request: &Request<'_>) -> Result<Looked, Error> {
    let foreign = || Error::Foreign { path: storage.path(FORMAT) };
    // An owner that begins a generation is in the way of a single look: what stays unreadable is.
    let (mut examination, mut tries) = (examine(storage)?, 0);
    while examination.inspection.is_none() && tries < 3 {
        tries += 1;
        examination = examine(storage)?;
    }
    let Some(inspection) = examination.inspection else {
        return without_metadata(storage, examination.findings, request);
    };
    let game = Game::from_parameters(&inspection.parameters.0).ok_or_else(foreign)?;
    let workload = RemovalGame::new(&game, Kernel::detect());
    let sums = Mutex::new(BTreeMap::new());
    let published = |block: BlockId, bytes: &[u8]| {
        let sum = blake3::hash(bytes);
        sums.lock().insert(block, sum);
    };
    let Request { depth, threads, stop, progress, is_owned } = *request;
    let asked = check::Request { depth, threads, stop, progress, published: &published };
    let mut engine = check::check(&workload, storage, &asked)?;
    drop(workload);

    let mut findings = std::mem::take(&mut engine.findings);
    let blocks = game.layout.canonical_blocks().len();
    let records = engine.inspection.as_ref().map_or(&[][..], |inspection| &inspection.records);
    let mut looked = Looked {
        report: Report {
            subject: Subject::Run,
            findings: Vec::new(),
            blocks: blocks as u64,
            finished_blocks: records.len() as u64,
            generation: engine.inspection.as_ref().map_or(0, |inspection| inspection.generation),
            files: engine.files,
            bytes: engine.bytes,
        },
        manifest: None,
        sums: BTreeMap::new(),
        manifest_wrong: false,
        sums_wrong: false,
        engine: None,
    };
    let names = [MANIFEST, SUMS].map(|name| format!("{PUBLISHED}/{name}"));
    let is_complete = records.len() == blocks;
    for name in engine.unnamed.iter().filter(|name| !is_complete || !names.contains(name)) {
        let damage = Damage::Superfluous("named by no record");
        findings.push(Finding::new(Weight::Leftover, storage.path(name), damage));
    }
    if is_complete {
        let by_block: BTreeMap<BlockId, _> = records.iter().map(|record| (record.block, record)).collect();
        let summaries = by_block.values().map(|record| BlockSummary::from_bytes(&record.summary));
        let summaries: Vec<BlockSummary> = summaries.collect::<Option<_>>().ok_or_else(foreign)?;
        let manifest = Manifest::new(&game, &summaries).to_json();
        let before = findings.len();
        let unsealed = if is_owned { Weight::Leftover } else { Weight::Damage };
        let [manifest_name, sums_name] = &names;
        match contents(storage, manifest_name, unsealed)? {
            Ok(found) => findings.extend(difference(storage, manifest_name, &manifest, &found)),
            Err(finding) => findings.push(finding),
        }
        looked.manifest_wrong = findings.len() > before;
        let before = findings.len();
        match contents(storage, sums_name, unsealed)? {
            Ok(found) => {
                let mut expected: BTreeMap<String, Option<blake3::Hash>> =
                    by_block.keys().map(|block| (block_file_name(block.0), sums.lock().get(block).copied())).collect();
                expected.insert(MANIFEST.to_owned(), Some(blake3::hash(&manifest)));
                findings.extend(compare_sums(storage, sums_name, &expected, &found));
            }
            Err(finding) => findings.push(finding),
        }
        looked.sums_wrong = findings.len() > before;
        looked.report.files += 2;
        looked.manifest = Some(manifest);
    }
    sort_findings(&mut findings);
    looked.report.findings = findings;
    looked.sums = sums.into_inner();
    looked.engine = Some((game, engine));
    Ok(looked)
}

/// A run of which neither copy of the metadata says anything: what is wrong with them, and with the database if there is one.
fn without_metadata(storage: &RealStorage, mut findings: Vec<Finding>, request: &Request<'_>) -> Result<Looked, Error> {
    let mut report = Report {
        subject: Subject::Run,
        findings: Vec::new(),
        blocks: 0,
        finished_blocks: 0,
        generation: 0,
        files: 0,
        bytes: 0,
    };
    let sealed = storage.length(&format!("{PUBLISHED}/{SUMS}")).is_ok_and(|length| length.is_some());
    if sealed {
        let database = alone::look(&RealStorage::open(storage.path(PUBLISHED))?, request)?.report;
        findings.extend(database.findings);
        (report.blocks, report.files, report.bytes) = (database.blocks, database.files, database.bytes);
    }
    sort_findings(&mut findings);
    Ok(Looked {
        report: Report { findings, ..report },
        engine: None,
        manifest: None,
        sums: BTreeMap::new(),
        manifest_wrong: false,
        sums_wrong: false,
    })
}

/// The bytes of a manifest or list of checksums, or what is wrong with it as a whole; `missing` says how much it matters that it is not there.
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

/// Where two small files differ first.
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

/// What is wrong with `SUMS`, given the files of a database with those sums that are known.
pub(super) fn compare_sums(
    storage: &dyn Storage,
    name: &str,
    expected: &BTreeMap<String, Option<blake3::Hash>>,
    found: &[u8],
) -> Vec<Finding> {
    let (path, sums) = (storage.path(name), Sums::parse(found));
    let mut findings = sums.compare(&path, found.len() as u64, expected);
    findings.extend(sums.misplaced(&path, expected));
    findings
}

/// Temporary files that a repair of a finished run was stopped before renaming.
pub(super) fn temporary_files(storage: &dyn Storage, folder: &str) -> Result<Vec<String>, pipeline::Error> {
    let entries = storage.list(folder)?.into_iter();
    let is_ours = |name: &str| {
        let name = name.strip_suffix(pipeline::checkpoint::TEMPORARY);
        name.is_some_and(|name| name == MANIFEST || name == SUMS || name.ends_with(".blk"))
    };
    let ours = entries.filter(|entry| entry.kind == EntryKind::File && is_ours(&entry.name));
    Ok(ours.map(|entry| if folder.is_empty() { entry.name } else { format!("{folder}/{}", entry.name) }).collect())
}
