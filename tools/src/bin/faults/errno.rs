//! Every file call fails, once or permanently, with every error that makes sense; so does standard
//! output.
//!
//! A run that meets an error must end with the code of the table in `src/terminal/exit.rs` and name
//! path and operation. The same command must continue afterwards to the golden database.
//! Interrupted and short calls must be invisible.

use crate::kill::complete;
use crate::report::Sheet;
use crate::setup::{Lane, Setup, picks};
use crate::subject::{Ended, Fault, Launch, Solve};
use crate::tree::{Goldens, files, finished};
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

const SOLVES: [Solve; 4] = [
    Solve::new(4, 7, "dedicated", 1),
    Solve::new(4, 7, "shared", 2),
    Solve::new(5, 9, "dedicated", 2),
    Solve::new(5, 9, "shared", 1),
];

/// Input and output failed.
const SYSTEM: i32 = 4;

const ERRORS: [(&str, i32); 7] = [
    ("EIO", libc::EIO),
    ("ENOSPC", libc::ENOSPC),
    ("EDQUOT", libc::EDQUOT),
    ("EROFS", libc::EROFS),
    ("EACCES", libc::EACCES),
    ("EMFILE", libc::EMFILE),
    ("EINTR", libc::EINTR),
];

/// Kinds of calls with their possible errors beyond EIO and ENOSPC.
const MORE: [(&str, &[&str]); 6] = [
    ("open", &["EMFILE", "EACCES"]),
    ("create", &["EMFILE", "EACCES", "EROFS", "EDQUOT"]),
    ("write", &["EDQUOT", "EROFS"]),
    ("sync", &["EDQUOT", "EROFS"]),
    ("mkdir,rename,unlink,truncate", &["EDQUOT", "EROFS", "EACCES"]),
    ("list,stat,lock", &["EMFILE", "EACCES"]),
];

/// Kinds of calls with disturbances that must stay invisible.
const INVISIBLE: [(&str, &str); 6] = [
    ("read", "short"),
    ("write", "short"),
    ("read", "EINTR"),
    ("write", "EINTR"),
    ("sync", "EINTR"),
    ("open,create", "EINTR"),
];

/// Words of the program's messages for each kind of call. Syncing or listing a folder opens it, and
/// opening a file checks it.
const OPERATIONS: [(&str, &[&str]); 13] = [
    ("open", &["open", "sync", "lock", "read", "list"]),
    ("create", &["create", "lock"]),
    ("read", &["read"]),
    ("write", &["write"]),
    ("sync", &["sync"]),
    ("rename", &["rename"]),
    ("unlink", &["remove"]),
    ("truncate", &["cut"]),
    ("mkdir", &["create"]),
    ("lock", &["lock"]),
    ("list", &["list"]),
    ("space", &["reserve"]),
    ("stat", &["measure", "open", "create", "list", "lock", "read"]),
];

struct Case {
    solve: Solve,
    calls: &'static str,
    at: u64,
    error: &'static str,
    forever: bool,
    visible: bool,
}

pub fn run(setup: &Setup, sheet: &Sheet) -> Result<()> {
    let goldens = Goldens::of(setup, &SOLVES)?;
    let mut random = setup.random(2);
    let mut cases = Vec::new();
    for solve in SOLVES {
        let kinds = calls_of(setup, &solve)?;
        let total = |calls: &str| {
            let wanted = |kind: &str| calls.is_empty() || calls.split(',').any(|one| one == kind);
            kinds.iter().filter(|(kind, _)| wanted(kind)).map(|(_, count)| *count).sum::<u64>()
        };
        let mut add = |calls, error, forever, visible, most| {
            let picked = picks(total(calls), most, &mut random);
            cases.extend(picked.into_iter().map(|at| Case { solve, calls, at, error, forever, visible }));
        };
        for error in ["EIO", "ENOSPC"] {
            for forever in [false, true] {
                add("", error, forever, true, setup.amount(3000, 30));
            }
        }
        for (calls, errors) in MORE {
            for error in errors {
                add(calls, *error, false, true, setup.amount(3000, 6));
                add(calls, *error, true, true, setup.amount(100, 2));
            }
        }
        for (calls, error) in INVISIBLE {
            add(calls, error, false, false, setup.amount(3000, 8));
        }
    }
    setup.each(&cases, |lane, case| one(setup, sheet, &goldens, lane, case))?;
    past_the_library(setup, sheet, &goldens)?;
    readers(setup, sheet)?;
    standard_output(setup, sheet)?;
    if !setup.ci {
        sheet.bar("failed calls", 2000);
        sheet.bar("interrupted and short calls", 500);
    }
    Ok(())
}

/// Counts the calls of each kind in an undisturbed run.
fn calls_of(setup: &Setup, solve: &Solve) -> Result<BTreeMap<String, u64>> {
    let folder = setup.folder()?;
    let out = folder.join("run");
    let ended = solve.launch(setup, &folder, &out).fault(Fault { trace: true, ..Fault::default() }).run()?;
    let mut kinds = BTreeMap::new();
    for (kind, _) in ended.calls() {
        *kinds.entry(kind.to_owned()).or_default() += 1;
    }
    fs::remove_dir_all(&folder)?;
    Ok(kinds)
}

fn action(error: &str) -> String {
    match ERRORS.iter().find(|(name, _)| *name == error) {
        Some((_, number)) => format!("errno:{number}"),
        None => error.to_owned(),
    }
}

fn one(setup: &Setup, sheet: &Sheet, goldens: &Goldens, lane: &mut Lane, case: &Case) -> Result<()> {
    let golden = goldens.get(&case.solve)?;
    let out = lane.folder.join("run");
    let _ = fs::remove_dir_all(&out);
    let Case { calls, at, error, forever, .. } = *case;
    let fault = Fault { calls, forever, ..Fault::at(at, &action(error)) };
    let ended = case.solve.launch(setup, &lane.folder, &out).fault(fault).run()?;
    let often = if forever { "permanently" } else { "once" };
    let hit = ended.hits().next().map(|(kind, path)| (kind.to_owned(), path.to_owned()));
    let text = format!("{}: {error} {often} at {calls} call {at}, {hit:?}", case.solve);
    if let Some(wrong) = ended.misbehaviour() {
        sheet.fail(format!("{text}: {wrong}"));
        return Ok(());
    }
    let Some((kind, _)) = hit else {
        sheet.count("runs that ended before the call", 1);
        return Ok(());
    };
    if !case.visible {
        sheet.count("interrupted and short calls", 1);
        if sheet.check(ended.code == Some(0), || format!("{text}: it is visible: {}", ended.summary()))
            && let Some(wrong) = golden.compare(&out)
        {
            sheet.fail(format!("{text}: {wrong}"));
        }
        return Ok(());
    }
    sheet.count("failed calls", 1);
    match ended.code {
        // An error without consequence can be ignored, such as in a check whether a folder exists.
        Some(0) => sheet.count(&format!("failed calls of no consequence ({kind})"), 1),
        _ => complaint(sheet, &text, &ended),
    }
    let safe = finished(&out).unwrap_or_else(|error| {
        sheet.fail(format!("{text}: the folder cannot be opened: {error:#}"));
        BTreeSet::new()
    });
    complete(setup, sheet, &text, &case.solve, golden, lane, &out, &safe)
}

/// Checks for the code of the table, the path and operation of a failed call, and a hint. With
/// several threads, the first failed call need not be the first one reported.
fn complaint(sheet: &Sheet, text: &str, ended: &Ended) {
    let named = ended.hits().any(|(kind, path)| {
        let operations = OPERATIONS.iter().find(|(name, _)| *name == kind).map_or(&[][..], |(_, words)| words);
        ended.error.contains(path) && operations.iter().any(|word| ended.error.contains(word))
    });
    let right = ended.code == Some(SYSTEM) && named && ended.error.contains("hint: ");
    sheet.check(right, || format!("{text}: {}", ended.summary()));
}

/// Uses strace to fail the two calls that bypass the C library: a run needs neither forecast nor
/// advice.
fn past_the_library(setup: &Setup, sheet: &Sheet, goldens: &Goldens) -> Result<()> {
    let folder = setup.folder()?;
    let solve = SOLVES[2];
    for call in ["statfs", "fadvise64"] {
        let out = folder.join(call);
        let tracer = format!("strace --seccomp-bpf -f -qq -o /dev/null -e trace={call} -e inject={call}:error=EIO");
        let probe = Launch::new(setup, &folder, &["--version"]).shell(format!("{tracer} true || exit 99; exit 0"));
        if probe.run()?.code != Some(0) {
            sheet.not_run(&format!("failing {call}"), "strace is missing or may not trace");
            continue;
        }
        let ended = solve.launch(setup, &folder, &out).shell(format!("exec {tracer} \"$0\" \"$@\"")).run()?;
        sheet.count("runs with calls failed by strace", 1);
        if behaves(sheet, &format!("{call} fails"), &ended, &[0])
            && let Some(wrong) = goldens.get(&solve)?.compare(&out)
        {
            sheet.fail(format!("{call} fails: {wrong}"));
        }
    }
    fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Runs commands that read a database, and fails each call once.
fn readers(setup: &Setup, sheet: &Sheet) -> Result<()> {
    let folder = setup.folder()?;
    let out = folder.join("run");
    let ended = SOLVES[2].launch(setup, &folder, &out).run()?;
    sheet.check(ended.code == Some(0), || ended.summary());
    let before = files(&out)?;
    let database = out.to_str().context("scratch folders have plain names")?;
    let commands: [Vec<&str>; 5] = [
        vec!["stats", database],
        vec!["probe", database, "0x7fff", "0x7ff0", "0x1234"],
        vec!["verify", database, "--threads", "1"],
        vec!["verify", database, "--checksums-only", "--threads", "1"],
        vec!["solve", "-k", "5", "--out", database],
    ];
    let mut cases = Vec::new();
    let mut random = setup.random(3);
    for command in &commands {
        let traced = Fault { trace: true, ..Fault::default() };
        let good = Launch::new(setup, &folder, command).root(&out).fault(traced).run()?;
        for at in picks(good.calls().count() as u64, setup.amount(3000, 20), &mut random) {
            cases.extend(["EIO", "EMFILE", "EINTR"].map(|error| (command, good.out.clone(), at, error)));
        }
    }
    setup.each(&cases, |lane, (command, good, at, error)| {
        let calls = if *error == "EINTR" { "open,read" } else { "open,read,list,stat" };
        let fault = Fault { calls, ..Fault::at(*at, &action(error)) };
        let ended = Launch::new(setup, &lane.folder, command).root(&out).fault(fault).run()?;
        let text = format!("{}: {error} at call {at}, {:?}", command[0], ended.hits().next());
        let Some((_, path)) = ended.hits().next() else { return Ok(()) };
        if let Some(wrong) = ended.misbehaviour() {
            sheet.fail(format!("{text}: {wrong}"));
        } else if *error == "EINTR" {
            sheet.count("interrupted and short calls", 1);
            sheet.check(ended.code == Some(0), || format!("{text}: it is visible: {}", ended.summary()));
        } else {
            sheet.count("failed calls of readers", 1);
            // With another copy, or a second look at the folder, the answer is right.
            let right = match ended.code {
                Some(0) => comparable(&ended.out) == comparable(good),
                code => code == Some(SYSTEM) && (ended.error.contains(path) || ended.out.contains(path)),
            };
            sheet.check(right, || format!("{text}: {} {}", ended.summary(), ended.out.replace('\n', " | ")));
        }
        Ok(())
    })?;
    sheet.check(files(&out)? == before, || "a reader changed the folder".into());
    fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Checks a standard output whose writes fail, are interrupted or are short.
fn standard_output(setup: &Setup, sheet: &Sheet) -> Result<()> {
    let folder = setup.folder()?;
    let out = folder.join("run");
    SOLVES[0].launch(setup, &folder, &out).run()?;
    let database = out.to_str().context("scratch folders have plain names")?;
    let commands: [&[&str]; 12] = [
        &["stats", database],
        &["stats", database, "--json"],
        &["stats", database, "--csv"],
        &["probe", database, "0x3ff"],
        &["probe", database, "--json", "0x3ff"],
        &["verify", database],
        &["verify", database, "--json"],
        &["plan", "-k", "6", "--json"],
        &["plan", "-k", "6"],
        &["solve", "-k", "4", "--out", database],
        &["solve", "-k", "4", "--out", database, "--json"],
        &["completions", "bash"],
    ];
    for command in commands.iter().chain([&["--help"][..], &["solve", "--help"], &["--version"]].iter()) {
        if setup.stopped() {
            break;
        }
        let launch = || Launch::new(setup, &folder, command).root(&out);
        let good = launch().run()?;
        sheet.check(good.code == Some(0) && !good.out.is_empty(), || format!("{command:?}: {}", good.summary()));
        for error in ["EIO", "ENOSPC", "EINTR", "short"] {
            for at in 1..=3 {
                let fault = Fault { calls: "stdout", ..Fault::at(at, &action(error)) };
                let ended = launch().fault(fault).run()?;
                if ended.hits().next().is_none() {
                    continue;
                }
                let text = format!("{command:?}: {error} at write {at} to standard output");
                if matches!(error, "EINTR" | "short") {
                    sheet.count("interrupted and short calls", 1);
                    let same = ended.code == Some(0) && (comparable(&ended.out) == comparable(&good.out));
                    sheet.check(same, || format!("{text}: it is visible: {}", ended.summary()));
                } else {
                    sheet.count("failed calls", 1);
                    sheet.check(ended.code == Some(SYSTEM), || format!("{text}: {}", ended.summary()));
                }
            }
        }
    }
    fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Returns the lines except those about times and memory.
fn comparable(out: &str) -> Vec<&str> {
    let told = ["elapsed", "rss", "free", "time", "memory", "/s)", "per_second", "seconds", "disk"];
    out.lines().filter(|line| !told.iter().any(|word| line.contains(word))).collect()
}

/// Checks that a run ended with one of these codes, without a forbidden signal or text.
pub fn behaves(sheet: &Sheet, text: &str, ended: &Ended, codes: &[i32]) -> bool {
    let fine = ended.misbehaviour().is_none() && ended.code.is_some_and(|code| codes.contains(&code));
    sheet.check(fine, || format!("{text}: {}", ended.summary()))
}

/// Returns whether the message contains a path below `root`.
pub fn names_a_path(ended: &Ended, root: &Path) -> bool {
    root.to_str().is_some_and(|root| ended.error.contains(root))
}
