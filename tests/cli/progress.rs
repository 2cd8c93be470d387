//! What a solve says on standard error: the header, its progress on every kind of output, and what
//! it resumes.

use crate::common::program::{SLOW, begin, ends, json, run, signal, terminal, text, trinim, unannounced};
use crate::common::scratch;
use std::fs;
use std::io::Read;
use std::path::Path;

/// A small solve in 1,400 blocks, for the time that its lines need.
const LINES: [&str; 8] = ["solve", "-k", "7", "--block-bits", "16", "--progress-interval", "10ms", "--json"];

/// The percentages at the start of progress lines.
fn percentages(error: &str) -> Vec<f64> {
    let lines = error.lines().filter_map(|line| line.split_once(" % "));
    // The time may come before.
    lines.filter_map(|(front, _)| front.rsplit(' ').next()?.parse().ok()).collect()
}

/// Runs a solve whose standard error is a terminal of this kind, and returns what it shows.
fn on_terminal(folder: &Path, term: &str, args: &[&str]) -> String {
    let (mut terminal, other) = terminal();
    let mut child = trinim(folder, args).env("TERM", term).env("LC_ALL", "C.UTF-8").stderr(other).spawn().unwrap();
    let mut shown = Vec::new();
    // The read fails once no process has the other end.
    let mut bytes = [0; 4096];
    while let Ok(count) = terminal.read(&mut bytes) {
        shown.extend(&bytes[..count]);
        if count == 0 {
            break;
        }
    }
    assert!(child.wait().unwrap().success());
    unannounced(text(&shown))
}

/// Regression: nothing done is 0.0 %, not -0.0 %.
#[test]
fn a_solve_that_has_just_begun_has_done_nothing() {
    let folder = scratch();
    let path = folder.path();
    let args = ["solve", "-k", "7", "--block-bits", "14", "--commit-interval", "1h", "--out", "run"];
    let mut child = trinim(path, &args).spawn().unwrap();
    while !path.join("run/m/journal.1.a").exists() {
        assert_eq!(child.try_wait().unwrap(), None, "the solve was over before it could be observed");
    }
    signal(&child, "KILL");
    child.wait().unwrap();
    let status = json(path, 0, &["status", "run", "--json"]);
    assert_eq!((&status["state"], &status["finished_blocks"]), (&"begun".into(), &0.into()));
    assert_eq!(status["work_done"].as_f64().unwrap().to_bits(), 0);
    let shown = ends(path, 0, &["status", "run"]).0;
    assert!(shown.contains("0.0 % of the planned work") && !shown.contains('-'), "{shown}");
}

/// A resumed solve began at 0 % again, with the header of the whole job.
#[test]
fn a_resumed_solve_says_what_it_resumes_and_counts_the_whole() {
    let folder = scratch();
    let path = folder.path();
    let child = begin(path, "run");
    signal(&child, "TERM");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(143));
    let status = json(path, 0, &["status", "run", "--json"]);
    let shown = ends(path, 0, &["status", "run"]).0;
    let share = format!("{:.1} %", status["work_done"].as_f64().unwrap() * 100.0);
    assert!(shown.contains(&format!("{share} of the planned work")), "{shown}");
    assert!(!shown.contains("rate"), "{shown}");

    let lines = ["run", "--progress", "lines", "--progress-interval", "10ms"];
    let (out, error) = ends(path, 0, &[&SLOW[..], &lines].concat());
    let (done, blocks) = (status["finished_blocks"].as_u64().unwrap(), status["blocks"].as_u64().unwrap());
    // On a busy machine a line of progress may come first.
    let header = error.lines().find(|line| line.starts_with("run: ")).unwrap().replace(',', "");
    assert!(
        header.starts_with(&format!("run: resuming: {done} of {blocks} blocks ({share} of the work) are done ")),
        "{error}"
    );
    // One on a machine with one processor.
    assert!(header.ends_with(" workers") || header.ends_with(" 1 worker"), "{error}");
    let begun: f64 = share.trim_end_matches(" %").parse().unwrap();
    let found = percentages(&error);
    assert!(found.len() > 2 && found.iter().all(|percent| *percent >= begun) && found.is_sorted(), "{error}");
    // The session has solved less than the board.
    assert!(out.contains(&format!("resumed    {}", status["finished_blocks"])), "{out}");

    let finished = ends(path, 0, &["status", "run"]).0;
    assert!(finished.contains("finished") && !finished.contains("rate"), "{finished}");
    for name in ["SUMS", "manifest.json"] {
        fs::remove_file(path.join("run/db").join(name)).unwrap();
    }
    let (out, error) = ends(path, 0, &[&SLOW[..], &["run"]].concat());
    assert!(!out.contains("positions/s"), "{out}");
    assert!(error.contains(" blocks are done, only manifest and checksums are left\n"), "{error}");
    assert!(error.starts_with("run: resuming: all "), "{error}");
}

/// A dumb terminal, as that of Emacs or of a pipeline with one, got no progress at all.
#[test]
fn a_dumb_terminal_gets_lines_and_another_one_a_bar() {
    let folder = scratch();
    let path = folder.path();
    let solve = |out: &'static str| [&LINES[..], &["--out", out]].concat();
    let dumb = on_terminal(path, "dumb", &solve("dumb"));
    assert!(percentages(&dumb).len() > 1 && !dumb.contains('\x1b'), "{dumb:?}");
    let able = on_terminal(path, "xterm", &solve("able"));
    assert!(able.contains('\x1b') && able.contains('█') && able.contains("able: "), "{able:?}");
    let lines = on_terminal(path, "xterm", &[&solve("lines")[..], &["--progress", "lines"]].concat());
    assert!(percentages(&lines).len() > 1 && !lines.contains('█'), "{lines:?}");
    let none = on_terminal(path, "xterm", &[&solve("none")[..], &["--progress", "none"]].concat());
    assert!(none.starts_with("none: ") && none.lines().count() == 1, "{none:?}");
    assert_eq!(on_terminal(path, "xterm", &[&solve("quiet")[..], &["--quiet"]].concat()), "");
}

#[test]
fn progress_off_a_terminal_is_lines() {
    let folder = scratch();
    let path = folder.path();
    let solve = |out: &'static str, more: &[&'static str]| [&LINES[..], &["--out", out], more].concat();
    let (_, lines) = ends(path, 0, &solve("auto", &[]));
    assert!(percentages(&lines).len() > 1, "{lines}");
    // One unit for sizes and one for positions, and what the share of the database is of.
    let line = lines.lines().find(|line| line.contains("ETA") && line.contains("iB/s")).unwrap();
    assert!(line.contains("positions/s  logs ") && line.ends_with(" % of bitmap"), "{line}");
    // A narrow bar has room for the beginning.
    assert!(line.contains(" % solving  ETA "), "{line}");
    assert!(percentages(&ends(path, 0, &solve("none", &["--progress", "none"])).1).is_empty());
    assert_eq!(ends(path, 0, &solve("quiet", &["-q", "--progress", "lines"])).1, "");
    let (code, _, error) = run(path, &solve("bar", &["--progress", "bar"]));
    assert_eq!((code, path.join("bar").exists()), (2, false), "{error}");
    assert!(error.contains("hint: use --progress lines"), "{error}");
    let verified = ends(path, 0, &["verify", "auto"]).0;
    assert!(verified.contains("values     268,435,456 positions ("), "{verified}");
}
