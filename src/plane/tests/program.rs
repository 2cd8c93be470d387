//! The program `trinim-plane`, by its binary: what it prints, what it refuses, and how it ends.
//!
//! `commands.txt` shows commands with what they print, `claims.json` what `claims --json` prints:
//! scripts rely on each byte of the JSON.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

fn program(args: &[&str]) -> Command {
    let mut command = processes::command(env!("CARGO_BIN_EXE_trinim-plane"));
    command.args(args).stdin(Stdio::piped());
    command
}

/// Runs a command, which must end with `code`; returns standard output and standard error.
fn ends(code: i32, args: &[&str], input: &str) -> (String, String) {
    let mut child = program(args).spawn().unwrap();
    // The program may end without reading its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    ended(code, args, child)
}

fn ended(code: i32, args: &[&str], child: Child) -> (String, String) {
    let output = child.wait_with_output().unwrap();
    let [out, error] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    let args = args.join(" ");
    assert_eq!(output.status.code(), Some(code), "{:.200}\n{out:.2000}\n{error:.2000}", args);
    (out, error)
}

/// Runs the commands of a page, each a line that begins with `$`, and compares what follows there.
fn compare(page: &str) -> usize {
    let mut commands = page.split("$ trinim-plane ").skip(1).map(|text| text.split("```").next().unwrap());
    commands
        .by_ref()
        .map(|text| {
            let (command, expected) = text.split_once('\n').unwrap();
            let (args, code) = command.split_once("  # exit code ").unwrap_or((command, "0"));
            let (out, _) = ends(code.parse().unwrap(), &args.split(' ').collect::<Vec<_>>(), "");
            assert_eq!(out, expected, "{command}");
        })
        .count()
}

#[test]
fn commands_print_what_the_pages_show() {
    assert_eq!(compare(include_str!("commands.txt")), 32);
    assert_eq!(compare(include_str!("../README.md")), 1);
}

#[test]
fn claims_are_listed_with_their_verdicts() {
    let expected = include_str!("claims.json");
    assert_eq!(ends(1, &["claims", "--json"], "").0, expected);
    let expected: Value = serde_json::from_str(expected).unwrap();
    let (out, error) = ends(1, &["claims"], "");
    assert!(error.is_empty(), "{error}");
    for claim in expected["claims"].as_array().unwrap() {
        let heading = format!("{}: {}\n", claim["place"].as_str().unwrap(), claim["verdict"].as_str().unwrap());
        assert!(out.contains(&heading), "{heading}");
    }
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    assert!(out.ends_with("56 claims of [Ver10]: 26 agree, 18 contradicted, 3 misprinted, 9 undecided\n"), "{out}");
}

#[test]
fn every_method_lists_the_same_points() {
    let list = |method| ends(0, &["points", "--from", "995", "--count", "500", "--method", method], "").0;
    let exact = list("exact");
    assert_eq!((exact.lines().count(), list("generator"), list("newton")), (500, exact.clone(), exact));
    let (_, error) = ends(0, &["points", "--from", "10^9", "--count", "1", "--check"], "");
    assert!(error.starts_with("the generator is left out"), "{error}");
}

#[test]
fn heaps_have_any_length() {
    let out = ends(0, &["at", "10^1000", "10^999"], "").0;
    assert!(out.contains("(1001 digits)") && out.lines().all(|line| line.len() < 250), "{out}");
    // Longer than an argument can be.
    let long = "7".repeat(150_000);
    let out = ends(0, &["at", "-", "--json"], &format!("{long}\n 10^150000 ")).0;
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&found["position"][0], &found["outcome"]), (&json!(long), &json!("N")));
}

#[test]
fn bad_arguments_are_refused() {
    let long = format!("{}x", "1".repeat(100_000));
    let numbers: [(&[&str], &str); 19] = [
        (&["at", "-5", "3"], "S: -5 is negative"),
        (&["at", "3", "-5"], "L: -5 is negative"),
        (&["at", "1.5", "3"], "S: \"1.5\" is not a whole number"),
        (&["at", "3", "1e5"], "L: \"1e5\" is not a whole number"),
        (&["at", "0x10", "3"], "S: \"0x10\" is not a whole number"),
        (&["at", "", "3"], "S: \"\" is not a whole number"),
        (&["at", "NaN", "3"], "S: \"NaN\" is not a whole number"),
        (&["at", "3"], "L: there is only one heap"),
        (&["at", "0", "0"], "(0, 0) ends the game"),
        (&["at", "0^1", "00", "--goal", "attrition"], "(0, 0) ends the game"),
        (&["at", "10^1000000", "1"], "S: 10^1000000 has too many digits: expected at most 1000000"),
        (&["at", "1", "2^99999999999999999999"], "too many digits"),
        (&["at", &long, "1"], "is not a whole number"),
        (&["at", "-"], "standard input: not two numbers"),
        (&["at", "6", "501", "--flip", "turn"], "L: no formula is known"),
        (&["points", "--from", "-1"], "--from: -1 is negative"),
        (&["points", "--from", "10^9", "--method", "generator"], "the generator counts up from 1"),
        (&["index", "-1"], "X: -1 is negative"),
        (&["index", "10^40", "--method", "generator"], "X: the generator counts up from 1"),
    ];
    for (args, reason) in numbers {
        let (out, error) = ends(2, args, "");
        let lines: Vec<&str> = error.lines().collect();
        assert!(out.is_empty() && lines.len() == 2 && error.len() < 300, "{error}");
        assert!(lines[0].starts_with("error: ") && lines[0].contains(reason), "{error}");
        assert!(lines[1].starts_with("hint: "), "{error}");
    }
    let (out, error) = ends(2, &["at", "-"], &format!("{} 5", "1".repeat(1_000_001)));
    assert!(out.is_empty() && error.lines().count() == 2 && error.contains("too many digits"), "{}", error.len());
    let zeros = format!("1 {}5", "0".repeat(2_001_000));
    assert!(ends(2, &["at", "-"], &zeros).1.contains("standard input: expected at most 2001000 bytes"));
    let choices: [(&[&str], &str); 9] = [
        (&["at", "1", "2", "3"], "unexpected argument"),
        (&["at", "1", "2", "--goal", "win"], "[possible values: normal, attrition]"),
        (&["at", "1", "2", "--flip", "now"], "[possible values: none, free, after, turn]"),
        (&["at", "1", "2", "--flips", "3"], "[possible values: one, each, two, unlimited]"),
        (&["points", "--count", "-1"], "--count"),
        (&["points", "--csv", "--json"], "cannot be used with"),
        (&["points", "--method", "guess"], "--method"),
        (&["precision", "--digits", "10001"], "--digits"),
        (&["verify", "--max", "1001"], "--max"),
    ];
    for (args, reason) in choices {
        let (out, error) = ends(2, args, "");
        assert!(out.is_empty() && error.contains(reason), "{error}");
    }
}

#[test]
fn a_refusal_is_reported_in_json() {
    let (out, error) = ends(2, &["at", "x", "1", "--json"], "");
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(found["schema"], "trinim.failure/1");
    assert_eq!(
        (&found["finished"], &found["command"], &found["exit_code"]),
        (&json!(false), &json!("plane at"), &json!(2))
    );
    let [reason, hint] = ["reason", "hint"].map(|field| found[field].as_str().unwrap());
    assert_eq!(error, format!("error: {reason}\nhint: {hint}\n"));
}

#[test]
fn a_reader_that_stops_early_is_not_an_error() {
    for args in [&["points", "--count", "100000000000"][..], &["claims"], &["--help"]] {
        let mut child = program(args).spawn().unwrap();
        drop(child.stdout.take());
        let (_, error) = ended(0, args, child);
        assert!(error.is_empty(), "{error}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_with_its_exit_code() {
    for args in [&["points", "--count", "100000000000"][..], &["at", "1", "2", "--json"], &["--help"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let (_, error) = ended(4, args, program(args).stdout(full).spawn().unwrap());
        assert!(error.starts_with("error: standard output: No space left"), "{error}");
    }
    let folder = std::fs::File::open("/").unwrap();
    let (_, error) = ended(4, &["at", "-"], program(&["at", "-"]).stdin(folder).spawn().unwrap());
    assert!(error.starts_with("error: standard input: "), "{error}");
}

/// A shell reports 130 for a program that SIGINT ends.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_long_command() {
    let mut child = program(&["points", "--count", "100000000000"]).spawn().unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0; 100]).unwrap();
    processes::signal(&child, "INT");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&child.wait().unwrap()), Some(2));
}

/// With `>&-` nothing was written, and the exit code was 0.
#[cfg(unix)]
#[test]
fn closed_standard_output_is_an_error() {
    for args in [&["at", "1", "2"][..], &["claims", "--json"], &["--help"]] {
        let mut command = processes::after("exec >&-", env!("CARGO_BIN_EXE_trinim-plane"));
        let (_, error) = ended(4, args, command.args(args).spawn().unwrap());
        assert!(error.starts_with("error: standard output: "), "{error}");
    }
}

/// What a text may do to a terminal: its title, and a line of its own.
#[test]
fn texts_of_others_are_shown_and_not_obeyed() {
    let hostile = "x\u{1b}]0;\u{7}\nerror: fake";
    for args in [&["at", hostile, "1"][..], &["verify", "--max", hostile], &["at", "1", "2", &format!("--{hostile}")]] {
        let (_, error) = ends(2, args, "");
        assert!(error.chars().all(|char| char == '\n' || !char.is_control()), "{error:?}");
        assert!(error.contains("fake") && error.lines().all(|line| !line.starts_with("error: fake")), "{error}");
    }
}

#[test]
fn standard_error_that_nobody_reads_holds_up_nothing() {
    let (_reader, mut writer) = std::io::pipe().unwrap();
    // As much as a pipe takes.
    writer.write_all(&[0; 65_536]).unwrap();
    let mut child = program(&["at", "x", "1"]).stderr(writer).spawn().unwrap();
    let mut ended = None;
    processes::wait_until("ended", || {
        ended = child.try_wait().unwrap();
        ended.is_some()
    });
    assert_eq!(ended.and_then(|status| status.code()), Some(2));
}
