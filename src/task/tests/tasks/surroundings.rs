//! The surroundings of a store: another folder takes its name during the work, other programs leave
//! files in it, and a board of seven layers.

use super::whole::{any_order_and_any_threads, never, options};
use crate::common::foreign::{FOREIGN, is_there, put};
use crate::common::{scratch, tree};
use pipeline::{BlockId, RealStorage};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::Duration;
use trinim::Solve;
use trinim::database::{Database, Game, Keep, Terms};
use trinim::game::Rule;
use trinim::kernel::Kernel;
use trinim_task::{FolderStore, compute, finish, init, sweep};

#[test]
fn any_order_of_tasks_and_any_threads_leave_the_bytes_of_seven_layers() {
    any_order_and_any_threads(7, 20);
}

#[test]
fn tasks_stay_in_their_store_when_another_folder_takes_the_name() {
    let scratch = scratch();
    let [named, moved, other] = ["run", "moved", "other"].map(|name| scratch.path().join(name));
    Solve::from(&Game::triangle(5, Rule::Normal, 9).unwrap()).run(&other).unwrap();
    let others = tree(&other);
    let (game, terms) = (Game::triangle(4, Rule::Misere, 6).unwrap(), Terms::default());
    let spec = terms.spec(&game);
    let store = FolderStore::new(Arc::new(RealStorage::create(&named).unwrap()), "w");
    init(&store, spec).unwrap();
    fs::rename(&named, &moved).unwrap();
    fs::rename(&other, &named).unwrap();
    for block in BlockId::all(spec.blocks()) {
        compute(&store, spec, &[block], &options(1, &never)).unwrap();
    }
    finish(&store, spec, Kernel::detect(), 1, |_| {}).unwrap();
    Database::open(&moved).unwrap().check_manifest().unwrap();
    fs::rename(&named, &other).unwrap();
    assert!(tree(&other) == others, "the folder that took the name has changed");
}

/// A store of tasks works beside foreign files, from the beginning to the sweep.
#[test]
fn tasks_go_on_beside_files_of_others() {
    let (game, folder) = (Game::triangle(4, Rule::Misere, 6).unwrap(), scratch());
    let terms = Terms::from(Keep::Counts);
    let spec = terms.spec(&game);
    for name in [".DS_Store", ".gitkeep", "Thumbs.db", "lost+found"] {
        fs::write(folder.path().join(name), "foreign").unwrap();
    }
    let store = FolderStore::new(Arc::new(RealStorage::create(folder.path()).unwrap()), "w");
    init(&store, spec).unwrap();
    let mut paths = Vec::new();
    for (number, name) in FOREIGN.iter().enumerate() {
        for (place, inner) in ["db", "summaries", "tmp"].iter().enumerate() {
            let (path, kind) = (folder.path().join(inner).join(OsStr::from_bytes(name)), (number + place) % 5);
            put(&path, kind);
            paths.push((path, kind));
        }
    }
    for block in BlockId::all(spec.blocks()) {
        compute(&store, spec, &[block], &options(1, &never)).unwrap();
        sweep(&store, spec, Duration::ZERO).unwrap();
    }
    finish(&store, spec, Kernel::detect(), 1, |_| {}).unwrap();
    sweep(&store, spec, Duration::ZERO).unwrap();
    Database::open(folder.path()).unwrap().check_manifest().unwrap();
    assert!(paths.iter().all(|(path, kind)| is_there(path, *kind)));
}
