//! What `--json` prints: every output is valid by its schema, every field of a schema is in some
//! output, and JSON.md is made from the schemas.

use crate::common::program::{SLOW, begin, committed, run, signal, trinim};
use crate::common::reports::{ReportFields, assert_page};
use crate::common::scratch;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Changes the last byte of a file.
fn damage(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(path, bytes).unwrap();
}

/// Runs every command that has `--json`, so that every field is printed once.
fn everything(path: &Path) -> ReportFields {
    let mut seen = ReportFields::new();
    let solve = ["solve", "-k", "6", "--block-bits", "12", "--out", "six", "--json"];
    for command in [
        &solve[..],
        &["stats", "six", "--json"],
        &["solve", "-k", "4", "--keep", "book", "--audit", "9%", "--out", "book", "--json"],
        &["stats", "book", "--json"],
        &["solve", "-k", "3", "--rule", "normal", "--values", "nimbers", "--out", "nimbers", "--json"],
        &["stats", "nimbers", "--json"],
        &["probe", "nimbers", "--json", "0x3f"],
        &["solve", "-k", "3", "--values", "remoteness", "--out", "distances", "--json"],
        &["stats", "distances", "--json"],
        &["probe", "six", "--json", "0x1"],
        &["export", "six", "--what", "canonical", "--sample", "5", "-o", "sample.csv", "--json"],
        &["verify", "six", "--json"],
        &["status", "six", "--json"],
        &["plan", "-k", "10", "--json"],
    ] {
        seen.run(path, 0, command);
    }
    let stream = ["solve", "-k", "7", "--block-bits", "16", "--progress", "json", "--progress-interval", "10ms"];
    for (code, out) in [(0, "stream"), (7, "six")] {
        let (found, _, error) = run(path, &[&stream[..], &["--out", out]].concat());
        assert_eq!(found, code, "{error}");
        seen.add(&error, "--progress json");
    }
    seen.run(path, 2, &["probe", "six", "--json", "nonsense"]);
    seen.run(path, 2, &["stats", "absent", "--json"]);
    damage(&path.join("six/db/000003.blk"));
    seen.run(path, 3, &["verify", "six", "--json"]);
    seen.run(path, 3, &["check", "six", "--json"]);
    seen.run(path, 0, &["repair", "six", "--json"]);
    // A solve at work is the only one with an owner, an estimate and a last commit.
    let mut child = begin(path, "slow");
    seen.run(path, 0, &["status", "slow", "--json"]);
    child.kill().unwrap();
    child.wait().unwrap();
    seen
}

#[test]
fn every_output_is_valid_and_every_field_is_printed() {
    everything(scratch().path()).assert_all_printed(&[]);
}

#[test]
fn the_page_is_made_from_the_schemas() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("JSON.md")).unwrap();
    // The tests of the programs beside trinim have the others.
    let others = ["trinim.task", "trinim.papers", "trinim.layout", "trinim.report", "trinim.bench"];
    assert_page(&page, |name| others.iter().all(|other| !name.starts_with(other)));
}

/// Regression: a script that reads standard output learns of a solve that was stopped. What failed
/// is in the sessions.
#[test]
fn a_command_that_is_stopped_says_so_in_json() {
    let folder = scratch();
    let path = folder.path();
    let mut child = trinim(path, &[&SLOW[..], &["slow", "--json"]].concat()).spawn().unwrap();
    committed(&mut child, &path.join("slow"));
    signal(&child, "TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143));
    let stopped: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&stopped["schema"], &stopped["finished"]), (&"trinim.failure/1".into(), &false.into()));
    assert_eq!((&stopped["command"], &stopped["exit_code"]), (&"solve".into(), &143.into()));
    let reason = stopped["reason"].as_str().unwrap();
    assert!(reason.contains("saved in slow") && reason.contains("by a signal"), "{reason}");
}
