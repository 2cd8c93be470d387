//! What surrounds a folder: another takes its name while work in it goes on, and other programs
//! leave files of their own in it.

use crate::common::tree;
use crate::common::{Solving, Way, assert_same_files, database_files, scratch};
use pipeline::{Event, RealStorage};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use trinim::Solve;
use trinim::care::{CareRequest, Repair};
use trinim::database::{Access, CACHE_BYTES, Database, Game, Terms};
use trinim::game::{Rule, reference};
use trinim::job::Monitor;
use trinim::kernel::Kernel;
use trinim::task::{self, FolderStore};
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
        let repair = Repair::prepare(&swap.named().join(inner), false, &CareRequest::on(1)).unwrap();
        swap.take_place();
        repair.carry_out(&CareRequest::on(1)).unwrap();
        assert_same_files(&database_files(&swap.moved()), &golden, inner);
        swap.assert_untouched();
    }
}

#[test]
fn an_open_database_stays_in_its_folder_when_another_takes_the_name() {
    for access in [Access::Read, Access::Map] {
        let swap = Swap::new();
        Solve::from(&game(Rule::Misere)).run(&swap.named()).unwrap();
        let database = Database::open_with(&swap.named(), access, CACHE_BYTES).unwrap();
        swap.take_place();
        let board = database.board();
        let values = reference::values(board.cells(), board.moves(), Rule::Misere);
        for position in 0..=board.full() {
            assert_eq!(database.value(position).unwrap(), values[position as usize], "{position:#x}");
        }
        database.check_manifest().unwrap();
        let report = verify(&database, Depth::Full, &CareRequest::on(1)).unwrap().unwrap();
        assert!(report.is_clean(), "{:?}", report.findings);
        swap.assert_untouched();
    }
}

#[test]
fn tasks_stay_in_their_store_when_another_folder_takes_the_name() {
    let swap = Swap::new();
    let (game, terms) = (Game::triangle(4, Rule::Misere, 6).unwrap(), Terms::default());
    let spec = terms.spec(&game);
    let store = FolderStore::new(Arc::new(RealStorage::create(swap.named()).unwrap()), "w");
    task::init(&store, spec).unwrap();
    swap.take_place();
    let options = task::TaskOptions {
        kernel: Kernel::detect(),
        threads: 1,
        memory_bytes: 1 << 20,
        at_once: 1,
        keeps_streams: false,
        wait: &|_| false,
    };
    for block in pipeline::BlockId::all(spec.blocks()) {
        task::compute(&store, spec, &[block], &options).unwrap();
    }
    task::finish(&store, spec, options.kernel, 1, |_| {}).unwrap();
    Database::open(&swap.moved()).unwrap().check_manifest().unwrap();
    swap.assert_untouched();
}
