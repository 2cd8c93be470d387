//! Checks beside a solve that is just finishing: sound data is never called damaged. What a repair
//! leaves is in `tests/cli/sessions/damaged.txt`.

use crate::common::Solving;
use crate::common::program::{copy, ends, signal, trinim};
use crate::common::{Way, scratch};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use std::fs;
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use trinim::database::Game;
use trinim::game::Rule;
use trinim::maintenance::{Depth, Report, Request, check};

const DEPTHS: [Depth; 3] = [Depth::Metadata, Depth::Sums, Depth::Full];

/// Checks a folder; at the progress report number `at`, the `lists` files arrive in it.
fn check_while(folder: &Path, depth: Depth, at: u64, arrive: &(dyn Fn() + Sync)) -> (Report, u64) {
    let calls = AtomicU64::new(0);
    let progress = |_: u64, _: u64| {
        if calls.fetch_add(1, Ordering::Relaxed) == at {
            arrive();
        }
    };
    let report = check(folder, depth, &Request { progress: &progress, ..Request::on(1) }).unwrap();
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
