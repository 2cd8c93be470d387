//! The program as its users meet it: options, variables, limits, names, standard error.

use super::command::assert_correct;
use crate::common::program::{ends, full_pipe, json, outcome, text, tree, trinim};
use crate::common::{assert_same_files, database_files, scratch};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
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

/// A store of nine layers is audited unless it is told otherwise, a smaller one is not.
#[test]
fn the_audit_of_a_store_is_on_from_nine_layers() {
    let folder = scratch();
    let defaults: [(&[&str], Option<&str>); 4] = [
        (&["9"], Some("0.01")),
        (&["9", "--audit", "none"], None),
        (&["8"], None),
        (&["8", "--audit", "7%"], Some("0.07")),
    ];
    for (number, (args, audit)) in defaults.into_iter().enumerate() {
        let store = format!("store-{number}");
        ends(folder.path(), 0, &[&["init", "--store", &store, "--layers"], args].concat());
        let definition = fs::read(folder.path().join(store).join("task.json")).unwrap();
        let definition: Value = serde_json::from_slice(&definition).unwrap();
        assert_eq!(definition["audit"].as_str(), audit, "{args:?}");
    }
}

/// A variable of an option is no argument beside a subcommand.
#[test]
fn variables_go_with_every_command() {
    let folder = scratch();
    let set = [("TRINIM_THREADS", "1"), ("TRINIM_MEMORY", "300MiB"), ("TRINIM_QUIET", "true")];
    let mut init = trinim(folder.path(), &["init", "--store", "tasks", "--layers", "3"]);
    assert_eq!(outcome(init.envs(set)).0, 0);
}

/// The most blocks of a layout are accepted, and twice as many are refused with advice.
#[test]
fn the_most_blocks_are_accepted_and_more_are_refused() {
    let folder = scratch();
    let path = folder.path();
    // No symmetry: every block is canonical, 2^22 of 2^2 positions.
    let moves: Vec<Vec<u32>> = (0..24).map(|last| (0..=last).collect()).collect();
    fs::write(path.join("chain.toml"), format!("name = \"chain\"\ncells = 24\nmoves = {moves:?}\n")).unwrap();
    let with = |bits| ["init", "--store", "store", "--board", "file:chain.toml", "--block-bits", bits];
    ends(path, 0, &with("2"));
    let (listed, _) = ends(path, 0, &["list", "--store", "store"]);
    assert_eq!(listed, "0 of 4,194,304 blocks committed\n");
    fs::remove_dir_all(path.join("store")).unwrap();
    let (_, error) = ends(path, 2, &with("1"));
    assert!(error.contains("hint: choose larger blocks with --block-bits"), "{error}");
    assert!(!path.join("store/task.json").exists());
    // Nothing was left that would refuse a smaller solve.
    ends(path, 0, &with("2"));
}

/// Regression: the help names the range of layers.
#[test]
fn help_names_the_layers_that_a_store_takes() {
    let folder = scratch();
    let path = folder.path();
    let help = ends(path, 0, &["init", "--help"]).0;
    assert!(help.split_whitespace().collect::<Vec<_>>().join(" ").contains("; 1 to 10"), "{help}");
    for layers in ["11", "12"] {
        let (_, error) = ends(path, 2, &["init", "--store", "s", "--layers", layers]);
        assert!(error.contains(": expected 1 to 10\n"), "{error}");
    }
    assert!(fs::read_dir(path).unwrap().next().is_none());
}

/// A byte order mark, spaces of several kinds, the line ends of other systems and none at the end
/// have no meaning in a list of tasks.
#[test]
fn what_editors_write_around_a_line_has_no_meaning() {
    let folder = scratch();
    let path = folder.path();
    for (store, lines) in [("plain", "0\n1"), ("odd", "\u{feff}0 \t\u{a0}\r\n\t1")] {
        ends(path, 0, &["init", "--store", store, "-k", "3", "--bid-cells", "(0,0)"]);
        let mut child = trinim(path, &["--store", store, "--batch", "-"]).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{store}: {}", text(&output.stderr));
        ends(path, 0, &["finish", "--store", store]);
    }
}

/// A command whose standard error nobody reads waits for no reader.
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

/// What a name may do to a terminal: its title, and a line of its own.
const HOSTILE: &str = "x\u{1b}]0;pwned\u{7}..\nerror: fake\u{202e}";

#[test]
fn names_are_shown_and_not_obeyed() {
    let folder = scratch();
    let path = folder.path();
    for (code, args) in [
        (0, &["init", "-k", "3", "--store", HOSTILE][..]),
        (0, &["--store", HOSTILE, "--batch", "0"]),
        (2, &["copy", "--store", HOSTILE, "--to", "copied"]),
        (2, &["list", "--store", &format!("{HOSTILE}2")]),
        (2, &[HOSTILE]),
    ] {
        let (out, error) = ends(path, code, args);
        for text in [&out, &error] {
            let is_tame = |char: char| char == '\n' || !char.is_control() && char != '\u{202e}';
            assert!(text.chars().all(is_tame), "{args:?}: {text:?}");
            assert!(text.lines().all(|line| !line.starts_with("error: fake")), "{args:?}: {text}");
        }
    }
}

/// An option of a nested subcommand offers folders, too.
#[test]
fn completions_are_those_of_the_program() {
    let folder = scratch();
    let script = ends(folder.path(), 0, &["completions", "fish"]).0;
    let store = "complete -c trinim-task -n \"__fish_trinim_task_using_subcommand init\" -l store ";
    let line = script.lines().find(|line| line.starts_with(store)).unwrap();
    assert!(line.ends_with(" -r -f -a \"(__fish_complete_directories)\""), "{line}");
}

#[test]
fn the_long_version_says_which_stores_there_are() {
    let folder = scratch();
    let (short, _) = ends(folder.path(), 0, &["-V"]);
    assert_eq!(short, format!("trinim-task {}\n", env!("CARGO_PKG_VERSION")));
    let (long, _) = ends(folder.path(), 0, &["--version"]);
    assert!(long.starts_with(&short) && long.contains("stores   folder, s3\n"), "{long}");
}

/// The memory is for one stream, so that every source is read from its file.
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
    // The memory is for each of the tasks at a time.
    ends(path, 0, &["init", "--store", "two", "-k", "5", "--block-bits", "9"]);
    for (at_once, code) in [("1", 4), ("2", 0)] {
        let half = ["--store", "two", "--batch", "-", "--memory", "104", "--at-once", at_once];
        let mut worker = trinim(path, &half);
        let output = worker.stdin(fs::File::open(path.join("blocks")).unwrap()).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{at_once}: {error}");
        assert!(code == 0 || error.contains("hint: give at least --memory 208B"), "{error}");
    }
    for more in [["--at-once", "2"], ["--idle", "5s"]] {
        let (_, error) = ends(path, 2, &[&["--store", "two", "--batch", "0"][..], &more].concat());
        assert!(error.contains("--idle and --at-once are for --batch -"), "{error}");
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
