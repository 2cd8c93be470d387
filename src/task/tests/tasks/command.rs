//! The forms of the command: copies, tasks on standard input, a task with its parent.

use super::refusals::{change, refused};
use crate::common::program::{ends, json, text, tree, trinim};
use crate::common::scratch;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;
use trinim::care::CareRequest;
use trinim::database::Database;
use trinim::verify::{Depth, verify};

/// Checks what `trinim verify` does: every byte, and every position against its children.
pub fn assert_correct(folder: &Path) {
    let database = Database::open(folder).unwrap();
    assert_eq!(verify(&database, Depth::Full, &CareRequest::on(2)).unwrap().unwrap().findings, []);
}

/// An address with a slash too few was a folder of this machine.
#[test]
fn an_address_is_no_folder() {
    let folder = scratch();
    let path = folder.path();
    for name in ["s3:/b/p", "s3:b/p", "S3://b/p", "gs:/b", "az:x", "https:/h/b", "file:/tmp/x", "x:/y", "ftp://h/x", ""]
    {
        let (_, error) = ends(path, 2, &["init", "--store", name, "-k", "3"]);
        assert!(error.contains("hint: name a folder"), "{name}: {error}");
    }
    assert!(tree(path).is_empty());
    for name in ["a:b", "./s3:b", "12:30"] {
        ends(path, 0, &["init", "--store", name, "-k", "3"]);
    }
    // The hint of a copy does not name the option of its source.
    fs::create_dir(path.join("full")).unwrap();
    fs::write(path.join("full/notes.txt"), "mine").unwrap();
    let (_, error) = ends(path, 2, &["init", "--store", "full", "-k", "3"]);
    assert!(error.contains("notes.txt") && !error.contains("another --store"), "{error}");
}

#[test]
fn a_copy_has_the_bytes_of_its_store_and_is_one() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["init", "--store", "s", "-k", "5", "--block-bits", "9"]);
    let blocks = ends(path, 0, &["plan", "--store", "s"]).0.lines().count();
    let all: Vec<String> = (0..blocks).map(|block| block.to_string()).collect();
    ends(path, 0, &["--store", "s", "--batch", &all.join(",")]);
    ends(path, 0, &["finish", "--store", "s"]);
    let first = json(path, 0, &["copy", "--store", "s", "--to", "c", "--json"]);
    assert_eq!((first["files"].as_u64(), &first["present"]), (Some(2 * blocks as u64 + 2), &0.into()));
    assert!(tree(&path.join("c")).into_values().eq(tree(&path.join("s")).into_values()));
    assert_correct(&path.join("c"));
    ends(path, 0, &["verify", "--store", "c", "--shard", "2/3"]);
    // What a stop left out is copied, nothing else.
    for name in ["db/000003.blk", "summaries/000003", "db/SUMS"] {
        fs::remove_file(path.join("c").join(name)).unwrap();
    }
    let again = json(path, 0, &["copy", "--store", "s", "--to", "c", "--json"]);
    assert_eq!((&again["files"], again["present"].as_u64()), (&3.into(), Some(2 * blocks as u64 - 1)));

    // A folder of something else, another solve, and damage on either side.
    fs::create_dir(path.join("photos")).unwrap();
    fs::write(path.join("photos/1"), "x").unwrap();
    ends(path, 2, &["copy", "--store", "s", "--to", "photos"]);
    ends(path, 0, &["init", "--store", "n", "-k", "5", "--block-bits", "9", "--rule", "normal"]);
    refused(path, &["copy", "--store", "s", "--to", "n"], &["n/task.json", "rule = normal, not misere"]);
    let whole = fs::read(path.join("s/db/000002.blk")).unwrap();
    // In the index, and in a frame, which only the checksum of the whole file covers here.
    for (damaged, at) in [("c", 70), ("c", whole.len() - 1), ("s", 70), ("s", whole.len() - 1)] {
        fs::write(path.join("c/db/000002.blk"), &whole).unwrap();
        fs::write(path.join("s/db/000002.blk"), &whole).unwrap();
        let name = format!("{damaged}/db/000002.blk");
        change(&path.join(&name), at);
        if damaged == "s" {
            fs::remove_file(path.join("c/db/000002.blk")).unwrap();
        }
        refused(path, &["copy", "--store", "s", "--to", "c"], &[&name]);
    }
    assert!(!path.join("c/db/000002.blk").exists(), "damage was copied");
    change(&path.join("s/db/manifest.json"), 70);
    let reason = "not the manifest of SUMS";
    refused(path, &["copy", "--store", "s", "--to", "c"], &["s/db/manifest.json", reason]);
}

#[test]
fn a_task_ends_with_its_parent_if_asked_to() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["init", "--store", "s", "-k", "5", "--block-bits", "9"]);
    // The source never comes, so that the task waits.
    let program = crate::PROGRAM;
    let script = format!("{program} --store s --batch 1 --wait 60s --die-with-parent & echo $!; sleep 60");
    let mut shell = processes::command("sh");
    shell.args(["-c", &script]).current_dir(path).stdout(Stdio::piped());
    let mut child = shell.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let task = format!("/proc/{}/stat", line.trim());
    std::thread::sleep(Duration::from_millis(300));
    let is_alive = || fs::read_to_string(&task).is_ok_and(|stat| !stat.contains(") Z "));
    assert!(is_alive(), "the task waits for its source");
    child.kill().unwrap();
    child.wait().unwrap();
    for _ in 0..12_000 {
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
    ends(path, 0, &["init", "--store", "s", "-k", "5", "--block-bits", "9"]);
    let begin = |more: &[&str]| {
        let mut command = trinim(path, &[&["--store", "s", "--batch", "-", "--wait", "0s"], more].concat());
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
    let lines = ends(path, 0, &["plan", "--store", "s"]).0;
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
    ends(path, 0, &["finish", "--store", "s"]);

    // Errors end it with the exit code of the task.
    ends(path, 0, &["init", "--store", "t", "-k", "5", "--block-bits", "9"]);
    for (line, code, what) in [
        ("0,x", 2, "\"x\" is not the number of a block"),
        ("", 2, "is not the number of a block"),
        ("100000", 2, "there is no block 100000"),
        ("1", 75, "000000.blk"),
    ] {
        let task = ["--store", "t", "--batch", "-", "--wait", "0s", "--json"];
        let mut child = trinim(path, &task).stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        writeln!(input, "{line}").unwrap();
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(code), "{line}");
        let failure: Value = serde_json::from_slice(&ended.stdout).unwrap();
        assert!(failure["reason"].as_str().unwrap().contains(what), "{failure}");
    }

    // Nothing is sent.
    for at_once in ["1", "3"] {
        let mut child = begin(&["--idle", "50ms", "--at-once", at_once]);
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    ends(path, 2, &["--store", "s", "--batch", "0", "--idle", "1s"]);
    ends(path, 2, &["--store", "s", "--batch", "0", "--at-once", "2"]);
    ends(path, 2, &["--store", "s", "--batch", "-", "--at-once", "0"]);
}

/// Tasks at the same time, each answered, in any order; one that fails ends the process with its
/// exit code, after the answers of the others, and says which it was.
#[test]
fn several_tasks_come_on_standard_input_at_once() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["init", "--store", "s", "-k", "5", "--block-bits", "11"]);
    let lines = ends(path, 0, &["plan", "--store", "s"]).0;
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let begin = |wait: &str| {
        let task = ["--store", "s", "--batch", "-", "--json", "--at-once", "3", "--wait", wait];
        trinim(path, &task).stdin(Stdio::piped()).spawn().unwrap()
    };
    let asks = |mut child: Child, blocks: &[String]| -> (Option<i32>, Vec<Value>) {
        // The end of the input comes right behind the tasks: all of them are answered all the same.
        writeln!(child.stdin.take().unwrap(), "{}", blocks.join("\n")).unwrap();
        let ended = child.wait_with_output().unwrap();
        let lines = text(&ended.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (ended.status.code(), lines)
    };
    // A task waits for sources that another one computes meanwhile.
    let all: Vec<String> = rows.iter().map(|row| row["block"].to_string()).collect();
    let sources = rows[rows.len() - 1]["sources"].as_array().unwrap();
    let source = rows.iter().rposition(|row| sources.contains(&row["block"])).unwrap();
    let (some, others) = all.split_at(source);
    let last = others[others.len() - 1].clone();
    let (code, answers) = asks(begin("60s"), some);
    assert_eq!(code, Some(0), "{answers:?}");
    let computed: BTreeSet<String> = answers.iter().map(|answer| answer["computed"][0].to_string()).collect();
    assert_eq!(computed, some.iter().cloned().collect());
    // A source of the last block is missing, and is not computed.
    let (code, answers) = asks(begin("0s"), &[some[0].clone(), last.clone()]);
    assert_eq!((code, answers.len()), (Some(75), 3), "{answers:?}");
    let failed = answers.iter().find(|answer| answer["schema"] == "trinim.task.failed/1").unwrap();
    assert_eq!((failed["blocks"][0].to_string(), &failed["exit_code"]), (last, &75.into()));
    assert!(failed["reason"].as_str().unwrap().contains(".blk"), "{failed}");
    let done = answers.iter().find(|answer| answer["schema"] == "trinim.task/1").unwrap();
    assert_eq!(done["skipped"][0].to_string(), some[0]);
    assert_eq!(answers[2]["schema"], "trinim.failure/1");
    let (code, answers) = asks(begin("60s"), others);
    assert_eq!((code, answers.len()), (Some(0), others.len()), "{answers:?}");
    ends(path, 0, &["finish", "--store", "s"]);
}
