//! What surrounds a folder: another takes its name while work in it goes on, and other programs
//! leave files of their own in it.

use crate::common::foreign::{FOREIGN, is_there, put};
use crate::common::tree;
use crate::common::{Solving, Way, assert_same_files, database_files, scratch};
use crate::folders::{copy as golden_folder, expected, resume};
use pipeline::{Damage, Error as RunError, Event, Placement, RealStorage, Storage};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use trinim::Solve;
use trinim::database::{Database, Game, Keep};
use trinim::game::{Rule, reference};
use trinim::job::Monitor;
use trinim::maintenance::{Depth as CheckDepth, Error as CareError, Repair, Request, check, foreign};
use trinim::verify::{Depth, verify};

fn game(rule: Rule) -> Game {
    Game::triangle(5, rule, 9).unwrap()
}

/// A folder that is renamed and replaced by a finished solve of the other rule.
struct Swap {
    scratch: TempDir,
    others: BTreeMap<PathBuf, Vec<u8>>,
    is_done: AtomicBool,
}

impl Swap {
    fn new() -> Swap {
        let scratch = scratch();
        let other = scratch.path().join("other");
        Solve::from(&game(Rule::Normal)).run(&other).unwrap();
        let others = tree(&other);
        Swap { scratch, others, is_done: AtomicBool::new(false) }
    }

    /// The name of the folder.
    fn named(&self) -> PathBuf {
        self.scratch.path().join("run")
    }

    /// The name that the folder has in the end.
    fn moved(&self) -> PathBuf {
        self.scratch.path().join("moved")
    }

    /// Renames the folder, once, and puts the other one in its place.
    fn take_place(&self) {
        if !self.is_done.swap(true, Ordering::SeqCst) {
            fs::rename(self.named(), self.moved()).unwrap();
            fs::rename(self.scratch.path().join("other"), self.named()).unwrap();
        }
    }

    fn assert_untouched(&self) {
        assert!(self.is_done.load(Ordering::SeqCst));
        let other = self.scratch.path().join("other");
        fs::rename(self.named(), &other).unwrap();
        assert!(tree(&other) == self.others, "the folder that took the name has changed");
    }
}

/// Regression: a solve followed the name of its folder. After `mv run old` it wrote its blocks over
/// those of the finished database that was then in `run`.
#[test]
fn a_solve_stays_in_its_folder_when_another_takes_the_name() {
    let swap = Swap::new();
    let observe = |event: &Event| {
        if matches!(event, Event::Opened { .. }) {
            swap.take_place();
        }
    };
    let solve = Solve::from(&game(Rule::Misere)).commit_interval(Duration::from_millis(1));
    solve.run_with(&swap.named(), &Monitor::default(), &observe).unwrap();
    let (undisturbed, _) = game(Rule::Misere).solve(Way::usual());
    assert_same_files(&database_files(&swap.moved()), &database_files(undisturbed.path()), "renamed");
    swap.assert_untouched();
}

#[test]
fn a_repair_stays_in_its_folder_when_another_takes_the_name() {
    for inner in ["", "db"] {
        let swap = Swap::new();
        Solve::from(&game(Rule::Misere)).run(&swap.named()).unwrap();
        let golden = database_files(&swap.named());
        if inner == "db" {
            // A database without its run.
            fs::remove_file(swap.named().join("FORMAT")).unwrap();
        }
        for name in ["000002.blk", "000003.blk", "SUMS"] {
            fs::remove_file(swap.named().join("db").join(name)).unwrap();
        }
        let repair = Repair::prepare(&swap.named().join(inner), false, &Request::on(1)).unwrap();
        swap.take_place();
        repair.carry_out(&Request::on(1)).unwrap();
        assert_same_files(&database_files(&swap.moved()), &golden, inner);
        swap.assert_untouched();
    }
}

/// A `db` folder that is a link may be named in one run and lie in another: that one's lock counts,
/// and else the lock of the run in which it is named.
#[test]
fn a_linked_database_has_the_lock_of_the_run_around_it() {
    let folder = scratch();
    let [run, other, far] = ["run", "other", "far"].map(|name| folder.path().join(name));
    Solve::from(&game(Rule::Misere)).run(&run).unwrap();
    Solve::from(&game(Rule::Misere)).run(&other).unwrap();
    fs::create_dir(&far).unwrap();
    fs::rename(run.join("db"), far.join("db")).unwrap();
    let is_locked = |owner: &Path| {
        let _lock = RealStorage::open(owner).unwrap().lock("LOCK").unwrap();
        let repair = Repair::prepare(&run.join("db"), false, &Request::on(1)).map(drop);
        matches!(repair, Err(CareError::Run(RunError::Locked { .. })))
    };
    for (target, expected) in [(&far, [true, false]), (&other, [false, true])] {
        let _ = fs::remove_file(run.join("db"));
        symlink(target.join("db"), run.join("db")).unwrap();
        assert_eq!([&run, &other].map(|owner| is_locked(owner)), expected, "{}", target.display());
    }
}

#[test]
fn an_open_database_stays_in_its_folder_when_another_takes_the_name() {
    let swap = Swap::new();
    Solve::from(&game(Rule::Misere)).run(&swap.named()).unwrap();
    let database = Database::open(&swap.named()).unwrap();
    swap.take_place();
    let board = database.board();
    let values = reference::values(board.cells(), board.moves(), Rule::Misere);
    for position in 0..=board.full() {
        assert_eq!(database.value(position).unwrap(), values[position as usize], "{position:#x}");
    }
    database.check_manifest().unwrap();
    let report = verify(&database, Depth::Full, &Request::on(1)).unwrap().unwrap();
    assert!(report.is_clean(), "{:?}", report.findings);
    swap.assert_untouched();
}

/// The folders of a run.
const FOLDERS: [&str; 4] = ["", "m", "db", "logs"];

fn inspected(folder: &Path) -> (bool, Vec<String>) {
    let report = check(folder, CheckDepth::Sums, &Request::on(1)).unwrap();
    (report.is_sound(), report.findings.iter().map(ToString::to_string).collect())
}

fn mend(folder: &Path) -> bool {
    let repair = Repair::prepare(folder, false, &Request::on(1)).unwrap();
    let is_empty = repair.estimate().is_empty();
    repair.carry_out(&Request::on(1)).unwrap();
    is_empty
}

/// Regression: "cannot remove h/m/.DS_Store: invalid filename" ended `resume` and `repair` for
/// ever, in 15 of 24 combinations; file systems over a network make such files themselves. A stray
/// file in `db` was damage for one command and nothing for another, and `resume` deleted notes.
#[test]
fn every_command_goes_on_beside_files_of_others() {
    let golden = expected(Rule::Misere, Keep::Database);
    let is_golden = |folder: &Path, story: &str| {
        let found = golden.keys().map(|name| (name.clone(), fs::read(folder.join("db").join(name)).unwrap()));
        assert_same_files(&found.collect(), &golden, story);
    };
    for (number, name) in FOREIGN.iter().enumerate() {
        for (place, inner) in FOLDERS.iter().enumerate() {
            let kind = (number + place) % 5;
            let story = format!("{} in {inner:?}, kind {kind}", String::from_utf8_lossy(name));
            for finished in [false, true] {
                let run = golden_folder(if finished { "finished" } else { "middle-dedicated" });
                let folder = run.path();
                let before = inspected(folder);
                assert!(before.0, "{story}");
                let path = folder.join(inner).join(OsStr::from_bytes(name));
                put(&path, kind);
                assert_eq!(inspected(folder), before, "{story}");
                let foreign = foreign(folder).unwrap();
                assert_eq!(foreign.len(), 1, "{story}: {foreign:?}");
                assert!(foreign[0].ends_with(&*String::from_utf8_lossy(name)), "{story}: {foreign:?}");
                // The unfinished run has leftovers of a stop.
                assert_eq!(mend(folder), finished, "{story}");
                resume(folder, Rule::Misere, Keep::Database, Placement::Shared)
                    .unwrap_or_else(|error| panic!("{story}: {error}"));
                is_golden(folder, &story);
                let report = verify(&Database::open(folder).unwrap(), Depth::Full, &Request::on(1));
                assert_eq!(report.unwrap().unwrap().findings, [], "{story}");
                // Damage beside it is found and mended, in the run and in its database alone.
                for place in [folder.to_path_buf(), folder.join("db")] {
                    fs::write(folder.join("db/000003.blk"), "damage").unwrap();
                    assert!(!inspected(&place).0, "{story}");
                    assert!(!mend(&place), "{story}");
                    is_golden(folder, &story);
                    assert_eq!(inspected(&place), (true, Vec::new()), "{story}");
                }
                assert!(is_there(&path, kind), "{story}");
            }
        }
    }
}

/// A start that was interrupted before anything was saved goes on beside hidden files.
#[test]
fn a_run_begins_beside_hidden_files() {
    for inner in FOLDERS {
        for begun in [false, true] {
            let folder = scratch();
            fs::create_dir_all(folder.path().join(inner)).unwrap();
            if begun {
                fs::write(folder.path().join("LOCK"), "").unwrap();
            }
            let path = folder.path().join(inner).join(".fuse_hidden0001");
            put(&path, 0);
            resume(folder.path(), Rule::Misere, Keep::Database, Placement::Shared).unwrap();
            assert!(is_there(&path, 0));
        }
    }
}

/// What has the name of a file of the run and is none is nobody's to remove: one clear error.
#[test]
fn something_else_under_the_name_of_a_file_is_refused_by_name() {
    for name in ["db/000009.blk", "db/000009.blk.tmp", "logs/00000001.g9", "m/manifest.9.a.tmp", "m/journal.8.b"] {
        for kind in 1..5 {
            let run = golden_folder("middle-dedicated");
            let path = run.path().join(name);
            put(&path, kind);
            let is_named = |error: &RunError| matches!(error, RunError::Corrupt { path: found, damage: Damage::NotAFile, .. } if *found == path);
            let ended = resume(run.path(), Rule::Misere, Keep::Database, Placement::Shared).unwrap_err();
            assert!(is_named(&ended), "{name}, kind {kind}: {ended:?}");
            let (is_sound, findings) = inspected(run.path());
            assert!(!is_sound && findings.iter().any(|finding| finding.contains(name)), "{name}: {findings:?}");
            let refused = Repair::prepare(run.path(), false, &Request::on(1)).err();
            assert!(matches!(&refused, Some(CareError::Run(error)) if is_named(error)), "{name}: {refused:?}");
            assert!(is_there(&path, kind));
        }
    }
}
