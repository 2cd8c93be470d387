//! Every command, by the program.
//!
//! `golden/*.json` hold reports byte by byte, `golden/session.txt` commands with what they print.
//! `TRINIM_WRITE_GOLDEN=1` rewrites all of it.

use super::export::golden;
use processes::session::Place;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn program(args: &[&str]) -> Command {
    let mut command = processes::command(env!("CARGO_BIN_EXE_trinim-evolve"));
    command.args(args);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Runs a command that must end with `code`, and returns its standard output.
fn ends(code: i32, args: &[&str]) -> String {
    let Output { status, stdout, stderr } = program(args).output().unwrap();
    assert_eq!(status.code(), Some(code), "{args:?}: {}", text(&stderr));
    text(&stdout)
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&ends(0, &[args, &["--json"]].concat())).unwrap()
}

#[test]
fn json_is_golden() {
    let cases: [(&str, i32, &[&str]); 10] = [
        ("run", 0, &["run", "--game", "nim:3,3,3", "--preset", "best", "--runs", "2", "--seed", "7"]),
        // The best formula depended on the order of a hash table.
        (
            "run-masks",
            0,
            &["run", "--game=nim:2,2", "--terminals=65535,1023", "--functions=and,or,xor,-", "--n=none", "--runs=2"],
        ),
        ("run-nothing", 0, &["run", "--game", "wythoff:5", "--misere", "--runs", "1", "--generations", "2"]),
        ("score", 0, &["score", "--game", "nim:2,1", "--formula", "a1-a2*a1", "--tree"]),
        ("verify", 0, &["verify", "--game", "nim:4,4,4,4", "--formula", "(a1^a2^a3)-a4", "--max", "9"]),
        ("verify-words", 1, &["verify", "--game", "nim:3,3", "--formula", "4 * (a1 xor a2)"]),
        ("verify-period", 0, &["verify", "--game", "subtraction:1,2,3:20", "--formula", "a1 mod 4"]),
        ("experiment", 0, &["experiment", "2", "--runs", "1"]),
        ("claims", 1, &["claims", "--runs", "1"]),
        ("export", 0, &["export", "--game", "nim:3,3", "--formula", "a1 div a2", "--as", "python", "--zero", "0"]),
    ];
    for (name, code, args) in cases {
        for threads in ["1", "3"] {
            let searches = ["run", "experiment", "claims"].contains(&args[0]);
            let threads: &[&str] = if searches { &["--threads", threads] } else { &[] };
            golden(&format!("{name}.json"), &ends(code, &[args, threads, &["--json"]].concat()));
        }
    }
}

#[test]
fn a_session_is_golden() {
    let folder = std::env::temp_dir().join(format!("trinim-evolve.{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let place = Place { folder: &folder, program: env!("CARGO_BIN_EXE_trinim-evolve") };
    place.file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/golden/session.txt"));
    fs::remove_dir(folder).unwrap();
}

/// Each setting is reported, and changes the run.
#[test]
fn settings_are_set_by_name() {
    let run =
        |set: &[&str]| json(&[&["run", "--game", "nim:4,4,4", "--runs", "1", "--generations", "7"], set].concat());
    let before = run(&[]);
    let all = "steps=population steps=7 tournament=4 crossover=Two-Point crossover-probability=0.5 mutation=gene-rate \
               mutations=3 replacement=both representative=best terminal-share=0.3 initial-counts=true";
    for set in all.split(' ') {
        let report = run(&["--set", set]);
        let (name, value) = set.split_once('=').unwrap();
        let found = report["settings"][name.replace('-', "_")].to_string();
        assert_eq!(found.trim_matches('"').trim_end_matches(".0"), value.to_lowercase());
        assert_ne!(report["runs"], before["runs"], "{set}");
    }
    let source = run(&["--preset", "source", "--set", "terminal-share=uniform", "--set", "steps=half"]);
    assert_eq!((&source["settings"]["terminal_share"], &source["settings"]["steps"]), (&Value::Null, &"half".into()));
}

/// The output of a run can be read: the chromosome of each run gives its formula.
#[test]
fn chromosomes_are_read_as_they_are_printed() {
    let report = json(&["run", "--game", "nim:3,3", "--runs", "3", "--preset", "misere", "--misere"]);
    for run in report["runs"].as_array().unwrap() {
        let (genes, gene) = (run["chromosome"].to_string(), run["gene"].to_string());
        let args = ["score", "--game", "nim:3,3", "--misere", "--chromosome", &genes, "--gene", &gene];
        assert_eq!(json(&args)["formula"], run["formula"]);
    }
}

#[test]
fn the_claims_are_computed_from_the_runs_of_the_experiments() {
    let [claims, experiment] = [include_str!("golden/claims.json"), include_str!("golden/experiment.json")]
        .map(|golden| serde_json::from_str::<Value>(golden).unwrap());
    let claims = claims["claims"].as_array().unwrap();
    let is_point = |claim: &&Value| claim["claim"].as_str().unwrap().starts_with("Successful runs");
    assert_eq!(claims.iter().filter(is_point).count(), 30);
    for point in experiment["sweeps"][0]["points"].as_array().unwrap() {
        let text = format!("Successful runs, generations {}", point["value"]);
        let claim = claims.iter().find(|claim| claim["claim"] == *text).unwrap();
        assert!(claim["computed"].as_str().unwrap().starts_with(&format!("{} of 1 ", point["successes"])), "{claim}");
    }
    let shown = ends(1, &["claims", "--runs", "1"]);
    assert!(shown.contains("\nsection 3.4: misprint\n  claim     A P-position is a violation if all"), "{shown}");
    assert!(shown.ends_with(" agrees, 5 contradicted, 3 misprint, 1 undecided\n"), "{shown}");
}

/// Sends a signal once the program has worked for a while, and returns its report.
fn interrupted(args: &[&str], signal: &str, code: i32) -> String {
    let child = program(args).spawn().unwrap();
    let worked = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        stat.rsplit(' ').nth(52 - 14).unwrap().parse::<u64>().unwrap()
    };
    processes::wait_until("at work", || worked() >= 15);
    processes::signal(&child, signal);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(code));
    assert!(text(&output.stderr).starts_with("stopped by a signal "), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn what_is_interrupted_keeps_what_was_found() {
    let args = ["run", "--game", "nim:2,2", "--runs", "100000", "--generations", "30", "--json"];
    let report: Value = serde_json::from_str(&interrupted(&args, "INT", 130)).unwrap();
    assert_eq!(report["interrupted"], true);
    let runs = report["runs"].as_array().unwrap();
    let finished = runs.iter().filter(|run| run["finished"] == true).count() as u64;
    assert!(finished > 0 && Some(finished) == report["runs_finished"].as_u64());
    // Runs stopped midway are reported, and do not count.
    assert!(runs.iter().all(|run| run["finished"] == true || run["generation"].is_null()), "{report}");
    let report = interrupted(&["experiment", "3", "--runs", "100000", "--json"], "TERM", 143);
    assert_eq!(serde_json::from_str::<Value>(&report).unwrap()["interrupted"], true);
    assert_eq!(interrupted(&["claims", "--runs", "100000"], "INT", 130), "");
    let failure: Value =
        serde_json::from_str(&interrupted(&["claims", "--runs", "100000", "--json"], "TERM", 143)).unwrap();
    assert_eq!((&failure["schema"], &failure["exit_code"]), (&"trinim.failure/1".into(), &143.into()));
    assert_eq!(failure["reason"], "stopped by a signal before all runs were done: claims need all runs");
}

#[test]
fn standard_error_that_nobody_reads_holds_up_nothing() {
    let (_reader, mut writer) = std::io::pipe().unwrap();
    // As much as a pipe holds.
    std::io::Write::write_all(&mut writer, &[0; 65_536]).unwrap();
    let mut child = program(&["score", "--game", "chess", "--formula", "a1"]).stderr(writer).spawn().unwrap();
    let mut ended = None;
    processes::wait_until("ended", || {
        ended = child.try_wait().unwrap();
        ended.is_some()
    });
    assert_eq!(ended.and_then(|status| status.code()), Some(2));
}

/// As for a command followed by `&` in a script.
#[test]
fn an_ignored_interrupt_stays_ignored() {
    let args = ["run", "--game", "nim:2,2", "--runs", "100000", "--generations", "30", "--json"];
    let mut child = processes::after("trap '' INT", env!("CARGO_BIN_EXE_trinim-evolve"));
    let mut child = child.args(args).stdout(Stdio::null()).spawn().unwrap();
    let has = |status: &str, name: &str, signal: Signal| {
        let mask = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        u64::from_str_radix(mask.trim(), 16).unwrap() >> (signal.as_raw() - 1) & 1 == 1
    };
    // SIGTERM is handled after SIGINT would have been.
    let mut status = String::new();
    processes::wait_until("SIGTERM is handled", || {
        status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        has(&status, "SigCgt:", Signal::TERM)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(has(&status, "SigIgn:", Signal::INT) && !has(&status, "SigCgt:", Signal::INT), "{status}");
}
