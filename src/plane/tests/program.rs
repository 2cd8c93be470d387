//! The program `trinim-plane`: what it prints, what it refuses, and how it ends.
//!
//! `commands.txt` has commands with what they print, `claims.json` what `claims --json` prints:
//! scripts depend on each byte of the JSON.

use processes::session::Place;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

fn program(args: &[&str]) -> Command {
    let mut command = processes::command(env!("CARGO_BIN_EXE_trinim-plane"));
    command.args(args).stdin(Stdio::piped());
    command
}

/// Runs a command, which must end with `code`; returns standard output and standard error.
fn ends(code: i32, args: &[&str], input: &str) -> (String, String) {
    let mut child = program(args).spawn().unwrap();
    // The program can end without reading its input.
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

#[test]
fn commands_print_what_the_pages_show() {
    let folder = std::env::temp_dir().join(format!("trinim-plane.{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let place = Place { folder: &folder, program: env!("CARGO_BIN_EXE_trinim-plane") };
    place.file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands.txt"));
    assert_eq!(place.page(include_str!("../README.md"), &[]), 1);
    std::fs::remove_dir(folder).unwrap();
}

/// Longer than an argument can be.
#[test]
fn heaps_have_any_length() {
    let long = "7".repeat(150_000);
    let out = ends(0, &["at", "-", "--json"], &format!("{long}\n 10^150000 ")).0;
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&found["position"][0], &found["outcome"]), (&json!(long), &json!("N")));
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

/// A shell reports 130 for a program that SIGINT ends.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_long_command() {
    let mut child = program(&["points", "--count", "100000000000"]).spawn().unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0; 100]).unwrap();
    processes::signal(&child, "INT");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&child.wait().unwrap()), Some(2));
}

#[test]
fn standard_error_that_nobody_reads_holds_up_nothing() {
    let (_reader, mut writer) = std::io::pipe().unwrap();
    // As much as a pipe holds.
    writer.write_all(&[0; 65_536]).unwrap();
    let mut child = program(&["at", "x", "1"]).stderr(writer).spawn().unwrap();
    let mut ended = None;
    processes::wait_until("ended", || {
        ended = child.try_wait().unwrap();
        ended.is_some()
    });
    assert_eq!(ended.and_then(|status| status.code()), Some(2));
}
