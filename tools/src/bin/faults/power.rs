//! Power cuts on ext4 and XFS: the file system is cut off its device while the solver stands still, at marked calls and at random times, several times
//! in a row.
//!
//! The solver is stopped first: a sync that races with the cut may say yes too early, which no power cut does. What was acknowledged is read from the log
//! of the syncs before the cut. As a control the same with syncs that do nothing has to lose blocks, or the cut is none.

use crate::disks::{Disk, no_disk};
use crate::full::stop_if_asked;
use crate::kill::complete;
use crate::report::Sheet;
use crate::setup::{Lane, Setup};
use crate::subject::{Fault, Solve};
use crate::tree::{Goldens, acknowledged, finished};
use anyhow::Result;
use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

/// XFS does not do with less.
pub const DISK_MIB: u64 = 320;
/// Cuts of each file system.
const CUTS_EACH: u64 = 55;
/// Chains after which a machine on which no cut comes in time is given up, and the bar missed.
const CHAINS_AT_MOST: usize = 80;
const SOLVES: [Solve; 4] = [
    Solve::new(6, 10, "dedicated", 2),
    Solve::new(6, 12, "shared", 2),
    Solve::new(6, 10, "shared", 1),
    Solve::new(5, 8, "dedicated", 2),
];

pub fn run(setup: &Setup, sheet: &Sheet) -> Result<()> {
    let mut ran = false;
    let goldens = Goldens::of(setup, &SOLVES)?;
    for (number, kind) in ["ext4", "xfs"].into_iter().enumerate() {
        if let Some(reason) = no_disk(setup, kind, DISK_MIB) {
            sheet.not_run(&format!("power cuts on {kind}"), reason);
            continue;
        }
        ran = true;
        let folder = setup.folder()?;
        let mut disk = Disk::new(setup, kind, DISK_MIB, &folder)?;
        let mut lane = Lane { folder: setup.folder()?, random: setup.random(50 + number as u64) };
        // How many cuts fit into a chain depends on how fast the machine is.
        let (before, wanted) = (sheet.counted("power cuts"), setup.amount(CUTS_EACH, 10));
        for solve in SOLVES.iter().cycle().take(CHAINS_AT_MOST * setup.effort as usize) {
            chain(setup, sheet, &goldens, &mut disk, &mut lane, *solve, false)?;
            if sheet.counted("power cuts") - before >= wanted {
                break;
            }
        }
        for _ in 0..setup.amount(4, 2) {
            chain(setup, sheet, &goldens, &mut disk, &mut lane, SOLVES[0], true)?;
        }
        drop(disk);
        fs::remove_dir_all(&folder)?;
    }
    if ran {
        sheet.check(sheet.counted("controls that lost blocks") > 0, || {
            "the control lost nothing: these are no power cuts".into()
        });
        sheet.check(sheet.counted("blocks acknowledged before a cut") > 0, || {
            "no cut came after an acknowledgement".into()
        });
        if !setup.ci {
            sheet.bar("power cuts", 100);
        }
    }
    Ok(())
}

/// File calls of an undisturbed run.
pub fn calls_of(setup: &Setup, solve: &Solve) -> Result<u64> {
    let folder = setup.folder()?;
    let out = folder.join("run");
    let ended = solve.launch(setup, &folder, &out).fault(Fault { trace: true, ..Fault::default() }).run()?;
    let calls = ended.calls().count() as u64;
    fs::remove_dir_all(&folder)?;
    Ok(calls)
}

/// Up to five cuts in a row, then a clean end. A `control` has no syncs and may lose, but not be wrong.
fn chain(
    setup: &Setup,
    sheet: &Sheet,
    goldens: &Goldens,
    disk: &mut Disk,
    lane: &mut Lane,
    solve: Solve,
    control: bool,
) -> Result<()> {
    let out = disk.point().join("run");
    let _ = fs::remove_dir_all(&out);
    // Else the first cut brings the folder of the run before back.
    disk.again()?;
    let calls = calls_of(setup, &solve)?;
    let (mut safe, mut lost) = (BTreeSet::new(), false);
    for cut in 0..5 {
        stop_if_asked(setup)?;
        let marked = lane.random.below(3) > 0;
        // Some cuts within the recovery, most after some commits, and so that several fit into a run.
        let reach = if lane.random.below(4) == 0 { 200 } else { calls / 3 };
        let at = if marked { 1 + lane.random.below(reach) } else { 0 };
        let text = format!("{}: {solve}: cut {cut} at call {at}", disk.kind);
        let fault = Fault { syncs: true, no_sync: control, ..Fault::at(at, "stop") };
        let running = solve.launch(setup, &lane.folder, &out).fault(fault).start()?;
        let stopped = if marked {
            running.wait_for_stop()?
        } else {
            std::thread::sleep(Duration::from_micros(lane.random.below(400_000)));
            running.stop()?
        };
        let running = match stopped {
            Ok(running) => running,
            Err(ended) => {
                sheet.count("runs over before the cut", 1);
                // A control that has lost its folder's metadata is refused, loudly.
                let refused = control && ended.code == Some(3);
                sheet.check(ended.code == Some(0) || refused, || format!("{text}: {}", ended.summary()));
                break;
            }
        };
        let promised = match acknowledged(&out, &lane.folder, &running.log()) {
            Ok(promised) => promised,
            Err(_) if control => BTreeSet::new(),
            Err(error) => {
                sheet.fail(format!("{text}: before the cut: {error:#}"));
                break;
            }
        };
        safe.extend(promised);
        disk.cut_off()?;
        running.kill()?;
        disk.again()?;
        let now = finished(&out);
        if control {
            sheet.count("cuts of the control", 1);
            lost |= !safe.is_empty() && !now.is_ok_and(|now| safe.is_subset(&now));
            continue;
        }
        sheet.count("power cuts", 1);
        sheet.count("blocks acknowledged before a cut", safe.len() as u64);
        match now {
            Ok(now) => {
                let missing = safe.difference(&now).count();
                sheet.check(missing == 0, || {
                    format!("{text}: {missing} of {} acknowledged blocks are lost", safe.len())
                });
                // All that is left after a power cut is on the disk.
                safe = now;
            }
            Err(error) => sheet.fail(format!("{text}: the folder is refused: {error:#}")),
        }
    }
    if !control {
        let text = format!("{}: {solve}", disk.kind);
        return complete(setup, sheet, &text, &solve, goldens.get(&solve)?, lane, &out, &safe);
    }
    sheet.count("controls", 1);
    sheet.count("controls that lost blocks", u64::from(lost));
    // Without syncs the folder may be refused; what is published in the end has to be right.
    let ended = solve.launch(setup, &lane.folder, &out).run()?;
    match ended.code {
        Some(0) => {
            if let Some(wrong) = goldens.get(&solve)?.compare(&out) {
                sheet.fail(format!("{}: control: {wrong}", disk.kind));
            }
        }
        Some(3) => sheet.count("controls refused as damaged", 1),
        _ => sheet.fail(format!("{}: control: {}", disk.kind, ended.summary())),
    }
    Ok(())
}
