//! Signals at any time, from the first instruction of the program on: the exit code is the
//! documented one, and nothing is lost.

mod common;
mod program;

use common::scratch;
use program::{SLOW, begin, ends, signal, text, trinim};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};
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

/// The program wrote its help, and so had read its arguments, before it handled signals: a
/// supervisor that stopped it meanwhile saw a crash.
#[test]
fn a_signal_while_the_arguments_are_read_ends_with_its_code() {
    let folder = scratch();
    for (name, code) in [("TERM", 143), ("INT", 130)] {
        // A full pipe holds the program in the middle of its arguments.
        let (_reader, mut writer) = std::io::pipe().unwrap();
        let flags = fcntl_getfl(&writer).unwrap();
        fcntl_setfl(&writer, flags | OFlags::NONBLOCK).unwrap();
        while writer.write(&[b' '; 4096]).is_ok() {}
        while writer.write(b" ").is_ok() {}
        fcntl_setfl(&writer, flags).unwrap();
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
        &["bench", "--layers", "4", "--repeats", "50", "--yardstick", "none"],
        &["plane", "verify", "--max", "400"],
        &["evolve", "run", "--game", "nim:3,3", "--runs", "50"],
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
    let child = begin(path, "run");
    signal(&child, "HUP");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(129), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("blocks saved in run"), "{}", text(&output.stderr));

    let solve = trinim(path, &[&SLOW[..], &["run", "--quiet"]].concat());
    let words: Vec<String> = std::iter::once(solve.get_program())
        .chain(solve.get_args())
        .map(|word| word.to_str().unwrap().to_owned())
        .collect();
    let ignoring = format!("trap '' HUP; exec {}", words.join(" "));
    let mut child = Command::new("sh").args(["-c", &ignoring]).current_dir(path).spawn().unwrap();
    while !handles(&child) {
        assert_eq!(child.try_wait().unwrap(), None, "the solve ended before it could be signalled");
        std::thread::sleep(Duration::from_millis(1));
    }
    signal(&child, "HUP");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
