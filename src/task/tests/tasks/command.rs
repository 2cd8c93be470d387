//! The forms of the command: tasks on standard input, a task that ends with its parent.

use crate::common::program::{ends, text, trinim};
use crate::common::scratch;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;
use trinim::database::Database;
use trinim::maintenance::Request;
use trinim::verify::{Depth, verify};

/// Checks what `trinim verify` does: every byte, and every position against its children.
pub fn assert_correct(folder: &Path) {
    let database = Database::open(folder).unwrap();
    assert_eq!(verify(&database, Depth::Full, &Request::on(2)).unwrap().unwrap().findings, []);
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
}

/// Concurrent tasks, each answered, in any order. A failed task ends the process with its exit
/// code, after the answers of the others, and the message names it.
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
        // The input ends directly after the tasks, and all of them are still answered.
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
