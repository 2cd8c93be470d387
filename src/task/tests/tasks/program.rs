//! The program from its user's side: boards of families, standard error, metrics.

use super::command::assert_correct;
use crate::common::program::{ends, full_pipe, json, tree, trinim};
use crate::common::{assert_same_files, database_files, scratch};
use serde_json::Value;
use std::fs;
use std::path::Path;
use trinim::Solve;
use trinim::database::Game;
use trinim::game::{Board, Rule, Takes};
use trinim::layout::Layout;

/// Boards of other families are solved block by block, with the bytes of a solve.
#[test]
fn families_are_solved_as_tasks() {
    let folder = scratch();
    let path = folder.path();
    let board = Board::named("rect:4x4", Takes::ANY).unwrap();
    let game = Game { layout: Layout::suggested(&board, 9), board, rule: Rule::Misere };
    let whole = Solve::from(&game).run(&path.join("whole")).unwrap();
    ends(path, 0, &["init", "--store", "store", "--board", "rect:4x4", "--block-bits", "9"]);
    for block in game.layout.ordinals() {
        ends(path, 0, &["--store", "store", "--batch", &block.0.to_string()]);
    }
    let finished = json(path, 0, &["finish", "--store", "store", "--json"]);
    assert_eq!(finished["digest"], whole.manifest.digest);
    assert_same_files(&database_files(&path.join("store")), &database_files(&path.join("whole")), "rect:4x4");
    assert_correct(&path.join("store"));
}

/// A command does not wait for a reader of standard error.
#[test]
fn standard_error_that_nobody_reads_holds_up_nothing() {
    let folder = scratch();
    let path = folder.path();
    for args in [&["init", "-k", "4", "--store", "store"][..], &["--store", "store", "--batch", "0"]] {
        let (_reader, writer) = full_pipe();
        let mut child = trinim(path, args).stderr(writer).spawn().unwrap();
        processes::wait_until("ended", || child.try_wait().unwrap().is_some());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{args:?}");
    }
}

/// The memory is enough for one stream, so every source is read from its file.
#[test]
fn figures_of_tasks_are_those_of_the_store() {
    let folder = scratch();
    let path = folder.path();
    let [store, db] = ["one", "one/db"].map(|name| path.join(name));
    let bytes_below = |folder: &Path| tree(folder).values().map(|bytes| bytes.len() as u64).sum::<u64>();
    let number = |report: &Value, name: &str| report[name].as_u64().unwrap_or_else(|| panic!("{name}: {report}"));
    ends(path, 0, &["init", "--store", "one", "-k", "5", "--block-bits", "9"]);
    let plan = ends(path, 0, &["plan", "--store", "one"]).0;
    let plan: Vec<Value> = plan.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    fs::write(path.join("blocks"), plan.iter().map(|row| format!("{}\n", row["block"])).collect::<String>()).unwrap();
    let worker = ["--store", "one", "--batch", "-", "--memory", "208", "--threads", "1", "--json"];
    let output = trinim(path, &worker).stdin(fs::File::open(path.join("blocks")).unwrap()).output().unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Value> = answers.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!(answers.len(), plan.len());
    for (row, answer) in plan.iter().zip(&answers) {
        let sources = row["sources"].as_array().unwrap().iter();
        let length =
            |source: &Value| fs::metadata(db.join(format!("{:06}.blk", source.as_u64().unwrap()))).unwrap().len();
        assert_eq!(number(answer, "read_bytes"), sources.map(length).sum::<u64>(), "bytes of sources");
    }
    // All tasks at a time share the memory.
    ends(path, 0, &["init", "--store", "two", "-k", "5", "--block-bits", "9"]);
    for (at_once, code) in [("1", 4), ("2", 0)] {
        let half = ["--store", "two", "--batch", "-", "--memory", "104", "--at-once", at_once];
        let mut worker = trinim(path, &half);
        let output = worker.stdin(fs::File::open(path.join("blocks")).unwrap()).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{at_once}: {error}");
        assert!(code == 0 || error.contains("hint: use at least --memory 208B"), "{error}");
    }
    for more in [["--at-once", "2"], ["--idle", "5s"]] {
        let (_, error) = ends(path, 2, &[&["--store", "two", "--batch", "0"][..], &more].concat());
        assert!(error.contains("--idle and --at-once require --batch -"), "{error}");
    }
    fs::remove_dir_all(path.join("two")).unwrap();
    let written: u64 = answers.iter().map(|answer| number(answer, "written_bytes")).sum();
    assert_eq!(written, bytes_below(&db) + bytes_below(&store.join("summaries")), "bytes of blocks and summaries");
    let sealed = json(path, 0, &["finish", "--store", "one", "--json"]);
    assert_eq!(number(&sealed, "database_bytes"), bytes_below(&db), "bytes of the database");
    let files = (tree(&db).len() + tree(&store.join("summaries")).len()) as u64;
    for (copied, present) in [(files, 0), (0, files)] {
        let copy = json(path, 0, &["copy", "--store", "one", "--to", "two", "--json"]);
        assert_eq!(["files", "present"].map(|name| number(&copy, name)), [copied, present], "{copy}");
        assert_eq!(number(&copy, "bytes") > 0, copied > 0, "{copy}");
    }
    fs::remove_file(path.join("two/db/000003.blk")).unwrap();
    let listed = ends(path, 0, &["list", "--store", "two", "--json"]).0;
    let listed = listed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let ranges: Vec<[u64; 2]> = listed.map(|range| ["first", "last"].map(|name| number(&range, name))).collect();
    assert_eq!(ranges, [[0, 2], [4, 15]]);
}
