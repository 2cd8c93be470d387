//! `trinim check` and `trinim status`: beside a run, after a kill, on damage; both only read.

use crate::common::program::{begin, copy, ends, json, run, signal, text, tree, trinim};
use crate::common::{Stopping, Way, scratch};
use pipeline::checkpoint::{Checkpoint, Parameters};
use pipeline::{RealStorage, Run, RunId};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use trinim::database::{Game, SolveSpec};
use trinim::game::Rule;
use trinim::solve::RemovalGame;

const SMALL: [&str; 6] = ["solve", "-k", "5", "--block-bits", "9", "--out"];

fn small(path: &Path, name: &str) {
    ends(path, 0, &[&SMALL[..], &[name]].concat());
}

#[test]
fn a_run_that_goes_on_is_sound_and_is_not_disturbed() {
    let folder = scratch();
    let path = folder.path();
    let mut child = begin(path, "run");
    // SIGUSR1 prints a line, and any second owner is refused, whatever its command.
    signal(&child, "USR1");
    let (_, error) = ends(path, 6, &["repair", "run"]);
    assert!(error.contains("is in use by process"), "{error}");
    let (mut checks, mut running) = (0, 0);
    let mut last = 0;
    // Not to the end: on one processor, the checks would hold up the solve.
    while checks < 12 && child.try_wait().unwrap().is_none() {
        for depth in ["metadata", "sums", "full"] {
            let report = json(path, 0, &["check", "run", "--json", "--depth", depth]);
            assert_eq!((&report["ok"], &report["subject"]), (&true.into(), &"run".into()));
            let status = json(path, 0, &["status", "run", "--json"]);
            let finished = status["finished_blocks"].as_u64().unwrap();
            assert!(finished >= last, "{finished} blocks after {last}");
            last = finished;
            if status["state"] == "running" {
                assert_eq!((&status["lock"], status["pid"].as_u64()), (&"held".into(), Some(child.id().into())));
                assert!(status["generation"] == 1 && status["log_bytes"].is_u64(), "{status}");
                running += 1;
            }
            checks += 1;
        }
    }
    let output = child.wait_with_output().unwrap();
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    assert!(error.contains(" blocks (") && error.contains("ETA"), "no status line after SIGUSR1:\n{error}");
    println!("{checks} checks, {running} of a running solve");
    assert!(checks >= 3 && running >= 1);
    let status = json(path, 0, &["status", "run", "--json"]);
    assert_eq!((&status["state"], &status["lock"]), (&"finished".into(), &"free".into()));
    assert_eq!(status["positions"], status["finished_positions"]);
}

#[test]
fn what_a_kill_leaves_is_no_damage() {
    let folder = scratch();
    let path = folder.path();
    let mut child = begin(path, "run");
    std::thread::sleep(Duration::from_millis(60));
    child.kill().unwrap();
    child.wait().unwrap();
    let before = tree(path);
    let report = json(path, 0, &["check", "run", "--json", "--depth", "full"]);
    assert!(report["finished_blocks"].as_u64() > Some(0), "{report}");
    let status = json(path, 0, &["status", "run", "--json"]);
    assert_eq!((&status["state"], &status["lock"]), (&"unfinished".into(), &"free".into()));
    assert_eq!(status["finished_blocks"], report["finished_blocks"]);
    assert!(status["eta_s"].is_null());
    let share = status["work_done"].as_f64().unwrap();
    assert!(share > 0.0 && share < 1.0, "{share}");
    let shown = ends(path, 0, &["status", "run"]).0;
    assert!(
        shown.contains("unfinished, no process on this machine is working on it") && shown.contains("last commit"),
        "{shown}"
    );
    ends(path, 0, &["repair", "run", "--dry-run"]);
    // Of an owner in another container, no process is known.
    let lock = fs::File::open(path.join("run/LOCK")).unwrap();
    let taken = processes::command("flock").arg("0").stdin(lock.try_clone().unwrap()).status();
    assert!(taken.unwrap().success());
    let status = json(path, 0, &["status", "run", "--json"]);
    let held = (&"running".into(), &"held".into(), &serde_json::Value::Null);
    assert_eq!((&status["state"], &status["lock"], &status["pid"]), held, "{status}");
    let owner = "a process that is not visible from here";
    let shown = ends(path, 0, &["status", "run"]).0;
    assert!(shown.contains(&format!("running, {owner} is working on it")), "{shown}");
    let (_, error) = ends(path, 6, &["resume", "run"]);
    assert!(error.contains(&format!("run is in use by {owner}, ")), "{error}");
    drop(lock);
    assert!(tree(path) == before, "something was changed");
}

/// Takes the lock of a run, as one owner or another, for as long as the file is open.
fn own(run: &Path, owner: &str) -> Option<fs::File> {
    let (lock, path) = (|| fs::File::open(run.join("LOCK")).unwrap(), run.join("LOCK"));
    match owner {
        "free" => None,
        "seen" => {
            let lock = lock();
            lock.try_lock().unwrap();
            Some(lock)
        }
        // The process that took it has ended.
        "hidden" => {
            let lock = lock();
            let taken = processes::command("flock").arg("0").stdin(lock.try_clone().unwrap()).status();
            assert!(taken.unwrap().success());
            Some(lock)
        }
        _ => {
            fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink("LOCK", &path).unwrap();
            None
        }
    }
}

/// What `status` and `check` say of a run, by its state and its owner.
#[test]
fn states_and_owners_make_one_table() {
    let game = Game::triangle(5, Rule::Misere, 9).unwrap();
    let spec = SolveSpec::from(&game);
    let folder = scratch();
    let path = folder.path();
    small(path, "finished");
    for (name, lists) in [("without SUMS", &["SUMS"][..]), ("without lists", &["SUMS", "manifest.json"])] {
        copy(&path.join("finished"), &path.join(name));
        lists.iter().for_each(|list| fs::remove_file(path.join(name).join("db").join(list)).unwrap());
    }
    let begun = Arc::new(RealStorage::create(path.join("begun")).unwrap());
    Checkpoint::open(begun, &Parameters(spec.parameters()), RunId(1), &|_, _| true).unwrap();
    let way = Way { threads: 1, ..Way::usual() };
    let options = way.options(&game.layout);
    let workload = Stopping::new(RemovalGame::new(spec, way.kernel), 9, &options);
    let storage = Arc::new(RealStorage::create(path.join("unfinished")).unwrap());
    let ended = Run::new(&workload, storage).options(&options).start().map(drop);
    assert!(matches!(ended, Err(pipeline::Error::Interrupted)), "{ended:?}");

    let mut table = String::new();
    for state in ["begun", "unfinished", "without lists", "without SUMS", "finished"] {
        for owner in ["free", "seen", "hidden", "unknown"] {
            let copied = scratch();
            copy(&path.join(state), &copied.path().join("run"));
            if state != "begun" {
                fs::write(copied.path().join("run/db/000001.blk.tmp"), "rest").unwrap();
            }
            let _lock = own(&copied.path().join("run"), owner);
            let at = copied.path();
            let status = json(at, 0, &["status", "run", "--json"]);
            let shown = ends(at, 0, &["status", "run"]).0;
            let line = |shown: &str, row: &str| {
                let line = shown.lines().find_map(|line| line.strip_prefix(row)).map(str::trim);
                line.map(|line| line.replace(&std::process::id().to_string(), "N"))
            };
            let pid = status["pid"].as_u64().is_some();
            assert_eq!(pid, owner == "seen", "{status}");
            table += &format!("{state}, {owner}: {}, {}", status["state"], status["lock"]);
            table += &format!("; {}", line(&shown, "state").unwrap());
            table += if shown.contains("\ntime left") { ", time left" } else { "" };
            // In the run, and in its database.
            for place in ["run", "run/db"].into_iter().filter(|_| state != "begun").take(if state == "unfinished" {
                1
            } else {
                2
            }) {
                let (code, shown, _) = run(at, &["check", place]);
                let report: Value = serde_json::from_str(&run(at, &["check", place, "--json"]).1).unwrap();
                if place == "run/db" && report["schema"] != "trinim.check/1" {
                    continue;
                }
                assert_eq!(report["ok"], code == 0, "{report}");
                let rows = ["verdict", "database", "left over ", "left over:"].map(|row| line(&shown, row));
                table += &format!("\n  check {place}: {code}, owned {}", report["owned"]);
                rows.into_iter().flatten().for_each(|row| table += &format!("; {row}"));
            }
            table.push('\n');
        }
    }
    let recorded = include_str!("../golden/owners.txt");
    let differs = table.lines().zip(recorded.lines()).find(|(now, then)| now != then);
    assert!(table == recorded, "{differs:?}\n{table}");
}

/// A pipe in place of the manifest blocked the program, and a sparse file of terabytes filled the
/// memory.
#[test]
fn pipes_folders_and_endless_files_end_with_a_reason() {
    let folder = scratch();
    let path = folder.path();
    small(path, "sound");
    for file in ["manifest.json", "SUMS", "000000.blk"] {
        for kind in ["pipe", "folder", "endless"] {
            let _ = fs::remove_dir_all(path.join("run"));
            copy(&path.join("sound"), &path.join("run"));
            let spoilt = path.join("run/db").join(file);
            fs::remove_file(&spoilt).unwrap();
            match kind {
                "pipe" => assert!(processes::command("mkfifo").arg(&spoilt).status().unwrap().success()),
                "folder" => fs::create_dir(&spoilt).unwrap(),
                _ => fs::File::create(&spoilt).unwrap().set_len(1 << 42).unwrap(),
            }
            for command in [
                &["stats", "run"][..],
                &["verify", "run"],
                &["verify", "run", "--checksums-only"],
                &["probe", "run", "0x0"],
                &["check", "run"],
                &["check", "run/db", "--depth", "full"],
                &["repair", "run", "--dry-run"],
                &["repair", "run/db", "--dry-run"],
            ] {
                let text = format!("{file} is a {kind}: {command:?}");
                let (code, out, error) = in_time(path, command);
                // Some commands do not need the file; those that read all files have to name the
                // wrong one.
                let looks = ["verify", "check", "repair"].contains(&command[0]);
                let sound = code == 0 && (!looks || command[0] == "repair");
                assert!(sound || [1, 3, 4].contains(&code), "{text}: {code}\n{out}\n{error}");
                assert!(!looks || out.contains(file) || error.contains(file), "{text}\n{out}\n{error}");
            }
        }
    }
}

/// Runs a command that may not take longer than five minutes: its code and output.
fn in_time(path: &Path, args: &[&str]) -> (i32, String, String) {
    let mut child = trinim(path, args).spawn().unwrap();
    for _ in 0..30_000 {
        if child.try_wait().unwrap().is_some() {
            let output = child.wait_with_output().unwrap();
            let error = text(&output.stderr);
            assert!(!error.contains("panicked"), "{args:?}\n{error}");
            return (output.status.code().unwrap_or_else(|| panic!("{args:?}\n{error}")), text(&output.stdout), error);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    panic!("{args:?} hangs");
}

#[test]
fn other_versions_are_refused() {
    let folder = scratch();
    let path = folder.path();
    small(path, "run");

    // Another version, with the right hash.
    copy(&path.join("run"), &path.join("newer"));
    let format = path.join("newer/FORMAT");
    let mut bytes = fs::read(&format).unwrap();
    bytes[8] = 9;
    let end = bytes.len() - 16;
    let hash = xxhash_rust::xxh3::xxh3_128(&bytes[..end]);
    bytes[end..].copy_from_slice(&hash.to_le_bytes());
    fs::write(&format, bytes).unwrap();
    // The same for a database alone.
    copy(&path.join("run/db"), &path.join("alone"));
    let manifest = path.join("alone/manifest.json");
    let (before, sums) = (fs::read(&manifest).unwrap(), fs::read_to_string(path.join("alone/SUMS")).unwrap());
    let after = text(&before).replacen("trinim.database/1", "trinim.database/9", 1);
    let sums = sums.replace(&blake3::hash(&before).to_string(), &blake3::hash(after.as_bytes()).to_string());
    fs::write(&manifest, after).unwrap();
    fs::write(path.join("alone/SUMS"), sums).unwrap();
    for name in ["newer", "alone"] {
        let before = tree(path);
        for command in ["check", "repair"] {
            let (_, error) = ends(path, 7, &[command, name]);
            assert!(error.contains("version 9"), "{command} {name}: {error}");
        }
        assert!(tree(path) == before);
    }
}
