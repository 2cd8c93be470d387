//! The binary as its users meet it: results, exit codes, interruption, bad input. Its tests share
//! boards and helpers, so they share a file.

mod common;
mod program;

use common::scratch;
use program::{ends, json, signal, text, tree, trinim};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use trinim::game::Rule;
use trinim::papers::published;

/// Blocks of 2^14 positions: about two thousand of them at seven layers.
const TINY: [&str; 4] = ["--block-bits", "14", "--commit-interval", "20ms"];

fn solve_tiny<'a>(out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["solve", "-k", "7", "--out", out, "--json"], &TINY[..], more].concat()
}

/// The files of a solve's database, by their names in it.
fn database(path: &Path, name: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let root = path.join(name).join("db");
    tree(&root).into_iter().map(|(file, bytes)| (file.strip_prefix(&root).unwrap().into(), bytes)).collect()
}

/// Starts a solve and waits until it has published twenty more blocks and is still running.
fn begin(path: &Path, name: &str, command: &[&str]) -> Child {
    let published = || fs::read_dir(path.join(name).join("db")).map_or(0, |files| files.count());
    let before = published();
    let mut child = trinim(path, command).spawn().unwrap();
    for _ in 0..4000 {
        assert_eq!(child.try_wait().unwrap(), None, "the solve was over before it could be interrupted");
        if published() > before + 20 {
            return child;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("nothing was published in twenty seconds");
}

#[test]
fn published_counts_come_out_of_solve_and_stats() {
    let folder = scratch();
    for layers in 1..=7 {
        for rule in [Rule::Normal, Rule::Misere] {
            let wins = !published::start(layers, rule).unwrap().is_loss();
            let (losses, rule) = (published::losses(layers, rule).unwrap(), rule.name());
            let layers_text = layers.to_string();
            let solved = json(folder.path(), 0, &["solve", "--layers", &layers_text, "--rule", rule, "--json"]);
            assert_eq!(solved["layers"], layers);
            assert_eq!(solved["rule"], rule);
            let start = if wins { "win" } else { "loss" };
            assert_eq!(solved["start"], start, "{layers} {rule}");
            assert_eq!(solved["losses"], losses, "{layers} {rule}");
            let positions = 1u64 << (layers * (layers + 1) / 2);
            assert_eq!(solved["positions"], positions);
            assert_eq!(solved["wins"].as_u64().unwrap() + solved["losses"].as_u64().unwrap(), positions);
            for name in
                ["loss_rate", "elapsed_s", "peak_rss_bytes", "log_bytes_written", "log_bytes_read", "database_bytes"]
            {
                assert!(solved[name].is_number(), "{name}");
            }

            let database = format!("trinim-k{layers}-{rule}");
            let stats = json(folder.path(), 0, &["stats", &database, "--json"]);
            for name in ["positions", "wins", "losses", "loss_rate", "start", "digest"] {
                assert_eq!(stats[name], solved[name], "{name}");
            }
            assert_eq!(stats["winning_first_moves"].as_array().unwrap().is_empty(), !wins);
            let rows = stats["by_pieces"].as_array().unwrap();
            let sum = |name: &str| rows.iter().map(|row| row[name].as_u64().unwrap()).sum::<u64>();
            assert_eq!((sum("positions"), sum("losses")), (positions, stats["losses"].as_u64().unwrap()));

            let csv = ends(folder.path(), 0, &["stats", &database, "--csv"]).0;
            assert_eq!(csv.lines().next(), Some("pieces,positions,losses"));
            assert_eq!(csv.lines().count(), rows.len() + 1);

            let probed = json(folder.path(), 0, &["probe", &database, "--json", &format!("{:#x}", positions - 1)]);
            assert_eq!(probed["value"], start);
            assert_eq!(probed["outcome"], if wins { "N" } else { "P" });
            let winning: Vec<&Value> = probed["moves"]
                .as_array()
                .unwrap()
                .iter()
                .take_while(|step| step["value"] == "loss")
                .map(|step| &step["cells"])
                .collect();
            assert_eq!(stats["winning_first_moves"].as_array().unwrap().iter().collect::<Vec<_>>(), winning);
            ends(folder.path(), 0, &["verify", &database, "--json"]);
        }
    }
}

#[test]
fn the_schoolyard_variant_has_nine_winning_openings() {
    let folder = scratch();
    let solved = json(folder.path(), 0, &["solve", "-k", "5", "--max-take", "3", "--json"]);
    assert_eq!(solved["losses"], 4_272);
    let stats = json(folder.path(), 0, &["stats", "trinim-k5-misere-take3", "--json"]);
    let openings: Vec<u64> = stats["winning_first_moves"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cells| {
            assert_eq!(cells.as_array().unwrap().len(), 1);
            cells[0].as_u64().unwrap()
        })
        .collect();
    assert_eq!(openings, [0, 3, 4, 5, 7, 8, 10, 12, 14]);
    let shown = ends(folder.path(), 0, &["stats", "trinim-k5-misere-take3"]).0;
    assert!(shown.contains("winning first moves: 9 of"), "{shown}");
}

/// The identifiers of [SWLK12] were refused, and so were rows without slashes.
#[test]
fn a_position_is_read_in_every_form() {
    let folder = scratch();
    ends(folder.path(), 0, &["solve", "-k", "5"]);
    let forms = ["1/10/100/1110/10110", "x_x._x.._xxx._x.xx.", "1 10 100 1110 10110", "110100111010110", "0x35cb"];
    let forms = forms.into_iter().chain(["0b011010111001011", "13771", "0d13771"]);
    let args: Vec<&str> = ["probe", "trinim-k5-misere", "--json"].into_iter().chain(forms).collect();
    let out = ends(folder.path(), 0, &args).0;
    let answers: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(answers.len() == 8 && answers.iter().all(|answer| *answer == answers[0]), "{out}");
    assert_eq!(answers[0]["hex"], "0x35cb");
    let out = ends(folder.path(), 2, &["probe", "trinim-k5-misere", "101"]).0;
    assert!(out.contains("write 0d101 for the number, or all 15 cells"), "{out}");
    let help = ends(folder.path(), 0, &["probe", "--help"]).0;
    assert!(::trinim::game::position::FORMS.iter().all(|(_, text)| help.contains(text)), "{help}");
}

#[test]
fn answers_stay_aligned_with_lines_good_and_bad() {
    let folder = scratch();
    ends(folder.path(), 0, &["solve", "-k", "5"]);
    let mut child =
        trinim(folder.path(), &["probe", "trinim-k5-misere", "--json"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = b"0x7fff\r\nnonsense\n\n1/11/111/1111/11111\n\xff\xfe\n0x8000\n".to_vec();
    input.extend([b'1'; 5000]);
    input.extend(b"\nx/../xxx/..../..x..");
    child.stdin.take().unwrap().write_all(&input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let answers: Vec<Value> = text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let good: Vec<bool> = answers.iter().map(|answer| answer["error"].is_null()).collect();
    assert_eq!(good, [true, false, false, true, false, false, false, true]);
    assert_eq!(answers[0], answers[3]);
    assert_eq!(answers[0]["value"], "loss");
    assert_eq!(answers[1]["position"], "nonsense");
    assert_eq!(answers[7]["position"], "1/00/111/0000/00100");

    let both = trinim(folder.path(), &["probe", "trinim-k5-misere", "--map", "0x7fff", "bad", "0x1"]).output().unwrap();
    assert_eq!(both.status.code(), Some(2));
    let shown = text(&both.stdout);
    assert!(shown.contains("- loss for the player to move (P-position)"), "{shown}");
    assert!(!shown.contains('\x1b'), "colours off a terminal");
    let coloured =
        trinim(folder.path(), &["probe", "trinim-k5-misere", "--color", "always", "0x7ffe"]).output().unwrap();
    assert!(text(&coloured.stdout).contains("\x1b[1;32m+ win\x1b[0m"));
}

/// Once every word after a position was taken for a position, `--help` included.
#[test]
fn options_may_follow_a_position() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "5"]);
    let board = ["probe", "trinim-k5-misere", "0x7fff"];
    let after = |options: &[&str]| ends(path, 0, &[&board[..], options].concat()).0;
    let before = ends(path, 0, &["probe", "--json", "trinim-k5-misere", "0x7fff"]).0;
    assert_eq!(after(&["--json"]), before);
    assert_eq!(after(&["-q", "--json", "--map"]), before);
    assert_eq!(after(&["--color", "never"]), after(&[]));
    assert!(after(&["--color", "always"]).contains("\x1b["));
    assert!(after(&["--help"]).contains("Usage: trinim probe"));
    assert!(ends(path, 2, &[&board[..], &["-1"]].concat()).0.contains("error: \"-1\""));
    let (out, error) = ends(path, 2, &[&board[..], &["--jso"]].concat());
    assert!(out.is_empty() && error.contains("--jso") && error.contains("--json"), "{error}");
    // A lone - is the standard input, wherever it is.
    assert_eq!(ends(path, 0, &["probe", "trinim-k5-misere", "-", "0x7fff", "--json"]).0, before);
}

#[test]
fn kills_and_signals_at_any_time_change_nothing() {
    let folder = scratch();
    let path = folder.path();
    let whole = json(path, 0, &solve_tiny("whole", &[]));
    assert_eq!(whole["losses"], 19_496_523);
    assert_eq!(whole["resumed_blocks"], 0);
    let resumed = solve_tiny("resumed", &[]);

    for (name, code) in [("KILL", None), ("INT", Some(130)), ("KILL", None), ("TERM", Some(143))] {
        let child = begin(path, "resumed", &resumed);
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), code, "{}", text(&output.stderr));
        if code.is_some() {
            let error = text(&output.stderr);
            assert!(error.contains("blocks saved in resumed"), "{error}");
            assert!(error.contains("hint: resume with: trinim solve "), "{error}");
        }
    }
    // The folder keeps its layout although a new solve would choose another one.
    let end = json(path, 0, &["solve", "-k", "7", "--out", "resumed", "--json"]);
    assert!(end["resumed_blocks"].as_u64() > Some(0));
    assert_eq!(end["digest"], whole["digest"]);
    assert!(database(path, "whole") == database(path, "resumed"), "the databases differ");
}

#[test]
fn a_folder_in_use_is_left_alone() {
    let folder = scratch();
    let path = folder.path();
    let command = solve_tiny("busy", &[]);
    let mut child = begin(path, "busy", &command);
    let (_, error) = ends(path, 4, &command);
    let wanted = format!("error: busy is in use by process {}, ", child.id());
    assert!(error.starts_with(&wanted) && error.contains(" blocks saved\n"), "{error}");
    assert!(error.contains("hint: trinim status busy shows how far it is"), "{error}");
    let (_, repair) = ends(path, 4, &["repair", "busy"]);
    assert!(repair.contains(&wanted), "{repair}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_finished_folder_is_reported_again_and_not_touched() {
    let folder = scratch();
    let path = folder.path();
    let command = ["solve", "-k", "6", "--block-bits", "12", "--json"];
    let first = json(path, 0, &command);
    let before = tree(path);
    let again = json(path, 0, &command);
    assert_eq!(again["digest"], first["digest"]);
    assert_eq!(again["losses"], first["losses"]);
    assert_eq!(again["database_bytes"], first["database_bytes"]);
    assert!(tree(path) == before);

    let block = path.join("trinim-k6-misere/db/000003.blk");
    let bytes = fs::read(&block).unwrap();
    fs::write(&block, &bytes[..bytes.len() - 1]).unwrap();
    let (_, error) = ends(path, 3, &command);
    assert!(error.contains("000003.blk has ") && error.contains("hint: "), "{error}");
}

#[test]
fn verify_tells_damaged_files_from_wrong_values() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "6", "--block-bits", "12", "-o", "run"]);
    let report = json(path, 0, &["verify", "run", "--json"]);
    assert_eq!((&report["ok"], &report["findings"]), (&true.into(), &Value::Array(Vec::new())));
    assert!(report["positions"].as_u64() > Some(0));
    ends(path, 0, &["verify", "run", "--sample", "50%", "--seed", "3", "--threads", "2"]);

    let (block, manifest, sums) =
        (path.join("run/db/000005.blk"), path.join("run/db/manifest.json"), path.join("run/db/SUMS"));
    let good = fs::read(&block).unwrap();
    let mut bad = good.clone();
    *bad.last_mut().unwrap() ^= 1;
    fs::write(&block, bad).unwrap();
    for depth in [&[][..], &["--checksums-only"], &["--sample", "0.01"]] {
        let (out, _) = ends(path, 3, &[&["verify", "run"], depth].concat());
        assert!(out.contains("000005.blk") && out.contains("verdict    damaged\n"), "{out}");
    }
    fs::write(&block, good).unwrap();

    // A manifest with a wrong count and the right checksum.
    let (before, listed) = (fs::read_to_string(&manifest).unwrap(), fs::read_to_string(&sums).unwrap());
    let after = before.replacen("\"losses\": 1", "\"losses\": 2", 1);
    assert_ne!(before, after);
    fs::write(&manifest, &after).unwrap();
    let hash = |text: &str| blake3::hash(text.as_bytes()).to_string();
    fs::write(&sums, listed.replace(&hash(&before), &hash(&after))).unwrap();
    ends(path, 0, &["verify", "run", "--checksums-only"]);
    let (out, _) = ends(path, 1, &["verify", "run"]);
    assert!(out.contains("wrong values"), "{out}");
}

#[test]
fn other_parameters_are_refused_by_name() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "5", "--out", "run"]);
    let before = tree(path);
    let changes: [(&[&str], &str); 5] = [
        (&["-k", "5", "--rule", "normal"], "rule = misere, not normal"),
        (&["-k", "6"], "layers = 5, not 6"),
        (&["-k", "5", "--max-take", "3"], "max-take = none, not 3"),
        (&["-k", "5", "--bid-cells", "(1,0)(1,1)"], "bid-cells = "),
        (&["-k", "5", "--block-bits", "9"], "bid-cells = "),
    ];
    for (change, named) in changes {
        let (_, error) = ends(path, 7, &[&["solve", "--out", "run"], change].concat());
        assert!(error.contains(named) && error.contains("hint: "), "{change:?}\n{error}");
        assert!(tree(path) == before);
    }
    // A limit that limits nothing counts as no limit.
    ends(path, 0, &["solve", "-k", "5", "--max-take", "5", "--out", "run"]);
}

#[test]
fn foreign_folders_and_files_are_refused_and_not_touched() {
    let folder = scratch();
    let path = folder.path();
    fs::create_dir(path.join("foreign")).unwrap();
    fs::write(path.join("foreign/letter.txt"), "dear").unwrap();
    fs::write(path.join("file"), "text").unwrap();
    let before = tree(path);
    let (_, error) = ends(path, 2, &["solve", "-k", "4", "--out", "foreign"]);
    assert!(error.contains("not empty") && error.contains("letter.txt"), "{error}");
    for name in ["file", "file/below"] {
        let (_, error) = ends(path, 2, &["solve", "-k", "4", "--out", name]);
        assert!(error.contains("file is a file, not a folder\nhint: nothing was written"), "{error}");
    }
    for command in ["stats", "verify", "probe"] {
        for name in ["foreign", "absent", "file"] {
            let (_, error) = ends(path, 2, &[command, name]);
            assert!(error.contains("holds no finished database"), "{error}");
        }
    }
    assert!(tree(path) == before);
}

#[test]
fn too_little_memory_or_disk_is_refused_before_anything_is_written() {
    let folder = scratch();
    let path = folder.path();
    for command in [
        &["solve", "-k", "8", "--memory", "20MiB"][..],
        &["solve", "-k", "8", "--memory", "1"],
        &["solve", "-k", "8", "--memory", "64MiB", "--block-bits", "27"],
    ] {
        let (_, error) = ends(path, 4, command);
        assert!(error.contains("too small") && error.contains("--memory"), "{error}");
    }
    // Raw dedicated logs of nine layers: hundreds of TiB.
    let (_, error) = ends(path, 4, &["solve", "-k", "9", "--codec", "raw", "--log-placement", "dedicated"]);
    assert!(error.contains("TiB of disk space is needed") && error.contains("nothing was written"), "{error}");
    assert!(tree(path).is_empty() && fs::read_dir(path).unwrap().next().is_none());
}

#[test]
fn a_limit_of_file_sizes_is_an_error_and_the_run_goes_on_later() {
    let folder = scratch();
    let path = folder.path();
    let binary = env!("CARGO_BIN_EXE_trinim");
    let limited = Command::new("sh")
        .args(["-c", &format!("ulimit -f 8; exec {binary} solve -k 6 --block-bits 12 -o run")])
        .current_dir(path)
        .output()
        .unwrap();
    let error = text(&limited.stderr);
    assert_eq!(limited.status.code(), Some(4), "{error}");
    assert!(error.contains("hint: make room"), "{error}");
    assert_eq!(json(path, 0, &["solve", "-k", "6", "-o", "run", "--json"])["losses"], 189_089);
}

/// When the system failed to read a begun folder, it was taken for a new one: the solve chose a new
/// layout, and refused the run for its other parameters.
#[test]
fn a_folder_that_cannot_be_looked_at_is_an_error() {
    let folder = scratch();
    let path = folder.path();
    std::os::unix::fs::symlink("loop", path.join("loop")).unwrap();
    let (_, error) = ends(path, 4, &["solve", "-k", "4", "--out", "loop"]);
    assert!(error.contains("cannot open loop") && error.contains("symbolic links"), "{error}");
    // On a disk with bad sectors, a finished database was called unfinished.
    for command in ["stats", "probe", "verify"] {
        let (_, error) = ends(path, 4, &[command, "loop"]);
        assert!(error.contains("cannot open loop/db") && error.contains("symbolic links"), "{error}");
    }
}

/// With the usual limit of 1,024 open files, a solve of more blocks ended with "Too many open
/// files": every log file of the session stayed open.
#[test]
fn blocks_may_outnumber_the_open_files() {
    let folder = scratch();
    let command = format!(
        "ulimit -S -n 512; ulimit -H -n 3000; exec {} solve -k 6 --block-bits 8 --json -o run",
        env!("CARGO_BIN_EXE_trinim")
    );
    let output = Command::new("sh").args(["-c", &command]).current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let solved: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&solved["losses"], &solved["canonical_blocks"]), (&189_089.into(), &5_600.into()));
}

#[test]
fn a_closed_or_full_output_is_no_panic() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "5"]);
    let mut child = trinim(path, &["probe", "trinim-k5-misere", "--json"]).stdin(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    // The program may end before it has read everything.
    let _ = input.write_all("0x7fff\n".repeat(1000).as_bytes());
    drop(input);
    let mut error = String::new();
    child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{error}");
    assert_eq!(error, "");

    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    // Help that could not be written once ended with 0.
    for command in [
        &["stats", "trinim-k5-misere"][..],
        &["completions", "bash"],
        &["plan", "-k", "9", "--json"],
        &["--help"],
        &["solve", "--help"],
        &["--version"],
    ] {
        let output = trinim(path, command).stdout(full.try_clone().unwrap()).output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{command:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains("hint: standard output could not be written"));
    }
}

#[test]
fn bad_arguments_end_with_2_a_reason_and_a_hint() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "2", "-o", "two"]);
    let before = tree(path);
    // Values that `solve` refuses, by flag; all of these flags refuse the empty value.
    let values = [
        ("--layers", "0 10 11 -1 NaN 7.0 18446744073709551616"),
        ("--rule", "nim"),
        ("--max-take", "0 -3"),
        ("--memory", "0 0GiB 12XB -1GiB NaN 1e9 99999999999999999999TiB"),
        ("--threads", "-1 1025 two"),
        ("--log-placement", "nowhere"),
        ("--codec", "lzma"),
        ("--kernel", "sse9"),
        ("--strategy", "guess"),
        ("--redundancy", "some"),
        ("--bid-cells", "(1,0)(1,0) (5,0) (2,3) 1,0 (1,0"),
        ("--block-bits", "0 41"),
        ("--commit-interval", "0 2weeks NaN"),
        ("--out", ""),
        ("--color", "blue"),
    ];
    let with = |flag: &'static str, value: &'static str| match flag {
        "--layers" => vec!["solve", flag, value],
        _ => vec!["solve", "-k", "5", flag, value],
    };
    let values = values.into_iter().flat_map(|(flag, bad)| {
        bad.split_whitespace().chain([""]).map(move |value| with(flag, value)).collect::<Vec<_>>()
    });
    let others: [&[&str]; 22] = [
        &["solve"],
        &["solve", "--layers"],
        &["solve", "-k", "5", "-k", "6"],
        &["solve", "-k", "5", "--bid-cells", "(1,0)", "--block-bits", "9"],
        &["solve", "-k", "7", "--block-bits", "6"],
        &["solve", "-k", "5", "--frobnicate"],
        &["solve", "-k", "5", "here"],
        &["solve", "-k", "5", "--json", "--json"],
        &["frobnicate"],
        &["stats"],
        &["stats", "two", "--json", "--csv"],
        &["probe"],
        &["probe", "two", "2/11"],
        &["probe", "two", "-1"],
        &["verify", "two", "--sample", "0"],
        &["verify", "two", "--sample", "NaN"],
        &["verify", "two", "--sample", "1.5"],
        &["verify", "two", "--sample", "0.5", "--checksums-only"],
        &["verify", "two", "--seed", "-1"],
        &["plan", "--layers", "12"],
        &["completions", "cobol"],
        &["man"],
    ];
    for args in values.chain(others.iter().map(|args| args.to_vec())) {
        let (out, error) = ends(path, 2, &args);
        if args[0] == "probe" && args.len() > 2 {
            assert!(out.starts_with("error: "), "{args:?}: {out}");
            continue;
        }
        assert_eq!(out, "", "{args:?}");
        let lines: Vec<&str> = error.lines().collect();
        assert_eq!(lines.len(), 2, "{args:?}:\n{error}");
        assert!(lines[0].starts_with("error: ") && lines[1].starts_with("hint: "), "{args:?}:\n{error}");
    }
    assert!(tree(path) == before);
}

#[test]
fn flags_come_from_the_environment_too() {
    let folder = scratch();
    let path = folder.path();
    let output = trinim(path, &["solve"])
        .envs([("TRINIM_LAYERS", "4"), ("TRINIM_JSON", "1"), ("TRINIM_SOLVE_OUT", "here"), ("TRINIM_QUIET", "true")])
        .output()
        .unwrap();
    let solved: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&solved["losses"], &solved["out"]), (&142.into(), &"here".into()));
    assert_eq!(text(&output.stderr), "");
    let bad = trinim(path, &["solve"]).env("TRINIM_LAYERS", "many").output().unwrap();
    assert_eq!(bad.status.code(), Some(2));
}

#[test]
fn every_codec_placement_kernel_and_thread_count_gives_the_same_digest() {
    let folder = scratch();
    let path = folder.path();
    let first = json(path, 0, &["solve", "-k", "6", "--block-bits", "12", "--json"])["digest"].clone();
    let others: [&[&str]; 5] = [
        &["--codec", "raw", "--log-placement", "dedicated"],
        &["--codec", "zstd1", "--threads", "1"],
        &["--codec", "gaps", "--log-placement", "shared", "--threads", "5"],
        &["--kernel", "portable"],
        &["--memory", "40MiB"],
    ];
    for (number, more) in others.iter().enumerate() {
        let out = format!("run{number}");
        let args = [&["solve", "-k", "6", "--block-bits", "12", "--json", "--out", &out], *more].concat();
        assert_eq!(json(path, 0, &args)["digest"], first, "{more:?}");
    }
}

#[test]
fn plans_are_made_for_boards_of_all_sizes() {
    let folder = scratch();
    let path = folder.path();
    for layers in 1..=10 {
        let plan = json(path, 0, &["plan", "--layers", &layers.to_string(), "--json"]);
        assert_eq!(plan["positions"], 1u64 << (layers * (layers + 1) / 2));
        assert_eq!(plan["placements"].as_array().unwrap().len(), 2);
        for name in ["blocks", "canonical_blocks", "edges", "block_bytes", "database_bytes", "disk_free_bytes"] {
            assert!(plan[name].is_number(), "{name}");
        }
    }
    // \[SWLK12\] figure 3(f).
    let cells = "(1,0)(1,1)(6,0)(6,6)(7,1)(7,6)";
    let plan = json(path, 0, &["plan", "-k", "8", "--memory", "4GiB", "--bid-cells", cells, "--json"]);
    assert_eq!((&plan["canonical_blocks"], &plan["edges"]), (&16.into(), &87.into()));
    let (shown, warnings) = ends(path, 0, &["plan", "-k", "10"]);
    assert!(shown.contains("BID cells  24 of them"), "{shown}");
    assert!(warnings.contains("numbers only") && warnings.contains("disk is short"), "{warnings}");
    assert!(fs::read_dir(path).unwrap().next().is_none());
}

#[test]
fn completions_and_manual_pages_are_written() {
    let folder = scratch();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = ends(folder.path(), 0, &["completions", shell]).0;
        assert!(script.contains("log-placement"), "{shell}");
    }
    ends(folder.path(), 0, &["man", "deep/man1"]);
    for page in [
        "trinim",
        "trinim-solve",
        "trinim-stats",
        "trinim-probe",
        "trinim-verify",
        "trinim-plan",
        "trinim-layout",
        "trinim-report",
        "trinim-bench",
        "trinim-plane",
        "trinim-plane-at",
    ] {
        assert!(folder.path().join(format!("deep/man1/{page}.1")).is_file(), "{page}");
    }
    let help = ends(folder.path(), 0, &["--help"]).0;
    assert!(help.contains("Exit codes:") && help.contains("Examples:"), "{help}");
    for command in
        ["solve", "stats", "probe", "verify", "plan", "layout", "report", "bench", "plane", "completions", "man"]
    {
        let help = ends(folder.path(), 0, &[command, "--help"]).0;
        assert!(help.contains("Examples:"), "{command}");
    }
}

/// Every strategy leaves the same database, which any other strategy then reports as finished
/// without touching it.
#[test]
fn every_strategy_leaves_the_same_database_and_reports_what_it_moved() {
    let folder = scratch();
    let path = folder.path();
    let begin = ["solve", "-k", "6", "--block-bits", "15", "--json", "--out"];
    let first = json(path, 0, &[&begin[..], &["update-log"]].concat());
    assert_eq!((&first["strategy"], &first["redundancy"]), (&"update-log".into(), &"remove".into()));
    assert_eq!((&first["block_loads"], &first["block_bytes_written"]), (&0.into(), &0.into()));
    let of = |report: &Value, name: &str| report[name].as_u64().unwrap_or_else(|| panic!("{name}: {report}"));
    assert_eq!(of(&first, "disk_bytes_peak"), of(&first, "log_bytes_peak") + of(&first, "database_bytes"));
    let (all, canonical) = (of(&first, "blocks"), of(&first, "canonical_blocks"));
    // Strategy, other flags, redundancy in the report, blocks it stores.
    let ways: [(&str, &[&str], &str, u64); 7] = [
        ("forward", &[], "keep", 0),
        ("retrograde", &["--kernel", "scalar"], "keep", 0),
        ("block-push", &[], "remove", canonical),
        ("block-push", &["--redundancy", "keep", "--threads", "3"], "keep", all),
        ("block-pull", &["--redundancy", "remove"], "remove", canonical),
        ("block-pull", &["--redundancy", "keep", "--kernel", "scalar"], "keep", all),
        ("update-log", &["--redundancy", "remove", "--kernel", "scalar"], "remove", 0),
    ];
    for (number, (strategy, more, redundancy, blocks)) in ways.into_iter().enumerate() {
        let out = format!("run{number}");
        let args = [&begin[..], &[&out, "--strategy", strategy], more].concat();
        let report = json(path, 0, &args);
        assert_eq!(report["digest"], first["digest"], "{args:?}");
        assert_eq!((&report["strategy"], &report["redundancy"]), (&strategy.into(), &redundancy.into()));
        let slow = more.contains(&"scalar") || blocks == 0;
        assert_eq!(report["kernel"] == "scalar", slow, "{args:?}");
        assert!(database(path, &out) == database(path, "update-log"), "{args:?}: the databases differ");
        if blocks > 0 {
            let block_bytes = 1 << 12;
            let loads = of(&report, "block_loads");
            assert!(loads > blocks);
            assert_eq!(of(&report, "block_bytes_read"), loads * block_bytes);
            let stores = if strategy == "block-push" { loads + blocks } else { blocks };
            assert_eq!(of(&report, "block_bytes_written"), stores * block_bytes);
            assert_eq!(of(&report, "disk_bytes_peak"), blocks * block_bytes + of(&report, "database_bytes"));
            assert_eq!(report["codec"], "none");
        }
        let before = tree(&path.join(&out));
        for other in ["update-log", "forward", "block-push"] {
            let again = json(path, 0, &[&begin[..], &[&out, "--strategy", other]].concat());
            assert_eq!((&again["digest"], &again["workers"]), (&first["digest"], &0.into()));
            assert_eq!((&again["strategy"], &again["redundancy"]), (&strategy.into(), &redundancy.into()));
        }
        assert!(tree(&path.join(&out)) == before);
    }
    let shown = ends(path, 0, &["solve", "-k", "5", "--strategy", "block-pull"]).0;
    assert!(shown.contains("block-pull, redundancy removed: ") && !shown.contains("logs"), "{shown}");
    let shown = ends(path, 0, &["solve", "-k", "5", "--strategy", "retrograde", "-o", "five"]).0;
    assert!(shown.contains("whole board in memory"), "{shown}");
}

#[test]
fn combinations_that_make_no_sense_are_refused_with_the_reason() {
    let folder = scratch();
    let path = folder.path();
    let cases: [(&str, &[&str], &str); 9] = [
        ("block-pull", &["--log-placement", "shared"], "--log-placement shared makes no sense"),
        ("block-push", &["--codec", "raw"], "--codec raw makes no sense with --strategy block-push: it writes no logs"),
        ("forward", &["--codec", "zstd1"], "it writes no logs"),
        ("block-pull", &["--commit-interval", "1s"], "it keeps no checkpoints"),
        ("forward", &["--kernel", "portable"], "it takes one position at a time"),
        ("retrograde", &["--kernel", "portable"], "it takes one position at a time"),
        ("forward", &["--redundancy", "remove"], "it visits every position"),
        ("retrograde", &["--redundancy", "keep"], "it visits every position"),
        ("update-log", &["--redundancy", "keep"], "logs are written for one block of each group"),
    ];
    for (strategy, more, reason) in cases {
        let (out, error) = ends(path, 2, &[&["solve", "-k", "5", "--strategy", strategy], more].concat());
        assert!(out.is_empty() && error.contains(reason) && error.contains("hint: "), "{error}");
    }
    let cases: [(&[&str], &str); 4] = [
        (&["-k", "8", "--strategy", "forward"], "the whole board in memory needs 8.1 GiB"),
        (&["-k", "9", "--strategy", "retrograde", "--block-bits", "30"], "the whole board in memory needs"),
        (
            &["-k", "8", "--strategy", "block-pull", "--memory", "64MiB", "--block-bits", "27"],
            "blocks of 16 MiB need 96",
        ),
        (&["-k", "9", "--strategy", "block-push", "--redundancy", "keep"], "TiB of disk space is needed"),
    ];
    for (args, reason) in cases {
        let (_, error) = ends(path, 4, &[&["solve"], args].concat());
        assert!(error.contains(reason) && error.contains("hint: "), "{error}");
    }
    assert!(tree(path).is_empty() && fs::read_dir(path).unwrap().next().is_none());
}

#[test]
fn a_strategy_without_checkpoints_stops_at_once_and_starts_over() {
    let folder = scratch();
    let path = folder.path();
    let command =
        |strategy: &'static str| vec!["solve", "-k", "7", "--block-bits", "18", "-o", "run", "--strategy", strategy];
    for (strategy, signal_name, code) in [("forward", "INT", 130), ("block-pull", "TERM", 143)] {
        let mut slow = command(strategy);
        slow.extend(["--kernel", "scalar"]);
        let mut child = trinim(path, &slow).spawn().unwrap();
        let begun = || fs::read_dir(path.join("run/m")).is_ok_and(|files| files.count() == 4);
        for _ in 0..4000 {
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
        assert!(error.contains("keeps no checkpoints") && error.contains("hint: start over with: trinim "), "{error}");
        let other = if strategy == "forward" { "block-pull" } else { "update-log" };
        let (_, error) = ends(path, 7, &command(other));
        assert!(error.contains(&format!("strategy = {strategy}, not {other}")), "{error}");
        if strategy == "forward" {
            fs::remove_dir_all(path.join("run")).unwrap();
        }
    }
    let mut again = command("block-pull");
    again.push("--json");
    let (out, remark) = ends(path, 0, &again);
    assert!(remark.contains("and starts over"), "{remark}");
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&report["losses"], &report["resumed_blocks"]), (&19_496_523.into(), &0.into()));
    assert_eq!(fs::read_dir(path.join("run/logs")).unwrap().count(), 0);
}
