//! Repair: each file of run folders and databases is damaged in turn and comes back with the same
//! bytes.

use crate::common::program::{copy, tree};
use crate::common::{Solving, Stopping, Way, assert_same_files, database_files, scratch};
use pipeline::Error as RunError;
use pipeline::{Damage, Finding, Placement, RealStorage, Run, Severity};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use std::collections::BTreeMap;
use std::fs;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use trinim::Solve;
use trinim::database::{Game, Keep};
use trinim::game::{Board, Rule};
use trinim::maintenance::{Depth, Error, Estimate, Repair, Report, Request, check};
use trinim::solve::RemovalGame;

fn game() -> Game {
    Game::triangle(5, Rule::Misere, 9).unwrap()
}

fn look(folder: &Path, depth: Depth) -> Result<Report, Error> {
    check(folder, depth, &Request::on(2))
}

fn mend(folder: &Path) -> Result<Estimate, Error> {
    let repair = Repair::prepare(folder, false, &Request::on(1))?;
    let estimate = repair.estimate().clone();
    repair.carry_out(&Request::on(1))?;
    Ok(estimate)
}

/// A folder in which a solve was stopped half-way, with logs that still wait for their targets.
fn stopped(placement: Placement) -> TempDir {
    stopped_with(placement, true)
}

/// The same, perhaps without shared logs: targets have read the published files.
fn stopped_with(placement: Placement, logs: bool) -> TempDir {
    let game = game();
    let folder = scratch();
    let way = Way { placement, threads: 1, ..Way::usual() };
    for _ in 0..2 {
        let options = way.options(&game.layout);
        let blocks = game.layout.canonical_blocks().len() as u32 / 4;
        let workload = Stopping::new(RemovalGame::new(&game, way.kernel), blocks, &options);
        let workload = if logs { workload } else { workload.without_logs() };
        let storage = Arc::new(RealStorage::create(folder.path()).unwrap().with_syncs(false));
        let ended = Run::new(&workload, storage).options(&options).start();
        assert!(matches!(ended, Err(RunError::Interrupted)), "{:?}", ended.err());
    }
    folder
}

/// Damages a file in one of three ways; `None` for an empty file, which cannot be damaged.
fn damage(path: &Path, way: usize) -> Option<&'static str> {
    let bytes = fs::read(path).unwrap();
    if bytes.is_empty() {
        return None;
    }
    match way % 3 {
        0 => {
            fs::remove_file(path).unwrap();
            Some("deleted")
        }
        1 => {
            fs::write(path, &bytes[..bytes.len() / 3]).unwrap();
            Some("cut")
        }
        _ => {
            let mut bad = bytes;
            // Inside the first part of every format; in a log, that is the header of its first
            // entry.
            bad[20] ^= 4;
            fs::write(path, bad).unwrap();
            Some("flipped")
        }
    }
}

/// Paths below a folder.
fn names(folder: &Path) -> Vec<PathBuf> {
    tree(folder).into_keys().map(|path| path.strip_prefix(folder).unwrap().to_path_buf()).collect()
}

fn assert_finishes(folder: &Path, golden: &BTreeMap<String, Vec<u8>>, story: &str) {
    let game = game();
    let way = Way::usual();
    game.solve_in(folder, way, &way.options(&game.layout), &|_| {}).unwrap_or_else(|error| panic!("{story}: {error}"));
    assert_same_files(&database_files(folder), golden, story);
}

#[test]
fn each_single_file_of_a_run_comes_back() {
    let (undisturbed, _) = game().solve(Way::usual());
    let golden = database_files(undisturbed.path());
    let mut told = BTreeMap::new();
    let folders = [
        ("finished", undisturbed),
        ("dedicated", stopped(Placement::Dedicated)),
        ("shared", stopped(Placement::Shared)),
        ("published", stopped_with(Placement::Shared, false)),
    ];
    assert!(!names(folders[3].1.path()).iter().any(|name| name.starts_with("logs")));
    for (place, pristine) in &folders {
        assert!(look(pristine.path(), Depth::Full).unwrap().is_sound(), "{place}");
        let published = database_files(pristine.path());
        for (number, name) in names(pristine.path()).iter().enumerate() {
            // Metadata in every way, each of the many other files in one.
            let ways = if name.starts_with("m") || name.ends_with("FORMAT") { 0..3 } else { number..number + 1 };
            for way in ways {
                let copied = scratch();
                copy(pristine.path(), copied.path());
                let Some(how) = damage(&copied.path().join(name), way) else { continue };
                let story = format!("{place}: {} {how}", name.display());
                let report = look(copied.path(), Depth::Sums).unwrap();
                let wrong: Vec<_> = report.findings.iter().filter(|one| one.severity.is_damage()).collect();
                let is_short_b =
                    how == "cut" && name.to_string_lossy().contains("journal") && name.extension().unwrap() == "b";
                // SUMS is written last; a solve that was stopped before that leaves a run without.
                let is_unsealed = how == "deleted" && name.ends_with("SUMS");
                assert_eq!(report.unsealed, is_unsealed, "{story}");
                assert!(is_short_b || is_unsealed || !wrong.is_empty(), "{story}: not found");
                for finding in &wrong {
                    assert_eq!(finding.path, copied.path().join(name), "{story}: {finding:?}");
                }
                let estimate = mend(copied.path()).unwrap_or_else(|error| panic!("{story}: {error}"));
                assert!(!estimate.is_empty(), "{story}: {estimate:?}");
                let after = look(copied.path(), Depth::Full).unwrap();
                assert_eq!(after.findings, [], "{story}");
                assert_same_files(&database_files(copied.path()), &published, &story);
                assert_finishes(copied.path(), &golden, &story);
                let folder = name.parent().unwrap().to_string_lossy().into_owned();
                *told.entry((*place, folder)).or_insert(0) += 1;
            }
        }
    }
    println!("{told:?}");
    for (place, folder, least) in [
        ("finished", "db", 10),
        ("dedicated", "logs", 5),
        ("shared", "logs", 3),
        ("shared", "m", 9),
        ("published", "db", 5),
    ] {
        assert!(told[&(place, folder.to_owned())] >= least, "{place} {folder}: {told:?}");
    }
}

/// All that can be rebuilt is lost at once: all blocks, all logs, the lists, and one copy of all
/// metadata.
#[test]
fn everything_at_once_comes_back() {
    let (undisturbed, _) = game().solve(Way::usual());
    let golden = database_files(undisturbed.path());
    let without_logs = stopped_with(Placement::Shared, false);
    for folder in [undisturbed, stopped(Placement::Dedicated), stopped(Placement::Shared), without_logs] {
        for name in names(folder.path()) {
            let is_other_copy = name.starts_with("m") && name.extension().unwrap() == "b";
            if !is_other_copy && name != Path::new("LOCK") {
                fs::remove_file(folder.path().join(name)).unwrap();
            }
        }
        let estimate = mend(folder.path()).unwrap();
        assert!(estimate.metadata && estimate.blocks > 5, "{estimate:?}");
        assert!(look(folder.path(), Depth::Full).unwrap().is_sound());
        assert_finishes(folder.path(), &golden, "everything at once");
    }
}

#[test]
fn each_single_file_of_a_database_alone_comes_back() {
    let (solved, _) = game().solve(Way::usual());
    let golden = database_files(solved.path());
    let (mut repaired, mut refused) = (0, 0);
    for name in golden.keys() {
        let bytes = &golden[name];
        let mut cases: Vec<Option<Vec<u8>>> = vec![None, Some(bytes[..bytes.len() / 2].to_vec())];
        // The lists are text, whose bytes differ in meaning: many places.
        let step = if name.ends_with(".blk") { bytes.len() / 3 } else { 41 };
        for place in (0..bytes.len()).step_by(step) {
            let mut bad = bytes.clone();
            bad[place] ^= 1 << (place % 7);
            cases.push(Some(bad));
        }
        for (number, case) in cases.into_iter().enumerate() {
            let story = format!("{name}, case {number}");
            let folder = scratch();
            copy(&solved.path().join("db"), folder.path());
            let path = folder.path().join(name);
            match &case {
                Some(bytes) => fs::write(&path, bytes).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            let report = look(folder.path(), Depth::Sums).unwrap();
            assert!(!report.is_sound(), "{story}: not found");
            let before = tree(folder.path());
            match mend(folder.path()) {
                Ok(estimate) => {
                    assert!(!estimate.is_empty(), "{story}");
                    for finding in report.findings.iter().filter(|finding| finding.severity.is_damage()) {
                        assert_eq!(finding.path, path, "{story}: {finding:?}");
                    }
                    let files = tree(folder.path()).into_iter();
                    let files =
                        files.map(|(path, bytes)| (path.file_name().unwrap().to_str().unwrap().to_owned(), bytes));
                    assert_same_files(&files.collect(), &golden, &story);
                    assert!(look(folder.path(), Depth::Full).unwrap().is_sound(), "{story}");
                    repaired += 1;
                }
                Err(Error::Irreparable { path: named, .. }) => {
                    // Without a manifest nothing says which board it is.
                    assert_eq!((named, name.as_str()), (path, "manifest.json"), "{story}");
                    assert!(tree(folder.path()) == before, "{story}: something was written");
                    refused += 1;
                }
                Err(error) => panic!("{story}: {error}"),
            }
        }
    }
    println!("{repaired} repaired, {refused} refused");
    assert!(repaired > 60 && refused > 2, "{repaired} repaired, {refused} refused");
}

/// Copies a database, damages it and repairs it; returns what the repair says, and compares the
/// files with those before, or after a refusal with the damaged ones.
fn mend_copy(db: &Path, damage: impl FnOnce(&Path), story: &str) -> Result<Estimate, Error> {
    let folder = scratch();
    copy(db, folder.path());
    let contents = || tree(folder.path()).into_values().collect::<Vec<_>>();
    let before = contents();
    damage(folder.path());
    let damaged = contents();
    assert!(!look(folder.path(), Depth::Full).unwrap().is_sound(), "{story}: not found");
    let mended = mend(folder.path());
    match &mended {
        Ok(_) => {
            assert!(contents() == before, "{story}: other bytes");
            assert!(look(folder.path(), Depth::Full).unwrap().is_sound(), "{story}");
        }
        Err(_) => assert!(contents() == damaged, "{story}: something was written"),
    }
    mended
}

fn replace_in(path: PathBuf, from: &str, to: &str) {
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{}: no {from}", path.display());
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

/// What an audit compared is in no block: `SUMS` confirms which manifest was written, and without
/// its hash a damaged manifest is not made up.
#[test]
fn what_an_audit_compared_comes_back_or_is_refused() {
    for audit in ["all", "30%", "none"] {
        let solved = scratch();
        let solve = Solve::new(&Board::triangle(5, None).unwrap(), Rule::Misere).block_bits(9);
        solve.audit(audit.parse().unwrap()).run(solved.path()).unwrap();
        let db = solved.path().join("db");
        let break_key = |folder: &Path| replace_in(folder.join("manifest.json"), "\"audit\"", "\"auxit\"");
        let sum = fs::read_to_string(db.join("SUMS")).unwrap();
        let line = sum.lines().find(|line| line.ends_with("manifest.json")).unwrap();
        let other = format!("{}{}", if line.starts_with('0') { '1' } else { '0' }, &line[1..]);
        let break_line = |folder: &Path| replace_in(folder.join("SUMS"), line, &other);
        if audit != "none" {
            mend_copy(&db, break_key, audit).unwrap();
            let break_both = |folder: &Path| {
                break_key(folder);
                break_line(folder);
            };
            let refused = mend_copy(&db, break_both, audit);
            assert!(matches!(refused, Err(Error::Irreparable { .. })), "{audit}: {refused:?}");
        }
        mend_copy(&db, break_line, audit).unwrap();
    }
}

/// A block and its line in `SUMS` are damaged together, or somebody has listed a damaged block.
#[test]
fn a_damaged_block_with_a_wrong_line_comes_back() {
    let (solved, _) = game().solve(Way::usual());
    let db = solved.path().join("db");
    let flip = |folder: &Path| {
        let path = folder.join("000003.blk");
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, &bytes).unwrap();
        blake3::hash(&bytes).to_string()
    };
    let sums = fs::read_to_string(db.join("SUMS")).unwrap();
    let (line, _) = sums.lines().find_map(|line| line.split_once("  000003.blk")).unwrap();
    let other = format!("{}{}", if line.starts_with('0') { '1' } else { '0' }, &line[1..]);
    let both = |folder: &Path| {
        flip(folder);
        replace_in(folder.join("SUMS"), line, &other);
    };
    mend_copy(&db, both, "both").unwrap();
    mend_copy(&db, |folder| replace_in(folder.join("SUMS"), line, &flip(folder)), "listed").unwrap();
}

/// A kill between the new generation and the removal of the parts leaves some beside the book.
#[test]
fn the_parts_of_a_finished_book_are_removed() {
    let folder = scratch();
    let solve = Solve::new(&Board::triangle(5, None).unwrap(), Rule::Misere).block_bits(9);
    solve.keep(Keep::Book { pieces: 7 }).run(folder.path()).unwrap();
    let before = tree(&folder.path().join("db"));
    fs::write(folder.path().join("db/000003.part"), "a part").unwrap();
    assert_eq!(mend(folder.path()).unwrap().leftovers, 1);
    assert!(tree(&folder.path().join("db")) == before);
    assert!(mend(folder.path()).unwrap().is_empty());
}

/// What no record names is told and is no damage: in an unfinished run also the lists and a book,
/// which only a finished one has.
#[test]
fn what_no_record_names_is_left_over() {
    let finished = game().solve(Way::usual()).0;
    let unfinished = stopped(Placement::Dedicated);
    for (folder, names) in [(finished, &["999999.blk", "book"][..]), (unfinished, &["SUMS", "book", "manifest.json"])] {
        let path = |name: &&str| folder.path().join("db").join(name);
        names.iter().for_each(|name| fs::write(path(name), "x").unwrap());
        fs::write(path(&"notes"), "someone else's").unwrap();
        let found = look(folder.path(), Depth::Full).unwrap().findings;
        let damage = || Damage::Superfluous("not in any record");
        let expected: Vec<_> =
            names.iter().map(|name| Finding::new(Severity::Leftover, path(name), damage())).collect();
        assert_eq!(found, expected);
    }
}

/// A folder that is being repaired, or whose run is at work, has one owner; a dry run asks nobody.
#[test]
fn a_second_repair_is_refused() {
    let (solved, _) = game().solve(Way::usual());
    let db = solved.path().join("db");
    let alone = scratch();
    copy(&db, alone.path());
    let prepare = |folder: &Path, dry: bool| Repair::prepare(folder, dry, &Request::on(1)).map(drop);
    let is_locked = |folder: &Path| {
        assert!(prepare(folder, true).is_ok());
        matches!(prepare(folder, false), Err(Error::Run(RunError::Locked { .. })))
    };
    for (owned, others) in [(alone.path(), &[alone.path()][..]), (&db, &[&db, solved.path()])] {
        let first = Repair::prepare(owned, false, &Request::on(1)).unwrap();
        assert!(others.iter().all(|other| is_locked(other)), "{}", owned.display());
        drop(first);
        // A program that another test starts shares the lock until it runs.
        others.iter().for_each(|other| while is_locked(other) {});
    }
}

/// What promises files comes after them: blocks, then the manifest, and `SUMS` last.
#[test]
fn lists_come_after_what_they_list() {
    let (solved, _) = game().solve(Way::usual());
    let place = scratch();
    copy(&solved.path().join("db"), &place.path().join("db"));
    for (folder, is_run) in [(solved.path(), true), (place.path(), false)] {
        let db = folder.join("db");
        let [manifest, sums] = ["manifest.json", "SUMS"].map(|name| fs::read_to_string(db.join(name)).unwrap());
        // All of them can be made again, in a database alone only if the manifest can be read.
        for name in ["000002.blk", "000005.blk"].into_iter().filter(|_| is_run) {
            fs::remove_file(db.join(name)).unwrap();
        }
        fs::write(db.join("manifest.json"), manifest.replacen("\"losses\": 0", "\"losses\": 1", 1)).unwrap();
        fs::write(db.join("SUMS"), &sums[..sums.len() - 70]).unwrap();
        let watched = inotify::init(CreateFlags::NONBLOCK).unwrap();
        inotify::add_watch(&watched, &db, WatchFlags::MOVED_TO).unwrap();
        mend(folder).unwrap_or_else(|error| panic!("{is_run}: {error}"));
        let mut memory = vec![MaybeUninit::uninit(); 1 << 16];
        let (mut events, mut names) = (inotify::Reader::new(&watched, &mut memory), Vec::new());
        while let Ok(event) = events.next() {
            names.push(event.file_name().unwrap().to_string_lossy().into_owned());
        }
        let expected = ["000002.blk", "000005.blk", "manifest.json", "SUMS"];
        assert_eq!(names, expected[if is_run { 0 } else { 2 }..], "{is_run}");
    }
}
