//! The output of `--json`, the output of two processes, and what the pages say about both.

use crate::common::program::{ends, text, trinim};
use crate::common::reports::{ReportFields, assert_page};
use crate::common::scratch;
use std::collections::BTreeSet;
use std::io::Write;
use std::process::Stdio;

/// A store has no nimbers or distances.
const RARE: [(&str, &str); 2] = [("trinim.task.finish/1", "by_nimber[]."), ("trinim.task.finish/1", "by_distance[].")];

#[test]
fn every_output_is_valid_and_every_field_is_printed() {
    let folder = scratch();
    let path = folder.path();
    let mut seen = ReportFields::new();
    for (code, command) in [
        (0, &["init", "--store", "tasks", "-k", "3", "--bid-cells", "(0,0)", "--audit", "9%", "--json"][..]),
        (0, &["plan", "--store", "tasks"]),
        (0, &["plan", "--store", "tasks", "--batches", "1"]),
        (0, &["--store", "tasks", "--batch", "0,1", "--json"]),
        (0, &["list", "--store", "tasks", "--json"]),
        (0, &["sweep", "--store", "tasks", "--json"]),
        (0, &["finish", "--store", "tasks", "--json"]),
        (0, &["verify", "--store", "tasks", "--shard", "1/2", "--json"]),
        (0, &["copy", "--store", "tasks", "--to", "copied", "--json"]),
        (2, &["list", "--store", "absent", "--json"]),
    ] {
        seen.run(path, code, command);
    }
    let tasks = ["--store", "tasks", "--batch", "-", "--at-once", "2", "--json"];
    let mut child = trinim(path, &tasks).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"999\n").unwrap();
    seen.add(text(&child.wait_with_output().unwrap().stdout).as_str(), "a task that fails");
    seen.assert_all_printed(&RARE);
}

#[test]
fn the_page_is_made_from_the_schemas() {
    assert_page(include_str!("../../../../JSON.md"), |name| name.starts_with("trinim.task"));
}

/// Each command, with its arguments.
const CASES: [(&str, &str); 8] = [
    ("init", "--store tasks --layers 4"),
    ("", "--store tasks --batch 0"),
    ("plan", "--store tasks"),
    ("list", "--store tasks"),
    ("finish", "--store tasks"),
    ("verify", "--store tasks --shard 1/2"),
    ("copy", "--store tasks --to copied"),
    ("sweep", "--store tasks"),
];

/// Two processes with the same arguments and different numbers of threads print the same, except
/// for times and memory.
#[test]
fn two_processes_print_the_same() {
    let help = ends(scratch().path(), 0, &["--help"]).0;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: BTreeSet<&str> = listed.filter_map(|line| line.trim().split(' ').next()).collect();
    let cases = CASES.iter().map(|(name, _)| *name).filter(|name| !name.is_empty());
    assert_eq!(cases.collect::<BTreeSet<_>>(), &commands - &BTreeSet::from(["help"]));
    let folders = [("1", scratch()), ("3", scratch())];
    let measured = ["time", "elapsed_s", "seconds", "peak_rss_bytes"];
    for (name, args) in CASES {
        let args: Vec<&str> = Some(name).filter(|name| !name.is_empty()).into_iter().chain(args.split(' ')).collect();
        let has = |option| ends(folders[0].1.path(), 0, &[&args[..], &["--help"]].concat()).0.contains(option);
        let (takes_threads, prints_json) = (has("--threads <"), has("--json"));
        let forms: &[&[&str]] = if prints_json { &[&[], &["--json"]] } else { &[&[]] };
        for form in forms {
            let [one, three] = folders.each_ref().map(|(threads, folder)| {
                let threads = ["--threads", threads];
                let more = if takes_threads { &threads[..] } else { &[] };
                let out = ends(folder.path(), 0, &[&args[..], form, more].concat()).0;
                let is_measured = |line: &str| {
                    let label = line.trim_start().trim_start_matches('"').split([' ', '"']).next();
                    label.is_some_and(|label| measured.contains(&label))
                };
                out.lines().filter(|line| !is_measured(line)).map(str::to_owned).collect::<Vec<_>>()
            });
            assert!(!one.is_empty(), "{args:?} {form:?}");
            assert_eq!(one, three, "{args:?} {form:?}");
        }
    }
}
