//! Checks beside a solve that is just finishing, and after stops and killed repairs: sound data is
//! never called damaged, and a repair leaves nothing over.

use crate::common::Solving;
use crate::common::program::{copy, ends, json, signal, tree, trinim};
use crate::common::{Way, assert_same_files, database_files, scratch};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use std::fs;
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use trinim::care::{CareRequest, Depth, Report, check};
use trinim::database::Game;
use trinim::game::Rule;

const DEPTHS: [Depth; 3] = [Depth::Metadata, Depth::Sums, Depth::Full];

/// Checks a folder; at the progress report number `at`, the `lists` files arrive in it.
fn check_while(folder: &Path, depth: Depth, at: u64, arrive: &(dyn Fn() + Sync)) -> (Report, u64) {
    let calls = AtomicU64::new(0);
    let progress = |_: u64, _: u64| {
        if calls.fetch_add(1, Ordering::Relaxed) == at {
            arrive();
        }
    };
    let report = check(folder, depth, &CareRequest { progress: &progress, ..CareRequest::on(1) }).unwrap();
    (report, calls.into_inner())
}

/// Regression: a check that reads the journal of a finished solve before the lists are written does
/// not call them missing. Here they arrive at every step of a check.
#[test]
fn a_database_that_is_being_finished_is_not_damaged() {
    let (solved, _) = Game::triangle(4, Rule::Misere, 6).unwrap().solve(Way::usual());
    let db = solved.path().join("db");
    let lists = ["manifest.json", "SUMS"];
    let whole = lists.map(|name| fs::read(db.join(name)).unwrap());
    let (mut unsealed, mut sealed) = (0, 0);
    // So many lists are there when the check begins, so many after the step.
    for (before, after) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)] {
        for depth in DEPTHS {
            for folder in [solved.path(), &db] {
                for at in 0.. {
                    for name in lists {
                        let _ = fs::remove_file(db.join(name));
                    }
                    let write = |range: std::ops::Range<usize>| {
                        for number in range {
                            // As a solve does it.
                            fs::write(db.join("new.tmp"), &whole[number]).unwrap();
                            fs::rename(db.join("new.tmp"), db.join(lists[number])).unwrap();
                        }
                    };
                    write(0..before);
                    if before == 0 && folder == db {
                        break;
                    }
                    let (report, calls) = check_while(folder, depth, at, &|| write(before..after));
                    let story = format!("{before} lists, {after} at step {at}, {depth:?}, {}", folder.display());
                    assert!(report.is_sound(), "{story}: {:?}", report.findings);
                    assert!(!report.unsealed || before < 2, "{story}");
                    unsealed += u32::from(report.unsealed);
                    sealed += u32::from(!report.unsealed);
                    if at >= calls {
                        break;
                    }
                }
            }
        }
    }
    println!("{unsealed} unsealed, {sealed} sealed");
    assert!(unsealed > 20 && sealed > 20);
}

/// Outside a run nothing will write the missing list.
#[test]
fn a_database_alone_without_sums_is_damaged() {
    let (solved, _) = Game::triangle(4, Rule::Misere, 6).unwrap().solve(Way::usual());
    let folder = scratch();
    copy(&solved.path().join("db"), folder.path());
    fs::remove_file(folder.path().join("SUMS")).unwrap();
    let (report, _) = check_while(folder.path(), Depth::Sums, u64::MAX, &|| {});
    assert!(!report.is_sound() && !report.unsealed, "{:?}", report.findings);
}

/// The command says what is missing and who writes it.
#[test]
fn a_run_without_its_lists_is_not_finished_and_not_damaged() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "5", "--block-bits", "9", "--out", "run"]);
    let golden = database_files(&path.join("run"));
    for names in [&["db/SUMS"][..], &["db/SUMS", "db/manifest.json"]] {
        names.iter().for_each(|name| fs::remove_file(path.join("run").join(name)).unwrap());
        // No command reads the folder, and the check agrees.
        ends(path, 2, &["stats", "run"]);
        let (out, _) = ends(path, 3, &["check", "run"]);
        assert!(out.contains("verdict   not finished\n"), "{out}");
        assert!(out.contains("without its lists: run the same solve again"), "{out}");
        let report = json(path, 3, &["check", "run", "--json"]);
        assert_eq!((&report["ok"], &report["unsealed"]), (&false.into(), &true.into()));
        ends(path, 0, &["repair", "run"]);
        assert_same_files(&database_files(&path.join("run")), &golden, "after the repair");
        let report = json(path, 0, &["check", "run", "--json"]);
        assert_eq!((&report["unsealed"], &report["findings"]), (&false.into(), &serde_json::json!([])));
    }
}

/// A solve writes `SUMS` and ends after a check has looked for that: the check looks again. Here it
/// is halted in between, once it opens the manifest; where it is halted too late, it sees who owns.
#[test]
fn a_solve_that_ends_during_a_check_has_finished() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "6", "--keep", "book:0", "--out", "run"]);
    let db = path.join("run/db");
    let sums = fs::read(db.join("SUMS")).unwrap();
    let mut settled = 0;
    for _ in 0..5 {
        fs::remove_file(db.join("SUMS")).unwrap();
        let lock = fs::File::open(path.join("run/LOCK")).unwrap();
        lock.lock().unwrap();
        let opened = inotify::init(CreateFlags::empty()).unwrap();
        inotify::add_watch(&opened, &db, WatchFlags::OPEN).unwrap();
        let child = trinim(path, &["check", "run", "--json", "--threads", "1"]).spawn().unwrap();
        let mut memory = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(&opened, &mut memory);
        while events.next().unwrap().file_name().is_none_or(|name| name != c"manifest.json") {}
        signal(&child, "STOP");
        fs::write(db.join("SUMS"), &sums).unwrap();
        drop(lock);
        signal(&child, "CONT");
        let ended = child.wait_with_output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
        assert_eq!((&report["ok"], ended.status.code()), (&true.into(), Some(0)), "{report}");
        assert!(report["unsealed"] == report["owned"], "{report}");
        settled += u32::from(report["unsealed"] == false);
    }
    println!("{settled} of 5 checks looked again");
}

/// Regression: a repair removes what a killed one leaves: temporary files, files of a generation
/// that never began, and files of the one before.
#[test]
fn a_repair_clears_away_what_was_left_over() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "5", "--block-bits", "9", "--out", "run"]);
    let golden = database_files(&path.join("run"));
    let rest = [
        "db/000001.blk.tmp",
        "db/manifest.json.tmp",
        "db/SUMS.tmp",
        "logs/00000003.g2",
        "m/manifest.2.a.tmp",
        "m/journal.2.a",
        "m/manifest.0.b",
    ];
    for name in rest {
        fs::write(path.join("run").join(name), "rest").unwrap();
    }
    fs::write(path.join("run/db/notes.txt"), "mine").unwrap();
    let before = tree(path);
    assert_eq!(json(path, 0, &["repair", "run", "--dry-run", "--json"])["leftovers"], rest.len());
    assert!(tree(path) == before, "a dry run writes");
    let (out, _) = ends(path, 0, &["repair", "run"]);
    assert!(out.contains("clear away 7 leftovers"), "{out}");
    let report = json(path, 0, &["check", "run", "--json"]);
    assert_eq!(report["findings"], serde_json::json!([]));
    fs::remove_file(path.join("run/db/notes.txt")).unwrap();
    assert_same_files(&database_files(&path.join("run")), &golden, "after the repair");
    // The database alone.
    fs::write(path.join("run/db/000001.blk.tmp"), "rest").unwrap();
    ends(path, 0, &["repair", "run/db"]);
    assert_eq!(json(path, 0, &["check", "run/db", "--json"])["findings"], serde_json::json!([]));
    let (out, _) = ends(path, 0, &["repair", "run"]);
    assert!(out.contains("nothing: all files that are needed are intact"), "{out}");
}
