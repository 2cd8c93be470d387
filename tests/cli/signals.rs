//! Signals at any time, from the first instruction of the program on: the exit code is the
//! documented one, and nothing is lost.

use crate::common::program::{SLOW, after, begin, ends, full_pipe, json, signal, text, trinim};
use crate::common::{assert_same_files, database_files, scratch};
use serde_json::Value;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

/// Returns a field of the status of a process, if it still exists.
fn field(child: &Child, name: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    Some(status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?.trim().to_owned())
}

/// Whether a process handles SIGTERM, number 15.
fn handles(child: &Child) -> bool {
    let mask = field(child, "SigCgt").and_then(|mask| u64::from_str_radix(&mask, 16).ok());
    mask.is_some_and(|mask| mask >> 14 & 1 == 1)
}

/// Regression: signals are handled before the program reads its arguments or writes its help;
/// otherwise a supervisor that stops it meanwhile sees a crash.
#[test]
fn a_signal_while_the_arguments_are_read_ends_with_its_code() {
    let folder = scratch();
    for (name, code) in [("TERM", 143), ("INT", 130)] {
        // A full pipe holds the program in the middle of its arguments.
        let (_reader, writer) = full_pipe();
        let mut child = trinim(folder.path(), &["solve", "--help"]).stdout(writer).spawn().unwrap();
        let mut waits = 0;
        while waits < 5 {
            std::thread::sleep(Duration::from_millis(10));
            assert_eq!(child.try_wait().unwrap(), None, "the program does not wait for the pipe");
            waits = if field(&child, "State").is_some_and(|state| state.starts_with('S')) { waits + 1 } else { 0 };
        }
        signal(&child, name);
        let ended = child.wait().unwrap();
        assert_eq!((ended.code(), ended.signal()), (Some(code), None));
    }
}

/// SIGTERM later and later: death by the signal is only possible before the handlers exist, and
/// nothing is done before.
#[test]
fn a_signal_in_the_first_milliseconds_is_no_crash() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "5", "--out", "done"]);
    let solve = ["solve", "-k", "7", "--block-bits", "14", "--out"];
    let commands = [
        &["solve"][..],
        &["check", "done", "--depth", "full"],
        &["repair", "done"],
        &["verify", "done"],
        &["status", "done"],
    ];
    let (mut handled, mut early) = (0, 0);
    for (number, command) in commands.iter().enumerate() {
        for step in 0..20 {
            let name = format!("run-{number}-{step}");
            let args = if number == 0 { [&solve[..], &[&name]].concat() } else { command.to_vec() };
            let child = trinim(path, &args).spawn().unwrap();
            // Quadratic, to be both fine at first and late at last.
            std::thread::sleep(Duration::from_micros(120 * step * step));
            let (begun, handles) = (path.join(&name).exists(), handles(&child));
            assert!(handles || !begun || number != 0, "a folder was made before signals are handled");
            signal(&child, "TERM");
            let output = child.wait_with_output().unwrap();
            let (code, killed) = (output.status.code(), output.status.signal());
            let story = format!("{args:?}, step {step}: {code:?} {killed:?}\n{}", text(&output.stderr));
            if handles {
                assert!(code == Some(143) || code == Some(0), "{story}");
                handled += 1;
            } else {
                assert!(code == Some(143) || code == Some(0) || killed == Some(15), "{story}");
                early += 1;
            }
            if number == 0 && begun {
                ends(path, 0, &["check", &name, "--depth", "metadata"]);
                fs::remove_dir_all(path.join(&name)).unwrap();
            }
        }
    }
    println!("{handled} signals met their handlers, {early} came before or after them");
    assert!(handled > 40);
    ends(path, 0, &["check", "done"]);
}

/// SIGHUP, as when a terminal is closed, killed a solve without a checkpoint; with `nohup` it must
/// still be ignored.
#[test]
fn a_hangup_stops_after_a_checkpoint_unless_it_is_ignored() {
    let folder = scratch();
    let path = folder.path();
    // On a busy machine a solve may be over before the signal is sent; then another one is begun.
    let hung_up = || {
        let child = begin(path, "run");
        signal(&child, "HUP");
        let output = child.wait_with_output().unwrap();
        if output.status.success() {
            fs::remove_dir_all(path.join("run")).unwrap();
        }
        output
    };
    let output = std::iter::repeat_with(hung_up).take(5).find(|output| !output.status.success());
    let output = output.expect("a solve is stopped by the signal");
    assert_eq!(output.status.code(), Some(129), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("blocks saved in run"), "{}", text(&output.stderr));

    let mut child = after(path, "trap '' HUP", &[&SLOW[..], &["run", "--quiet"]].concat()).spawn().unwrap();
    while !handles(&child) {
        assert_eq!(child.try_wait().unwrap(), None, "the solve ended before it could be signalled");
        std::thread::sleep(Duration::from_millis(1));
    }
    signal(&child, "HUP");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Exit code, report, last event and metrics agree on the cause of a stop.
#[test]
fn every_stop_is_reported_as_a_stop() {
    let folder = scratch();
    let path = folder.path();
    for (cause, code) in [("INT", 130), ("TERM", 143), ("HUP", 129), ("time", 5)] {
        let reports = ["run", "--json", "--progress", "json", "--metrics", "run.prom"];
        // On a busy machine a solve may be over before the signal is sent.
        let limit = if cause == "time" { "300ms" } else { "1h" };
        let stopped = || {
            let _ = fs::remove_dir_all(path.join("run"));
            let mut child = trinim(path, &[&SLOW[..], &reports, &["--max-duration", limit]].concat()).spawn().unwrap();
            if cause != "time" {
                crate::common::program::committed(&mut child, &path.join("run"));
                signal(&child, cause);
            }
            child.wait_with_output().unwrap()
        };
        let output = std::iter::repeat_with(stopped).take(5).find(|output| !output.status.success());
        let output = output.expect("a solve is stopped");
        assert_eq!(output.status.code(), Some(code), "{cause}: {}", text(&output.stderr));
        let failure: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&failure["finished"], &failure["exit_code"]), (&false.into(), &code.into()), "{failure}");
        let last: Value = serde_json::from_str(text(&output.stderr).lines().last().unwrap()).unwrap();
        assert_eq!((&last["event"], &last["exit_code"]), (&"stopped".into(), &code.into()), "{last}");
        assert!(last["hint"].as_str().unwrap().starts_with("resume with: trinim solve "), "{last}");
        let metrics = fs::read_to_string(path.join("run.prom")).unwrap();
        assert!(metrics.contains("state=\"stopped\"} 1\n"), "{metrics}");
    }
}

/// Starts or resumes a slow solve and waits until it has published twenty more blocks and is still
/// running.
fn proceed(path: &Path, name: &str) -> Child {
    let published = || fs::read_dir(path.join(name).join("db")).map_or(0, |files| files.count());
    let before = published();
    let mut child = trinim(path, &[&SLOW[..], &[name]].concat()).spawn().unwrap();
    for _ in 0..24_000 {
        assert_eq!(child.try_wait().unwrap(), None, "the solve was over before it could be interrupted");
        if published() > before + 20 {
            return child;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("nothing was published in two minutes");
}

#[test]
fn kills_and_signals_at_any_time_change_nothing() {
    let folder = scratch();
    let path = folder.path();
    let whole = json(path, 0, &[&SLOW[..], &["whole", "--json"]].concat());
    assert_eq!(whole["losses"], 19_496_523);
    assert_eq!(whole["resumed_blocks"], 0);

    for (name, code) in [("KILL", None), ("INT", Some(130)), ("KILL", None), ("TERM", Some(143))] {
        let child = proceed(path, "resumed");
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
    assert_same_files(&database_files(&path.join("resumed")), &database_files(&path.join("whole")), "resumed");
}
