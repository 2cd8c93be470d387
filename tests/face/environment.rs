//! What surrounds a process: variables, standard input, the locale, the limit of open files, and
//! the warning that its processor time is nearly used up.

use crate::common::program::{SLOW, after, begin, ends, outcome, signal, terminal, text, trinim};
use crate::common::{assert_same_files, database_files, scratch};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

/// What a script does not set is empty: `TRINIM_MEMORY=${MEM:-}`.
#[test]
fn an_empty_variable_is_unset_and_a_wrong_one_is_named() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "4", "--out", "four"]);
    let names = ["TRINIM_MEMORY", "TRINIM_THREADS", "TRINIM_SCRATCH", "TRINIM_QUIET"];
    let commands = [
        &["solve", "-k", "4", "--out", "again"][..],
        &["plan", "-k", "6"],
        &["probe", "-k", "4", "0x3"],
        &["probe", "four", "0x3"],
        &["stats", "four"],
        &["verify", "four"],
        &["check", "four"],
        &["export", "four", "--out", "-"],
    ];
    for args in commands {
        let mut command = trinim(path, args);
        let (code, _, error) = outcome(names.into_iter().fold(&mut command, |command, name| command.env(name, "")));
        assert_eq!(code, 0, "{args:?}: {error}");
    }
    for (name, option) in [("TRINIM_MEMORY", "--memory"), ("TRINIM_THREADS", "--threads")] {
        for args in [&["solve", "-k", "4"][..], &["plan", "-k", "4"]] {
            let (code, _, error) = outcome(trinim(path, args).env(name, "many"));
            let line = error.lines().next().unwrap_or_default();
            // `plan` has no threads that anything is computed with, and reads no variable for them.
            if code == 0 {
                continue;
            }
            assert!(code == 2 && line.contains(name) && !line.contains(option), "{args:?}: {error}");
            let given = [args, &[option, "none"]].concat();
            let (code, _, error) = outcome(trinim(path, &given).env(name, "many"));
            let line = error.lines().next().unwrap_or_default();
            assert!(code == 2 && line.contains(option) && !line.contains(name), "{given:?}: {error}");
        }
    }
}

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

/// `--color` also for what is printed before the arguments are read, and where they are refused.
#[test]
fn the_choice_of_colours_reaches_help_and_refusals() {
    let folder = scratch();
    for args in [&["--help"][..], &["solve", "--help"], &["--version"], &["frobnicate"], &["solve", "-k", "99"]] {
        for (choice, is_coloured) in [(&["--color", "always"][..], true), (&["--color=never"], false)] {
            for words in [[args, choice].concat(), [choice, args].concat()] {
                let mut command = trinim(folder.path(), &words);
                let (_, out, error) = outcome(command.env("CLICOLOR_FORCE", if is_coloured { "0" } else { "1" }));
                let found = out.contains('\x1b') || error.contains('\x1b');
                // A version has nothing to colour.
                assert_eq!(found, is_coloured && !args.contains(&"--version"), "{words:?}: {out}{error}");
            }
        }
    }
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

/// A database of many blocks and a low limit of open files: every command that reads it ends well.
#[test]
fn readers_keep_the_limit_of_open_files() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "6", "--block-bits", "8", "--out", "many"]);
    let positions: Vec<String> = (0..300_u32).map(|number| format!("{:#x}", number * 3_491)).collect();
    let probe =
        ["probe", "many", "--brief"].into_iter().chain(positions.iter().map(String::as_str)).collect::<Vec<_>>();
    for limit in [16, 64] {
        for args in
            [&probe[..], &["stats", "many"], &["export", "many", "--out", "-"], &["verify", "many"], &["check", "many"]]
        {
            let (code, _, error) = outcome(&mut after(path, &format!("ulimit -n {limit}"), args));
            assert_eq!(code, 0, "{limit}: {:?}: {error}", &args[..2]);
        }
    }
}

/// Seeds are repeated in JSON, where many readers know whole numbers up to 2^53 only.
#[test]
fn a_seed_is_one_that_every_reader_of_json_knows() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "4", "--out", "four"]);
    for args in [
        &["verify", "four", "--sample", "50%", "--seed"][..],
        &["export", "four", "--what", "values", "--sample", "3", "--out", "-", "--seed"],
        &["play", "-k", "3", "--seed"],
    ] {
        ends(path, 0, &[args, &["9007199254740992"]].concat());
        let (_, error) = ends(path, 2, &[args, &["9007199254740993"]].concat());
        assert!(error.contains("expected a whole number up to 9007199254740992"), "{error}");
    }
}
