//! Refusals of folders: what is wrong with the folder, and the command that helps, which is run.

use crate::common::program::{SLOW, begin, committed, copy, ends, run, signal, tree, trinim};
use crate::common::{assert_same_files, database_files, scratch};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The hint of a command that must end with 2.
fn hint(path: &Path, args: &[&str], reason: &str) -> String {
    let (_, error) = ends(path, 2, args);
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines[0], format!("error: {reason}"), "{args:?}");
    lines[1].strip_prefix("hint: ").unwrap().to_owned()
}

/// Runs the command that a hint names, as a shell would.
fn follow(path: &Path, hint: &str) {
    let command = hint.split_once("trinim ").unwrap().1;
    let script = format!("exec {} {command}", env!("CARGO_BIN_EXE_trinim"));
    let output = processes::command("sh").args(["-c", &script]).current_dir(path).output().unwrap();
    assert!(output.status.success(), "{command}: {}", crate::common::program::text(&output.stderr));
}

#[test]
fn an_unfinished_solve_names_the_command_that_resumes_it() {
    let folder = scratch();
    let path = folder.path();
    let options = ["with space", "--rule", "normal", "--max-take", "4"];
    let slow: Vec<&str> = [&SLOW[..], &options].concat();
    let mut child = trinim(path, &slow).spawn().unwrap();
    committed(&mut child, &path.join("with space"));
    for command in ["stats", "verify", "probe"] {
        let (_, error) = ends(path, 2, &[command, "with space"]);
        assert!(error.contains("it is being solved; trinim status 'with space' shows how far"), "{error}");
    }
    signal(&child, "TERM");
    child.wait().unwrap();

    let (_, error) = ends(path, 2, &["stats", "with space"]);
    assert!(error.contains("with space holds no finished database: the solve is not finished, "), "{error}");
    let wanted = "hint: resume it: trinim resume 'with space'\n";
    assert!(error.contains(wanted) && error.contains(" blocks are saved\n"), "{error}");
    let (_, other) = ends(path, 7, &["solve", "-k", "7", "--out", "with space"]);
    assert!(
        other.contains("rule = normal, not misere\nhint: continue it with trinim resume 'with space', or"),
        "{other}"
    );
    let (_, cells) = ends(path, 7, &[&slow[..3], &["--block-bits", "20"], &slow[5..]].concat());
    assert!(cells.contains("bid-cells = (") && !cells.contains("bid-cells = 1"), "{cells}");
    follow(path, wanted);
    follow(path, "trinim stats 'with space'");
}

#[test]
fn a_database_without_its_run_is_called_so() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "4", "--out", "run"]);
    copy(&path.join("run/db"), &path.join("alone"));
    let reason = "alone is a finished database without its run: there is nothing to follow";
    assert_eq!(hint(path, &["status", "alone"], reason), "trinim stats alone shows its results");
    follow(path, &hint(path, &["status", "run/db"], "run/db is the database of run"));
    let reason = "run/db/000000.blk holds no finished database: it is a file";
    let file = hint(path, &["probe", "run/db/000000.blk", "0x1"], reason);
    assert_eq!(file, "trinim probe run/db 0x1");
    follow(path, &file);
    fs::remove_file(path.join("alone/SUMS")).unwrap();
    let repair = hint(path, &["stats", "alone"], "alone holds no finished database: SUMS is missing");
    assert_eq!(repair, "trinim repair alone restores the file");
}

#[test]
fn a_missing_folder_names_the_one_that_was_meant() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "4"]);
    fs::create_dir(path.join("empty")).unwrap();
    for (args, wanted) in [
        (&["probe", "trinim-k4", "0x0"][..], "did you mean: trinim probe trinim-k4-misere 0x0"),
        (&["stats", "trinm-k4-misere", "--json"], "did you mean: trinim stats trinim-k4-misere --json"),
        (&["probe", "0x3ff", "trinim-k4-misere"], "the folder comes first: trinim probe trinim-k4-misere 0x3ff"),
        (&["stats", "trinim-k6-normal-x"], "trinim solve --layers 6 --out trinim-k6-normal-x solves 6 layers there"),
        // What is to be checked was not to be solved.
        (&["verify", "trinim-k6-normal-x"], "name the folder of a solve, like trinim verify trinim-k7-misere"),
        (&["-q", "stats", "absent"], "name the folder of a solve, like trinim stats trinim-k7-misere"),
    ] {
        let name = if args[0] == "-q" { args[2] } else { args[1] };
        let found = hint(path, args, &format!("{name} holds no finished database: no such folder"));
        assert_eq!(found, wanted);
        if !wanted.ends_with("there") && !wanted.starts_with("name") {
            follow(path, &found);
        }
    }
    for command in ["check", "repair", "status"] {
        let found = hint(path, &[command, "trinim-k4"], "trinim-k4 holds neither a run nor a database: no such folder");
        assert_eq!(found, format!("did you mean: trinim {command} trinim-k4-misere"));
        follow(path, &found);
    }
    let reason = "empty holds no finished database: there is none in this folder";
    assert_eq!(
        hint(path, &["stats", "empty"], reason),
        "name the folder of a solve, like trinim stats trinim-k7-misere"
    );
    let reason = ". holds no finished database: there is none in this folder";
    follow(path, &hint(path, &["stats", "."], reason));
}

/// Regression: the hint for a file as `--out` names a command, not "remove the cause and resume".
#[test]
fn a_usage_error_hints_at_a_command() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "7"]);
    for args in [&["stats"][..], &["solve", "7"], &["probe"], &["plan", "5"]] {
        let (code, _, error) = run(path, args);
        assert_eq!(code, 2, "{args:?}");
        follow(path, error.lines().nth(1).unwrap());
    }
    let (_, error) = ends(path, 2, &["solve", "--layers", "11"]);
    assert!(error.contains("expected 1 to 10"), "{error}");
    let (_, error) = ends(path, 2, &["play", "-k", "3", "--seed", "abc"]);
    assert!(error.contains("'abc' for '--seed <N>': expected a whole number\nhint: trinim play --help"), "{error}");
}

/// Beside an owner that is stopped every change would be another's. After its death the next one
/// takes over; of several at once, one solves.
#[test]
fn a_folder_in_use_is_left_alone() {
    let folder = scratch();
    let path = folder.path();
    let mut child = begin(path, "busy");
    signal(&child, "STOP");
    // The signal reaches one thread after another; the parent is told when the last has stopped.
    let stopped = waitid(WaitId::Pid(Pid::from_child(&child)), WaitIdOptions::STOPPED).unwrap();
    assert!(stopped.is_some_and(|status| status.stopped()));
    let before = tree(&path.join("busy"));
    let solve = [&SLOW[..], &["busy"]].concat();
    let shared = [&solve[..], &["--log-placement", "shared"]].concat();
    let wanted = format!("error: busy is in use by process {}, ", child.id());
    for args in [&["repair", "busy"][..], &["resume", "busy"], &shared, &solve] {
        let asked = Instant::now();
        let (_, error) = ends(path, 6, args);
        assert!(error.starts_with(&wanted) && error.contains(" blocks saved\n"), "{error}");
        assert!(args.len() < 3 || error.contains("hint: trinim status busy shows how far it is"), "{error}");
        assert!(asked.elapsed() < Duration::from_secs(60), "{args:?} hesitated");
    }
    for command in ["stats", "verify"] {
        ends(path, 2, &[command, "busy"]);
    }
    assert!(tree(&path.join("busy")) == before);
    child.kill().unwrap();
    child.wait().unwrap();
    ends(path, 0, &solve);

    let six = ["solve", "-k", "6", "--block-bits", "12", "--commit-interval", "10ms", "--out"];
    ends(path, 0, &[&six[..], &["golden"]].concat());
    let racers: Vec<_> = (0..6).map(|_| trinim(path, &[&six[..], &["race"]].concat()).spawn().unwrap()).collect();
    let codes: Vec<_> = racers.into_iter().map(|racer| racer.wait_with_output().unwrap().status.code()).collect();
    assert!(codes.contains(&Some(0)) && codes.iter().all(|code| [Some(0), Some(6)].contains(code)), "{codes:?}");
    assert_same_files(&database_files(&path.join("race")), &database_files(&path.join("golden")), "a race");
}

#[test]
fn other_parameters_are_refused_by_name() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "5", "--out", "run"]);
    let before = tree(path);
    let mut child = begin(path, "begun");
    signal(&child, "TERM");
    child.wait().unwrap();
    let begun = tree(&path.join("begun"));
    // Two changes at once, in a folder that is not finished, too.
    for (change, named) in [
        (&["-k", "7", "--rule", "normal", "--block-bits", "20"][..], "rule = misere, not normal"),
        (&["-k", "7", "--block-bits", "20"], "bid-cells = "),
        (&["-k", "7", "--keep", "counts"], "keep = database, not counts"),
        (&["-k", "7", "--audit", "3%"], "audit = none, not 0.03"),
        (&["-k", "6", "--rule", "normal"], "layers = 7, not 6"),
    ] {
        let (_, error) = ends(path, 7, &[&["solve", "--out", "begun"], change].concat());
        assert!(error.contains(named) && error.contains("hint: "), "{change:?}\n{error}");
        assert!(tree(&path.join("begun")) == begun, "{change:?}");
    }
    fs::remove_dir_all(path.join("begun")).unwrap();
    let changes: [(&[&str], &str); 9] = [
        (&["-k", "5", "--rule", "normal", "--block-bits", "9"], "rule = misere, not normal"),
        (&["-k", "5", "--rule", "normal", "--max-take", "3"], "rule = misere, not normal"),
        (&["-k", "5", "--keep", "counts"], "keep = database, not counts"),
        (&["-k", "5", "--values", "remoteness"], "values = outcomes, not remoteness"),
        (&["-k", "5", "--rule", "normal"], "rule = misere, not normal"),
        (&["-k", "6"], "layers = 5, not 6"),
        (&["-k", "5", "--max-take", "3"], "max-take = none, not 3"),
        (&["-k", "5", "--bid-cells", "(1,0)(1,1)"], "bid-cells = "),
        (&["-k", "5", "--block-bits", "9"], "bid-cells = "),
    ];
    for (change, named) in changes {
        let (_, error) = ends(path, 7, &[&["solve", "--out", "run"], change].concat());
        assert!(error.contains(named) && error.contains("hint: "), "{change:?}\n{error}");
        assert!(tree(path) == before);
    }
    // A limit that limits nothing counts as no limit.
    ends(path, 0, &["solve", "-k", "5", "--max-take", "5", "--out", "run"]);
}

#[test]
fn foreign_folders_and_files_are_refused_and_not_touched() {
    let folder = scratch();
    let path = folder.path();
    fs::create_dir(path.join("foreign")).unwrap();
    fs::write(path.join("foreign/letter.txt"), "dear").unwrap();
    fs::write(path.join("file"), "text").unwrap();
    let before = tree(path);
    let (_, error) = ends(path, 2, &["solve", "-k", "4", "--out", "foreign"]);
    assert!(error.contains("not empty") && error.contains("letter.txt"), "{error}");
    // What systems put into an empty folder is no file of anybody.
    fs::create_dir_all(path.join("fresh/lost+found")).unwrap();
    for name in [".DS_Store", ".gitkeep", "Thumbs.db"] {
        fs::write(path.join("fresh").join(name), "").unwrap();
    }
    ends(path, 0, &["solve", "-k", "3", "--out", "fresh"]);
    fs::remove_dir_all(path.join("fresh")).unwrap();
    for name in ["file", "file/below"] {
        let (_, error) = ends(path, 2, &["solve", "-k", "4", "--out", name]);
        assert!(error.contains("file is a file, not a folder\nhint: nothing was written"), "{error}");
    }
    for command in ["stats", "verify", "probe"] {
        for name in ["foreign", "absent", "file"] {
            let (_, error) = ends(path, 2, &[command, name]);
            assert!(error.contains("holds no finished database"), "{error}");
        }
    }
    assert!(tree(path) == before);
}

/// Hints lead to what is left: a database needs no run, `FORMAT` alone is damage, and a finished
/// solve does not hide it.
#[test]
fn what_is_left_of_a_damaged_run_is_named() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "5", "--block-bits", "8", "--out", "run"]);
    let spoil = |name: &str| fs::write(path.join(name), "damaged").unwrap();
    let format = fs::read(path.join("run/FORMAT")).unwrap();
    spoil("run/FORMAT");
    let (_, error) = ends(path, 0, &["solve", "-k", "5", "--block-bits", "8", "--out", "run"]);
    assert!(error.contains("warning: run/FORMAT is damaged: trinim repair run restores it"), "{error}");
    fs::remove_file(path.join("run/FORMAT")).unwrap();
    let line = |args: &[&str]| ends(path, 3, args).1.lines().next().unwrap().to_owned();
    assert_eq!(line(&["resume", "run"]), line(&["status", "run"]));
    fs::write(path.join("run/FORMAT"), format).unwrap();
    for name in fs::read_dir(path.join("run/m")).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()) {
        if name.starts_with("manifest") {
            spoil(&format!("run/m/{name}"));
        }
    }
    let (_, error) = ends(path, 3, &["check", "run"]);
    assert!(error.contains("hint: trinim repair run --dry-run shows what can be restored"), "{error}");
    let (_, error) = ends(path, 3, &["repair", "run"]);
    assert!(error.contains("the database needs no run: trinim verify run/db checks it"), "{error}");
    ends(path, 0, &["verify", "run/db"]);
}

/// Hints told other commands than a solve of its checkpoints, and proposed smaller blocks where no
/// blocks are that small.
#[test]
fn a_hint_fits_its_command_and_the_cause() {
    let folder = scratch();
    let path = folder.path();
    ends(path, 0, &["solve", "-k", "4", "--out", "four"]);
    // Nobody may create a folder there.
    let (_, error) = ends(path, 4, &["man", "/proc/self/fdinfo/x"]);
    assert!(error.contains("/proc/self/fdinfo/x: ") && error.contains("hint: "), "{error}");
    assert!(!error.contains("checkpoint"), "{error}");
    // A name that nobody has given is not told.
    let (_, error) = ends(path, 4, &["export", "four", "-o", "/proc/self/fdinfo/x.npy"]);
    assert!(error.contains("cannot create a file in /proc/self/fdinfo: ") && !error.contains(".trinim"), "{error}");

    for (args, needed) in [
        (&["solve", "-k", "8", "--memory", "1MiB"][..], ""),
        (&["solve", "-k", "8", "--memory", "40MiB", "--block-bits", "27"], ", or smaller blocks with --block-bits"),
    ] {
        let (_, error) = ends(path, 4, args);
        let (_, hint) = error.split_once("hint: give at least --memory ").unwrap();
        let enough = hint.strip_suffix(&format!("{needed}\n")).unwrap();
        // It is enough.
        let more: Vec<&str> = args.iter().map(|word| if word.ends_with("MiB") { enough } else { word }).collect();
        let (_, stopped) = ends(path, 5, &[&more[..], &["--out", "k8", "--max-duration", "100ms"]].concat());
        // The limit that stopped it is not advised.
        let resume = [&["trinim"], &more[..], &["--out", "k8"]].concat().join(" ");
        assert!(stopped.ends_with(&format!("hint: resume with: {resume}\n")), "{stopped}");
        fs::remove_dir_all(path.join("k8")).unwrap();
    }
    // Paths are named from here, as they were typed.
    fs::write(path.join("four/db/manifest.json"), "{").unwrap();
    let (_, error) = ends(path, 3, &["stats", "four"]);
    assert!(error.contains("four/db/manifest.json") && !error.contains(path.to_str().unwrap()), "{error}");
    // The folder to check and repair is that of the run, whichever file is damaged.
    let mend = "hint: trinim check four lists all damage, trinim repair four restores what it can\n";
    assert!(error.ends_with(mend), "{error}");
    ends(path, 3, &["check", "four"]);
    follow(path, "trinim repair four");
    fs::write(path.join("four/m/journal.1.a"), "x").unwrap();
    fs::write(path.join("four/m/journal.1.b"), "x").unwrap();
    let (_, error) = ends(path, 3, &["resume", "four"]);
    assert!(error.ends_with(mend), "{error}");
}

/// Regression: the help of each command names its own range of layers, not one for all.
#[test]
fn help_names_the_layers_that_a_command_takes() {
    let folder = scratch();
    let path = folder.path();
    for (command, range, least_refused, refused) in [
        ("solve", "1 to 10", "11", "expected 1 to 10"),
        ("plan", "1 to 10", "11", "expected 1 to 10"),
        ("stats", "1 to 7, or 9, which is built in", "8", "too large to be solved here, and not built in"),
        ("export -o x.npy", "1 to 7, or 9, which is built in", "10", "hint: trinim solve --layers 10"),
        ("probe", "1 to 10", "11", "expected 1 to 10"),
        ("play", "1 to 10", "11", "expected 1 to 10"),
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let help = ends(path, 0, &[&words[..], &["--help"]].concat()).0;
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(&format!("; {range}")), "{command}: {help}");
        let (_, error) = ends(path, 2, &[&words[..], &["--layers", least_refused]].concat());
        assert!(error.contains(refused), "{command}: {error}");
        let (_, error) = ends(path, 2, &[&words[..], &["--layers", "12"]].concat());
        assert!(error.contains(&format!(": expected {range}\n")), "{command}: {error}");
    }
    assert!(fs::read_dir(path).unwrap().next().is_none());
}

/// Regression: a begun folder that the system fails to read is an error. It is not a new folder,
/// for which the solve would choose a new layout and then refuse the run for its parameters.
#[test]
fn a_folder_that_cannot_be_looked_at_is_an_error() {
    let folder = scratch();
    let path = folder.path();
    std::os::unix::fs::symlink("loop", path.join("loop")).unwrap();
    let (_, error) = ends(path, 4, &["solve", "-k", "4", "--out", "loop"]);
    assert!(error.contains("cannot open loop") && error.contains("symbolic links"), "{error}");
    // Regression: on a disk with bad sectors, a finished database is not called unfinished.
    for command in ["stats", "probe", "verify"] {
        let (_, error) = ends(path, 4, &[command, "loop"]);
        assert!(error.contains("cannot open loop") && error.contains("symbolic links"), "{error}");
    }
}
