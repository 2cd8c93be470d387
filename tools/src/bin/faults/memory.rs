//! Peak memory, as the kernel counts it: within the budget plus 64 MiB, also under a control
//! group's limit.

use crate::errno::behaves;
use crate::group::{Group, MEMORY};
use crate::report::Sheet;
use crate::setup::Setup;
use crate::subject::{Ended, Launch};
use anyhow::Result;
use std::fs;
use std::time::Duration;

/// Allowance beyond the budget.
const BEYOND_MIB: u64 = 64;

pub fn run(setup: &Setup, sheet: &Sheet) -> Result<()> {
    let budgets: &[u64] = if setup.ci { &[48, 256] } else { &[40, 48, 64, 128, 256, 512, 1024] };
    let group = Group::new(MEMORY);
    if let Err(error) = &group {
        sheet.not_run("limits of control groups", format!("{error:#}"));
    }
    let mut losses = std::collections::BTreeSet::new();
    for &budget in budgets {
        for placement in ["dedicated", "shared"] {
            let text = format!("7 layers in {budget} MiB, {placement}");
            let ended = solve(setup, 7, budget, placement, 2, None)?;
            within(sheet, &text, &ended, budget, &mut losses);
            if let Ok(group) = &group {
                group.limit((budget + BEYOND_MIB) << 20)?;
                let ended = solve(setup, 7, budget, placement, 2, Some(group))?;
                sheet.count("runs under a limit", 1);
                within(sheet, &format!("{text}, limited to {} MiB", budget + BEYOND_MIB), &ended, budget, &mut losses);
            }
        }
    }
    sheet.check(losses.len() == 1, || format!("the budgets give {} different results", losses.len()));
    if !setup.ci {
        let mut alone = std::collections::BTreeSet::new();
        let ended = solve(setup, 8, 256, "dedicated", 2, None)?;
        within(sheet, "8 layers in 256 MiB", &ended, 256, &mut alone);
    }
    Ok(())
}

fn solve(
    setup: &Setup,
    layers: u32,
    budget: u64,
    placement: &str,
    threads: u32,
    group: Option<&Group>,
) -> Result<Ended> {
    // On the disk, because files in memory would count as the group's.
    let folder = setup.disk_folder()?;
    // Blocks as large as the budget allows with two workers, so that it binds.
    let bits = match budget {
        0..64 => 22,
        _ if layers > 7 => 24,
        64..128 => 24,
        _ => 26,
    };
    let args = format!(
        "solve --json --layers {layers} --block-bits {bits} --memory {budget}MiB --log-placement {placement} --threads {threads} --out run"
    );
    let mut launch = Launch::new(setup, &folder, &args.split(' ').collect::<Vec<_>>());
    launch.folder = Some(folder.clone());
    launch.limit = Duration::from_secs(600);
    if let Some(group) = group {
        launch = launch.shell(group.entry());
    }
    let ended = launch.run()?;
    fs::remove_dir_all(&folder)?;
    Ok(ended)
}

fn within(sheet: &Sheet, text: &str, ended: &Ended, budget: u64, losses: &mut std::collections::BTreeSet<String>) {
    if !behaves(sheet, text, ended, &[0]) {
        return;
    }
    sheet.count("budgets", 1);
    let answer: serde_json::Value = serde_json::from_str(&ended.out).unwrap_or_default();
    losses.insert(answer["losses"].to_string());
    let (peak, told) = (ended.peak_rss_bytes >> 20, answer["peak_rss_bytes"].as_u64().unwrap_or(0) >> 20);
    sheet.check(peak < budget + BEYOND_MIB, || format!("{text}: peak {peak} MiB"));
    // The kernel's two counts can differ by some pages.
    sheet.check(told <= peak + 2, || format!("{text}: the program reports {told} MiB, the kernel {peak} MiB"));
    sheet.note(format!("{text}: {peak} MiB at most"));
}
