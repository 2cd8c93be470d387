//! Full disks: file systems in memory of many sizes and with too few files, images filled while the
//! solver runs, a limit on file sizes, a quota.
//!
//! The solver rejects a disk that is too small before it writes. So it is also stopped at a call
//! while the disk is filled to the last block, and continued. Finally space is freed, and the same
//! command must finish with the golden database.

use crate::disks::{Disk, Mount, fill, no_disk, no_mounts, system_program};
use crate::errno::behaves;
use crate::kill::complete;
use crate::report::Sheet;
use crate::setup::{Lane, Setup};
use crate::subject::{Ended, Fault, Launch, Solve};
use crate::tree::{Golden, finished};
use anyhow::{Context, Result};
use pipeline::{BlockId, RealStorage, Storage};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

pub const SOLVE: Solve = Solve::new(6, 12, "dedicated", 2);
const DISK_MIB: u64 = 24;

pub fn run(setup: &Setup, sheet: &Sheet) -> Result<()> {
    let golden = Golden::make(setup, &SOLVE)?;
    let mut lane = Lane { folder: setup.folder()?, random: setup.random(4) };
    limits(setup, sheet, &golden, &mut lane)?;
    if let Some(reason) = no_mounts() {
        sheet.not_run("file systems in memory, images, quota", reason);
        return Ok(());
    }
    sizes(setup, sheet, &golden, &mut lane)?;
    few_files(setup, sheet, &golden, &mut lane)?;
    filled_in_memory(setup, sheet, &golden, &mut lane)?;
    for kind in ["ext4", "xfs"] {
        filled_image(setup, sheet, &golden, &mut lane, kind)?;
    }
    quota(setup, sheet, &golden, &mut lane)?;
    if !setup.ci {
        sheet.bar("full disks", 80);
    }
    Ok(())
}

/// Checks the end of a run on a full disk: code 4, a path and a hint, or 0 if the space was just
/// enough. Returns the finished blocks, which must stay.
fn stopped_cleanly(sheet: &Sheet, text: &str, ended: &Ended, out: &Path) -> BTreeSet<BlockId> {
    sheet.count("full disks", 1);
    if behaves(sheet, text, ended, &[0, 4]) && ended.code == Some(4) {
        sheet.count("clean stops", 1);
        let said = ended.error.contains("hint: ")
            && ["free space", "nothing was written"].iter().any(|word| ended.error.contains(word));
        sheet.check(said, || format!("{text}: says {}", ended.summary()));
    }
    finished(out).unwrap_or_else(|error| {
        sheet.fail(format!("{text}: the folder cannot be opened: {error:#}"));
        BTreeSet::new()
    })
}

fn limits(setup: &Setup, sheet: &Sheet, golden: &Golden, lane: &mut Lane) -> Result<()> {
    for kib in (1..=64).step_by(if setup.ci { 9 } else { 2 }) {
        let out = lane.folder.join("run");
        let _ = fs::remove_dir_all(&out);
        let text = format!("files of at most {kib} KiB");
        // The unit of `ulimit -f` in sh is 512 bytes.
        let ended = SOLVE.launch(setup, &lane.folder, &out).shell(format!("ulimit -f {}", kib * 2)).run()?;
        let safe = stopped_cleanly(sheet, &text, &ended, &out);
        complete(setup, sheet, &text, &SOLVE, golden, lane, &out, &safe)?;
    }
    Ok(())
}

fn sizes(setup: &Setup, sheet: &Sheet, golden: &Golden, lane: &mut Lane) -> Result<()> {
    let count = setup.amount(64, 6);
    let kibs = (0..count).map(|step| 16 + step * 4096 / count);
    too_small(setup, sheet, golden, lane, kibs.map(|kib| (format!("{kib} KiB in memory"), format!("size={kib}k"))))
}

/// Too few files, an error that no forecast of bytes predicts.
fn few_files(setup: &Setup, sheet: &Sheet, golden: &Golden, lane: &mut Lane) -> Result<()> {
    let count = setup.amount(64, 8);
    let counts = (0..count).map(|step| 2 + step * 230 / count);
    let cases = counts.map(|files| (format!("{files} files in memory"), format!("size=64m,nr_inodes={files}")));
    too_small(setup, sheet, golden, lane, cases)
}

/// Solves on file systems in memory, each given by a text and its options, and again after
/// enlarging them.
fn too_small(
    setup: &Setup,
    sheet: &Sheet,
    golden: &Golden,
    lane: &mut Lane,
    cases: impl Iterator<Item = (String, String)>,
) -> Result<()> {
    for (text, options) in cases {
        let mount = Mount::memory(setup, &options)?;
        let out = mount.point.join("run");
        let ended = SOLVE.launch(setup, &lane.folder, &out).run()?;
        let safe = stopped_cleanly(sheet, &text, &ended, &out);
        larger(&mount)?;
        complete(setup, sheet, &text, &SOLVE, golden, lane, &out, &safe)?;
        stop_if_asked(setup)?;
    }
    Ok(())
}

fn larger(mount: &Mount) -> Result<()> {
    let point = mount.point.to_str().context("plain names")?;
    system_program("mount", &["-o", "remount,size=64m,nr_inodes=10000", point])?;
    Ok(())
}

fn filled_in_memory(setup: &Setup, sheet: &Sheet, golden: &Golden, lane: &mut Lane) -> Result<()> {
    for _ in 0..setup.amount(40, 8) {
        let mount = Mount::memory(setup, "size=16m")?;
        let at = 1 + lane.random.below(4000);
        filled(setup, sheet, golden, lane, &mount.point, &format!("memory filled at call {at}"), at)?;
        stop_if_asked(setup)?;
    }
    Ok(())
}

fn filled_image(setup: &Setup, sheet: &Sheet, golden: &Golden, lane: &mut Lane, kind: &'static str) -> Result<()> {
    let mib = if kind == "xfs" { 320 } else { DISK_MIB };
    if let Some(reason) = no_disk(setup, kind, mib) {
        sheet.not_run(&format!("full {kind}"), reason);
        return Ok(());
    }
    let folder = setup.folder()?;
    for _ in 0..setup.amount(if kind == "xfs" { 5 } else { 25 }, if kind == "xfs" { 1 } else { 3 }) {
        let mut disk = Disk::new(setup, kind, mib, &folder)?;
        let at = 1 + lane.random.below(4000);
        filled(setup, sheet, golden, lane, disk.point(), &format!("{kind} filled at call {at}"), at)?;
        disk.unmount()?;
        stop_if_asked(setup)?;
    }
    fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Stops a solve at a call, fills the disk, continues, frees space, and finishes.
pub fn filled(
    setup: &Setup,
    sheet: &Sheet,
    golden: &Golden,
    lane: &mut Lane,
    disk: &Path,
    text: &str,
    at: u64,
) -> Result<()> {
    let out = disk.join("run");
    let running = SOLVE.launch(setup, &lane.folder, &out).fault(Fault::at(at, "stop")).start()?;
    let ended = match running.wait_for_stop()? {
        Err(ended) => {
            sheet.count("runs that ended before the disk was full", 1);
            ended
        }
        Ok(running) => {
            let before_bytes = room(disk)?;
            let filler = fill(disk)?;
            let ended = running.go_on()?.wait()?;
            let probe = Launch::new(setup, &lane.folder, &["stats".as_ref(), out.as_os_str()]).run()?;
            behaves(sheet, &format!("{text}: stats"), &probe, &[0, 2]);
            fs::remove_file(&filler)?;
            wait_for_room(disk, before_bytes)?;
            ended
        }
    };
    let safe = stopped_cleanly(sheet, text, &ended, &out);
    complete(setup, sheet, text, &SOLVE, golden, lane, &out, &safe)
}

fn room(disk: &Path) -> Result<u64> {
    Ok(RealStorage::open(disk)?.free_bytes()?)
}

/// Waits up to some seconds for the space of a removed file, which XFS frees in the background.
fn wait_for_room(disk: &Path, before_bytes: u64) -> Result<()> {
    for _ in 0..500 {
        if room(disk)? >= before_bytes / 10 * 9 {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Runs into the quota of a btrfs subvolume: EDQUOT while the disk has room.
fn quota(setup: &Setup, sheet: &Sheet, golden: &Golden, lane: &mut Lane) -> Result<()> {
    let has_tool = system_program("btrfs", &["--version"]).is_ok();
    let reason = if has_tool { no_disk(setup, "btrfs", 128) } else { Some("the program btrfs is missing".into()) };
    if let Some(reason) = reason {
        sheet.not_run("quota (btrfs)", reason);
        return Ok(());
    }
    let folder = setup.folder()?;
    let disk = Disk::new(setup, "btrfs", 128, &folder)?;
    let point = disk.point().to_str().context("plain names")?;
    system_program("btrfs", &["quota", "enable", point])?;
    for kib in (64..2048).step_by(if setup.ci { 900 } else { 160 }) {
        let volume = format!("{point}/v{kib}");
        system_program("btrfs", &["subvolume", "create", &volume])?;
        system_program("btrfs", &["qgroup", "limit", &format!("{kib}K"), &volume])?;
        let out = Path::new(&volume).join("run");
        let text = format!("quota of {kib} KiB");
        let ended = SOLVE.launch(setup, &lane.folder, &out).run()?;
        sheet.count("quotas", 1);
        let safe = stopped_cleanly(sheet, &text, &ended, &out);
        system_program("btrfs", &["qgroup", "limit", "none", &volume])?;
        complete(setup, sheet, &text, &SOLVE, golden, lane, &out, &safe)?;
        stop_if_asked(setup)?;
    }
    drop(disk);
    fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Fails after Ctrl-C, so that the caller returns and drops its mounts.
pub fn stop_if_asked(setup: &Setup) -> Result<()> {
    anyhow::ensure!(!setup.stopped(), "stopped by a signal");
    Ok(())
}
