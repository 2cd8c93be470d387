//! The check of a run folder: the engine's check, and for a finished run the manifest and `SUMS`,
//! which follow from its journal.

use super::lists::{contents, difference};
use super::{Damage, Depth, Error, Finding, Report, Request, Subject, Weight, alone, sort_findings};
use crate::database::{BOOK, Game, Keep, MANIFEST, Manifest, SUMS, Sums, Terms, block_file_name};
use crate::kernel::Kernel;
use crate::solve::RemovalGame;
use parking_lot::Mutex;
use pipeline::care::check;
use pipeline::checkpoint::{Examination, FORMAT, PUBLISHED, examine};
use pipeline::{BlockId, RealStorage, Storage, persists};
use std::collections::BTreeMap;

/// The state of a run folder after a check.
pub(super) struct CheckedRun {
    pub(super) report: Report,
    /// What is kept, and the findings of the engine; `None` if the game is unknown.
    pub(super) engine: Option<(Game, Terms, check::Report)>,
    /// The expected bytes of the manifest, if all blocks are finished.
    pub(super) manifest: Option<Vec<u8>>,
    /// BLAKE3 of the files of sound blocks, from a check of hashes.
    pub(super) sums: BTreeMap<BlockId, blake3::Hash>,
    /// Whether the manifest in the folder is wrong or missing.
    pub(super) manifest_wrong: bool,
    /// Whether the book is wrong or missing.
    pub(super) book_wrong: bool,
    /// The sum of a sound book.
    pub(super) book: Option<blake3::Hash>,
    /// Whether `SUMS` is wrong or missing.
    pub(super) sums_wrong: bool,
}

/// Checks a run folder.
pub(super) fn check_run(storage: &RealStorage, request: &Request<'_>) -> Result<CheckedRun, Error> {
    let foreign = || Error::Foreign { path: storage.path(FORMAT) };
    let examination = examine_at_rest(storage)?;
    let Some(inspection) = examination.inspection else {
        return without_metadata(storage, examination.findings, request);
    };
    let game = Game::from_parameters(&inspection.parameters.0).ok_or_else(foreign)?;
    let terms = Terms::from_parameters(&inspection.parameters.0).ok_or_else(foreign)?;
    let (task, keep) = (terms.task(&game), terms.keep);
    let workload = RemovalGame::new(task, Kernel::detect());
    let sums = Mutex::new(BTreeMap::new());
    let published = |block: BlockId, bytes: &[u8]| {
        let sum = blake3::hash(bytes);
        sums.lock().insert(block, sum);
    };
    let Request { depth, threads, stop, progress } = *request;
    let asked = check::Request { depth, threads, stop, progress, published: &published };
    let engine = check::check(&workload, storage, &asked)?;
    drop(workload);

    let mut findings = engine.findings.clone();
    let blocks = game.layout.canonical_blocks().len();
    let records = engine.inspection.as_ref().map_or(&[][..], |inspection| &inspection.records);
    let mut checked = CheckedRun {
        report: Report {
            subject: Subject::Run,
            findings: Vec::new(),
            blocks: blocks as u64,
            finished_blocks: records.len() as u64,
            generation: engine.inspection.as_ref().map_or(0, |inspection| inspection.generation),
            files: engine.files,
            bytes: engine.bytes,
            unsealed: false,
        },
        manifest: None,
        sums: BTreeMap::new(),
        manifest_wrong: false,
        book_wrong: false,
        book: None,
        sums_wrong: false,
        engine: None,
    };
    let names = [MANIFEST, SUMS, BOOK].map(|name| format!("{PUBLISHED}/{name}"));
    let has_book = matches!(keep, Keep::Book { .. });
    let is_complete = records.len() == blocks;
    let ours = if has_book { &names[..] } else { &names[..2] };
    for name in engine.unnamed.iter().filter(|name| !is_complete || !ours.contains(name)) {
        let damage = Damage::Superfluous("not named by any record");
        findings.push(Finding::new(Weight::Leftover, storage.path(name), damage));
    }
    if is_complete {
        let by_block: BTreeMap<BlockId, _> = records.iter().map(|record| (record.block, record)).collect();
        let summaries = by_block.values().map(|record| &record.summary[..]);
        let manifest = Manifest::of_summaries(task, summaries).ok_or_else(foreign)?;
        let census = manifest.census.clone();
        let manifest = manifest.to_json();
        let [manifest_name, sums_name, _] = &names;
        // A solve writes SUMS last. It is read first, so that a solve that ends meanwhile cannot
        // have written it without the manifest that is looked for next.
        let found = contents(storage, sums_name, Weight::Leftover)?;
        let unsealed = found.as_ref().is_err_and(|finding| !finding.weight.is_damage());
        let missing = if unsealed { Weight::Leftover } else { Weight::Damage };
        let before = findings.len();
        match contents(storage, manifest_name, missing)? {
            Ok(found) => findings.extend(difference(storage, manifest_name, &manifest, &found)),
            Err(finding) => findings.push(finding),
        }
        checked.manifest_wrong = findings.len() > before;
        let mut book = None;
        if has_book {
            let db = RealStorage::open(storage.path(PUBLISHED))?;
            let looked = alone::look_at_book(&db, &game, keep, &census, depth)?;
            checked.report.files += 1;
            match looked {
                Ok((sum, bytes)) => {
                    book = sum;
                    checked.report.bytes += if depth == Depth::Metadata { 0 } else { bytes };
                }
                Err(finding) => {
                    checked.book_wrong = true;
                    findings
                        .push(Finding { weight: if unsealed { Weight::Leftover } else { finding.weight }, ..finding });
                }
            }
        }
        let before = findings.len();
        match found {
            Ok(found) => {
                let published = by_block.keys().filter(|_| keep.is_database());
                let mut expected: BTreeMap<String, Option<blake3::Hash>> =
                    published.map(|block| (block_file_name(block.0), sums.lock().get(block).copied())).collect();
                if has_book {
                    expected.insert(BOOK.to_owned(), book);
                }
                expected.insert(MANIFEST.to_owned(), Some(blake3::hash(&manifest)));
                findings.extend(Sums::parse(&found).compare_in_order(
                    &storage.path(sums_name),
                    found.len() as u64,
                    &expected,
                ));
            }
            Err(finding) => findings.push(finding),
        }
        checked.sums_wrong = findings.len() > before;
        checked.book = book;
        checked.report.unsealed = unsealed;
        checked.report.files += 2;
        checked.manifest = Some(manifest);
        if has_book && checked.book_wrong && unsealed {
            // The solve makes the book first, and then the lists.
            (checked.manifest, checked.manifest_wrong) = (None, false);
        }
    }
    sort_findings(&mut findings);
    checked.report.findings = findings;
    checked.sums = sums.into_inner();
    checked.engine = Some((game, terms, engine));
    Ok(checked)
}

/// Examines the metadata until they can be read or their damage persists: an owner that begins a
/// generation replaces them during an examination.
fn examine_at_rest(storage: &dyn Storage) -> Result<Examination, pipeline::Error> {
    let mut last = examine(storage)?;
    while last.inspection.is_none() {
        let next = examine(storage)?;
        let is_same = next.inspection.is_none() && persists(&last.findings, &next.findings);
        last = next;
        if is_same {
            break;
        }
    }
    Ok(last)
}

/// Checks a run with both copies of the metadata unreadable: reports their damage, and that of the
/// database if there is one.
fn without_metadata(
    storage: &RealStorage,
    mut findings: Vec<Finding>,
    request: &Request<'_>,
) -> Result<CheckedRun, Error> {
    let mut report = Report {
        subject: Subject::Run,
        findings: Vec::new(),
        blocks: 0,
        finished_blocks: 0,
        generation: 0,
        files: 0,
        bytes: 0,
        unsealed: false,
    };
    let sealed = storage.length(&format!("{PUBLISHED}/{SUMS}")).is_ok_and(|length| length.is_some());
    if sealed {
        let database = alone::check_database(&RealStorage::open(storage.path(PUBLISHED))?, request)?.report;
        findings.extend(database.findings);
        (report.blocks, report.files, report.bytes) = (database.blocks, database.files, database.bytes);
    }
    sort_findings(&mut findings);
    Ok(CheckedRun {
        report: Report { findings, ..report },
        engine: None,
        manifest: None,
        sums: BTreeMap::new(),
        manifest_wrong: false,
        book_wrong: false,
        book: None,
        sums_wrong: false,
    })
}
