//! What surrounds a process: standard input, the locale, and the warning that its processor time is
//! nearly used up. Variables are in `sessions/variables.txt`.

use crate::common::program::{SLOW, after, begin, ends, outcome, signal, terminal, text, trinim};
use crate::common::{assert_same_files, database_files, scratch};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

/// Another program that shares the pipe may have made it non-blocking.
#[test]
fn standard_input_that_does_not_block_is_waited_for() {
    let folder = scratch();
    for (args, parts) in [
        (&["probe", "--layers", "4", "--brief"][..], ["0x3\n0x", "7\n"]),
        (&["play", "--layers", "3", "--first", "person", "--seed", "1"], ["mo", "ves\nquit\n"]),
    ] {
        let (input, mut person) = std::io::pipe().unwrap();
        fcntl_setfl(&input, fcntl_getfl(&input).unwrap() | OFlags::NONBLOCK).unwrap();
        let child = trinim(folder.path(), args).stdin(input).spawn().unwrap();
        for part in parts {
            std::thread::sleep(Duration::from_millis(300));
            person.write_all(part.as_bytes()).unwrap();
        }
        drop(person);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
        assert!(text(&output.stdout).lines().count() >= 2, "{args:?}: {}", text(&output.stdout));
    }
}

#[test]
fn standard_output_that_does_not_block_is_waited_for() {
    let folder = scratch();
    let (mut person, program) = terminal();
    fcntl_setfl(&program, fcntl_getfl(&program).unwrap() | OFlags::NONBLOCK).unwrap();
    let mut child = trinim(folder.path(), &["completions", "bash"]).stdout(program).spawn().unwrap();
    // The terminal takes some kilobytes before anybody reads.
    std::thread::sleep(Duration::from_millis(300));
    let (mut shown, mut bytes) = (Vec::new(), [0; 512]);
    while let Ok(count @ 1..) = person.read(&mut bytes) {
        shown.extend(&bytes[..count]);
    }
    assert!(child.wait().unwrap().success());
    let (expected, _) = ends(folder.path(), 0, &["completions", "bash"]);
    assert!(expected.len() > 1 << 15);
    assert!(text(&shown).replace("\r\n", "\n") == expected);
}

/// Standard error of a solve on a terminal, in this locale.
fn bar_in(folder: &Path, locale: &[(&str, &str)], name: &str) -> String {
    let (mut person, program) = terminal();
    let args = ["solve", "-k", "7", "--block-bits", "16", "--progress", "bar", "--out", name];
    let mut command = trinim(folder, &args);
    command.env("TERM", "xterm").envs(locale.iter().copied()).stderr(program);
    let mut child = command.spawn().unwrap();
    drop(command);
    let (mut shown, mut bytes) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = person.read(&mut bytes) {
        shown.extend(&bytes[..count]);
    }
    assert!(child.wait().unwrap().success());
    text(&shown)
}

#[test]
fn the_bar_has_the_characters_of_the_locale() {
    let folder = scratch();
    for (number, (locale, is_wide)) in [
        (&[("LANG", "en_US.UTF-8")][..], true),
        (&[("LANG", "C"), ("LC_CTYPE", "C.utf8")], true),
        (&[("LANG", "en_US.UTF-8"), ("LC_ALL", "C")], false),
        (&[("LANG", "en_US.UTF-8"), ("LC_CTYPE", "POSIX"), ("LC_ALL", "")], false),
        (&[("LANG", "de_DE.ISO-8859-1")], false),
        (&[], false),
    ]
    .into_iter()
    .enumerate()
    {
        let shown = bar_in(folder.path(), locale, &format!("run{number}"));
        let drawn = shown.replace("µs", "us");
        assert!(shown.contains('%') && shown.contains(if is_wide { '░' } else { '.' }), "{locale:?}: {shown:?}");
        assert!(is_wide || drawn.contains('#') || drawn.contains(".........."), "{locale:?}: {shown:?}");
        assert!(is_wide || !shown.contains(['█', '░']), "{locale:?}: {shown:?}");
    }
}

/// Schedulers send SIGXCPU as a warning, and the kernel sends it again every second.
#[test]
fn a_warning_of_the_processor_time_stops_with_a_checkpoint() {
    let folder = scratch();
    let path = folder.path();
    let mut child = begin(path, "run");
    for _ in 0..3 {
        signal(&child, "XCPU");
        std::thread::sleep(Duration::from_millis(5));
        if child.try_wait().unwrap().is_some() {
            break;
        }
    }
    let output = child.wait_with_output().unwrap();
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{error}");
    assert!(error.contains("hint: resume with: trinim solve "), "{error}");
    ends(path, 0, &["check", "run", "--depth", "metadata"]);
    ends(path, 0, &["resume", "run"]);
    ends(path, 0, &[&SLOW[..], &["whole"]].concat());
    assert_same_files(&database_files(&path.join("run")), &database_files(&path.join("whole")), "after a warning");
    // From the limit itself, which the kernel enforces: the soft one first.
    let (code, _, error) = outcome(&mut after(path, "ulimit -S -t 1", &[&SLOW[..], &["limited"]].concat()));
    assert!([0, 5].contains(&code), "{code}: {error}");
}
