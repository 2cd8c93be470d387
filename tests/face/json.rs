//! What `--json` prints: every output is valid by its schema, every field of a schema is in some
//! output, and JSON.md is made from the schemas.

use crate::common::program::{SLOW, begin, committed, ends, run, signal, text, trinim};
use crate::common::scratch;
use crate::page::{rows, schemas, written};
use crate::schemas::{compiled, has_plain_names, paths};
use boon::{SchemaIndex, Schemas};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

/// The names of all reports with their schemas, as the program prints them.
fn shipped() -> Vec<(String, Value)> {
    let folder = scratch();
    schemas(|args| ends(folder.path(), 0, args).0)
}

/// Reads the objects that a command printed: one, or one on each line.
fn objects(out: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(out).into_iter::<Value>().map(|value| value.unwrap()).collect()
}

/// Fields by schema, of outputs that are valid.
struct ReportFields {
    fields: BTreeMap<String, BTreeSet<String>>,
    schemas: Schemas,
    index: BTreeMap<String, SchemaIndex>,
}

impl ReportFields {
    fn add(&mut self, out: &str, about: &str) {
        let objects = objects(out);
        assert!(!objects.is_empty(), "{about} printed no JSON");
        for object in objects {
            let (first, name) = object.as_object().and_then(|fields| fields.iter().next()).unwrap();
            assert_eq!(first, "schema", "{about}: {out}");
            let name = name.as_str().unwrap();
            let index = self.index.get(name).unwrap_or_else(|| panic!("{about}: no schema is named {name}"));
            if let Err(error) = self.schemas.validate(&object, *index) {
                panic!("{about}: {error:#}\n{object}");
            }
            paths(&object, "", self.fields.entry(name.to_owned()).or_default());
        }
    }

    fn run(&mut self, folder: &Path, code: i32, args: &[&str]) {
        let (found, out, error) = run(folder, args);
        assert_eq!(found, code, "{args:?}\n{out}\n{error}");
        self.add(&out, &args.join(" "));
    }
}

/// Changes the last byte of a file.
fn damage(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(path, bytes).unwrap();
}

/// Runs every command that has `--json`, so that every field is printed once.
fn everything(path: &Path, shipped: &[(String, Value)]) -> BTreeMap<String, BTreeSet<String>> {
    let (schemas, index) = compiled(shipped);
    let mut seen = ReportFields { fields: BTreeMap::new(), schemas, index };
    let solve = ["solve", "-k", "6", "--block-bits", "12", "--out", "six", "--json"];
    for command in [
        &solve[..],
        &["stats", "six", "--json"],
        &["solve", "-k", "4", "--keep", "book", "--audit", "9", "--out", "book", "--json"],
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
        &["layout", "-k", "5", "--block-bits", "8", "--json"],
        &["layout", "search", "-k", "5", "--bits", "3", "--symmetry", "any", "--json"],
        &["report", "six", "--out", "report", "--json"],
        &["bench", "-k", "3", "--repeats", "1", "--yardstick", "4MiB", "--json"],
        &["task", "init", "--store", "tasks", "-k", "3", "--bid-cells", "(0,0)", "--audit", "9", "--json"],
        &["task", "plan", "--store", "tasks"],
        &["task", "plan", "--store", "tasks", "--batches", "1"],
        &["task", "--store", "tasks", "--batch", "0,1", "--json"],
        &["task", "list", "--store", "tasks", "--json"],
        &["task", "sweep", "--store", "tasks", "--json"],
        &["task", "finish", "--store", "tasks", "--json"],
        &["task", "verify", "--store", "tasks", "--shard", "1/2", "--json"],
        &["task", "copy", "--store", "tasks", "--to", "copied", "--json"],
        // Too short to find a formula.
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
    seen.run(path, 1, &["layout", "--paper", "--json"]);
    seen.run(path, 2, &["solve", "-k", "5", "--strategy", "forward", "--codec", "raw", "--json"]);
    damage(&path.join("six/db/000003.blk"));
    seen.run(path, 3, &["verify", "six", "--json"]);
    seen.run(path, 3, &["check", "six", "--json"]);
    seen.run(path, 0, &["repair", "six", "--json"]);
    let tasks = ["task", "--store", "tasks", "--batch", "-", "--at-once", "2", "--json"];
    let mut child = trinim(path, &tasks).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"999\n").unwrap();
    seen.add(text(&child.wait_with_output().unwrap().stdout).as_str(), "a task that fails");
    // A solve at work is the only one with an owner, an estimate and a last commit.
    let mut child = begin(path, "slow");
    seen.run(path, 0, &["status", "slow", "--json"]);
    child.kill().unwrap();
    child.wait().unwrap();
    seen.fields
}

/// Fields that no small run prints: codecs are measured from eight layers on, a store has no
/// nimbers or distances.
const RARE: [(&str, &str); 3] = [
    ("trinim.solve/1", "codec_candidates[]."),
    ("trinim.task.finish/1", "by_nimber[]."),
    ("trinim.task.finish/1", "by_distance[]."),
];

#[test]
fn every_output_is_valid_and_every_field_is_printed() {
    let (folder, shipped) = (scratch(), shipped());
    let odd = shipped.iter().find(|(_, schema)| !has_plain_names(schema));
    assert_eq!(odd.map(|(name, _)| name), None, "alternatives of constants");
    let printed = everything(folder.path(), &shipped);
    let mut missing = Vec::new();
    for (name, schema) in &shipped {
        let seen = printed.get(name).cloned().unwrap_or_default();
        let unseen = rows(schema).into_iter().map(|row| row.path).filter(|path| !seen.contains(path));
        missing.extend(unseen.map(|path| (name.clone(), path)));
    }
    let is = |path: &str, rare: &str| path == rare || rare.ends_with('.') && path.starts_with(rare);
    missing.retain(|(name, path)| !RARE.iter().any(|(of, rare)| of == name && is(path, rare)));
    assert!(missing.is_empty(), "never printed: {missing:#?}");
}

#[test]
fn the_page_is_made_from_the_schemas() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("JSON.md")).unwrap();
    let made = written(&page, &shipped());
    let first = page.lines().zip(made.lines()).find(|(page, made)| page != made);
    assert!(page == made, "cargo run -p tools --bin readme -- JSON.md writes it anew; {first:?}");
}

/// Regression: a script that reads standard output learns of a solve that failed.
#[test]
fn a_command_that_fails_or_is_stopped_says_so_in_json() {
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

    let cases: [(&[&str], i32, &str); 4] = [
        (&["solve", "-k", "8", "--memory", "20MiB", "--json"], 4, "solve"),
        (&["stats", "absent", "--json"], 2, "stats"),
        (&["repair", "absent", "--json"], 2, "repair"),
        (&["task", "list", "--store", "absent", "--json"], 2, "task list"),
    ];
    for (args, code, command) in cases {
        let (found, out, error) = run(path, args);
        let failure: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((found, &failure["exit_code"]), (code, &code.into()), "{args:?}");
        assert_eq!((&failure["command"], &failure["finished"]), (&command.into(), &false.into()));
        // The same words as on standard error.
        assert!(error.contains(failure["reason"].as_str().unwrap()), "{error}\n{failure}");
    }
    let (_, out, _) = run(path, &["stats", "absent"]);
    assert!(out.is_empty(), "{out}");
}
