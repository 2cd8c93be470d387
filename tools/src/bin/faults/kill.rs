//! SIGKILL at every file call, at random times, during recovery, and in chains.
//!
//! A kill leaves the written bytes in the page cache, so this part proves that a run resumes after
//! any prefix of its file calls and keeps acknowledged blocks. Power cuts are another part.

use crate::report::Sheet;
use crate::setup::{Lane, Setup, picks};
use crate::subject::{Ended, Fault, Launch, Solve};
use crate::tree::{Golden, Goldens, finished};
use anyhow::Result;
use pipeline::BlockId;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Solves with few calls, killed at each of them, and with several commits, killed at some.
const SMALL: [Solve; 8] = [
    Solve::new(4, 7, "dedicated", 1),
    Solve::new(4, 7, "shared", 1),
    Solve::new(4, 7, "dedicated", 2),
    Solve::new(4, 7, "shared", 2),
    Solve::new(5, 9, "dedicated", 1),
    Solve::new(5, 9, "shared", 1),
    Solve::new(5, 9, "dedicated", 2),
    Solve::new(5, 9, "shared", 2),
];
const LARGE: [Solve; 6] = [
    Solve::new(5, 8, "dedicated", 2),
    Solve::new(5, 8, "shared", 2),
    Solve::new(5, 8, "dedicated", 1),
    Solve::new(5, 8, "shared", 1),
    Solve::new(6, 12, "dedicated", 2),
    Solve::new(6, 12, "shared", 2),
];

enum Manner {
    /// At a call, or in the middle of a write.
    At(u64, &'static str),
    /// After this many microseconds.
    After(u64),
    /// Repeatedly, each time further into the run.
    Chain,
}

struct Case {
    solve: Solve,
    manner: Manner,
    /// Whether the resume is also killed.
    twice: bool,
    calls: u64,
}

pub fn run(setup: &Setup, sheet: &Sheet) -> Result<()> {
    seen_by_the_library(setup, sheet)?;
    let all: Vec<Solve> = SMALL.into_iter().chain(LARGE).collect();
    let goldens = Goldens::of(setup, &all)?;
    let mut random = setup.random(1);
    let mut cases = Vec::new();
    for (solve, most) in SMALL
        .map(|solve| (solve, setup.amount(3000, 60)))
        .into_iter()
        .chain(LARGE.map(|solve| (solve, setup.amount(120, 25))))
    {
        let (calls, writes, seconds) = measure(setup, &solve)?;
        for at in picks(calls, most, &mut random) {
            cases.push(Case { solve, manner: Manner::At(at, "kill"), twice: at % 3 == 0, calls });
        }
        for at in picks(writes, most / 4, &mut random) {
            cases.push(Case { solve, manner: Manner::At(at, "tear"), twice: false, calls });
        }
        for _ in 0..setup.amount(24, 3) {
            let after = random.below((seconds * 1e6) as u64 + 1000);
            cases.push(Case { solve, manner: Manner::After(after), twice: false, calls });
        }
        for _ in 0..setup.amount(3, 1) {
            cases.push(Case { solve, manner: Manner::Chain, twice: false, calls });
        }
    }
    setup.each(&cases, |lane, case| one(setup, sheet, &goldens, lane, case))?;
    if !setup.ci {
        sheet.bar("kills", 2500);
        sheet.bar("kills during recovery", 200);
        sheet.bar("chains", 20);
    }
    Ok(())
}

/// Measures an undisturbed run: file calls, writes and seconds.
fn measure(setup: &Setup, solve: &Solve) -> Result<(u64, u64, f64)> {
    let folder = setup.folder()?;
    let out = folder.join("run");
    let traced = Fault { trace: true, ..Fault::default() };
    let ended = solve.launch(setup, &folder, &out).fault(traced).run()?;
    let calls = ended.calls().count() as u64;
    let writes = ended.calls().filter(|(kind, _)| *kind == "write").count() as u64;
    fs::remove_dir_all(&folder)?;
    Ok((calls, writes, ended.seconds))
}

fn one(setup: &Setup, sheet: &Sheet, goldens: &Goldens, lane: &mut Lane, case: &Case) -> Result<()> {
    let golden = goldens.get(&case.solve)?;
    let out = lane.folder.join("run");
    let _ = fs::remove_dir_all(&out);
    let (text, chain) = match case.manner {
        Manner::At(at, action) => (format!("{}: {action} at call {at}", case.solve), 1),
        Manner::After(micros) => (format!("{}: killed after {micros} us", case.solve), 1),
        Manner::Chain => (format!("{}: chain", case.solve), 25),
    };
    let mut safe = BTreeSet::new();
    for link in 0..chain {
        let launch = case.solve.launch(setup, &lane.folder, &out);
        let ended = match case.manner {
            Manner::At(at, "tear") => launch.fault(Fault { calls: "write", ..Fault::at(at, "tear") }).run()?,
            Manner::At(at, action) => launch.fault(Fault::at(at, action)).run()?,
            Manner::After(micros) => {
                let running = launch.start()?;
                std::thread::sleep(std::time::Duration::from_micros(micros));
                running.kill()?
            }
            Manner::Chain => {
                // Recovery takes about a hundred calls. Most kills come later, to allow progress;
                // some come within it.
                let at = 1 + lane.random.below((case.calls / 2).max(1));
                launch.fault(Fault::at(at, "kill")).run()?
            }
        };
        if !went_on(sheet, &text, &ended, if link > 0 { "kills in chains" } else { "kills" }) {
            break;
        }
        if !keeps(sheet, &text, &out, &mut safe) {
            return Ok(());
        }
    }
    if matches!(case.manner, Manner::Chain) {
        sheet.count("chains", 1);
    }
    if case.twice {
        let at = 1 + lane.random.below(120);
        let ended = case.solve.launch(setup, &lane.folder, &out).fault(Fault::at(at, "kill")).run()?;
        went_on(sheet, &text, &ended, "kills during recovery");
        if !keeps(sheet, &text, &out, &mut safe) {
            return Ok(());
        }
    }
    complete(setup, sheet, &text, &case.solve, golden, lane, &out, &safe)
}

/// Returns whether the run was killed; if it ended before, checks that it ended well.
pub fn went_on(sheet: &Sheet, text: &str, ended: &Ended, what: &str) -> bool {
    if ended.was_killed() {
        sheet.count(what, 1);
        return true;
    }
    sheet.check(ended.code == Some(0), || format!("{text}: {}", ended.summary()));
    sheet.count("runs that ended before the kill", 1);
    false
}

/// Checks that the folder is readable and holds every safe block; adds the blocks that are safe
/// now.
pub fn keeps(sheet: &Sheet, text: &str, out: &Path, safe: &mut BTreeSet<BlockId>) -> bool {
    match finished(out) {
        Ok(now) => {
            let lost = safe.difference(&now).count();
            *safe = now;
            sheet.check(lost == 0, || format!("{text}: {lost} acknowledged blocks are lost"))
        }
        Err(error) => sheet.check(false, || format!("{text}: the folder cannot be opened: {error:#}")),
    }
}

/// Finishes a folder by a clean run, which must give the golden database and leave no other files.
#[expect(clippy::too_many_arguments, reason = "the account of one case")]
pub fn complete(
    setup: &Setup,
    sheet: &Sheet,
    text: &str,
    solve: &Solve,
    golden: &Golden,
    lane: &Lane,
    out: &Path,
    safe: &BTreeSet<BlockId>,
) -> Result<()> {
    let ended = solve.launch(setup, &lane.folder, out).run()?;
    if !sheet.check(ended.code == Some(0), || format!("{text}: the resume ended with {}", ended.summary())) {
        return Ok(());
    }
    if let Some(wrong) = golden.compare(out) {
        sheet.fail(format!("{text}: after the resume {wrong}"));
    }
    let resumed =
        serde_json::from_str::<serde_json::Value>(&ended.out).ok().and_then(|json| json["resumed_blocks"].as_u64());
    sheet.check(resumed.is_some_and(|resumed| resumed >= safe.len() as u64), || {
        format!("{text}: {resumed:?} blocks resumed, {} were safe", safe.len())
    });
    sheet.count("clean resumes", 1);
    Ok(())
}

/// Kinds of calls that the library sees, with their names in the kernel.
const CALLS: [(&str, &[&str]); 8] = [
    ("write", &["pwrite64", "write"]),
    ("rename", &["rename", "renameat", "renameat2"]),
    ("unlink", &["unlink", "unlinkat"]),
    ("mkdir", &["mkdir", "mkdirat"]),
    ("lock", &["flock"]),
    ("truncate", &["ftruncate"]),
    ("sync", &["fsync", "fdatasync"]),
    ("read", &["pread64"]),
];

/// Checks that the library sees every call the kernel sees, otherwise the sweeps would miss some.
/// Both watch the same run, because commits depend on the clock.
fn seen_by_the_library(setup: &Setup, sheet: &Sheet) -> Result<()> {
    let folder = setup.folder()?;
    let out = folder.join("run");
    let trace = folder.join("strace");
    let calls = CALLS.map(|(_, names)| names.join(",")).join(",");
    let tracer = format!("strace -f -qq -y -s 0 -e trace={calls} -o '{}'", trace.display());
    // Both watch the program, neither watches the tracer.
    let shell =
        format!("preload=$LD_PRELOAD; unset LD_PRELOAD; exec {tracer} -E LD_PRELOAD=\"$preload\" \"$0\" \"$@\"");
    let probe = Launch::new(setup, &folder, &["--version"]).shell(format!("{tracer} true || exit 99; exit 0"));
    if probe.run()?.code != Some(0) {
        sheet.not_run("calls seen by the library against those of the kernel", "strace is missing or may not trace");
        fs::remove_dir_all(&folder)?;
        return Ok(());
    }
    for solve in SMALL {
        let _ = fs::remove_dir_all(&out);
        let fault = Fault { trace: true, ..Fault::default() };
        let ended = solve.launch(setup, &folder, &out).fault(fault).shell(shell.clone()).run()?;
        sheet.check(ended.code == Some(0), || format!("{solve}, traced: {}", ended.summary()));
        let trace = fs::read_to_string(&trace)?;
        let root = out.display().to_string();
        // A line is the process number, then the call; the second half of an interrupted one has no
        // bracket after its name.
        let traced = |names: &[&str]| {
            let lines = trace.lines().filter(|line| line.contains(&root));
            let names_of = lines.filter_map(|line| line.split_whitespace().nth(1)?.split_once('('));
            names_of.filter(|(name, _)| names.contains(name)).count()
        };
        for (kind, names) in CALLS {
            let seen = ended.calls().filter(|(found, _)| *found == kind).count();
            let traced = traced(names);
            sheet.check(seen == traced, || {
                format!("{solve}: {kind}: the library sees {seen} calls, the kernel {traced}")
            });
            sheet.count("calls seen by library and kernel alike", traced as u64);
        }
    }
    fs::remove_dir_all(&folder)?;
    Ok(())
}
