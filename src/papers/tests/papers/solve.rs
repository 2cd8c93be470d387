//! `trinim papers solve` from its user's side.

use crate::common::program::{ends, json, signal, text, trinim};
use crate::common::{assert_same_files, database_files, scratch, tree};
use serde_json::Value;
use std::fs;
use std::time::Duration;
use trinim::Solve;
use trinim::game::{Board, Rule, Takes};
use trinim::layout::Layout;

/// Every strategy leaves the database of update logs, and reports the bytes it moved.
#[test]
fn every_strategy_leaves_the_same_database_and_reports_what_it_moved() {
    let folder = scratch();
    let path = folder.path();
    let six = Board::triangle(6, None).unwrap();
    let whole = Solve::new(&six, Rule::Misere).block_bits(15).run(&path.join("logs")).unwrap();
    let expected = database_files(&path.join("logs"));
    let of = |report: &Value, name: &str| report[name].as_u64().unwrap_or_else(|| panic!("{name}: {report}"));
    let layout = Layout::suggested(&six, 15);
    let (all, canonical) = (layout.blocks(), layout.canonical_blocks().len() as u64);
    // Strategy, other flags, redundancy in the report, blocks it stores.
    let ways: [(&str, &[&str], &str, u64); 6] = [
        ("forward", &[], "keep", 0),
        ("retrograde", &["--kernel", "scalar"], "keep", 0),
        ("block-push", &[], "remove", canonical),
        ("block-push", &["--redundancy", "keep", "--threads", "3"], "keep", all),
        ("block-pull", &["--redundancy", "remove"], "remove", canonical),
        ("block-pull", &["--redundancy", "Keep", "--kernel", "scalar"], "keep", all),
    ];
    for (number, (strategy, more, redundancy, blocks)) in ways.into_iter().enumerate() {
        let out = format!("run{number}");
        let begin = ["solve", "-k", "6", "--block-bits", "15", "--json", "--out", &out, "--strategy", strategy];
        let args = [&begin[..], more].concat();
        let report = json(path, 0, &args);
        assert_eq!(report["digest"], whole.manifest.digest, "{args:?}");
        assert_eq!((&report["strategy"], &report["redundancy"]), (&strategy.into(), &redundancy.into()));
        assert_eq!((of(&report, "blocks"), of(&report, "canonical_blocks")), (all, canonical));
        let slow = more.contains(&"scalar") || blocks == 0;
        assert_eq!(report["kernel"] == "scalar", slow, "{args:?}");
        assert_same_files(&database_files(&path.join(&out)), &expected, &args.join(" "));
        if blocks > 0 {
            let block_bytes = 1 << 12;
            let loads = of(&report, "block_loads");
            assert!(loads > blocks);
            assert_eq!(of(&report, "block_bytes_read"), loads * block_bytes);
            let stores = if strategy == "block-push" { loads + blocks } else { blocks };
            assert_eq!(of(&report, "block_bytes_written"), stores * block_bytes);
            assert_eq!(of(&report, "disk_bytes_peak"), blocks * block_bytes + of(&report, "database_bytes"));
        }
        assert_eq!((&report["codec"], of(&report, "log_bytes_written")), (&"none".into(), 0));
    }
    let shown = ends(path, 0, &["solve", "-k", "5", "--strategy", "block-pull"]).0;
    assert!(shown.contains("block-pull, redundancy removed: ") && !shown.contains("logs"), "{shown}");
    assert!(path.join("trinim-k5-misere-block-pull/db/SUMS").exists());
    let shown = ends(path, 0, &["solve", "-k", "5", "--strategy", "retrograde", "-o", "five"]).0;
    assert!(shown.contains("whole board in memory"), "{shown}");
}

#[test]
fn other_boards_are_solved_too() {
    let folder = scratch();
    let path = folder.path();
    let board = Board::named("cram:3x4", Takes::ANY).unwrap();
    for rule in Rule::ALL {
        let whole = Solve::new(&board, rule).block_bits(8).run(&path.join(rule.name())).unwrap();
        for strategy in ["forward", "retrograde", "block-push", "block-pull"] {
            let out = format!("{strategy}-{rule}");
            let solve = ["solve", "--board", "cram:3x4", "--rule", rule.name(), "--block-bits", "8"];
            let report = json(path, 0, &[&solve[..], &["--strategy", strategy, "--out", &out, "--json"]].concat());
            assert_eq!(report["digest"], whole.manifest.digest, "{out}");
        }
    }
}

/// A stop ends it at once, and its folder is never continued; a new folder is solved.
#[test]
fn a_stop_is_told_with_what_to_do_and_the_folder_is_left_alone() {
    let folder = scratch();
    let path = folder.path();
    let command =
        |strategy: &'static str| vec!["solve", "-k", "7", "--block-bits", "18", "-o", "a run", "--strategy", strategy];
    for (strategy, signal_name, code) in [("forward", "INT", 130), ("block-pull", "TERM", 143)] {
        let mut slow = command(strategy);
        slow.extend(["--kernel", "scalar"]);
        let mut child = trinim(path, &slow).spawn().unwrap();
        let begun = || fs::read_dir(path.join("a run/m")).is_ok_and(|files| files.count() == 4);
        for _ in 0..24_000 {
            assert_eq!(child.try_wait().unwrap(), None, "{strategy} was over before it could be interrupted");
            if begun() {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        signal(&child, signal_name);
        let output = child.wait_with_output().unwrap();
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{error}");
        let hint = "hint: this strategy keeps no checkpoints: remove 'a run' and start over\n";
        assert!(error.contains("stopped by a signal\n") && error.ends_with(hint), "{error}");
        let before = tree(&path.join("a run"));
        for strategy in ["forward", "block-pull"] {
            let (_, error) = ends(path, 2, &command(strategy));
            assert!(
                error.contains("error: a run is not empty: it holds ")
                    && error.contains("\nhint: the papers' strategies keep no checkpoints"),
                "{error}"
            );
        }
        assert!(tree(&path.join("a run")) == before);
        fs::remove_dir_all(path.join("a run")).unwrap();
    }
    let (out, remark) = ends(path, 0, &[&command("block-pull")[..], &["--json"]].concat());
    assert!(remark.contains("; it keeps no checkpoints\n"), "{remark}");
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&report["losses"], &report["resumed_blocks"]), (&19_496_523.into(), &0.into()));
    assert_eq!(fs::read_dir(path.join("a run/logs")).unwrap().count(), 0);
}
