//! A second process on a folder in use ends at once and changes nothing; after the owner's death
//! the next one takes over.

use crate::errno::behaves;
use crate::kill::complete;
use crate::report::Sheet;
use crate::setup::{Lane, Setup};
use crate::subject::{Fault, Launch, Solve};
use crate::tree::{Golden, files, finished};
use anyhow::{Context, Result};
use std::fs;

const SOLVE: Solve = Solve::new(6, 12, "dedicated", 2);
/// Limit on the seconds of a rejected start, on a loaded machine.
const QUICKLY_S: f64 = 1.0;

pub fn run(setup: &Setup, sheet: &Sheet) -> Result<()> {
    let golden = Golden::make(setup, &SOLVE)?;
    let lane = Lane { folder: setup.folder()?, random: setup.random(7) };
    let owner = setup.folder()?;
    let out = lane.folder.join("run");
    // The owner is stopped, so any change would be the second process's.
    let mut random = setup.random(8);
    let mut slowest: f64 = 0.0;
    for _ in 0..setup.amount(10, 2) {
        let _ = fs::remove_dir_all(&out);
        let at = 300 + random.below(3500);
        let running = SOLVE.launch(setup, &owner, &out).fault(Fault::at(at, "stop")).start()?;
        let Ok(running) = running.wait_for_stop()? else {
            sheet.fail(format!("the owner was over before call {at}"));
            continue;
        };
        let before = files(&out)?;
        let safe = finished(&out)?;
        for number in 0..10 {
            let placement = if number % 2 == 0 { "dedicated" } else { "shared" };
            let ended = Solve { placement, ..SOLVE }.launch(setup, &lane.folder, &out).run()?;
            sheet.count("second starts", 1);
            let text = format!("second start {number} at call {at}");
            behaves(sheet, &text, &ended, &[6]);
            sheet.check(ended.error.contains("is in use by process"), || format!("{text}: {}", ended.summary()));
            sheet.check(ended.seconds < QUICKLY_S, || format!("{text}: took {:.2} s", ended.seconds));
            slowest = slowest.max(ended.seconds);
        }
        for command in ["stats", "verify"] {
            let ended = Launch::new(setup, &lane.folder, &[command.as_ref(), out.as_os_str()]).run()?;
            behaves(sheet, command, &ended, &[2]);
        }
        sheet.check(files(&out)? == before, || format!("a second start at call {at} changed the folder"));
        let ended = running.kill()?;
        sheet.check(ended.was_killed(), || ended.summary());
        sheet.count("owners killed", 1);
        complete(setup, sheet, "after the owner's death", &SOLVE, &golden, &lane, &out, &safe)?;
    }
    sheet.note(format!("slowest refusal of a second start: {:.0} ms", slowest * 1e3));
    many_at_once(setup, sheet, &golden, &lane)?;
    readers_beside(setup, sheet, &golden, &lane)?;
    if !setup.ci {
        sheet.bar("second starts", 100);
    }
    Ok(())
}

/// Starts several runs on one new folder: exactly one solves it, unless it is over before the
/// others begin.
fn many_at_once(setup: &Setup, sheet: &Sheet, golden: &Golden, lane: &Lane) -> Result<()> {
    for _ in 0..setup.amount(10, 2) {
        let out = lane.folder.join("race");
        let _ = fs::remove_dir_all(&out);
        let folders: Vec<_> = (0..6).map(|_| setup.folder()).collect::<Result<_>>()?;
        let started: Vec<_> =
            folders.iter().map(|folder| SOLVE.launch(setup, folder, &out).start()).collect::<Result<_>>()?;
        let mut done = 0;
        for running in started {
            let ended = running.wait()?;
            behaves(sheet, "starts at the same time", &ended, &[0, 6]);
            done += u64::from(ended.code == Some(0));
        }
        sheet.count("races", 1);
        sheet.check(done > 0, || "none of the starts at the same time succeeded".into());
        if let Some(wrong) = golden.compare(&out) {
            sheet.fail(format!("starts at the same time: {wrong}"));
        }
    }
    Ok(())
}

/// Reads a finished database beside solvers that find it finished, and a database while it is being
/// finished.
fn readers_beside(setup: &Setup, sheet: &Sheet, golden: &Golden, lane: &Lane) -> Result<()> {
    let out = lane.folder.join("read");
    let notes = setup.folder()?;
    for _ in 0..setup.amount(5, 1) {
        let _ = fs::remove_dir_all(&out);
        let running = SOLVE.launch(setup, &notes, &out).start()?;
        let name = out.to_str().context("plain names")?;
        for _ in 0..30 {
            let ended = Launch::new(setup, &lane.folder, &["probe", name, "0x1fffff"]).run()?;
            sheet.count("probes beside a solver", 1);
            // There is no database until the end; then the answer is that of six layers, misère.
            if behaves(sheet, "probe beside a solver", &ended, &[0, 2]) && ended.code == Some(0) {
                sheet.check(ended.out.contains("win"), || format!("probe beside a solver: {}", ended.out));
            }
        }
        let ended = running.wait()?;
        sheet.check(ended.code == Some(0), || format!("solver beside probes: {}", ended.summary()));
        if let Some(wrong) = golden.compare(&out) {
            sheet.fail(format!("solver beside probes: {wrong}"));
        }
    }
    Ok(())
}
