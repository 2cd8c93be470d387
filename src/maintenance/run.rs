//! The check of a run folder: the engine's check, and for a finished run the manifest and `SUMS`,
//! which follow from its journal.

use super::lists::{contents, difference, or_finding};
use super::workers::Request;
use super::{Damage, Depth, Error, Finding, Report, Severity, Subject, alone, sort_findings};
use crate::database::{BOOK, Game, Keep, MANIFEST, Manifest, SUMS, SolveSpec, Sums, Terms, block_file_name};
use crate::solve::RemovalGame;
use parking_lot::Mutex;
use pipeline::checkpoint::{Examination, FORMAT, PUBLISHED, examine};
use pipeline::maintenance::check;
use pipeline::{BlockId, RealStorage, Storage, persists};
use std::collections::BTreeMap;
use trinim_kernel::Kernel;

/// The state of a run folder after a check.
#[derive(Default)]
pub(super) struct CheckedRun {
    pub(super) report: Report,
    /// The game and terms, and the findings of the engine; `None` if the game is unknown.
    pub(super) engine: Option<(Game, Terms, check::Report)>,
    /// The expected bytes of the manifest, if all blocks are finished.
    pub(super) manifest: Option<Vec<u8>>,
    /// BLAKE3 of the files of sound blocks, from a check of hashes.
    pub(super) sums: BTreeMap<BlockId, blake3::Hash>,
    /// Whether the manifest in the folder is wrong or missing.
    pub(super) manifest_wrong: bool,
    /// Whether the book is wrong or missing.
    pub(super) book_wrong: bool,
    pub(super) book: Option<blake3::Hash>,
    pub(super) sums_wrong: bool,
}

pub(super) fn check_run(storage: &RealStorage, depth: Depth, request: &Request<'_>) -> Result<CheckedRun, Error> {
    let foreign = || Error::Foreign { path: storage.path(FORMAT) };
    let examination = at_rest(|| examine(storage))?;
    let Some(inspection) = examination.inspection else {
        return without_metadata(storage, examination.findings, depth, request);
    };
    let game = Game::from_parameters(&inspection.parameters.0).ok_or_else(foreign)?;
    let terms = Terms::from_parameters(&inspection.parameters.0).ok_or_else(foreign)?;
    let (spec, keep) = (terms.spec(&game), terms.keep);
    let workload = RemovalGame::new(spec, Kernel::detect());
    let sums = Mutex::new(BTreeMap::new());
    let published = |block: BlockId, bytes: &[u8]| {
        let sum = blake3::hash(bytes);
        sums.lock().insert(block, sum);
    };
    let Request { threads, stop, progress } = *request;
    let asked = check::CheckRequest { depth, threads, stop, progress, published: &published };
    let engine = check::check(&workload, storage, &asked)?;
    drop(workload);

    let blocks = game.layout.canonical_blocks().len();
    let records = engine.inspection.as_ref().map_or(&[][..], |inspection| &inspection.records);
    let report = Report {
        subject: Subject::Run,
        findings: engine.findings.clone(),
        blocks: blocks as u64,
        finished_blocks: records.len() as u64,
        generation: engine.inspection.as_ref().map_or(0, |inspection| inspection.generation),
        files: engine.files,
        bytes: engine.bytes,
        ..Report::default()
    };
    let mut checked = CheckedRun { report, sums: sums.into_inner(), ..CheckedRun::default() };
    let is_complete = records.len() == blocks;
    let lists = [MANIFEST, SUMS].into_iter().chain(matches!(keep, Keep::Book { .. }).then_some(BOOK));
    let ours: Vec<String> = lists.filter(|_| is_complete).map(|name| format!("{PUBLISHED}/{name}")).collect();
    for name in engine.unnamed.iter().filter(|name| !ours.contains(name)) {
        let damage = Damage::Superfluous("not in any record");
        checked.report.findings.push(Finding::new(Severity::Leftover, storage.path(name), damage));
    }
    if is_complete {
        let summaries: BTreeMap<BlockId, &[u8]> =
            records.iter().map(|record| (record.block, &record.summary[..])).collect();
        let manifest = Manifest::from_summaries(spec, summaries.values().copied()).ok_or_else(foreign)?;
        checked.check_lists(storage, spec, &manifest, depth)?;
    }
    sort_findings(&mut checked.report.findings);
    checked.engine = Some((game, terms, engine));
    Ok(checked)
}

impl CheckedRun {
    /// Checks the lists of a run in which all blocks are finished, and its book.
    fn check_lists(
        &mut self,
        storage: &RealStorage,
        spec: SolveSpec<'_>,
        manifest: &Manifest,
        depth: Depth,
    ) -> Result<(), Error> {
        let CheckedRun { report: Report { findings, files, bytes, unsealed, .. }, .. } = self;
        let (keep, json) = (spec.terms.keep, manifest.to_json());
        // A solve writes SUMS last. It is read first, so that a solve that ends meanwhile cannot
        // have written it without the manifest that is looked for next.
        let found = or_finding(Sums::load(storage, &format!("{PUBLISHED}/{SUMS}")), Severity::Leftover)?;
        *unsealed = found.as_ref().is_err_and(|finding| !finding.severity.is_damage());
        let missing = if *unsealed { Severity::Leftover } else { Severity::Damage };
        let before = findings.len();
        let name = format!("{PUBLISHED}/{MANIFEST}");
        match or_finding(contents(storage, &name), missing)? {
            Ok(found) => findings.extend(difference(storage, &name, &json, &found)),
            Err(finding) => findings.push(finding),
        }
        self.manifest_wrong = findings.len() > before;
        *files += 2;
        let published = spec.game.layout.ordinals().filter(|_| keep.is_database());
        let mut expected: BTreeMap<String, Option<blake3::Hash>> =
            published.map(|block| (block_file_name(block), self.sums.get(&block).copied())).collect();
        expected.insert(MANIFEST.to_owned(), Some(blake3::hash(&json)));
        if let Keep::Book { .. } = keep {
            let db = storage.inner(PUBLISHED)?;
            *files += 1;
            match alone::look_at_book(&db, spec.game, keep, &manifest.census, depth)? {
                Ok((sum, length)) => {
                    self.book = sum;
                    *bytes += if depth == Depth::Metadata { 0 } else { length };
                }
                Err(finding) => {
                    self.book_wrong = true;
                    findings.push(Finding { severity: if *unsealed { missing } else { finding.severity }, ..finding });
                }
            }
            expected.insert(BOOK.to_owned(), self.book);
        }
        let before = findings.len();
        match found {
            Ok(sums) => findings.extend(sums.compare_in_order(&expected)),
            Err(finding) => findings.push(finding),
        }
        self.sums_wrong = findings.len() > before;
        if self.book_wrong && *unsealed {
            // The solve makes the book first, and then the lists.
            self.manifest_wrong = false;
        } else {
            self.manifest = Some(json);
        }
        Ok(())
    }
}

/// Examines the metadata until they can be read or their damage persists: an owner that begins a
/// generation replaces them during an examination.
fn at_rest(examine: impl Fn() -> Result<Examination, pipeline::Error>) -> Result<Examination, pipeline::Error> {
    let mut last = examine()?;
    while last.inspection.is_none() {
        let next = examine()?;
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
    findings: Vec<Finding>,
    depth: Depth,
    request: &Request<'_>,
) -> Result<CheckedRun, Error> {
    let mut report = Report { subject: Subject::Run, findings, ..Report::default() };
    let sealed = storage.length(&format!("{PUBLISHED}/{SUMS}")).is_ok_and(|length| length.is_some());
    if sealed {
        let database = storage.inner(PUBLISHED)?;
        let database = alone::check_database(&database, depth, request)?.report;
        report.findings.extend(database.findings);
        (report.blocks, report.files, report.bytes) = (database.blocks, database.files, database.bytes);
    }
    sort_findings(&mut report.findings);
    Ok(CheckedRun { report, ..CheckedRun::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Owners that begin generations leave another half of the metadata at each look.
    #[test]
    fn damage_counts_when_two_looks_in_a_row_find_it() {
        let looks = Cell::new(0);
        let examine = || {
            looks.set(looks.get() + 1);
            let path = ["m/manifest.1.a", "m/manifest.2.a", "m/manifest.3.a"][looks.get().min(3) - 1];
            let findings = vec![Finding::new(Severity::Damage, path, Damage::MISSING)];
            Ok(Examination { findings, inspection: None })
        };
        let found = at_rest(examine).unwrap();
        assert_eq!((looks.get(), found.findings.len()), (4, 1));
        assert!(found.findings[0].path.ends_with("manifest.3.a"), "{:?}", found.findings);
    }
}
