//! What surrounds a folder, as users see it: files of others, a full disk, folders of processes
//! that were killed.

use crate::common::program::{ends, outcome, run, trinim};
use crate::common::scratch;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

#[test]
fn files_of_others_are_named_and_obeyed_by_no_terminal() {
    let folder = scratch();
    let path = folder.path();
    let solve = ["solve", "-k", "4", "--block-bits", "6", "--out", "run"];
    ends(path, 0, &solve);
    let forged = OsStr::from_bytes(b"x\x1b]0;forged\x07\nerror: forged\xff");
    for name in [OsStr::new("m/.DS_Store"), OsStr::new("logs/a b"), OsStr::new("notes.txt")] {
        fs::write(path.join("run").join(name), "mine").unwrap();
    }
    fs::write(path.join("run/db").join(forged), "mine").unwrap();
    for args in [&solve[..], &["check", "run"], &["verify", "run"], &["repair", "run"], &["status", "run"]] {
        let (out, error) = ends(path, 0, args);
        let line =
            error.lines().find(|line| line.contains("left alone")).unwrap_or_else(|| panic!("{args:?}: {error}"));
        assert!(line.ends_with(r#""m/.DS_Store" and 1 more"#), "{args:?}: {line}");
        assert!(line.contains(r#""db/x\u{1b}]0;forged\u{7}\nerror: forged"#), "{args:?}: {line}");
        assert!(!error.contains('\x1b') && !out.contains('\x1b'), "{args:?}: {error}{out}");
        assert!(!error.lines().any(|line| line.starts_with("error")), "{args:?}: {error}");
    }
    let (_, error) = ends(path, 0, &["check", "run/db"]);
    assert!(error.contains("left alone") && !error.contains("m/.DS_Store"), "{error}");
}

/// Regression: "0 of 104 saved" after 77 of 104 blocks were written.
#[test]
fn a_reached_limit_saves_what_is_finished_and_says_so() {
    let folder = scratch();
    let path = folder.path();
    let solve = ["solve", "-k", "6", "--block-bits", "12", "--commit-interval", "1h", "--out", "run"];
    let mut most = 0;
    for limit in (200..).step_by(300) {
        let limit = format!("{limit}KiB");
        let (code, _, error) = run(path, &[&solve[..], &["--force", "--max-disk", &limit]].concat());
        if code == 0 {
            break;
        }
        assert_eq!(code, 4, "{error}");
        let saved =
            error.lines().find(|line| line.contains(" blocks saved in run")).unwrap_or_else(|| panic!("{error}"));
        most = most.max(saved.split_whitespace().find_map(|word| word.parse::<u32>().ok()).unwrap());
        let hint = error.lines().last().unwrap();
        assert!(hint.contains(" of --max-disk ") && !hint.contains("this disk"), "{error}");
        if most == 0 {
            fs::remove_dir_all(path.join("run")).unwrap();
        }
    }
    assert!(most > 3, "{most} blocks saved at most");
    ends(path, 0, &["verify", "run"]);
}

/// Regression: what processes that were killed left in the folder for temporary files stayed.
#[test]
fn folders_of_killed_processes_are_swept() {
    let folder = scratch();
    let left = folder.path().join(format!("trinim-solved.{:016x}", 7));
    let others = folder.path().join("trinim-solved.notes");
    for folder in [&left, &others] {
        fs::create_dir_all(folder.join("db")).unwrap();
    }
    let (code, _, error) = outcome(trinim(folder.path(), &["stats", "-k", "4"]).env("TMPDIR", folder.path()));
    assert_eq!(code, 0, "{error}");
    assert!(!left.exists() && others.exists());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
