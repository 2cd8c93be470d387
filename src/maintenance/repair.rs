//! Repair: recomputes and replaces damaged files, after an estimate of the cost.
//!
//! ```text
//! lock  ->  check of all hashes  ->  estimate, or refusal  ->  blocks, sources first  ->  log entries, metadata  ->  manifest, SUMS
//! ```
//!
//! The lock of a run is its `LOCK`. That of a database alone is its folder, or the `LOCK` of the
//! run around it, if that still exists. A dry run takes no lock. `pipeline::maintenance::repair`
//! handles log entries and metadata of a run.

use super::alone::{self, CheckedDatabase, Lists, TrustedManifest, digests_differ, hex_digest, read_all};
use super::lists::{replace, sums_text, temporary_files};
use super::run::{self, CheckedRun};
use super::workers::Request;
use super::{Depth, Error, Place, Report, run_around};
use crate::database::{BOOK, Keep, MANIFEST, SUMS, Sums, block_file_name};
use crate::plan::rates;
use crate::solve::RemovalGame;
use crate::solve::book::examine;
use pipeline::checkpoint::{LOCK, LockedRun, METADATA, PUBLISHED, TEMPORARY, write_atomically};
use pipeline::maintenance::check;
use pipeline::maintenance::recompute::{Recomputer, Sources};
use pipeline::maintenance::repair::{self, Plan};
use pipeline::storage::{Create, LockGuard};
use pipeline::{BlockId, Extent, RealStorage, Stopwatch, Storage, Thresholds, Workload};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trinim_kernel::Kernel;

/// The work of a repair and its cost.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// Number of blocks to recompute.
    pub blocks: u64,
    /// Number of log entries to rewrite: of one source for one target, or of one source for all.
    pub log_entries: u64,
    /// Whether to rewrite `FORMAT`, manifest or journal.
    pub metadata: bool,
    /// Whether to rewrite `manifest.json`.
    pub manifest: bool,
    /// Whether to rewrite `SUMS`.
    pub sums: bool,
    /// Number of leftover files and parts of files of a stopped run, which are removed.
    pub leftovers: u64,
    /// Bytes of published files to read.
    pub read_bytes: u64,
    /// Estimated time, in seconds, from the rates of one worker and the time of a new file, which
    /// is measured unless nothing may be written.
    pub seconds: f64,
}

impl Estimate {
    /// Returns whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.blocks + self.log_entries + self.leftovers == 0 && !self.metadata && !self.manifest && !self.sums
    }
}

/// A prepared repair: the plan is complete, and no file is changed yet.
pub struct Repair {
    estimate: Estimate,
    subject: Subject,
}

enum Subject {
    Run { storage: Arc<dyn Storage>, locked: Option<LockedRun>, checked: Box<CheckedRun>, plan: Box<Plan> },
    Database { storage: RealStorage, checked: Box<CheckedDatabase>, order: Vec<BlockId>, _lock: Option<LockGuard> },
}

impl Repair {
    /// Locks the folder unless `dry`, checks all hashes and plans the repair.
    ///
    /// # Errors
    /// Those of [`check`](super::check()); [`pipeline::Error::Locked`]; [`Error::Irreparable`] with
    /// the file that has no source left.
    pub fn prepare(folder: &Path, dry: bool, request: &Request<'_>) -> Result<Repair, Error> {
        match Place::open(folder)? {
            Place::Run(storage) => Repair::run(storage, dry, request),
            Place::Database(storage) => Repair::database(storage, dry, request),
        }
    }

    fn run(storage: RealStorage, dry: bool, request: &Request<'_>) -> Result<Repair, Error> {
        let storage = Arc::new(storage);
        let locked = if dry { Ok(None) } else { LockedRun::take(storage.clone()).map(Some) };
        // Report damage below, with the rest.
        let (locked, damage) = match locked {
            Err(error @ pipeline::Error::Corrupt { .. }) => (None, Some(error)),
            other => (other?, None),
        };
        let checked = run::check_run(&storage, Depth::Sums, request)?;
        let Some((game, terms, engine)) = &checked.engine else { return Err(no_metadata(&*storage, &checked.report)) };
        if let Some(error) = damage {
            return Err(error.into());
        }
        if !terms.keep.is_database() {
            refuse_without_source(&*storage, terms.keep, &checked, engine)?;
        }
        let workload = RemovalGame::new(terms.spec(game), Kernel::detect());
        let plan = Plan::new(&workload, engine)?;
        // The lines of damaged blocks could not be compared yet.
        let sums = checked.manifest.is_some() && checked.sums_wrong;
        let estimate = Estimate {
            blocks: plan.blocks.len() as u64,
            log_entries: plan.entries.len() as u64,
            metadata: plan.metadata,
            manifest: checked.manifest_wrong,
            sums,
            leftovers: plan.leftovers + left_parts(&checked).len() as u64,
            read_bytes: plan.read_bytes,
            seconds: seconds(&workload, &plan, file_seconds(&storage, PUBLISHED, &plan, dry)?),
        };
        drop(workload);
        let subject = Subject::Run { storage, locked, checked: Box::new(checked), plan: Box::new(plan) };
        Ok(Repair { estimate, subject })
    }

    fn database(storage: RealStorage, dry: bool, request: &Request<'_>) -> Result<Repair, Error> {
        let lock = match (dry, run_around(&storage)) {
            (true, _) => None,
            (false, Some(run)) => Some(run.lock(LOCK)?),
            (false, None) => Some(storage.lock("")?),
        };
        // No journal has the blocks, so their own hashes count, too.
        let checked = alone::check_database(&storage, Depth::Full, request)?;
        let Some(known) = &checked.lists.known else {
            return Err(Error::Irreparable {
                path: storage.path(MANIFEST),
                reason: "nothing else records the board, rule and layout of the blocks".to_owned(),
            });
        };
        if checked.manifest_lost {
            return Err(no_manifest(&storage));
        }
        let keep = known.manifest.keep;
        let is_trusted = checked.lists.vouched && known.manifest.check(&storage.path(MANIFEST), &known.game).is_ok();
        if checked.book_wrong || (!keep.is_database() && checked.lists_wrong && !is_trusted) {
            let name =
                checked.report.findings.first().map_or_else(|| storage.path(SUMS), |finding| finding.path.clone());
            let reason = format!("the folder keeps {}, so the file can be neither rebuilt nor verified", keep.limits());
            return Err(Error::Irreparable { path: name, reason });
        }
        let workload = RemovalGame::new(known.spec(), Kernel::detect());
        let mut order = workload.order();
        order.retain(|block| checked.damaged_blocks.contains(block));
        let mut plan = Plan { blocks: order.clone(), ..Plan::default() };
        let length = |block: BlockId| storage.length(&block_file_name(block)).ok().flatten().unwrap_or(0);
        for &block in &order {
            let edges = workload.edges_into(block);
            plan.edges += edges.len() as u64;
            let sources: BTreeSet<BlockId> = edges.iter().map(|edge| edge.source).collect();
            plan.recalls += sources.len() as u64;
            plan.read_bytes += sources.into_iter().map(length).sum::<u64>();
            // Without a line and without a valid digest nothing could confirm the computed block.
            if !checked.lists.sums.lines.contains_key(&block_file_name(block)) && known.digest(block).len() != 64 {
                let reason = "neither SUMS nor the manifest has its checksum".to_owned();
                return Err(Error::Irreparable { path: storage.path(&block_file_name(block)), reason });
            }
        }
        if checked.lists_wrong {
            plan.recalls += known.blocks().count() as u64;
            plan.read_bytes += known.blocks().map(length).sum::<u64>();
        }
        let estimate = Estimate {
            blocks: order.len() as u64,
            manifest: checked.lists_wrong,
            sums: checked.lists_wrong,
            leftovers: temporary_files(&storage)?.len() as u64,
            read_bytes: plan.read_bytes,
            seconds: seconds(&workload, &plan, file_seconds(&storage, "", &plan, dry)?),
            ..Estimate::default()
        };
        drop(workload);
        let subject = Subject::Database { storage, checked: Box::new(checked), order, _lock: lock };
        Ok(Repair { estimate, subject })
    }

    /// Returns the findings of the check.
    pub fn report(&self) -> &Report {
        match &self.subject {
            Subject::Run { checked, .. } => &checked.report,
            Subject::Database { checked, .. } => &checked.report,
        }
    }

    /// Returns the planned work.
    pub fn estimate(&self) -> &Estimate {
        &self.estimate
    }

    /// Carries out the repair, on one thread. Progress is counted in blocks and entries.
    ///
    /// # Errors
    /// [`pipeline::Error::Interrupted`] after it was stopped; [`Error::Irreparable`], or of a run
    /// [`pipeline::Error::Corrupt`], if a computed block is not the expected one; errors of the
    /// operating system. After any of these the same repair can be started again.
    ///
    /// # Panics
    /// If it was prepared dry.
    pub fn carry_out(self, request: &Request<'_>) -> Result<(), Error> {
        match self.subject {
            Subject::Run { storage, locked, checked, plan } => {
                let locked = locked.expect("a dry repair cannot be carried out");
                mend_run(&storage, locked, *checked, &plan, request)
            }
            Subject::Database { storage, checked, order, _lock } => {
                assert!(_lock.is_some(), "a dry repair cannot be carried out");
                mend_database(&storage, *checked, &order, request)
            }
        }
    }
}

/// Refuses what would be computed from blocks that were not kept.
fn refuse_without_source(
    storage: &dyn Storage,
    keep: Keep,
    checked: &CheckedRun,
    engine: &check::Report,
) -> Result<(), Error> {
    if let Some(extent) = engine.damaged_extents.first() {
        return Err(no_source(storage, keep, extent));
    }
    let limits = keep.limits();
    let records = engine.inspection.as_ref().map_or(&[][..], |inspection| &inspection.records);
    let mut parts = records.iter().filter_map(|record| Some((record.block, record.published.as_ref()?)));
    let has_parts = parts.clone().next().is_some();
    if let Some((block, part)) = parts.find(|(block, _)| engine.damaged_blocks.contains(block)) {
        let reason = format!("it must be computed from the sources of block {block}, but this run keeps {limits}");
        return Err(Error::Irreparable { path: storage.path(&part.name), reason });
    }
    if checked.book_wrong && !checked.report.unsealed {
        let reason = match has_parts {
            true => "run the same solve again: it rebuilds the file from its parts".to_owned(),
            false => format!("the blocks it was made from are gone: this run keeps {limits}"),
        };
        return Err(Error::Irreparable { path: storage.path(&format!("{PUBLISHED}/{BOOK}")), reason });
    }
    Ok(())
}

/// The refusal of a damaged log whose source has no published file to compute it from.
fn no_source(storage: &dyn Storage, keep: Keep, extent: &Extent) -> Error {
    let Extent { file, source, offset, .. } = extent;
    let reason = format!(
        "the log of block {source} at byte {offset} must be computed from the published file of that block, but this \
         run keeps {}",
        keep.limits()
    );
    Error::Irreparable { path: storage.path(&file.name()), reason }
}

/// The refusal of a database whose blocks do not add up to the manifest that `SUMS` lists.
fn no_manifest(storage: &RealStorage) -> Error {
    let reason = "the blocks do not add up to the manifest whose checksum is in SUMS".to_owned();
    Error::Irreparable { path: storage.path(MANIFEST), reason }
}

fn no_metadata(storage: &dyn Storage, report: &Report) -> Error {
    let path = report.findings.first().map_or_else(|| storage.path(METADATA), |finding| finding.path.clone());
    let reason = "both copies of the metadata are damaged; \
                  the db folder of a finished solve can be repaired on its own";
    Error::Irreparable { path, reason: reason.to_owned() }
}

/// Estimates the time of one worker, in seconds.
fn seconds(workload: &dyn Workload, plan: &Plan, file_seconds: f64) -> f64 {
    let raw = workload.stream_words() as f64 * 8.0;
    let rates = rates::for_blocks(Keep::Database, raw as u64);
    let (recalls, edges) = (plan.recalls as f64, plan.edges as f64);
    let (blocks, entries) = (plan.blocks.len() as f64, plan.entries.len() as f64);
    let processor = raw
        * (recalls / rates::RECALL_BYTES_PER_SECOND
            + edges * (1.0 / rates.orient_bytes_per_second + 1.0 / rates.apply_bytes_per_second)
            + blocks * (1.0 / rates.settle_bytes_per_second + 1.0 / rates.publish_bytes_per_second)
            + entries / rates.encode_bytes_per_second);
    let device = plan.read_bytes as f64 / rates.device_bytes_per_second + recalls * OPEN_SECONDS;
    processor + device + blocks * file_seconds
}

/// The time to open a file and to read and decode the little of a small block.
const OPEN_SECONDS: f64 = 4e-5;
/// The time to write a new file, used when it cannot be measured because nothing may be written:
/// from the disk of a virtual machine (ext4, 27 November 2026).
const FILE_SECONDS: f64 = 9e-3;
/// Files that are written to measure it.
const TRIALS: u32 = 3;

/// Measures the time to write a new file in a folder: it is created and synced, and so is its
/// folder. On a disk this is most of the time for small blocks; a file system in memory needs a
/// five-hundredth of it.
fn file_seconds(storage: &RealStorage, folder: &str, plan: &Plan, dry: bool) -> Result<f64, pipeline::Error> {
    let Some(block) = plan.blocks.first().filter(|_| !dry) else { return Ok(FILE_SECONDS) };
    let separator = if folder.is_empty() { "" } else { "/" };
    if !folder.is_empty() {
        // It may be lost with its files.
        storage.create_dir(folder)?;
    }
    let name = format!("{folder}{separator}{}{TEMPORARY}", block_file_name(*block));
    let watch = Stopwatch::start();
    for _ in 0..TRIALS {
        let file = storage.create(&name, Create::Truncate)?;
        file.write_all_at(&[0], 0)?;
        file.sync()?;
        storage.sync_dir(folder)?;
        storage.remove(&name)?;
    }
    Ok(watch.elapsed().as_secs_f64() / f64::from(TRIALS))
}

fn mend_run(
    storage: &Arc<dyn Storage>,
    locked: LockedRun,
    checked: CheckedRun,
    plan: &Plan,
    request: &Request<'_>,
) -> Result<(), Error> {
    let parts = left_parts(&checked);
    let CheckedRun { engine, manifest, mut sums, manifest_wrong, book, .. } = checked;
    let Some((game, terms, engine)) = engine else { return Ok(()) };
    let records = engine.inspection.map_or(Vec::new(), |inspection| inspection.records);
    let all = plan.steps();
    // Keeps the folder locked to the end.
    let workload = RemovalGame::new(terms.spec(&game), Kernel::detect());
    let thresholds = Thresholds::for_process(1)?;
    let _repaired = repair::carry_out(plan, &workload, storage, locked, &thresholds, request.stop, &|done| {
        (request.progress)(done, all)
    })?;
    let Some(manifest) = manifest else { return Ok(()) };
    let files: BTreeMap<BlockId, _> =
        records.iter().filter_map(|record| Some((record.block, record.published.as_ref()?))).collect();
    for (block, file) in files {
        if let std::collections::btree_map::Entry::Vacant(free) = sums.entry(block) {
            free.insert(blake3::hash(&file.read(&**storage)?));
        }
    }
    if manifest_wrong {
        write_atomically(&**storage, &format!("{PUBLISHED}/{MANIFEST}"), &manifest)?;
    }
    let text = match book {
        Some(sum) => Sums::text([(BOOK, sum)], &manifest),
        None => sums_text(sums, &manifest),
    };
    replace(&**storage, &format!("{PUBLISHED}/{SUMS}"), text.as_bytes())?;
    if !parts.is_empty() {
        parts.iter().try_for_each(|name| storage.remove(name))?;
        storage.sync_dir(PUBLISHED)?;
    }
    Ok(())
}

/// Returns the parts of a book beside the finished book: nothing reads them, and the engine leaves
/// the files of a complete run alone.
fn left_parts(checked: &CheckedRun) -> Vec<String> {
    let unnamed = checked.engine.iter().flat_map(|(.., engine)| &engine.unnamed);
    unnamed.filter(|name| checked.manifest.is_some() && name.ends_with(".part")).cloned().collect()
}

fn mend_database(
    storage: &RealStorage,
    checked: CheckedDatabase,
    order: &[BlockId],
    request: &Request<'_>,
) -> Result<(), Error> {
    let CheckedDatabase { lists: Lists { known, sums, found, .. }, lists_wrong, .. } = checked;
    let lists_wrong = AtomicBool::new(lists_wrong);
    let Some(known) = known else { return Ok(()) };
    let is_right = |block: BlockId, bytes: &[u8], digest: Option<&str>| {
        sums.check(&block_file_name(block), blake3::hash(bytes)) == Some(Ok(()))
            || digest.is_some_and(|digest| digest == known.digest(block))
    };
    let workload = RemovalGame::new(known.spec(), Kernel::detect());
    let blocks = Blocks { storage, known: &known, is_right: &is_right };
    let recomputer = Recomputer::new(&workload, &blocks);
    for (done, &block) in (1..).zip(order) {
        if request.stop.load(Ordering::Relaxed) {
            return Err(pipeline::Error::Interrupted.into());
        }
        recomputer.blocks(&[block], &|block, computed| {
            let name = block_file_name(block);
            let digest = hex_digest(computed.stream);
            let bytes = computed.publication.map(|publication| publication.bytes).unwrap_or_default();
            let was_right = read_all(storage, &name, Some(&known)).is_ok_and(|before| before == bytes);
            if !was_right && !is_right(block, &bytes, Some(&digest)) {
                let reason = "the recomputed block matches neither SUMS nor the manifest".to_owned();
                return Err(Error::Irreparable { path: storage.path(&name), reason });
            }
            if sums.check(&name, blake3::hash(&bytes)) != Some(Ok(())) {
                lists_wrong.store(true, Ordering::Relaxed);
            }
            if !was_right {
                write_atomically(storage, &name, &bytes)?;
            }
            Ok(())
        })?;
        (request.progress)(done, order.len() as u64);
    }
    if lists_wrong.into_inner() {
        let manifest = match found {
            // Confirmed by `SUMS`, or the repair would have been refused.
            Some(bytes) if !known.manifest.keep.is_database() => bytes,
            found => match alone::rebuild(storage, &known, &sums, found.as_deref())? {
                (rebuilt, true) => rebuilt,
                (_, false) => return Err(no_manifest(storage)),
            },
        };
        let blocks = known.blocks();
        let hashed =
            blocks.map(|block| Ok((block, blake3::hash(&read_all(storage, &block_file_name(block), Some(&known))?))));
        let text = match known.manifest.keep {
            Keep::Book { .. } => {
                Sums::text([(BOOK, examine(storage, BOOK, known.spec(), &known.manifest.census)?)], &manifest)
            }
            _ => sums_text(hashed.collect::<Result<Vec<_>, pipeline::Error>>()?, &manifest),
        };
        replace(storage, MANIFEST, &manifest)?;
        replace(storage, SUMS, text.as_bytes())?;
    }
    let temporary = temporary_files(storage)?;
    for name in &temporary {
        storage.remove(name)?;
    }
    if !temporary.is_empty() {
        storage.sync_dir("")?;
    }
    Ok(())
}

/// The blocks of a database; those that are right are read.
struct Blocks<'a> {
    storage: &'a RealStorage,
    known: &'a TrustedManifest,
    is_right: &'a IsRight<'a>,
}

/// Whether bytes, or the digest of their decoded form, are those of a block.
type IsRight<'a> = dyn Fn(BlockId, &[u8], Option<&str>) -> bool + Sync + 'a;

impl Sources for Blocks<'_> {
    fn read(&self, block: BlockId) -> Result<Vec<u8>, pipeline::Error> {
        let bytes = read_all(self.storage, &block_file_name(block), Some(self.known))?;
        if (self.is_right)(block, &bytes, None) {
            return Ok(bytes);
        }
        let digest = self.known.digest_of(&self.path(block), block, &bytes).ok();
        if (self.is_right)(block, &bytes, digest.as_deref()) {
            return Ok(bytes);
        }
        let damage = digests_differ(self.known.digest(block), digest.unwrap_or_default());
        Err(pipeline::Error::corrupt(self.path(block), None, damage))
    }

    fn path(&self, block: BlockId) -> PathBuf {
        self.storage.path(&block_file_name(block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Game;
    use trinim_game::Rule;

    /// Every part of the work has its time, by the rate of its stage.
    #[test]
    fn each_part_of_the_work_takes_time() {
        let game = Game::triangle(5, Rule::Misere, 12).unwrap();
        let workload = RemovalGame::new(&game, Kernel::detect());
        let raw = workload.stream_words() as f64 * 8.0;
        let rates = rates::for_blocks(Keep::Database, raw as u64);
        let blocks = |number| (0..number).map(BlockId).collect();
        let settled = raw / rates.settle_bytes_per_second + raw / rates.publish_bytes_per_second;
        for (plan, expected) in [
            (Plan::default(), 0.0),
            (Plan { recalls: 7, ..Plan::default() }, 7.0 * (raw / rates::RECALL_BYTES_PER_SECOND + OPEN_SECONDS)),
            (
                Plan { edges: 5, ..Plan::default() },
                5.0 * (raw / rates.orient_bytes_per_second + raw / rates.apply_bytes_per_second),
            ),
            (Plan { blocks: blocks(3), ..Plan::default() }, 3.0 * (settled + 2e-3)),
            (
                Plan { entries: [(BlockId(0), None), (BlockId(1), None)].into(), ..Plan::default() },
                2.0 * raw / rates.encode_bytes_per_second,
            ),
            (Plan { read_bytes: 1 << 30, ..Plan::default() }, f64::from(1 << 30) / rates.device_bytes_per_second),
        ] {
            let found = seconds(&workload, &plan, 2e-3);
            assert!((found - expected).abs() <= 1e-9 * expected, "{plan:?}: {found}, not {expected}");
        }
    }
}
