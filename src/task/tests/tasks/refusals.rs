//! What is refused, by name and with its exit code; nothing is changed.

use super::whole::{seal, solved, store_in, work};
use crate::common::program::{copy, ends, json, run, tree};
use crate::common::{assert_same_files, database_files, scratch};
use pipeline::Error as RunError;
use pipeline::storage::pass_on;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use trinim::database::{Audit, Game, Keep, Terms};
use trinim::layout::Layout;
use trinim::{Board, Rule, Solve};
use trinim_task::store::{Begin, Temporary};
use trinim_task::{DEFINITION, Error, Store, init, open};

#[test]
fn another_store_another_version_and_damage_are_refused_by_name() {
    let folder = scratch();
    let path = folder.path();
    let begin = ["init", "--store", "s", "-k", "5", "--block-bits", "9"];
    ends(path, 0, &begin);
    ends(path, 0, &begin);
    for (more, name) in [
        (&["--rule", "normal"][..], "rule = misere, not normal"),
        (&["--keep", "counts"], "keep = database, not counts"),
        (&["--audit", "5%"], "audit = none, not 0.05"),
        (&["--max-take", "2"], "max_take = none, not 2"),
    ] {
        refused(path, &[&begin[..], more].concat(), &["s/task.json", name]);
    }
    refused(path, &["init", "--store", "s", "-k", "5", "--block-bits", "8"], &["bid_cells"]);
    refused(path, &["init", "--store", "s", "-k", "4"], &["layers = 5, not 4"]);

    let blocks = ends(path, 0, &["plan", "--store", "s"]).0.lines().count();
    let all: Vec<String> = (0..blocks).map(|block| block.to_string()).collect();
    let batch = ["--store", "s", "--batch", &all.join(",")];
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
        for command in [&["--store", "t", "--batch", "1"][..], &["finish", "--store", "t"]] {
            refused(path, command, &["task.json", name]);
        }
        refused(path, &["init", "--store", "t", "-k", "5", "--block-bits", "9"], &["task.json", name]);
    }
    // Blocks of 2^9 positions.
    assert!(text.contains("\"block_bytes\": 64,"), "{text}");
    // A definition that contradicts itself, or is none.
    for (from, to) in [
        ("\"layers\": 5", "\"layers\": 6"),
        ("\"identity\": \"", "\"identity\": \"0"),
        ("\"keep\": \"database\"", "\"keep\": \"book:3\""),
        ("{", "["),
    ] {
        let other = fresh("t");
        fs::write(other.join("task.json"), text.replacen(from, to, 1)).unwrap();
        refused(path, &["--store", "t", "--batch", "1"], &["task.json"]);
    }

    // A damaged source: in its header, its index, and in a frame.
    let last = blocks - 1;
    let target = last.to_string();
    let name = format!("{last:06}.blk");
    let length = fs::metadata(path.join("s/db/000000.blk")).unwrap().len() as usize;
    for at in [0, 20, 70, length - 1] {
        let other = fresh("t");
        fs::remove_file(other.join("db").join(&name)).unwrap();
        let source = ends(path, 0, &["plan", "--store", "t"]).0;
        let row = source.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let row = row.into_iter().find(|row| row["block"] == last).unwrap();
        let source = format!("{:06}.blk", row["sources"][0].as_u64().unwrap());
        change(&other.join("db").join(&source), at);
        refused(path, &["--store", "t", "--batch", &target], &[&source]);
    }
    // A block of another game, or another block, under the name of a source.
    ends(path, 0, &["init", "--store", "n", "-k", "5", "--block-bits", "9", "--rule", "normal"]);
    ends(path, 0, &["--store", "n", "--batch", &all.join(",")]);
    for foreign in ["n/db/000000.blk", "s/db/000001.blk"] {
        let other = fresh("t");
        fs::copy(path.join(foreign), other.join("db/000000.blk")).unwrap();
        fs::remove_file(other.join("db/000001.blk")).unwrap();
        refused(path, &["--store", "t", "--batch", "1"], &["000000.blk"]);
        // Under its own name it is not taken for done.
        refused(path, &["--store", "t", "--batch", "0"], &["000000.blk"]);
    }
    // Other bytes under the name of what is committed next: they stay.
    for file in ["summaries/000001", "db/manifest.json", "db/SUMS"] {
        let other = fresh("t");
        fs::write(other.join(file), "something else").unwrap();
        let _ = fs::remove_file(other.join("db/000001.blk"));
        match file {
            "summaries/000001" => refused(path, &["--store", "t", "--batch", "1"], &[file]),
            _ => {
                ends(path, 0, &["--store", "t", "--batch", "1"]);
                refused(path, &["finish", "--store", "t"], &[file]);
            }
        }
    }
    // A block that is longer than was committed, in what only the end looks at.
    let other = fresh("t");
    let block = other.join("db/000002.blk");
    fs::write(&block, [&fs::read(&block).unwrap()[..], &[0]].concat()).unwrap();
    refused(path, &["finish", "--store", "t"], &["000002.blk", "bytes"]);
    // A block that is shorter than was committed.
    let other = fresh("t");
    let bytes = fs::read(other.join("db/000002.blk")).unwrap();
    fs::write(other.join("db/000002.blk"), &bytes[..bytes.len() - 1]).unwrap();
    refused(path, &["finish", "--store", "t"], &["000002.blk"]);
    refused(path, &["--store", "t", "--batch", "2"], &["000002.blk"]);
    fs::write(other.join("db/000002.blk"), "short").unwrap();
    refused(path, &["--store", "t", "--batch", "2"], &["000002.blk", "the file ends inside its header"]);
    // A summary that lacks a count, with a hash that fits.
    let other = fresh("t");
    let bytes = fs::read(other.join("summaries/000003")).unwrap();
    let content = &bytes[..bytes.len() - 16];
    let hash = xxhash_rust::xxh3::xxh3_64(content).to_le_bytes();
    fs::write(other.join("summaries/000003"), [content, &hash].concat()).unwrap();
    for list in ["db/manifest.json", "db/SUMS"] {
        let _ = fs::remove_file(other.join(list));
    }
    refused(path, &["finish", "--store", "t"], &["summaries of another form"]);
    // A summary can be made again.
    let other = fresh("t");
    fs::remove_file(other.join("summaries/000003")).unwrap();
    ends(path, 0, &["finish", "--store", "t"]);
    assert!(fs::read(other.join("summaries/000003")).unwrap() == fs::read(path.join("s/summaries/000003")).unwrap());
}

#[test]
fn what_may_succeed_later_ends_with_75_and_bad_arguments_with_2() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["init", "--store", "s", "-k", "5", "--block-bits", "9"]);
    let blocks = ends(path, 0, &["plan", "--store", "s"]).0.lines().count().to_string();
    let (_, error) = ends(path, 2, &["--store", "s", "--batch", &blocks]);
    let last = blocks.parse::<u32>().unwrap() - 1;
    assert!(error.contains(&format!("blocks are numbered 0 to {last}")), "{error}");
    // Alone and together, by one thread and by several.
    for (batch, threads) in ["1", "1,2", "1,2,3,4"].iter().flat_map(|batch| [(batch, "1"), (batch, "2")]) {
        let args = ["--store", "s", "--batch", batch, "--threads", threads, "--wait", "0s"];
        let (out, error) = ends(path, 75, &args);
        assert!(out.is_empty() && error.contains("000000.blk"), "{out}{error}");
    }
    // A task that waits says so at once, and not again.
    let (_, error) = ends(path, 75, &["--store", "s", "--batch", "1", "--wait", "500ms"]);
    assert!(error.starts_with("a source is missing in the store: waiting up to 500 ms for it (--wait)\n"), "{error}");
    assert_eq!(error.matches("waiting").count(), 1, "{error}");
    let (_, error) = ends(path, 75, &["finish", "--store", "s"]);
    assert!(error.contains("blocks are not committed"), "{error}");
    let failure = json(path, 75, &["finish", "--store", "s", "--json"]);
    assert_eq!((&failure["schema"], &failure["exit_code"]), (&"trinim.failure/1".into(), &75.into()));
    Solve::new(&Board::triangle(3, None).unwrap(), Rule::Misere).run(&path.join("solved")).unwrap();
    let before = tree(&path.join("solved"));
    for args in [
        &["--store", "s", "--batch", "100000"][..],
        &["--store", "s", "--batch", "0,100000"],
        &["--store", "none", "--batch", "0"],
        &["--store", "s/db", "--batch", "0"],
        &["--store", "s"],
        &["--batch", "0"],
        &["--store", "s", "--block", "0"],
        &["--store", "s", "--batch", "0", "--kernel", "avx2"],
        &["finish", "--store", "s", "--threads", "2"],
        &["init", "--store", "solved", "-k", "3"],
        &["init", "--store", "x", "-k", "11"],
        &["init", "--store", "x", "-k", "5", "--keep", "book"],
        &["plan", "--store", "s", "--batches", "0"],
        &["verify", "--store", "s", "--shard", "0/3"],
        &["verify", "--store", "s", "--shard", "4/3"],
        &["verify", "--store", "s", "--shard", "1/1"],
        &["copy", "--store", "s", "--to", "x"],
        &["copy", "--store", "none", "--to", "x"],
        &["list", "--store", "gs://bucket/s"],
        &["list", "--store", "s3://"],
        &["sweep", "--store", "s", "--older-than", "soon"],
    ] {
        let (_, error) = ends(path, 2, args);
        assert!(error.contains("hint:") || error.contains("Usage"), "{args:?}: {error}");
    }
    assert!(!path.join("x").exists() || fs::read_dir(path.join("x")).unwrap().count() == 0);
    assert!(tree(&path.join("solved")) == before, "a folder of something else was changed");
    // A file where the folder of temporary files was.
    fs::remove_dir(path.join("s/tmp")).unwrap();
    fs::write(path.join("s/tmp"), "").unwrap();
    ends(path, 75, &["--store", "s", "--batch", "0"]);
}

#[test]
fn what_an_unfinished_store_has_not_is_told_with_the_command_that_makes_it() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["init", "--store", "s", "-k", "4"]);
    for command in [&["verify", "--store", "s", "--shard", "1/2"][..], &["copy", "--store", "s", "--to", "x"]] {
        let (_, error) = ends(path, 2, command);
        assert!(error.contains("s is not finished") && error.contains("hint: trinim task finish"), "{error}");
    }
}

/// Runs a command that must be refused with 65, name this, and change nothing.
pub fn refused(folder: &Path, args: &[&str], names: &[&str]) {
    let before = tree(folder);
    let (code, out, error) = run(folder, args);
    assert_eq!(code, 65, "{args:?}\n{out}{error}");
    for name in names {
        assert!(error.contains(name), "{args:?} does not name {name}: {error}");
    }
    assert!(tree(folder) == before, "{args:?} changed something");
}

/// Changes one byte of a file.
pub fn change(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    let at = at.min(bytes.len() - 1);
    bytes[at] ^= 0x20;
    fs::write(path, bytes).unwrap();
}

/// A check in shares compares a store's own counts with its own database.
#[test]
fn the_database_of_another_game_is_not_checked() {
    let folder = scratch();
    let path = folder.path();
    for rule in ["misere", "normal"] {
        ends(path, 0, &["init", "--store", rule, "-k", "3", "--rule", rule]);
        ends(path, 0, &["--store", rule, "--batch", "0"]);
        ends(path, 0, &["finish", "--store", rule]);
    }
    let check = ["verify", "--store", "misere", "--shard", "1/1"];
    ends(path, 0, &check);
    fs::remove_dir_all(path.join("misere/db")).unwrap();
    copy(&path.join("normal/db"), &path.join("misere/db"));
    let (_, error) = ends(path, 2, &check);
    assert!(error.contains("its database is of another game"), "{error}");
}

/// A store that another process begins between a look and a creation, and in which others announce
/// each name first and fail.
struct Late<S> {
    store: S,
    is_late: AtomicBool,
    is_settled: AtomicBool,
    announced: Mutex<BTreeMap<String, u32>>,
    announcements: u32,
}

impl<S> Late<S> {
    fn new(store: S, is_late: bool, announcements: u32) -> Late<S> {
        let is_settled = false.into();
        Late { store, is_late: is_late.into(), is_settled, announced: Mutex::default(), announcements }
    }
}

impl<S: Store> Store for Late<S> {
    pass_on! { self.store =>
        fn path(&self, name: &str) -> PathBuf;
        fn prepare(&self) -> Result<(), RunError>;
        fn begin(&self, name: &str, bytes: usize) -> Result<Option<Begin>, RunError>;
        fn list(&self, folder: &str) -> Result<Vec<(String, u64)>, RunError>;
        fn remove(&self, name: &str) -> Result<(), RunError>;
        fn temporaries(&self) -> Result<Vec<Temporary>, RunError>;
    }
    fn create(&self, name: &str, bytes: &[u8]) -> Result<bool, RunError> {
        let mut announced = self.announced.lock().unwrap();
        let times = announced.entry(name.to_owned()).or_default();
        *times += 1;
        if *times <= self.announcements { Ok(false) } else { self.store.create(name, bytes) }
    }
    fn read(&self, name: &str, most_bytes: u64) -> Result<Option<Vec<u8>>, RunError> {
        if self.is_late.swap(false, Ordering::Relaxed) { Ok(None) } else { self.store.read(name, most_bytes) }
    }
    fn settle(&self, folder: &str) -> Result<(), RunError> {
        self.is_settled.store(true, Ordering::Relaxed);
        self.store.settle(folder)
    }
}

/// A store that was begun before, or a moment ago, is this solve's or another's. An older program
/// may have ordered the bits of the blocks otherwise: its order stays.
#[test]
fn a_store_is_of_its_solve_whoever_began_it_and_when() {
    let board = Board::triangle(4, None).unwrap();
    let ours = Game::triangle(4, Rule::Misere, 6).unwrap();
    let cells: Vec<u8> = ours.layout.bid_cells().iter().rev().copied().collect();
    assert_ne!(cells, ours.layout.bid_cells());
    let turned = Game { layout: Layout::from_cells(&board, &cells).unwrap(), ..ours.clone() };
    let few = Board::triangle(4, Some(2)).unwrap();
    let few = Game { layout: Layout::from_cells(&few, ours.layout.bid_cells()).unwrap(), board: few, ..ours.clone() };
    let plain = Terms::default();
    for (begun, terms, differs) in [
        (&ours, &plain, None),
        (&turned, &plain, None),
        (&Game { rule: Rule::Normal, ..ours.clone() }, &plain, Some("rule")),
        (&Game { rule: Rule::Normal, ..turned.clone() }, &plain, Some("rule")),
        (&Game::triangle(4, Rule::Misere, 4).unwrap(), &plain, Some("bid_cells")),
        (&Game::triangle(5, Rule::Misere, 9).unwrap(), &plain, Some("layers")),
        (&few, &plain, Some("max_take")),
        (&turned, &Terms::from(Keep::Counts), Some("keep")),
        (&turned, &Terms { audit: Audit::All, ..Terms::default() }, Some("audit")),
    ] {
        for is_late in [false, true] {
            let story = format!("{differs:?}, late {is_late}");
            let folder = scratch();
            let store = store_in(folder.path(), "w");
            assert!(init(&store, terms.spec(begun)).unwrap(), "{story}");
            let before = store.read(DEFINITION, 1 << 20).unwrap();
            let late = Late::new(store, is_late, 0);
            match (init(&late, plain.spec(&ours)), differs) {
                (Ok(false), None) => assert!(late.is_settled.load(Ordering::Relaxed), "{story}"),
                (Err(Error::Differs { name, .. }), Some(differs)) => assert_eq!(name, differs, "{story}"),
                (found, _) => panic!("{story}: {found:?}"),
            }
            assert_eq!(late.read(DEFINITION, 1 << 20).unwrap(), before, "{story}");
            assert_eq!(open(&late).unwrap().0.layout.bid_cells(), begun.layout.bid_cells(), "{story}");
            if differs.is_none() {
                work(&late, &begun.layout.ordinals().map(|block| block.0).collect::<Vec<_>>(), 1).unwrap();
                seal(&late).unwrap();
                assert_same_files(&database_files(folder.path()), &solved(plain.spec(begun)), &story);
            }
        }
    }
}

/// A name may be taken by a creation that fails, or by a file that is removed: it is tried again.
#[test]
fn a_name_that_is_announced_but_not_there_is_created() {
    let game = Game::triangle(4, Rule::Misere, 6).unwrap();
    let folder = scratch();
    let store = Late::new(store_in(folder.path(), "w"), false, 2);
    init(&store, (&game).into()).unwrap();
    work(&store, &game.layout.ordinals().map(|block| block.0).collect::<Vec<_>>(), 1).unwrap();
    seal(&store).unwrap();
    assert_same_files(&database_files(folder.path()), &solved((&game).into()), "announced twice");
    // Not for ever.
    let folder = scratch();
    let store = Late::new(store_in(folder.path(), "w"), false, u32::MAX);
    assert!(matches!(init(&store, (&game).into()), Err(Error::Run(RunError::Io { .. }))));
}
