//! The cost of durability: solves with and without syncs in turn, A B A B, for both placements of
//! the logs.
//!
//! Both run under the preload library, which answers the syncs of the second without a system call.
//! Times are those of whole processes, on the disk of the scratch folder.

use crate::report::Sheet;
use crate::setup::Setup;
use crate::subject::{Fault, Launch};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::time::Duration;

/// Limit on the share of the time, in percent.
const BAR_PERCENT: f64 = 5.0;

pub fn run(setup: &Setup, sheet: &Sheet) -> Result<()> {
    for placement in ["shared", "dedicated"] {
        compare(setup, sheet, placement)?;
    }
    Ok(())
}

fn compare(setup: &Setup, sheet: &Sheet, placement: &str) -> Result<()> {
    let runs = 2 + setup.amount(3, 1);
    let mut seconds = [Vec::new(), Vec::new()];
    for _ in 0..runs {
        for (synced, seconds) in [true, false].into_iter().zip(&mut seconds) {
            crate::full::stop_if_asked(setup)?;
            seconds.push(solve(setup, placement, synced)?);
        }
    }
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let [synced, unsynced] = &mut seconds;
    let (with, without) = (median(synced), median(unsynced));
    let percent = (with / without - 1.0) * 100.0;
    sheet.count("timed solves", 2 * runs);
    sheet.note(format!(
        "{} layers, {placement}: median {with:.2} s with syncs, {without:.2} s without, of {runs} each: {percent:+.1} %; with {synced:.2?}, without {unsynced:.2?}",
        setup.layers
    ));
    sheet.check(percent < BAR_PERCENT, || {
        format!("{placement}: durability costs {percent:.1} %, the bar is {BAR_PERCENT} %")
    });
    Ok(())
}

fn solve(setup: &Setup, placement: &str, synced: bool) -> Result<f64> {
    let folder = setup.disk_folder()?;
    let layers = setup.layers.to_string();
    let out = folder.join("run");
    let name = out.to_str().context("plain names")?;
    let args =
        ["solve", "--json", "--layers", &layers, "--memory", "1GiB", "--log-placement", placement, "--out", name];
    let fault = Fault { no_sync: !synced, ..Fault::default() };
    let mut launch = Launch::new(setup, &folder, &args).root(&out).fault(fault);
    launch.limit = Duration::from_secs(3600);
    let ended = launch.run()?;
    ensure!(ended.code == Some(0), "{}", ended.summary());
    fs::remove_dir_all(&folder)?;
    Ok(ended.seconds)
}
