//! Power cuts on ext4 and XFS: the file system is cut off from its device while the solver is
//! stopped, at marked calls and at random times, several times in a row.
//!
//! The solver is stopped first, because a sync that races with the cut can succeed too early, which
//! no power cut causes. The log of the syncs before the cut shows the acknowledged blocks. As a
//! control, the same with syncs that do nothing must lose blocks; otherwise the cuts would prove
//! nothing.

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

/// Size of an image; XFS needs this much.
pub const DISK_MIB: u64 = 320;
/// Cuts for each file system.
const CUTS_EACH: u64 = 55;
/// Limit on the chains. A machine too fast or slow for cuts in time then misses the bar.
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
        // The number of cuts that fit into a chain depends on the speed of the machine.
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
            "the control lost nothing: these are not power cuts".into()
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

/// Counts the file calls of an undisturbed run.
pub fn calls_of(setup: &Setup, solve: &Solve) -> Result<u64> {
    let folder = setup.folder()?;
    let out = folder.join("run");
    let ended = solve.launch(setup, &folder, &out).fault(Fault { trace: true, ..Fault::default() }).run()?;
    let calls = ended.calls().count() as u64;
    fs::remove_dir_all(&folder)?;
    Ok(calls)
}

/// Cuts a run up to five times in a row, then finishes it. A `control` has no syncs: it can lose
/// blocks, but must not be wrong.
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
    // Otherwise the first cut would bring back the folder of the previous run.
    disk.again()?;
    let calls = calls_of(setup, &solve)?;
    let (mut safe, mut lost) = (BTreeSet::new(), false);
    for cut in 0..5 {
        stop_if_asked(setup)?;
        let marked = lane.random.below(3) > 0;
        // Some cuts fall within the recovery, most after some commits, early enough for several in
        // a run.
        let reach = if lane.random.below(4) == 0 { 200 } else { (calls / 3).max(1) };
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
                sheet.count("runs that ended before the cut", 1);
                // A control that has lost its metadata must be rejected.
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
                // Everything left after a power cut is on the disk, hence safe.
                safe = now;
            }
            Err(error) => sheet.fail(format!("{text}: the folder cannot be opened: {error:#}")),
        }
    }
    if !control {
        let text = format!("{}: {solve}", disk.kind);
        return complete(setup, sheet, &text, &solve, goldens.get(&solve)?, lane, &out, &safe);
    }
    sheet.count("controls", 1);
    sheet.count("controls that lost blocks", u64::from(lost));
    // Without syncs the folder can be rejected; a published database must be right.
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
