//! A folder in use. What is wrong with other folders is in `sessions/folders.txt`.

use crate::common::program::{SLOW, begin, ends, signal, tree, trinim};
use crate::common::{assert_same_files, database_files, scratch};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::time::{Duration, Instant};

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
        // Without the header of a solve.
        assert!(error.starts_with(&wanted) && error.contains(" blocks saved\n"), "{error}");
        assert_eq!(error.lines().count(), 2, "{error}");
        assert!(args.len() < 3 || error.contains("run trinim status busy to see the progress"), "{error}");
        assert!(asked.elapsed() < Duration::from_secs(60), "{args:?} hesitated");
    }
    for command in ["stats", "verify", "probe"] {
        let (_, error) = ends(path, 2, &[command, "busy"]);
        assert!(error.contains("a solve is running; run trinim status busy"), "{error}");
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
