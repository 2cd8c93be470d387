//! Processes that are killed or run twice, disks that fail or fill up.
//! `tools/simulation/tests/simulation/tasks` tests every stop and power cut.

use super::command::assert_correct;
use super::whole::{seal, solved, store_in, work};
use crate::common::program::{ends, json, run, trinim};
use crate::common::{Sweep, assert_same_files, database_files, scratch};
use pipeline::storage::{Create, Entry, LockGuard, pass_on};
use pipeline::{Error as RunError, LimitedStorage, RealStorage, Storage, StorageFile};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use testing::SimulatedStorage;
use trinim::Solve;
use trinim::database::{Game, SolveSpec};
use trinim::game::Rule;
use trinim::random::Random;
use trinim_task::{self as task, FolderStore, Store, committed, init};

/// Several processes of the program compute every block at once; some are killed.
fn processes(folder: &Path, kills: u64, seed: u64) {
    let mut random = Random::new(seed);
    let rows: Vec<Value> =
        ends(folder, 0, &["plan", "--store", "s"]).0.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let begin = |block: &str| -> Child {
        trinim(folder, &["--store", "s", "--wait", "30s", "--threads", "2", "--batch", block]).spawn().unwrap()
    };
    let mut killed = 0;
    for row in &rows {
        let block = row["block"].to_string();
        while killed < kills && random.below(3) == 0 {
            let mut child = begin(&block);
            std::thread::sleep(Duration::from_micros(random.below(25_000)));
            child.kill().unwrap();
            child.wait().unwrap();
            killed += 1;
        }
        let children: Vec<Child> = (0..3).map(|_| begin(&block)).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            let error = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "block {block}: {error}");
        }
    }
}

#[test]
fn duplicates_at_once_and_kills_leave_the_bytes_of_a_solve() {
    let folder = scratch();
    let path = folder.path();
    let kills = Sweep::asked().number(40, 400);
    let game = Game::triangle(6, Rule::Misere, 17).unwrap();
    let whole = Solve::from(&game).run(&path.join("whole")).unwrap();
    ends(path, 0, &["init", "--store", "s", "-k", "6", "--block-bits", "17"]);
    processes(path, kills, 11);
    let (code, out, error) = run(path, &["finish", "--store", "s", "--json"]);
    assert_eq!(code, 0, "{out}{error}");
    let expected = database_files(&path.join("whole"));
    assert_same_files(&database_files(&path.join("s")), &expected, "killed");
    let report: Value = serde_json::from_str(&out).unwrap();
    let census = &whole.manifest.census;
    for (key, value) in [
        ("losses", Value::from(census.losses())),
        ("wins", census.wins().into()),
        ("digest", whole.manifest.digest.as_str().into()),
        ("start", census.start().to_string().into()),
        ("positions", census.positions().into()),
        ("database_bytes", expected.values().map(Vec::len).sum::<usize>().into()),
        ("finished", true.into()),
        ("canonical_blocks", game.layout.canonical_blocks().len().into()),
    ] {
        assert_eq!(report[key], value, "{key}");
    }
    // A sweep removes the leftovers of kills, and only those.
    let left = fs::read_dir(path.join("s/tmp")).unwrap().count() as u64;
    let swept = json(path, 0, &["sweep", "--store", "s", "--json"]);
    assert_eq!(swept["temporary_files"], 0, "younger than an hour");
    let swept = json(path, 0, &["sweep", "--store", "s", "--older-than", "0s", "--json"]);
    assert_eq!(swept["temporary_files"], left);
    assert_eq!(fs::read_dir(path.join("s/tmp")).unwrap().count(), 0);
    assert_correct(&path.join("s"));
}

/// A storage with old listings, without links, and with occasional failures.
struct Shaky {
    inner: RealStorage,
    has_links: bool,
    /// One of about this many calls fails; 0 for none.
    fails: u64,
    calls: AtomicU64,
}

impl Shaky {
    fn call(&self, operation: &'static str, name: &str) -> Result<(), RunError> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        if self.fails > 0 && Random::new(call).below(self.fails) == 0 {
            return Err(RunError::io(operation, self.inner.path(name), std::io::Error::from_raw_os_error(5)));
        }
        Ok(())
    }
}

impl Storage for Shaky {
    pass_on! { self.inner =>
        fn path(&self, name: &str) -> PathBuf;
        fn create_dir(&self, name: &str) -> Result<(), RunError>;
        fn open_write(&self, name: &str) -> Result<Arc<dyn StorageFile>, RunError>;
        fn remove(&self, name: &str) -> Result<(), RunError>;
        fn idle(&self, name: &str) -> Result<Option<Duration>, RunError>;
        fn lock(&self, name: &str) -> Result<LockGuard, RunError>;
        fn free_bytes(&self) -> Result<u64, RunError>;
    }
    fn list(&self, folder: &str) -> Result<Vec<Entry>, RunError> {
        self.call("list", folder)?;
        // Half of the names have not arrived here.
        Ok(self
            .inner
            .list(folder)?
            .into_iter()
            .filter(|entry| (entry.name.len() + entry.length as usize).is_multiple_of(2))
            .collect())
    }
    fn length(&self, name: &str) -> Result<Option<u64>, RunError> {
        self.call("measure", name)?;
        self.inner.length(name)
    }
    fn create(&self, name: &str, create: Create) -> Result<Arc<dyn StorageFile>, RunError> {
        self.call("create", name)?;
        self.inner.create(name, create)
    }
    fn open(&self, name: &str) -> Result<Arc<dyn StorageFile>, RunError> {
        self.call("open", name)?;
        self.inner.open(name)
    }
    fn sync_dir(&self, folder: &str) -> Result<(), RunError> {
        self.call("sync", folder)?;
        self.inner.sync_dir(folder)
    }
    fn rename(&self, from: &str, to: &str) -> Result<(), RunError> {
        self.call("rename to", to)?;
        self.inner.rename(from, to)
    }
    fn link(&self, from: &str, to: &str) -> Result<(), RunError> {
        self.call("link", to)?;
        if self.has_links {
            return self.inner.link(from, to);
        }
        Err(RunError::io("link", self.path(to), std::io::ErrorKind::Unsupported.into()))
    }
}

#[test]
fn a_store_that_fails_has_no_links_and_lists_late_only_needs_patience() {
    let game = Game::triangle(5, Rule::Normal, 8).unwrap();
    let expected = solved((&game).into());
    for (has_links, fails) in [(true, 20), (false, 0), (false, 15), (true, 0)] {
        let folder = scratch();
        let inner = RealStorage::create(folder.path()).unwrap().with_syncs(false);
        let shaky = Arc::new(Shaky { inner, has_links, fails, calls: AtomicU64::new(0) });
        let store = FolderStore::new(shaky, "w");
        let patiently = |what: &mut dyn FnMut() -> Result<(), task::Error>| {
            for _ in 0..100 {
                match what() {
                    Ok(()) => return,
                    Err(task::Error::Run(RunError::Io { .. })) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            panic!("a hundred failures");
        };
        patiently(&mut || init(&store, (&game).into()).map(drop));
        for block in game.layout.ordinals() {
            patiently(&mut || work(&store, &[block.0], 1).map(drop));
            // If a listing lacks the block, it is computed again.
            patiently(&mut || work(&store, &[block.0], 1).map(drop));
        }
        // A stale listing lacks blocks, so finishing waits.
        assert!(matches!(seal(&store), Err(task::Error::Unfinished { .. } | task::Error::Run(_))));
        seal(&store_in(folder.path(), "e")).unwrap();
        assert_same_files(&database_files(folder.path()), &expected, &format!("links {has_links}, fails {fails}"));
    }
}

#[test]
fn a_full_store_loses_nothing_and_goes_on_with_room() {
    let game = Game::triangle(5, Rule::Misere, 8).unwrap();
    let expected = solved((&game).into());
    let folder = scratch();
    let inner: Arc<dyn Storage> = Arc::new(RealStorage::create(folder.path()).unwrap().with_syncs(false));
    let small = FolderStore::new(Arc::new(LimitedStorage::new(inner, 100 << 10).unwrap()), "w");
    init(&small, (&game).into()).unwrap();
    let blocks: Vec<u32> = (0..SolveSpec::from(&game).blocks()).collect();
    let error = work(&small, &blocks, 1).unwrap_err();
    assert!(matches!(&error, task::Error::Run(error) if error.is_full_disk()), "{error}");
    let large = store_in(folder.path(), "v");
    let done = committed(&large, (&game).into()).unwrap();
    assert!(!done.is_empty() && done.len() < blocks.len(), "{} blocks", done.len());
    assert_eq!(large.temporaries().unwrap(), []);
    assert_eq!(work(&large, &blocks, 1).unwrap().skipped, done);
    seal(&large).unwrap();
    assert_same_files(&database_files(folder.path()), &expected, "a full store");
}

/// If a summary with a large number is committed, its folder exists after a power cut, whichever
/// process made it. A folder that was never made has no files.
#[test]
fn folders_below_others_survive_power_cuts() {
    for made_before in [false, true] {
        let disk = SimulatedStorage::new(1);
        let store = FolderStore::new(Arc::new(disk.clone()), "w");
        store.prepare().unwrap();
        if made_before {
            // Made by a process that was killed before it synced anything.
            disk.create_dir("summaries/1").unwrap();
        }
        assert!(store.list("summaries/1").unwrap().is_empty());
        for name in ["summaries/1/010000", "summaries/1/010001"] {
            assert!(store.create(name, b"x").unwrap());
            for seed in 0..20 {
                assert_eq!(disk.power_cut(seed).contents(name).as_deref(), Some(&b"x"[..]), "{made_before} {name}");
            }
        }
        assert_eq!(store.list("summaries/1").unwrap().len(), 2);
    }
    // Another process was killed after it had synced the file, and before the name of the folder.
    let disk = SimulatedStorage::new(2);
    FolderStore::new(Arc::new(disk.clone()), "o").prepare().unwrap();
    disk.create_dir("summaries/1").unwrap();
    let file = disk.create("summaries/1/010000", Create::New).unwrap();
    file.write_all_at(b"x", 0).unwrap();
    file.sync().unwrap();
    disk.sync_dir("summaries/1").unwrap();
    let kept =
        |disk: &SimulatedStorage| (0..20).all(|seed| disk.power_cut(seed).contents("summaries/1/010000").is_some());
    assert!(!kept(&disk));
    assert!(!FolderStore::new(Arc::new(disk.clone()), "w").create("summaries/1/010000", b"x").unwrap());
    assert!(kept(&disk));
}
