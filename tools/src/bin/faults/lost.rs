//! Syncs that fail for real, a disk that disappears, and bad sectors.
//!
//! - *Failed syncs*: the sparse image of the file system is on a file system in memory, which is
//!   filled while the solver is stopped. From then on the disk accepts writes that it cannot keep,
//!   and the sync fails. The kernel then marks the pages clean, so a second sync would succeed: the
//!   solver must not retry it.
//! - *Gone*: the file system is cut off from its device, and the solver continues into errors.
//! - *Bad sectors*: the image is cut below the first byte of a file (reads fail), or has a hole
//!   there (reads give zeros).

use crate::disks::{Disk, Mount, fill, no_disk};
use crate::errno::{behaves, names_a_path};
use crate::full::stop_if_asked;
use crate::kill::complete;
use crate::power::{DISK_MIB, calls_of};
use crate::report::Sheet;
use crate::setup::{Lane, Setup};
use crate::subject::{Fault, Launch, Running, Solve};
use crate::system::{first_extent, punch};
use crate::tree::{Golden, acknowledged, finished};
use anyhow::{Context, Result};
use pipeline::{BlockId, Placement, RealStorage, checkpoint};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

const SOLVE: Solve = Solve::new(6, 12, "dedicated", 2);

/// The setup shared by all cases.
struct Field<'a> {
    setup: &'a Setup,
    sheet: &'a Sheet,
    golden: Golden,
    lane: Lane,
    calls: u64,
}

pub fn run(setup: &Setup, sheet: &Sheet) -> Result<()> {
    let golden = Golden::make(setup, &SOLVE)?;
    let lane = Lane { folder: setup.folder()?, random: setup.random(6) };
    let calls = calls_of(setup, &SOLVE)?;
    let mut field = Field { setup, sheet, golden, lane, calls };
    for kind in ["ext4", "xfs"] {
        if let Some(reason) = no_disk(setup, kind, DISK_MIB) {
            sheet.not_run(&format!("failed syncs, a vanished disk and bad sectors on {kind}"), reason);
            continue;
        }
        for _ in 0..setup.amount(10, 2) {
            field.failed_sync(kind)?;
        }
        for _ in 0..setup.amount(10, 2) {
            field.gone(kind)?;
        }
        for round in 0..setup.amount(5, 2) {
            field.bad_log(kind, round % 2 == 0)?;
            field.bad_block(kind, round % 2 == 0)?;
        }
    }
    Ok(())
}

/// Finds a log file that the metadata name, with the updates of a finished block.
fn needed_log(out: &Path) -> Result<Option<PathBuf>> {
    if !out.join("FORMAT").exists() {
        return Ok(None);
    }
    let inspection = checkpoint::inspect(&RealStorage::open(out)?)?;
    let done: BTreeSet<BlockId> = inspection.records.iter().map(|record| record.block).collect();
    let extents = inspection.records.iter().flat_map(|record| &record.extents);
    // A dedicated log is for the block in its name.
    let needed = extents.filter(|extent| {
        extent.file.placement == Placement::Dedicated && !done.contains(&extent.file.bucket) && extent.length > 0
    });
    Ok(needed.map(|extent| out.join(extent.file.name())).next())
}

impl Field<'_> {
    /// Starts a solve on the disk and stops it at a call somewhere in its middle.
    fn standing(&mut self, disk: &Disk) -> Result<Option<(Running, PathBuf, u64)>> {
        let out = disk.point().join("run");
        let at = self.calls / 10 + self.lane.random.below((self.calls * 8 / 10).max(1));
        let fault = Fault { syncs: true, ..Fault::at(at, "stop") };
        let running = SOLVE.launch(self.setup, &self.lane.folder, &out).fault(fault).start()?;
        match running.wait_for_stop()? {
            Ok(running) => Ok(Some((running, out, at))),
            Err(ended) => {
                self.sheet.count("runs that ended before the fault", 1);
                self.sheet.check(ended.code == Some(0), || ended.summary());
                Ok(None)
            }
        }
    }

    /// Checks, once the disk works again, that no acknowledged block is lost and that the run
    /// resumes.
    fn goes_on(&mut self, text: &str, out: &Path, safe: &BTreeSet<BlockId>) -> Result<()> {
        match finished(out) {
            Ok(now) => {
                let missing = safe.difference(&now).count();
                self.sheet.check(missing == 0, || format!("{text}: {missing} acknowledged blocks are lost"));
            }
            Err(error) => self.sheet.fail(format!("{text}: the folder cannot be opened: {error:#}")),
        }
        complete(self.setup, self.sheet, text, &SOLVE, &self.golden, &self.lane, out, safe)
    }

    fn failed_sync(&mut self, kind: &'static str) -> Result<()> {
        stop_if_asked(self.setup)?;
        let below = Mount::memory(self.setup, "size=400m")?;
        let mut disk = Disk::new(self.setup, kind, DISK_MIB, &below.point)?;
        let Some((running, out, at)) = self.standing(&disk)? else { return Ok(()) };
        let text = format!("{kind}: the disk keeps nothing from call {at} on");
        let mut safe = acknowledged(&out, &self.lane.folder, &running.log())?;
        let filler = fill(&below.point)?;
        let ended = running.go_on()?.wait()?;
        let done = ended.code == Some(0);
        behaves(self.sheet, &text, &ended, &[0, 4]);
        if ended.code == Some(4) {
            self.sheet.count("failed syncs", 1);
            self.sheet.check(names_a_path(&ended, &out), || format!("{text}: no path in {}", ended.summary()));
        }
        // Blocks acknowledged after the fault count as well; the folder may be unreadable until the
        // disk is back.
        if let Ok(more) = acknowledged(&out, &self.lane.folder, &ended.log) {
            safe.extend(more);
        }
        fs::remove_file(&filler)?;
        disk.again()?;
        if done && let Some(wrong) = self.golden.compare(&out) {
            self.sheet.fail(format!("{text}: it reported success, but {wrong}"));
        }
        self.goes_on(&text, &out, &safe)
    }

    fn gone(&mut self, kind: &'static str) -> Result<()> {
        stop_if_asked(self.setup)?;
        let folder = self.setup.folder()?;
        let mut disk = Disk::new(self.setup, kind, DISK_MIB, &folder)?;
        let Some((running, out, at)) = self.standing(&disk)? else { return Ok(()) };
        let text = format!("{kind}: the disk goes away at call {at}");
        let safe = acknowledged(&out, &self.lane.folder, &running.log())?;
        disk.cut_off()?;
        let ended = running.go_on()?.wait()?;
        behaves(self.sheet, &text, &ended, &[4]);
        self.sheet.check(names_a_path(&ended, &out), || format!("{text}: no path in {}", ended.summary()));
        self.sheet.count("vanished disks", 1);
        disk.again()?;
        self.goes_on(&text, &out, &safe)?;
        drop(disk);
        fs::remove_dir_all(&folder)?;
        Ok(())
    }

    /// Makes the first extent of `file` unreadable or zero, until `restore`. Returns the copy of
    /// the image.
    fn spoil(&self, disk: &mut Disk, file: &Path, unreadable: bool) -> Result<PathBuf> {
        let (offset, length) = first_extent(&File::open(file)?)?;
        disk.unmount()?;
        let copy = disk.image.with_extension("copy");
        fs::copy(&disk.image, &copy)?;
        let image = File::options().write(true).open(&disk.image)?;
        if !unreadable {
            punch(&image, offset, length)?;
        }
        disk.mount()?;
        if unreadable {
            // After mounting, which rejects an image that is too short. The file has not been read
            // since.
            image.set_len(offset)?;
        }
        Ok(copy)
    }

    fn restore(&self, disk: &mut Disk, copy: &Path) -> Result<()> {
        disk.unmount()?;
        fs::rename(copy, &disk.image)?;
        disk.mount()
    }

    fn bad_log(&mut self, kind: &'static str, unreadable: bool) -> Result<()> {
        stop_if_asked(self.setup)?;
        let folder = self.setup.folder()?;
        let mut disk = Disk::new(self.setup, kind, DISK_MIB, &folder)?;
        let out = disk.point().join("run");
        // Kills the run repeatedly, until finished blocks have written logs that other blocks still
        // need.
        let mut log = None;
        for _ in 0..40 {
            let running = SOLVE.launch(self.setup, &self.lane.folder, &out).start()?;
            std::thread::sleep(Duration::from_millis(30 + self.lane.random.below(60)));
            running.kill()?;
            // Writes back, because the bytes need a place on the device.
            disk.again()?;
            log = needed_log(&out)?;
            if log.is_some() {
                break;
            }
        }
        let Some(log) = log else {
            self.sheet.count("runs without logs", 1);
            return Ok(());
        };
        let safe = finished(&out)?;
        let text = format!("{kind}: {} of {}", if unreadable { "bad sectors" } else { "zeros" }, log.display());
        let copy = self.spoil(&mut disk, &log, unreadable)?;
        let ended = SOLVE.launch(self.setup, &self.lane.folder, &out).run()?;
        self.sheet.count("spoilt logs", 1);
        // 0 if the log was not needed any more.
        if behaves(self.sheet, &text, &ended, if unreadable { &[0, 3, 4] } else { &[0, 3] }) {
            if ended.code == Some(0) {
                self.sheet.count("spoilt logs that were not needed", 1);
                if let Some(wrong) = self.golden.compare(&out) {
                    self.sheet.fail(format!("{text}: it reported success, but {wrong}"));
                }
            } else {
                self.sheet.check(names_a_path(&ended, &out), || format!("{text}: no path in {}", ended.summary()));
            }
        }
        self.restore(&mut disk, &copy)?;
        self.goes_on(&text, &out, &safe)?;
        drop(disk);
        fs::remove_dir_all(&folder)?;
        Ok(())
    }

    fn bad_block(&mut self, kind: &'static str, unreadable: bool) -> Result<()> {
        stop_if_asked(self.setup)?;
        let folder = self.setup.folder()?;
        let mut disk = Disk::new(self.setup, kind, DISK_MIB, &folder)?;
        let out = disk.point().join("run");
        let ended = SOLVE.launch(self.setup, &self.lane.folder, &out).run()?;
        self.sheet.check(ended.code == Some(0), || ended.summary());
        let database = out.to_str().context("plain names")?.to_owned();
        let mut probe = vec!["probe".to_owned(), database.clone(), "--json".to_owned()];
        let positions = (0..1u64 << 21).step_by(4111).map(|position| format!("{position:#x}"));
        probe.extend(positions);
        let ask = |lane: &Lane, args: &[String]| Launch::new(self.setup, &lane.folder, args).run();
        let right = ask(&self.lane, &probe)?;
        let block = out.join(format!("db/{:06}.blk", self.lane.random.below(100)));
        let text = format!("{kind}: {} of {}", if unreadable { "bad sectors" } else { "zeros" }, block.display());
        disk.again()?;
        let copy = self.spoil(&mut disk, &block, unreadable)?;
        self.sheet.count("spoilt published blocks", 1);
        let probed = ask(&self.lane, &probe)?;
        behaves(self.sheet, &format!("{text}: probe"), &probed, if unreadable { &[0, 3, 4] } else { &[0, 3] });
        let same =
            probed.out.lines().zip(right.out.lines()).all(|(found, right)| found == right || found.contains("error"));
        self.sheet.check(same, || format!("{text}: probe gives another answer"));
        let verify = ["verify".to_owned(), database];
        let verified = ask(&self.lane, &verify)?;
        behaves(self.sheet, &format!("{text}: verify"), &verified, if unreadable { &[3, 4] } else { &[3] });
        let name = block.display().to_string();
        let named = verified.out.contains(&name) || verified.error.contains(&name) || unreadable;
        self.sheet.check(named, || format!("{text}: verify names another file: {}", verified.out));
        self.restore(&mut disk, &copy)?;
        let verified = ask(&self.lane, &verify)?;
        self.sheet.check(verified.code == Some(0), || format!("{text}: restored: {}", verified.summary()));
        drop(disk);
        fs::remove_dir_all(&folder)?;
        Ok(())
    }
}
