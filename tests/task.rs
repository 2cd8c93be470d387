//! A solve in tasks leaves the bytes of a solve, whoever computes which block, how often, in which
//! order, and whatever is killed meanwhile; and a store that is not this solve's is refused and
//! left as it is.

mod common;
mod program;

use common::contract::keeps_its_promises;
use common::{Sweep, assert_same_files, database_files, layout_with, scratch};
use pipeline::storage::{Create, Entry, LockGuard};
use pipeline::testing::{Fault, SimulatedStorage};
use pipeline::{BlockId, Error as RunError, LimitedStorage, RealStorage, Storage, StorageFile};
use program::{copy, ends, json, run, text, tree, trinim};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use trinim::database::{Audit, Database, Game, Keep, Task, Terms};
use trinim::game::{Board, Rule};
use trinim::kernel::Kernel;
use trinim::layout::Layout;
use trinim::random::Random;
use trinim::solve::Solve;
use trinim::task::{self, FolderStore, Options, Store, Tasks, batches, committed, compute, finish, init, plan, sweep};
use trinim::verify::{self, Depth, Share};

/// Threads, memory and patience of most tasks here.
fn options(threads: usize, wait: &(dyn Fn() -> bool + Sync)) -> Options<'_> {
    Options { kernel: Kernel::detect(), threads, memory_bytes: 64 << 20, keeps_streams: false, wait }
}

fn never() -> bool {
    false
}

/// A store in a folder, as a process of this name sees it.
fn store_in(folder: &Path, writer: &str) -> FolderStore {
    FolderStore::new(Arc::new(RealStorage::create(folder).unwrap().with_syncs(false)), writer)
}

/// Computes blocks of a store.
fn work(store: &dyn Store, blocks: &[u32], threads: usize) -> Result<task::Computed, task::Error> {
    let (definition, game, terms) = task::open(store)?;
    let blocks: Vec<BlockId> = blocks.iter().copied().map(BlockId).collect();
    compute(store, (&definition, &game, terms), &blocks, &options(threads, &never))
}

/// Seals a store.
fn seal(store: &dyn Store) -> Result<task::Sealed, task::Error> {
    let (definition, game, terms) = task::open(store)?;
    finish(store, (&definition, &game, terms), Kernel::detect())
}

#[test]
fn a_folder_keeps_the_promises_of_a_store() {
    let folder = scratch();
    keeps_its_promises(&store_in(folder.path(), "w"));
}

/// A random order in which every block comes after its sources.
fn random_order(game: &Game, random: &mut Random) -> Vec<u32> {
    let mut missing: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for block in game.layout.ordinals() {
        missing.insert(block.0, game.layout.edges_into(block).iter().map(|edge| edge.source.0).collect());
    }
    let mut order = Vec::new();
    while !missing.is_empty() {
        let ready: Vec<u32> =
            missing.iter().filter(|(_, sources)| sources.is_empty()).map(|(block, _)| *block).collect();
        let block = ready[random.index(ready.len())];
        missing.remove(&block);
        for sources in missing.values_mut() {
            sources.remove(&block);
        }
        order.push(block);
    }
    order
}

/// The database of a solve, in a folder of its own.
fn solved(task: Task<'_>) -> BTreeMap<String, Vec<u8>> {
    let folder = scratch();
    let solve = Solve::new(task.game).keep(task.terms.keep).threads(2).memory_bytes(1 << 28);
    let solve = task.terms.audit.into_iter().fold(solve, Solve::audit);
    solve.run(folder.path()).unwrap();
    database_files(folder.path())
}

#[test]
fn any_order_and_any_threads_leave_the_bytes_of_a_solve() {
    let mut random = Random::new(7);
    for (layers, offset_bits) in [(5, 9), (6, 13), (7, 20)] {
        for rule in [Rule::Normal, Rule::Misere] {
            let game = Game::triangle(layers, rule, offset_bits).unwrap();
            let expected = solved((&game).into());
            let folder = scratch();
            let store = store_in(folder.path(), "w");
            assert!(init(&store, (&game).into()).unwrap().is_new);
            for block in random_order(&game, &mut random) {
                let done = work(&store, &[block], 1 + random.index(4)).unwrap();
                assert_eq!((done.computed, done.skipped), (vec![BlockId(block)], vec![]));
            }
            let sealed = seal(&store).unwrap();
            let story = format!("{layers} layers, {rule}");
            assert_same_files(&database_files(folder.path()), &expected, &story);
            assert_eq!(sealed.database_bytes, expected.values().map(|bytes| bytes.len() as u64).sum::<u64>());
            assert_eq!(store.temporaries().unwrap(), [], "{story}");
            // Sealed again, nothing changes.
            seal(&store).unwrap();
            assert_same_files(&database_files(folder.path()), &expected, &story);
        }
    }
}

#[test]
fn few_symmetries_a_largest_take_and_an_audit_leave_the_bytes_of_a_solve() {
    let board = Board::triangle(5, Some(3)).unwrap();
    for symmetries in [1, 2, 3] {
        let Some(layout) = layout_with(&board, symmetries, 4) else { continue };
        let game = Game { board: board.clone(), rule: Rule::Misere, layout };
        let terms = Terms { audit: Some(Audit { per_block: 300, seed: 5 }), ..Terms::default() };
        let (folder, mut random) = (scratch(), Random::new(symmetries as u64));
        let store = store_in(folder.path(), "w");
        init(&store, terms.task(&game)).unwrap();
        for block in random_order(&game, &mut random) {
            work(&store, &[block], 2).unwrap();
        }
        seal(&store).unwrap();
        assert_same_files(&database_files(folder.path()), &solved(terms.task(&game)), &format!("{symmetries}"));
    }
}

#[test]
fn batches_have_every_block_once_no_circle_and_the_same_bytes() {
    let game = Game::triangle(6, Rule::Misere, 12).unwrap();
    let expected = solved((&game).into());
    for wanted in [1, 3, 10, 40, 1000] {
        let folder = scratch();
        let store = store_in(folder.path(), "w");
        let definition = init(&store, (&game).into()).unwrap().definition;
        let rows = batches(&definition, &game, wanted);
        let mut blocks: Vec<u32> = rows.iter().flat_map(|row| row.blocks.clone()).collect();
        blocks.sort_unstable();
        assert!(blocks.into_iter().eq(0..definition.blocks()), "{wanted}");
        assert!(wanted != 1 || rows.len() == 1);
        assert!(wanted != 1000 || rows.len() == definition.blocks() as usize);
        let mut level: BTreeMap<u32, u32> = BTreeMap::new();
        for row in &rows {
            // In this order, so that nothing waits for itself.
            let above = row.sources.iter().map(|source| level[source] + 1).max().unwrap_or(0);
            assert_eq!(row.level, above, "{wanted}: {row:?}");
            level.insert(row.batch, above);
            // Without room for inner streams, and with.
            let (definition, game, terms) = task::open(&store).unwrap();
            let words = definition.block_bytes();
            let memory_bytes = if row.batch % 2 == 0 { 4 * words + words / 4 } else { 64 << 20 };
            let options = Options { memory_bytes, ..options(1 + row.batch as usize % 3, &never) };
            let batch: Vec<BlockId> = row.blocks.iter().copied().map(BlockId).collect();
            let done = compute(&store, (&definition, &game, terms), &batch, &options).unwrap();
            assert_eq!(done.computed, batch);
        }
        seal(&store).unwrap();
        assert_same_files(&database_files(folder.path()), &expected, &format!("{wanted} batches"));
    }
}

/// What a batch needs from itself is not read again.
#[test]
fn a_batch_reads_no_stream_that_it_has_in_memory() {
    let game = Game::triangle(6, Rule::Misere, 15).unwrap();
    let folder = scratch();
    let store = store_in(folder.path(), "w");
    let blocks: Vec<u32> = (0..init(&store, (&game).into()).unwrap().definition.blocks()).collect();
    let done = work(&store, &blocks, 1).unwrap();
    assert_eq!((done.read_bytes, done.computed.len()), (0, blocks.len()));
    assert!(done.written_bytes > 0);
}

/// A source outside of a batch is decoded once for all of its blocks.
#[test]
fn a_batch_reads_a_source_once() {
    let game = Game::triangle(6, Rule::Misere, 15).unwrap();
    let folder = scratch();
    let store = store_in(folder.path(), "w");
    let definition = init(&store, (&game).into()).unwrap().definition;
    work(&store, &[0], 1).unwrap();
    let others: Vec<u32> = (1..definition.blocks()).collect();
    let first = fs::metadata(folder.path().join("db").join("000000.blk")).unwrap().len();
    assert_eq!(work(&store, &others, 1).unwrap().read_bytes, first);
}

/// Workers that keep what they decoded, with room for all, for some or for nothing, leave the bytes
/// of a solve, whatever others computed meanwhile; and with room they read each source once.
#[test]
fn a_worker_that_keeps_streams_changes_no_byte() {
    let game = Game::triangle(6, Rule::Normal, 12).unwrap();
    let expected = solved((&game).into());
    let mut random = Random::new(3);
    for (threads, room) in [(1, 1000), (1, 0), (2, 3), (3, 20)] {
        let folder = scratch();
        let store = store_in(folder.path(), "w");
        init(&store, (&game).into()).unwrap();
        let (definition, game, terms) = task::open(&store).unwrap();
        let bitmap = definition.block_bytes();
        let memory_bytes = threads * (4 * bitmap + bitmap / 4) + room * bitmap;
        let options = Options { memory_bytes, keeps_streams: true, ..options(threads as usize, &never) };
        let tasks = Tasks::new(&store, (&definition, &game, terms), &options).unwrap();
        let mut worker = tasks.worker();
        let (mut others, mut read_bytes) = (BTreeSet::new(), 0);
        for block in random_order(&game, &mut random) {
            if random.index(2) == 0 {
                work(&store, &[block], 1).unwrap();
                others.insert(block);
            } else {
                let done = worker.compute(&[BlockId(block)]).unwrap();
                assert_eq!(done.computed, [BlockId(block)]);
                read_bytes += done.read_bytes;
            }
        }
        let of_others = |name: &&String| others.iter().any(|block| name.ends_with(&format!("{block:06}.blk")));
        let once: u64 = expected.keys().filter(of_others).map(|name| expected[name].len() as u64).sum();
        assert!(read_bytes > 0 && (room < 1000 || read_bytes <= once), "{read_bytes} of {once}");
        assert!(room > 0 || read_bytes > once, "{read_bytes} of {once}");
        seal(&store).unwrap();
        assert_same_files(&database_files(folder.path()), &expected, &format!("{threads} threads, {room}"));
    }
}

#[test]
fn the_plan_has_every_edge_and_an_order() {
    let game = Game::triangle(6, Rule::Normal, 12).unwrap();
    let folder = scratch();
    let definition = init(&store_in(folder.path(), "w"), (&game).into()).unwrap().definition;
    let rows = plan(&definition, &game);
    let mut seen = BTreeMap::new();
    let mut targets: BTreeMap<u32, u32> = BTreeMap::new();
    for row in &rows {
        let sources: BTreeSet<u32> =
            game.layout.edges_into(BlockId(row.block)).iter().map(|edge| edge.source.0).collect();
        assert!(row.sources.iter().copied().eq(sources.iter().copied()), "{row:?}");
        assert_eq!(row.level, sources.iter().map(|source| seen[source] + 1).max().unwrap_or(0));
        assert!(row.cost > 0.0);
        seen.insert(row.block, row.level);
        sources.into_iter().for_each(|source| *targets.entry(source).or_default() += 1);
    }
    assert_eq!(rows.len(), definition.blocks() as usize);
    assert!(rows.iter().all(|row| row.targets == targets.get(&row.block).copied().unwrap_or(0)));
}

#[test]
fn a_store_that_keeps_counts_sheds_its_blocks_and_ends_as_a_solve_does() {
    let terms = Terms::from(Keep::Counts);
    for (layers, bits, sweeps) in [(5, 8, true), (6, 12, true), (6, 12, false)] {
        let game = Game::triangle(layers, Rule::Misere, bits).unwrap();
        let (folder, mut random) = (scratch(), Random::new(layers.into()));
        let store = store_in(folder.path(), "w");
        let definition = init(&store, terms.task(&game)).unwrap().definition;
        let (mut removed, mut most) = (0, 0);
        let order = random_order(&game, &mut random);
        for (done, block) in (1..).zip(&order) {
            work(&store, &[*block], 1).unwrap();
            let there = store.list(task::DATABASE).unwrap().len();
            most = most.max(there);
            assert_eq!(committed(&store, &definition).unwrap().len(), done);
            if sweeps {
                let swept = sweep(&store, (&definition, &game, terms), Duration::ZERO).unwrap();
                removed += swept.blocks;
                // What is swept stays committed: the task again skips.
                let again = work(&store, &[order[random.index(done)]], 1).unwrap();
                assert_eq!((again.computed.len(), again.skipped.len()), (0, 1));
            }
        }
        assert!(!sweeps || removed == u64::from(definition.blocks()) && most < order.len(), "{removed} of {most}");
        let sealed = seal(&store).unwrap();
        assert_same_files(&database_files(folder.path()), &solved(terms.task(&game)), "counts");
        assert!(sealed.manifest.winning_first_moves.is_some());
        assert_eq!(Database::open(folder.path()).unwrap().manifest(), &sealed.manifest);
    }
}

/// A task that went on after its block was committed by another and its sources were swept.
#[test]
fn a_task_whose_sources_were_swept_finds_its_block_committed() {
    let terms = Terms::from(Keep::Counts);
    let game = Game::triangle(5, Rule::Misere, 8).unwrap();
    let folder = scratch();
    let store = store_in(folder.path(), "w");
    let definition = init(&store, terms.task(&game)).unwrap().definition;
    let last = definition.blocks() - 1;
    (0..last).for_each(|block| drop(work(&store, &[block], 1).unwrap()));
    let source = game.layout.edges_into(BlockId(last))[0].source;
    let name = format!("db/{:06}.blk", source.0);
    let held = store.read(&name, 1 << 20).unwrap().unwrap();
    store.remove(&name).unwrap();
    let other = AtomicBool::new(false);
    let wait = || {
        // The other task commits the block while this one waits for the source.
        if !other.swap(true, Ordering::Relaxed) {
            store.create(&name, &held).unwrap();
            work(&store_in(folder.path(), "o"), &[last], 1).unwrap();
            store.remove(&name).unwrap();
            return true;
        }
        false
    };
    let done = compute(&store, (&definition, &game, terms), &[BlockId(last)], &options(1, &wait)).unwrap();
    assert_eq!(done.skipped, [BlockId(last)]);
}

#[test]
fn a_missing_source_is_waited_for_and_then_told() {
    let game = Game::triangle(5, Rule::Misere, 9).unwrap();
    let folder = scratch();
    let store = store_in(folder.path(), "w");
    let definition = init(&store, (&game).into()).unwrap().definition;
    let task = (&definition, &game, Terms::default());
    let target = game.layout.edges_from(BlockId(0))[0].target;
    let waits = AtomicU64::new(0);
    let wait = || waits.fetch_add(1, Ordering::Relaxed) < 3;
    let error = compute(&store, task, &[target], &options(1, &wait)).unwrap_err();
    assert!(matches!(&error, task::Error::Run(error) if error.is_not_found()), "{error}");
    assert!(error.to_string().contains("db/000000.blk"), "{error}");
    assert_eq!(waits.into_inner(), 4);
    // It comes while the task waits.
    let come = || {
        work(&store_in(folder.path(), "o"), &[0], 1).unwrap();
        true
    };
    assert_eq!(compute(&store, task, &[target], &options(1, &come)).unwrap().computed, [target]);
}

/// Every process of the program at once on every block, killed and not.
fn processes(folder: &Path, kills: u64, seed: u64) {
    let mut random = Random::new(seed);
    let rows: Vec<Value> = ends(folder, 0, &["task", "plan", "--store", "s"])
        .0
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let begin = |block: &str| -> Child {
        trinim(folder, &["task", "--store", "s", "--wait", "30s", "--threads", "2", "--block", block]).spawn().unwrap()
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
    ends(path, 0, &["solve", "-k", "6", "--block-bits", "17", "--out", "whole"]);
    ends(path, 0, &["task", "init", "--store", "s", "-k", "6", "--block-bits", "17"]);
    processes(path, kills, 11);
    let (code, out, error) = run(path, &["task", "finish", "--store", "s", "--json"]);
    assert_eq!(code, 0, "{out}{error}");
    assert_same_files(&database_files(&path.join("s")), &database_files(&path.join("whole")), "killed");
    let solve = json(path, 0, &["solve", "-k", "6", "--block-bits", "17", "--out", "whole", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    for key in ["losses", "wins", "digest", "start", "positions", "database_bytes", "finished", "canonical_blocks"] {
        assert_eq!(report[key], solve[key], "{key}");
    }
    // What kills left goes with a sweep, and only that.
    let left = fs::read_dir(path.join("s/tmp")).unwrap().count() as u64;
    let swept = json(path, 0, &["task", "sweep", "--store", "s", "--json"]);
    assert_eq!(swept["temporary_files"], 0, "younger than an hour");
    let swept = json(path, 0, &["task", "sweep", "--store", "s", "--older-than", "0s", "--json"]);
    assert_eq!(swept["temporary_files"], left);
    assert_eq!(fs::read_dir(path.join("s/tmp")).unwrap().count(), 0);
    ends(path, 0, &["verify", "s"]);
}

/// A kill at every call that changes something, in a disk in memory, and the same task again.
#[test]
fn a_kill_at_any_call_costs_one_block_at_most() {
    for terms in [Terms::default(), Terms::from(Keep::Counts)] {
        let game = Game::triangle(4, Rule::Misere, 6).unwrap();
        let expected = solved(terms.task(&game));
        let starts = AtomicU64::new(0);
        let whole = |disk: &SimulatedStorage| -> Result<(), task::Error> {
            let store =
                FolderStore::new(Arc::new(disk.clone()), &format!("w{}", starts.fetch_add(1, Ordering::Relaxed)));
            let definition = init(&store, terms.task(&game))?.definition;
            for block in BlockId::all(definition.blocks()) {
                compute(&store, (&definition, &game, terms), &[block], &options(1, &never))?;
            }
            seal(&store).map(drop)
        };
        let same = |disk: &SimulatedStorage, story: &str| {
            let files: BTreeMap<String, Vec<u8>> = disk
                .names()
                .into_iter()
                .filter_map(|name| Some((name.strip_prefix("db/")?.to_owned(), disk.contents(&name)?)))
                .collect();
            assert_same_files(&files, &expected, story);
        };
        let disk = SimulatedStorage::new(1);
        whole(&disk).unwrap();
        same(&disk, "no fault");
        let steps = disk.steps();
        let stride = Sweep::asked().number(5, 1) as usize;
        for step in (1..=steps).step_by(stride) {
            for fault in [Fault::Stop, Fault::FailOnce, Fault::Full, Fault::LoseSync] {
                let disk = SimulatedStorage::new(step).with_fault(step, fault);
                let first = whole(&disk);
                if let Err(error) = &first {
                    let is_io = matches!(error, task::Error::Run(RunError::Io { .. } | RunError::Poisoned));
                    assert!(is_io, "step {step}, {fault:?}: {error}");
                }
                let disk = disk.kill();
                whole(&disk).unwrap_or_else(|error| panic!("step {step}, {fault:?}: {error}"));
                same(&disk, &format!("killed at step {step} by {fault:?}"));
            }
            // A power cut keeps, loses or tears what was not synced.
            let disk = SimulatedStorage::new(step).with_fault(step, Fault::Stop);
            let _ = whole(&disk);
            for seed in [0, 1, 2, 3, 4 + step] {
                let disk = disk.power_cut(seed);
                whole(&disk).unwrap_or_else(|error| panic!("step {step}, power cut {seed}: {error}"));
                same(&disk, &format!("power cut {seed} at step {step}"));
            }
        }
    }
}

#[test]
fn what_a_power_cut_leaves_after_a_commit_has_the_block() {
    let game = Game::triangle(4, Rule::Misere, 6).unwrap();
    let disk = SimulatedStorage::new(3);
    let store = FolderStore::new(Arc::new(disk.clone()), "w");
    let definition = init(&store, (&game).into()).unwrap().definition;
    for block in 0..definition.blocks() {
        work(&store, &[block], 1).unwrap();
        for seed in 0..4 {
            let cut = FolderStore::new(Arc::new(disk.power_cut(seed)), "c");
            assert_eq!(committed(&cut, &definition).unwrap().len() as u32, block + 1, "power cut {seed}");
            assert!(work(&cut, &[block], 1).unwrap().computed.is_empty());
        }
    }
}

/// A storage whose listings are old, whose file system has no links, and which fails now and then.
struct Shaky {
    inner: RealStorage,
    has_links: bool,
    /// Of so many calls about one fails; 0 for none.
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
    fn path(&self, name: &str) -> PathBuf {
        self.inner.path(name)
    }
    fn create_dir(&self, name: &str) -> Result<(), RunError> {
        self.inner.create_dir(name)
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
    fn open_write(&self, name: &str) -> Result<Arc<dyn StorageFile>, RunError> {
        self.inner.open_write(name)
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
    fn remove(&self, name: &str) -> Result<(), RunError> {
        self.inner.remove(name)
    }
    fn idle(&self, name: &str) -> Result<Option<Duration>, RunError> {
        self.inner.idle(name)
    }
    fn lock(&self, name: &str) -> Result<LockGuard, RunError> {
        self.inner.lock(name)
    }
    fn free_bytes(&self) -> Result<u64, RunError> {
        self.inner.free_bytes()
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
            // A listing that lacks the block makes somebody compute it again.
            patiently(&mut || work(&store, &[block.0], 1).map(drop));
        }
        // Its listing lacks blocks, so the end waits.
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
    let definition = init(&small, (&game).into()).unwrap().definition;
    let blocks: Vec<u32> = (0..definition.blocks()).collect();
    let error = work(&small, &blocks, 1).unwrap_err();
    assert!(matches!(&error, task::Error::Run(error) if error.is_full_disk()), "{error}");
    let large = store_in(folder.path(), "v");
    let done = committed(&large, &definition).unwrap();
    assert!(!done.is_empty() && done.len() < blocks.len(), "{} blocks", done.len());
    assert_eq!(large.temporaries().unwrap(), []);
    assert_eq!(work(&large, &blocks, 1).unwrap().skipped, done);
    seal(&large).unwrap();
    assert_same_files(&database_files(folder.path()), &expected, "a full store");
}

/// Changes one byte of a file.
fn change(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    let at = at.min(bytes.len() - 1);
    bytes[at] ^= 0x20;
    fs::write(path, bytes).unwrap();
}

/// Runs a command that must be refused with 65, name this, and change nothing.
fn refused(folder: &Path, args: &[&str], names: &[&str]) {
    let before = tree(folder);
    let (code, out, error) = run(folder, args);
    assert_eq!(code, 65, "{args:?}\n{out}{error}");
    for name in names {
        assert!(error.contains(name), "{args:?} does not name {name}: {error}");
    }
    assert!(tree(folder) == before, "{args:?} changed something");
}

#[test]
fn another_store_another_version_and_damage_are_refused_by_name() {
    let folder = scratch();
    let path = folder.path();
    let begin = ["task", "init", "--store", "s", "-k", "5", "--block-bits", "9"];
    ends(path, 0, &begin);
    ends(path, 0, &begin);
    for (more, name) in [
        (&["--rule", "normal"][..], "rule = misere, not normal"),
        (&["--keep", "counts"], "keep = database, not counts"),
        (&["--audit", "5:1"], "audit = none, not 5:1"),
        (&["--max-take", "2"], "max_take = none, not 2"),
    ] {
        refused(path, &[&begin[..], more].concat(), &["s/task.json", name]);
    }
    refused(path, &["task", "init", "--store", "s", "-k", "5", "--block-bits", "8"], &["bid_cells"]);
    refused(path, &["task", "init", "--store", "s", "-k", "4"], &["layers = 5, not 4"]);

    let blocks = ends(path, 0, &["task", "plan", "--store", "s"]).0.lines().count();
    let all: Vec<String> = (0..blocks).map(|block| block.to_string()).collect();
    let batch = ["task", "--store", "s", "--batch", &all.join(",")];
    ends(path, 0, &batch);
    let fresh = |name: &str| {
        let _ = fs::remove_dir_all(path.join(name));
        copy(&path.join("s"), &path.join(name));
        path.join(name)
    };

    // A worker of another version, before or after this one.
    let text = fs::read_to_string(path.join("s/task.json")).unwrap();
    for (from, to) in [("\"trinim 0", "\"trinim 99"), ("trinim.store/1", "trinim.store/2")] {
        let other = fresh("t");
        fs::write(other.join("task.json"), text.replace(from, to)).unwrap();
        let name = to.trim_start_matches('"');
        for command in [&["task", "--store", "t", "--block", "1"][..], &["task", "finish", "--store", "t"]] {
            refused(path, command, &["task.json", name]);
        }
        refused(path, &["task", "init", "--store", "t", "-k", "5", "--block-bits", "9"], &["task.json", name]);
    }
    // A definition that contradicts itself, or is none.
    for (from, to) in [("\"layers\": 5", "\"layers\": 6"), ("\"identity\": \"", "\"identity\": \"0"), ("{", "[")] {
        let other = fresh("t");
        fs::write(other.join("task.json"), text.replacen(from, to, 1)).unwrap();
        refused(path, &["task", "--store", "t", "--block", "1"], &["task.json"]);
    }

    // A damaged source: in its header, its index, and in a frame.
    let last = blocks - 1;
    let target = last.to_string();
    let name = format!("{last:06}.blk");
    let length = fs::metadata(path.join("s/db/000000.blk")).unwrap().len() as usize;
    for at in [0, 20, 70, length - 1] {
        let other = fresh("t");
        fs::remove_file(other.join("db").join(&name)).unwrap();
        let source = ends(path, 0, &["task", "plan", "--store", "t"]).0;
        let row = source.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let row = row.into_iter().find(|row| row["block"] == last).unwrap();
        let source = format!("{:06}.blk", row["sources"][0].as_u64().unwrap());
        change(&other.join("db").join(&source), at);
        refused(path, &["task", "--store", "t", "--block", &target], &[&source]);
    }
    // A block of another game, or another block, under the name of a source.
    ends(path, 0, &["task", "init", "--store", "n", "-k", "5", "--block-bits", "9", "--rule", "normal"]);
    ends(path, 0, &["task", "--store", "n", "--batch", &all.join(",")]);
    for foreign in ["n/db/000000.blk", "s/db/000001.blk"] {
        let other = fresh("t");
        fs::copy(path.join(foreign), other.join("db/000000.blk")).unwrap();
        fs::remove_file(other.join("db/000001.blk")).unwrap();
        refused(path, &["task", "--store", "t", "--block", "1"], &["000000.blk"]);
        // Under its own name it is not taken for done.
        refused(path, &["task", "--store", "t", "--block", "0"], &["000000.blk"]);
    }
    // Other bytes under the name of what is committed next: they stay.
    for file in ["summaries/000001", "db/manifest.json", "db/SUMS"] {
        let other = fresh("t");
        fs::write(other.join(file), "something else").unwrap();
        let _ = fs::remove_file(other.join("db/000001.blk"));
        match file {
            "summaries/000001" => refused(path, &["task", "--store", "t", "--block", "1"], &[file]),
            _ => {
                ends(path, 0, &["task", "--store", "t", "--block", "1"]);
                refused(path, &["task", "finish", "--store", "t"], &[file]);
            }
        }
    }
    // A block that is shorter than was committed.
    let other = fresh("t");
    let bytes = fs::read(other.join("db/000002.blk")).unwrap();
    fs::write(other.join("db/000002.blk"), &bytes[..bytes.len() - 1]).unwrap();
    refused(path, &["task", "finish", "--store", "t"], &["000002.blk"]);
    refused(path, &["task", "--store", "t", "--block", "2"], &["000002.blk"]);
    // A summary can be made again.
    let other = fresh("t");
    fs::remove_file(other.join("summaries/000003")).unwrap();
    ends(path, 0, &["task", "finish", "--store", "t"]);
    assert!(fs::read(other.join("summaries/000003")).unwrap() == fs::read(path.join("s/summaries/000003")).unwrap());
}

#[test]
fn what_may_succeed_later_ends_with_75_and_bad_arguments_with_2() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["task", "init", "--store", "s", "-k", "5", "--block-bits", "9"]);
    let (_, error) = ends(path, 75, &["task", "--store", "s", "--block", "1", "--wait", "0s"]);
    assert!(error.contains("000000.blk"), "{error}");
    let (_, error) = ends(path, 75, &["task", "finish", "--store", "s"]);
    assert!(error.contains("blocks are not committed"), "{error}");
    let failure = json(path, 75, &["task", "finish", "--store", "s", "--json"]);
    assert_eq!((&failure["schema"], &failure["exit_code"]), (&"trinim.failure/1".into(), &75.into()));
    ends(path, 0, &["solve", "-k", "3", "--out", "solved"]);
    let before = tree(&path.join("solved"));
    for args in [
        &["task", "--store", "s", "--block", "100000"][..],
        &["task", "--store", "s", "--batch", "0,100000"],
        &["task", "--store", "none", "--block", "0"],
        &["task", "--store", "s/db", "--block", "0"],
        &["task", "--store", "s"],
        &["task", "--block", "0"],
        &["task", "--store", "s", "--block", "0", "--batch", "1"],
        &["task", "init", "--store", "solved", "-k", "3"],
        &["task", "init", "--store", "x", "-k", "10"],
        &["task", "init", "--store", "x", "-k", "5", "--keep", "book"],
        &["task", "plan", "--store", "s", "--batches", "0"],
        &["task", "verify", "--store", "s", "--shard", "0/3"],
        &["task", "verify", "--store", "s", "--shard", "4/3"],
        &["task", "verify", "--store", "s", "--shard", "1/1"],
        &["task", "copy", "--store", "s", "--to", "x"],
        &["task", "copy", "--store", "none", "--to", "x"],
        &["task", "list", "--store", "gs://bucket/s"],
        &["task", "list", "--store", "s3://"],
        &["task", "sweep", "--store", "s", "--older-than", "soon"],
    ] {
        let (_, error) = ends(path, 2, args);
        assert!(error.contains("hint:") || error.contains("Usage"), "{args:?}: {error}");
    }
    assert!(!path.join("x").exists() || fs::read_dir(path.join("x")).unwrap().count() == 0);
    assert!(tree(&path.join("solved")) == before, "a folder of something else was changed");
    // A file where the folder of temporary files was.
    fs::remove_dir(path.join("s/tmp")).unwrap();
    fs::write(path.join("s/tmp"), "").unwrap();
    ends(path, 75, &["task", "--store", "s", "--block", "0"]);
}

#[test]
fn what_an_unfinished_store_has_not_is_told_with_the_command_that_makes_it() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["task", "init", "--store", "s", "-k", "4"]);
    for command in
        [&["task", "verify", "--store", "s", "--shard", "1/2"][..], &["task", "copy", "--store", "s", "--to", "x"]]
    {
        let (_, error) = ends(path, 2, command);
        assert!(error.contains("s/ is not finished") && error.contains("hint: trinim task finish"), "{error}");
    }
}

#[cfg(not(feature = "s3"))]
#[test]
fn a_bucket_is_refused_with_the_command_that_builds_what_it_takes() {
    let folder = scratch();
    for command in [&["init", "-k", "3"][..], &["list"], &["plan"], &["finish"], &["sweep"]] {
        let args = [&["task"], command, &["--store", "s3://bucket/s"]].concat();
        let (_, error) = ends(folder.path(), 2, &args);
        assert!(error.contains("--store s3://bucket/s: this program was built without"), "{error}");
        assert!(error.contains("hint: build it with them: cargo build --release --features s3"), "{error}");
    }
    assert_eq!(tree(folder.path()), BTreeMap::new());
}

#[test]
fn a_copy_has_the_bytes_of_its_store_and_is_one() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["task", "init", "--store", "s", "-k", "5", "--block-bits", "9"]);
    let blocks = ends(path, 0, &["task", "plan", "--store", "s"]).0.lines().count();
    let all: Vec<String> = (0..blocks).map(|block| block.to_string()).collect();
    ends(path, 0, &["task", "--store", "s", "--batch", &all.join(",")]);
    ends(path, 0, &["task", "finish", "--store", "s"]);
    let first = json(path, 0, &["task", "copy", "--store", "s", "--to", "c", "--json"]);
    assert_eq!((first["files"].as_u64(), &first["present"]), (Some(2 * blocks as u64 + 2), &0.into()));
    assert!(tree(&path.join("c")).into_values().eq(tree(&path.join("s")).into_values()));
    ends(path, 0, &["verify", "c"]);
    ends(path, 0, &["task", "verify", "--store", "c", "--shard", "2/3"]);
    // What a stop left out is copied, nothing else.
    for name in ["db/000003.blk", "summaries/000003", "db/SUMS"] {
        fs::remove_file(path.join("c").join(name)).unwrap();
    }
    let again = json(path, 0, &["task", "copy", "--store", "s", "--to", "c", "--json"]);
    assert_eq!((&again["files"], again["present"].as_u64()), (&3.into(), Some(2 * blocks as u64 - 1)));

    // A folder of something else, another solve, and damage on either side.
    fs::create_dir(path.join("photos")).unwrap();
    fs::write(path.join("photos/1"), "x").unwrap();
    ends(path, 2, &["task", "copy", "--store", "s", "--to", "photos"]);
    ends(path, 0, &["task", "init", "--store", "n", "-k", "5", "--block-bits", "9", "--rule", "normal"]);
    refused(path, &["task", "copy", "--store", "s", "--to", "n"], &["n/task.json", "rule = normal, not misere"]);
    for (damaged, at) in [("c", 70), ("s", 70)] {
        let name = format!("{damaged}/db/000002.blk");
        change(&path.join(&name), at);
        if damaged == "s" {
            fs::remove_file(path.join("c/db/000002.blk")).unwrap();
        }
        refused(path, &["task", "copy", "--store", "s", "--to", "c"], &[&name]);
    }
    assert!(!path.join("c/db/000002.blk").exists(), "damage was copied");
}

#[test]
fn a_task_ends_with_its_parent_if_asked_to() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["task", "init", "--store", "s", "-k", "5", "--block-bits", "9"]);
    // The source never comes, so that the task waits.
    let program = env!("CARGO_BIN_EXE_trinim");
    let script = format!("{program} task --store s --block 1 --wait 60s --die-with-parent & echo $!; sleep 60");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).current_dir(path).stdout(std::process::Stdio::piped());
    let mut child = shell.spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
    let task = format!("/proc/{}/stat", line.trim());
    std::thread::sleep(Duration::from_millis(300));
    let is_alive = || fs::read_to_string(&task).is_ok_and(|stat| !stat.contains(") Z "));
    assert!(is_alive(), "the task waits for its source");
    child.kill().unwrap();
    child.wait().unwrap();
    for _ in 0..600 {
        if !is_alive() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("the task outlived its parent");
}

/// Tasks on standard input, one a line, each answered by a line; any error ends the process.
#[test]
fn tasks_come_on_standard_input() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["task", "init", "--store", "s", "-k", "5", "--block-bits", "9"]);
    let begin = |more: &[&str]| {
        let mut command = trinim(path, &[&["task", "--store", "s", "--batch", "-", "--wait", "0s"], more].concat());
        command.stdin(Stdio::piped()).spawn().unwrap()
    };
    let mut child = begin(&["--json"]);
    let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut asked = |task: &str| -> Value {
        writeln!(input, "{task}").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    };
    let lines = ends(path, 0, &["task", "plan", "--store", "s"]).0;
    let order: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut read_bytes = 0;
    for row in &order[..order.len() - 2] {
        let answer = asked(&row["block"].to_string());
        assert_eq!((&answer["schema"], &answer["computed"][0]), (&"trinim.task/1".into(), &row["block"]));
        read_bytes += answer["read_bytes"].as_u64().unwrap();
    }
    // It has computed, and kept, all sources itself.
    assert_eq!(read_bytes, 0);
    let answer = asked(&format!("{}, 0", order[order.len() - 2]["block"]));
    assert_eq!((answer["computed"].as_array().unwrap().len(), answer["skipped"].as_array().unwrap().len()), (1, 1));
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));

    // Without JSON a line is for people, and an empty input is no task.
    let mut child = begin(&[]);
    writeln!(child.stdin.take().unwrap(), "{}", order[order.len() - 1]["block"]).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert!(text(&ended.stdout).starts_with("computed 1 block; skipped 0 blocks"), "{}", text(&ended.stdout));
    assert_eq!((ended.status.code(), text(&ended.stdout).lines().count()), (Some(0), 1));
    let mut child = begin(&["--json"]);
    drop(child.stdin.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), text(&ended.stdout)), (Some(0), String::new()));
    ends(path, 0, &["task", "finish", "--store", "s"]);

    // Errors end it with the exit code of the task.
    ends(path, 0, &["task", "init", "--store", "t", "-k", "5", "--block-bits", "9"]);
    for (line, code, what) in [
        ("0,x", 2, "\"x\" is not the number of a block"),
        ("", 2, "is not the number of a block"),
        ("100000", 2, "there is no block 100000"),
        ("1", 75, "000000.blk"),
    ] {
        let task = ["task", "--store", "t", "--batch", "-", "--wait", "0s", "--json"];
        let mut child = trinim(path, &task).stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        writeln!(input, "{line}").unwrap();
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(code), "{line}");
        let failure: Value = serde_json::from_slice(&ended.stdout).unwrap();
        assert!(failure["reason"].as_str().unwrap().contains(what), "{failure}");
    }

    // Nobody sends anything.
    let mut child = begin(&["--idle", "50ms"]);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    ends(path, 2, &["task", "--store", "s", "--block", "0", "--idle", "1s"]);
}

/// All findings and figures of the shares of a check.
fn shares(folder: &Path, of: u32) -> (verify::Report, Vec<String>) {
    let store = store_in(folder, "v");
    let (definition, game, terms) = task::open(&store).unwrap();
    let database = Database::open(folder).unwrap();
    let (mut sum, mut findings) = (verify::Report::default(), Vec::new());
    for index in 0..of {
        let counts = task::counts(&store, (&definition, &game, terms), index, of).unwrap();
        let share = Share { index, of, losses_by_pieces: &counts };
        let report = verify::verify_share(&database, &share, 2, &AtomicBool::new(false), &|_, _| {}).unwrap().unwrap();
        sum.files += report.files;
        sum.file_bytes += report.file_bytes;
        sum.blocks += report.blocks;
        sum.positions += report.positions;
        sum.canonical_positions += report.canonical_positions;
        sum.differences += report.differences;
        findings.extend(report.findings.iter().map(ToString::to_string));
    }
    findings.sort();
    (sum, findings)
}

#[test]
fn the_shares_of_a_check_find_what_the_whole_check_finds() {
    let game = Game::triangle(6, Rule::Misere, 13).unwrap();
    let folder = scratch();
    let path = folder.path();
    let store = store_in(path, "w");
    let blocks: Vec<u32> = (0..init(&store, (&game).into()).unwrap().definition.blocks()).collect();
    work(&store, &blocks, 2).unwrap();
    seal(&store).unwrap();
    let compare = |story: &str, clean: bool| {
        let database = Database::open(path).unwrap();
        let stop = AtomicBool::new(false);
        let whole = verify::verify(&database, Depth::Full, 2, &stop, &|_, _| {}).unwrap().unwrap();
        let mut expected: Vec<String> = whole.findings.iter().map(ToString::to_string).collect();
        expected.sort();
        assert_eq!(expected.is_empty(), clean, "{story}: {expected:?}");
        for of in [1, 3, 7, blocks.len() as u32 + 5] {
            let (sum, findings) = shares(path, of);
            assert_eq!(findings, expected, "{story}, {of} shares");
            let bare = verify::Report { findings: Vec::new(), damaged: false, ..whole.clone() };
            assert_eq!(sum, bare, "{story}, {of} shares");
        }
    };
    compare("intact", true);
    fs::write(path.join("db/foreign"), "x").unwrap();
    compare("a foreign file", false);
    fs::remove_file(path.join("db/foreign")).unwrap();
    // The last block has no targets, so that no other block is left unchecked.
    let last = path.join(format!("db/{:06}.blk", blocks.len() - 1));
    let bytes = fs::read(&last).unwrap();
    change(&last, bytes.len() - 1);
    compare("a damaged block", false);
    fs::write(&last, &bytes).unwrap();
    compare("intact again", true);
    // A census that the blocks do not have; its sum is right.
    let manifest = path.join("db/manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let mut value: Value = serde_json::from_str(&text).unwrap();
    let losses = |value: &Value, row: usize| value["by_pieces"][row]["losses"].as_u64().unwrap();
    let (one, other) = (losses(&value, 9), losses(&value, 10));
    value["by_pieces"][9]["losses"] = (one + 1).into();
    value["by_pieces"][10]["losses"] = (other - 1).into();
    fs::write(&manifest, serde_json::to_string_pretty(&value).unwrap()).unwrap();
    compare("another census", false);
    fs::write(&manifest, &text).unwrap();
    // A summary that was counted otherwise than its block.
    let stop = AtomicBool::new(false);
    let (definition, game, terms) = task::open(&store).unwrap();
    let mut counts = task::counts(&store, (&definition, &game, terms), 0, 2).unwrap();
    counts.entry(1).and_modify(|counts| counts[3] += 1);
    let database = Database::open(path).unwrap();
    let share = Share { index: 0, of: 2, losses_by_pieces: &counts };
    let report = verify::verify_share(&database, &share, 1, &stop, &|_, _| {}).unwrap().unwrap();
    assert!(report.findings.iter().any(|finding| finding.to_string().contains("block 1 was counted")), "{report:?}");
}

#[test]
fn a_layout_without_blocks_to_share_is_one_task() {
    let board = Board::triangle(3, None).unwrap();
    let game = Game { layout: Layout::new(&board, &[]).unwrap(), board, rule: Rule::Normal };
    let folder = scratch();
    let store = store_in(folder.path(), "w");
    init(&store, (&game).into()).unwrap();
    work(&store, &[0], 4).unwrap();
    seal(&store).unwrap();
    assert_same_files(&database_files(folder.path()), &solved((&game).into()), "one block");
}
