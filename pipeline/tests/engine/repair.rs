//! Check and repair of run folders: each single file damaged in turn, and a stop anywhere in a
//! repair.

use crate::folders::{PLACEMENTS, finished, options, stopped_after, workload};
use crate::mend::{self, flip};
use crate::scratch::scratch;
use crate::sweep::Sweep;
use crate::synthetic::Synthetic;
use pipeline::checkpoint::{LockedRun, inspect};
use pipeline::maintenance::check::{Depth, Report};
use pipeline::maintenance::repair::{Plan, carry_out};
use pipeline::{BlockId, Edge, Error, Options, Placement, RealStorage, Run, Severity, Storage, Thresholds, Workload};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use testing::{Fault, SimulatedStorage};

fn look(storage: &dyn Storage, depth: Depth) -> Result<Report, Error> {
    mend::look(&workload(), storage, depth)
}

/// Repairs a folder, from the lock to the end.
fn mend(storage: &Arc<dyn Storage>) -> Result<Plan, Error> {
    mend::mend(&workload(), storage, &Thresholds::LARGEST)
}

fn files(disk: &SimulatedStorage) -> BTreeMap<String, Vec<u8>> {
    disk.names().into_iter().map(|name| (name.clone(), disk.contents(&name).unwrap())).collect()
}

fn published(disk: &SimulatedStorage) -> BTreeMap<String, Vec<u8>> {
    let mut files = files(disk);
    files.retain(|name, _| name.starts_with("db/"));
    files
}

/// Runs to the end and asserts that `db/` holds the reference and `logs/` nothing.
fn assert_finishes(disk: &SimulatedStorage, story: &str) {
    let workload = workload();
    let finished = Run::new(&workload, Arc::new(disk.clone())).options(&options(Placement::Dedicated)).start();
    assert!(finished.is_ok(), "{story}: {:?}", finished.err());
    let expected: BTreeMap<String, Vec<u8>> = (0..)
        .zip(workload.reference())
        .map(|(block, stream)| {
            let bytes = stream.iter().flat_map(|word| word.to_le_bytes()).collect();
            (format!("db/{block:04}.blk"), bytes)
        })
        .collect();
    assert!(published(disk) == expected, "{story}: the published files differ");
    assert!(!disk.names().iter().any(|name| name.starts_with("logs/")), "{story}: logs are left");
}

/// Returns the ways to damage a file: a story and the remaining bytes.
fn damages(bytes: &[u8]) -> Vec<(String, Option<Vec<u8>>)> {
    let mut all = vec![
        ("deleted".to_owned(), None),
        ("emptied".to_owned(), Some(Vec::new())),
        ("cut".to_owned(), Some(bytes[..bytes.len() / 2].to_vec())),
    ];
    for place in [0, 9, bytes.len() / 3, bytes.len() * 2 / 3, bytes.len() - 1] {
        let mut bad = bytes.to_vec();
        if let Some(byte) = bad.get_mut(place) {
            *byte ^= 1 << (place % 8);
            all.push((format!("byte {place} flipped"), Some(bad)));
        }
    }
    all
}

#[test]
fn a_sound_folder_is_sound_at_every_depth() {
    for placement in PLACEMENTS {
        for disk in [stopped_after(9, placement), finished(placement)] {
            let before = files(&disk);
            for depth in [Depth::Metadata, Depth::Sums, Depth::Full] {
                let report = look(&disk, depth).unwrap();
                assert_eq!(report.findings, [], "{placement:?} {depth:?}");
                let inspection = report.inspection.unwrap();
                assert!(inspection.in_manifest <= inspection.records.len());
                assert!(report.files > 0 && (report.bytes > 0) == (depth > Depth::Metadata));
            }
            assert!(files(&disk) == before, "a check changes something");
            let storage: Arc<dyn Storage> = Arc::new(disk.clone());
            assert!(mend(&storage).unwrap().is_empty());
            assert!(files(&disk) == before, "a repair without work changes something");
        }
    }
}

/// Every log, every published file and every copy of the metadata, in the middle and at the end of
/// a run.
#[test]
fn each_single_damaged_file_is_named_and_repaired() {
    let (mut repaired, mut blocks, mut entries, mut metadata, mut short) = (0, 0, 0, 0, 0);
    for placement in PLACEMENTS {
        for (place, pristine) in [("middle", stopped_after(9, placement)), ("end", finished(placement))] {
            let whole = files(&pristine);
            let extents: Vec<_> = inspect(&pristine).unwrap().records.into_iter().flat_map(|one| one.extents).collect();
            let names = whole.keys().filter(|name| *name != "LOCK");
            for (name, bytes) in names.map(|name| (name, &whole[name])).filter(|(_, bytes)| !bytes.is_empty()) {
                for (story, left) in damages(bytes) {
                    let story = format!("{placement:?}, {place}, {name} {story}");
                    let disk = pristine.kill();
                    let counts = match &left {
                        None => true,
                        Some(left) => {
                            let changed = |at: usize| left.get(at) != bytes.get(at);
                            let in_extent = |at: usize| {
                                let here = |extent: &&pipeline::Extent| extent.file.name() == *name;
                                let at = at as u64;
                                extents.iter().filter(here).any(|one| (one.offset..one.end()).contains(&at))
                            };
                            !name.starts_with("logs/") || (0..bytes.len()).any(|at| changed(at) && in_extent(at))
                        }
                    };
                    match left {
                        Some(left) => disk.put(name, &left),
                        None => disk.take(name),
                    }
                    let report = look(&disk, Depth::Full).unwrap();
                    // A commit that stopped between the two copies leaves b without its last
                    // record.
                    let is_short_b = name.contains("journal") && name.ends_with(".b") && disk.contents(name).is_some();
                    if let [finding] = &report.findings[..]
                        && (finding.severity, is_short_b) == (Severity::Leftover, true)
                    {
                        assert_eq!(finding.path, disk.path(name), "{story}");
                        short += 1;
                        assert_finishes(&disk, &story);
                        continue;
                    }
                    assert_eq!(report.is_sound(), !counts, "{story}: {:?}", report.findings);
                    let wrong = report.findings.iter().filter(|finding| finding.severity.is_damage());
                    for finding in wrong {
                        assert_eq!(finding.path, pristine.path(name), "{story}: {finding:?}");
                    }
                    let storage: Arc<dyn Storage> = Arc::new(disk.clone());
                    let plan = mend(&storage).unwrap_or_else(|error| panic!("{story}: {error}"));
                    assert_eq!(plan.is_empty(), !counts, "{story}");
                    repaired += u32::from(counts);
                    blocks += plan.blocks.len();
                    entries += plan.entries.len();
                    metadata += usize::from(plan.metadata);
                    assert_eq!(look(&disk, Depth::Full).unwrap().findings, [], "{story}, repaired");
                    for (file, bytes) in &published(&pristine) {
                        assert!(disk.contents(file).as_ref() == Some(bytes), "{story}: {file} is another");
                    }
                    assert_finishes(&disk, &story);
                }
            }
        }
    }
    println!("{repaired} repairs: {blocks} blocks, {entries} entries, {metadata} metadata; {short} short journals");
    assert!(short <= 8, "{short}");
    assert!(repaired > 200 && blocks > 100 && entries > 50 && metadata > 40);
}

/// Flips every bit of the published files, of the logs, or of both.
fn flipped(pristine: &SimulatedStorage, folders: &[&str]) -> SimulatedStorage {
    let disk = pristine.kill();
    let names = disk.names().into_iter();
    names.filter(|name| folders.iter().any(|folder| name.starts_with(folder))).for_each(|name| flip(&disk, &name));
    disk
}

/// Follows every edge of the block graph to what the plan must count.
#[test]
fn a_plan_counts_the_work_and_a_repair_reports_each_step() {
    let edges: Vec<Edge> = BlockId::all(workload().blocks()).flat_map(|source| workload().edges_from(source)).collect();
    let file_bytes = 8 * workload().words as u64;
    for placement in PLACEMENTS {
        let pristine = stopped_after(9, placement);
        let done = inspect(&pristine).unwrap().finished();
        let waiting = edges.iter().filter(|edge| done.contains(&edge.source) && !done.contains(&edge.target));
        let entries: BTreeSet<(BlockId, Option<BlockId>)> =
            waiting.map(|edge| (edge.source, (placement == Placement::Dedicated).then_some(edge.target))).collect();
        for folders in [&["db/"][..], &["logs/"], &["db/", "logs/"]] {
            let mut expected = Plan::default();
            if folders.contains(&"db/") {
                expected.blocks = workload().order().into_iter().filter(|block| done.contains(block)).collect();
                expected.write_bytes = file_bytes * expected.blocks.len() as u64;
                let into: Vec<&Edge> = edges.iter().filter(|edge| done.contains(&edge.target)).collect();
                let recalls: BTreeSet<_> = into.iter().map(|edge| (edge.target, edge.source)).collect();
                expected.edges += into.len() as u64;
                expected.recalls += recalls.len() as u64;
            }
            if folders.contains(&"logs/") {
                let serves =
                    |edge: &&Edge| [None, Some(edge.target)].iter().any(|to| entries.contains(&(edge.source, *to)));
                let recalls: BTreeSet<_> = entries.iter().map(|(source, _)| source).collect();
                expected.edges += edges.iter().filter(serves).count() as u64;
                expected.recalls += recalls.len() as u64;
                expected.entries = entries.clone();
            }
            expected.read_bytes = file_bytes * expected.recalls;

            let storage: Arc<dyn Storage> = Arc::new(flipped(&pristine, folders));
            let plan = Plan::new(&workload(), &look(&*storage, Depth::Sums).unwrap()).unwrap();
            assert_eq!(plan, expected, "{placement:?}, {folders:?}");
            let steps = (plan.blocks.len() + plan.entries.len()) as u64;
            assert!(steps > 3 && plan.steps() == steps, "{placement:?}, {folders:?}: {steps} steps");
            let steps_done = RefCell::new(Vec::new());
            let locked = LockedRun::take(storage.clone()).unwrap();
            let tell = |step| steps_done.borrow_mut().push(step);
            carry_out(&plan, &workload(), &storage, locked, &Thresholds::LARGEST, &AtomicBool::new(false), &tell)
                .unwrap();
            assert_eq!(steps_done.into_inner(), Vec::from_iter(1..=steps), "{placement:?}, {folders:?}");
        }
    }
}

/// A file that no record names is left over while blocks are to come; later it may be the caller's,
/// unless it is a temporary file.
#[test]
fn a_repair_removes_unnamed_files_but_not_the_callers() {
    for placement in PLACEMENTS {
        for (pristine, unnamed, leftovers, kept) in [
            (stopped_after(9, placement), &["db/SUMS"][..], 1, &[][..]),
            (finished(placement), &["db/SUMS"], 0, &["db/SUMS"]),
            (finished(placement), &["db/SUMS", "db/SUMS.tmp"], 1, &["db/SUMS"]),
            // Someone else's.
            (stopped_after(9, placement), &["db/a b", "db/notes"], 0, &["db/a b", "db/notes"]),
            (finished(placement), &["db/notes", "db/notes.tmp"], 0, &["db/notes", "db/notes.tmp"]),
        ] {
            let disk = pristine.kill();
            unnamed.iter().for_each(|name| disk.put(name, b"unnamed"));
            let storage: Arc<dyn Storage> = Arc::new(disk.clone());
            assert_eq!(mend(&storage).unwrap(), Plan { leftovers, ..Plan::default() }, "{placement:?}, {unnamed:?}");
            let mut left = published(&disk);
            left.retain(|name, _| !published(&pristine).contains_key(name));
            assert_eq!(Vec::from_iter(left.keys()), kept, "{placement:?}, {unnamed:?}");
        }
    }
}

/// A folder is lost together with all files in it.
#[test]
fn a_missing_folder_is_made_again() {
    for placement in PLACEMENTS {
        for (pristine, folder) in
            [(stopped_after(9, placement), "logs"), (stopped_after(9, placement), "db"), (finished(placement), "db")]
        {
            let disk = pristine.kill();
            disk.names().iter().filter(|name| name.starts_with(folder)).for_each(|name| disk.take(name));
            disk.take(folder);
            assert!(disk.list(folder).unwrap_err().is_not_found());
            let story = format!("{placement:?}, {folder}");
            let storage: Arc<dyn Storage> = Arc::new(disk.clone());
            let plan = mend(&storage).unwrap_or_else(|error| panic!("{story}: {error}"));
            assert!(!plan.is_empty(), "{story}");
            assert_eq!(look(&disk, Depth::Full).unwrap().findings, [], "{story}");
            assert_finishes(&disk, &story);
        }
    }
}

/// What a repair reports as done survives a power cut that keeps nothing unsynced.
#[test]
fn a_repair_is_durable() {
    for placement in PLACEMENTS {
        for thresholds in [Thresholds::SMALLEST, Thresholds::LARGEST] {
            let disk = flipped(&stopped_after(9, placement), &["db/", "logs/"]);
            let storage: Arc<dyn Storage> = Arc::new(disk.clone());
            mend::mend(&workload(), &storage, &thresholds).unwrap();
            assert_eq!(look(&disk.power_cut(0), Depth::Full).unwrap().findings, [], "{placement:?}, {thresholds:?}");
        }
    }
}

/// With the smallest thresholds it syncs and closes each log before it opens the next.
#[test]
fn a_repair_of_many_logs_opens_few_files() {
    let few = 4;
    let damaged = flipped(&stopped_after(6, Placement::Dedicated), &["logs/"]);
    let storage: Arc<dyn Storage> = Arc::new(damaged.kill().with_handles_at_most(few));
    let plan = mend::mend(&workload(), &storage, &Thresholds::SMALLEST).unwrap();
    let logs: BTreeSet<_> = plan.entries.iter().map(|(_, target)| target).collect();
    assert!(logs.len() > few, "{} logs", logs.len());
}

/// Damages three kinds of files at once: a block, something computed from it, and metadata.
fn thrice_damaged(placement: Placement) -> SimulatedStorage {
    let disk = stopped_after(9, placement);
    let records = inspect(&disk).unwrap().records;
    let flip = |name: &str, place: usize| {
        let mut bytes = disk.contents(name).unwrap();
        bytes[place] ^= 4;
        disk.put(name, &bytes);
    };
    let source = records.iter().rev().find(|record| !record.extents.is_empty()).unwrap();
    for record in records.iter().filter(|record| record.block.0 != 0) {
        flip(&record.published.as_ref().unwrap().name, 17);
    }
    for extent in &source.extents {
        if disk.contents(&extent.file.name()).is_some() {
            flip(&extent.file.name(), extent.offset as usize + 60);
        }
    }
    let manifest =
        disk.names().into_iter().find(|name| name.starts_with("m/manifest") && name.ends_with(".b")).unwrap();
    flip(&manifest, 40);
    disk
}

/// A kill at every step; at every third one also power cuts and another fault in turn, or with
/// `TRINIM_TESTS=full` each of them. A repair that is repeated to its end leaves nothing over.
#[test]
fn a_repair_may_stop_anywhere() {
    let sweep = Sweep::asked();
    for placement in PLACEMENTS {
        let damaged = thrice_damaged(placement);
        let clean = damaged.kill();
        let whole: Arc<dyn Storage> = Arc::new(clean.clone());
        let plan = mend(&whole).unwrap();
        assert!(plan.blocks.len() > 3 && !plan.entries.is_empty() && plan.metadata, "{plan:?}");
        let expected = published(&clean);
        let steps = clean.steps();
        let (mut stops, mut states) = (0, 0);
        for (turn, step) in (1..=steps + 5).enumerate() {
            let others = match sweep {
                _ if turn % 3 != 0 => &[][..],
                Sweep::Sampled => &[[Fault::Full, Fault::LoseSync][turn / 3 % 2]],
                Sweep::Full => &[Fault::Full, Fault::LoseSync],
            };
            for &fault in [Fault::Stop].iter().chain(others) {
                let disk = damaged.kill().with_fault(step, fault);
                let storage: Arc<dyn Storage> = Arc::new(disk.clone());
                if mend(&storage).is_ok() {
                    continue;
                }
                stops += 1;
                let images = [disk.kill(), disk.power_cut(0), disk.power_cut(step + 10)];
                for (cut, disk) in images.into_iter().take(if turn % 3 == 0 { 3 } else { 1 }).enumerate() {
                    let story = format!("{placement:?}, {fault:?} at {step}, image {cut}");
                    let storage: Arc<dyn Storage> = Arc::new(disk.clone());
                    mend(&storage).unwrap_or_else(|error| panic!("{story}: {error}"));
                    let report = look(&disk, Depth::Full).unwrap();
                    assert_eq!((&report.findings, &report.unnamed), (&Vec::new(), &BTreeSet::new()), "{story}");
                    for (name, bytes) in &expected {
                        assert!(disk.contents(name).as_ref() == Some(bytes), "{story}: {name}");
                    }
                    assert_finishes(&disk, &story);
                    states += 1;
                }
            }
        }
        println!("{placement:?}, {sweep:?}: {steps} steps, {stops} stops, {states} states");
        assert!(stops > 60);
    }
}

#[test]
fn what_nothing_is_left_of_is_refused_and_nothing_is_written() {
    let pristine = stopped_after(9, Placement::Dedicated);
    let generation = inspect(&pristine).unwrap().generation;
    let pairs = [
        [format!("m/manifest.{generation}.a"), format!("m/manifest.{generation}.b")],
        [format!("m/journal.{generation}.a"), format!("m/journal.{generation}.b")],
    ];
    for pair in pairs {
        let disk = pristine.kill();
        for name in &pair {
            let mut bytes = disk.contents(name).unwrap();
            bytes[30] ^= 1;
            disk.put(name, &bytes);
        }
        let before = files(&disk);
        let storage: Arc<dyn Storage> = Arc::new(disk.clone());
        match mend(&storage) {
            Err(Error::Corrupt { path, .. }) => {
                assert!(pair.iter().any(|name| path == disk.path(name)), "{}", path.display());
            }
            other => panic!("{other:?}"),
        }
        assert!(files(&disk) == before, "{pair:?}: something was written");
        let report = look(&disk, Depth::Full).unwrap();
        assert!(!report.is_sound() && report.inspection.is_none());
    }
}

#[test]
fn a_second_owner_is_refused() {
    let disk = stopped_after(9, Placement::Shared);
    let storage: Arc<dyn Storage> = Arc::new(disk.clone());
    let _first = LockedRun::take(storage.clone()).unwrap();
    assert!(matches!(mend(&storage), Err(Error::Locked { .. })));
}

/// What a kill or a power cut of an intact run leaves is never damage.
#[test]
fn no_stop_of_a_run_is_taken_for_damage() {
    let mut states = 0;
    for placement in PLACEMENTS {
        for step in (5..).step_by(11) {
            let disk = SimulatedStorage::new(3).with_fault(step, Fault::Stop);
            let workload = workload();
            let run = Run::new(&workload, Arc::new(disk.clone())).options(&options(placement)).start();
            if run.is_ok() {
                break;
            }
            for disk in [disk.kill(), disk.power_cut(0), disk.power_cut(2), disk.power_cut(step)] {
                match look(&disk, Depth::Full) {
                    Ok(report) => {
                        let wrong = report.findings.iter().find(|finding| finding.severity.is_damage());
                        // A power cut may leave garbage in place of the last record of copy b; that
                        // copy is then indeed damaged.
                        let is_last = |finding: &pipeline::Finding| {
                            finding.severity == Severity::Copy && finding.path.to_string_lossy().ends_with(".b")
                        };
                        assert!(wrong.is_none_or(is_last), "{placement:?}, step {step}: {wrong:?}");
                    }
                    Err(Error::NotARun { .. }) => {}
                    Err(error) => panic!("{placement:?}, step {step}: {error}"),
                }
                states += 1;
            }
        }
    }
    println!("{states} states");
    assert!(states > 100);
}

/// Commits and deletions continue during the check: none of them is damage.
#[test]
fn a_check_beside_a_run_finds_nothing() {
    for placement in PLACEMENTS {
        let folder = scratch();
        let storage = RealStorage::create(folder.path()).unwrap().with_syncs(false);
        let over = AtomicBool::new(false);
        let looks = AtomicU32::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let workload =
                    Synthetic { bits: 9, words: 60, density: 50, salt: 11, stop_after: None, publishes: false };
                let beside = RealStorage::open(folder.path()).unwrap();
                while !over.load(Ordering::Relaxed) {
                    match mend::look(&workload, &beside, Depth::Full) {
                        Ok(report) => assert!(report.is_sound(), "{:?}", report.findings),
                        Err(Error::NotARun { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                    looks.fetch_add(1, Ordering::Relaxed);
                }
            });
            let workload = Synthetic { bits: 9, words: 60, density: 50, salt: 11, stop_after: None, publishes: false };
            let options = Options { threads: 1, ..options(placement) };
            let ended = Run::new(&workload, Arc::new(storage)).options(&options).start();
            over.store(true, Ordering::Relaxed);
            assert!(ended.is_ok());
        });
        println!("{placement:?}: {} looks", looks.load(Ordering::Relaxed));
        assert!(looks.load(Ordering::Relaxed) > 0);
    }
}

/// A repair may compute something else than the run did: the caller gives it another workload, or a
/// source was exchanged together with its hash. The record of the block shows it.
#[test]
fn a_block_that_comes_out_otherwise_is_refused_and_its_file_stays() {
    for placement in PLACEMENTS {
        // A second session begins a generation, whose manifest has all records.
        let disk = finished(placement).kill();
        Run::new(&workload(), Arc::new(disk.clone())).options(&options(placement)).start().unwrap();
        assert_eq!(mend::wrong_repairs_are_refused(&disk.kill(), workload), Ok(5));
    }
}
