//! The commit protocol through every crash, on a simulated disk and under a toy pipeline.
//!
//! `PIPELINE_CRASH_STATES=10` multiplies the number of states tested by about ten.

mod toy;

use std::collections::BTreeSet;
use std::sync::Arc;

use pipeline::storage::{Fault, SimulatedStorage, Storage};
use toy::{Broken, Wrap, Wrong, finish, golden, run};

fn effort() -> u64 {
    let text = std::env::var("PIPELINE_CRASH_STATES").unwrap_or_default();
    text.parse().unwrap_or(1)
}

fn plain(disk: SimulatedStorage) -> Arc<dyn Storage> {
    Arc::new(disk)
}

/// Images of a disk after the end of a process: killed, or a power cut under some seeds.
fn images(disk: &SimulatedStorage, cuts: u64, salt: u64) -> Vec<SimulatedStorage> {
    let seeds = (0..cuts).map(|seed| if seed < 4 { seed } else { seed + 1000 * salt });
    std::iter::once(disk.kill()).chain(seeds.map(|seed| disk.power_cut(seed))).collect()
}

/// Steps of an undisturbed run from a disk.
fn steps(disk: &SimulatedStorage, wrap: Wrap<'_>, broken: Broken) -> u64 {
    let disk = disk.kill();
    let _ = run(wrap(disk.clone()), 1, broken, &mut BTreeSet::new());
    disk.steps()
}

/// A run that a fault strikes at a step: the disk afterwards and what was acknowledged.
fn struck(
    disk: &SimulatedStorage,
    wrap: Wrap<'_>,
    broken: Broken,
    (step, fault): (u64, Fault),
    acknowledged: &BTreeSet<u32>,
) -> Result<(SimulatedStorage, BTreeSet<u32>), Wrong> {
    let disk = disk.kill().with_fault(step, fault);
    let mut acknowledged = acknowledged.clone();
    match run(wrap(disk.clone()), step, broken, &mut acknowledged) {
        Ok(Err(wrong)) => Err(wrong),
        Ok(Ok(())) | Err(_) => Ok((disk, acknowledged)),
    }
}

/// How many states to look at.
#[derive(Clone, Copy)]
struct Reach {
    faults: &'static [Fault],
    /// Power cuts after the first fault.
    cuts: u64,
    /// Every how many steps of a recovery a second fault strikes, 0 for never.
    stride: u64,
    /// Power cuts after the second fault.
    second_cuts: u64,
}

/// Strikes every step with every fault, looks at every image, strikes again. Returns the number of
/// states, or the first history that ends wrong.
fn explore(wrap: Wrap<'_>, broken: Broken, reach: Reach) -> Result<u64, String> {
    let golden = golden();
    let empty = SimulatedStorage::new(1);
    let nothing = BTreeSet::new();
    let mut states = 0;
    for step in 1..=steps(&empty, wrap, broken) {
        for &fault in reach.faults {
            let first = struck(&empty, wrap, broken, (step, fault), &nothing);
            let (disk, acknowledged) = first.map_err(|wrong| format!("{wrong:?}"))?;
            for (image, disk) in images(&disk, reach.cuts, step).iter().enumerate() {
                let told = |wrong| format!("{fault:?} at {step}, image {image}: {wrong:?}");
                let once = disk.kill();
                finish(&once, wrap, broken, &acknowledged, &golden).map_err(told)?;
                states += 1;
                if reach.stride == 0 {
                    continue;
                }
                let last = once.steps();
                let mut again = 1 + (step + image as u64) % reach.stride;
                while again <= last {
                    let told = |wrong| format!("{fault:?} at {step}, image {image}, stop at {again}: {wrong:?}");
                    let (disk, acknowledged) =
                        struck(disk, wrap, broken, (again, Fault::Stop), &acknowledged).map_err(told)?;
                    for disk in images(&disk, reach.second_cuts, again + 977 * step) {
                        finish(&disk, wrap, broken, &acknowledged, &golden).map_err(told)?;
                        states += 1;
                    }
                    again += reach.stride;
                }
            }
        }
    }
    Ok(states)
}

fn survives(name: &str, reach: Reach, at_least: u64) {
    let start = std::time::Instant::now();
    let states = explore(&plain, Broken::default(), reach).unwrap_or_else(|told| panic!("{told}"));
    println!("{name}: {states} states in {:.1?}", start.elapsed());
    assert!(states >= at_least, "only {states} states");
}

#[test]
fn an_undisturbed_run_gives_the_golden_result() {
    let disk = SimulatedStorage::new(1);
    finish(&disk, &plain, Broken::default(), &BTreeSet::new(), &golden()).unwrap();
    // Once more: nothing to do, and nothing changes.
    let again = disk.kill();
    let all = (0..toy::BLOCKS).collect();
    finish(&again, &plain, Broken::default(), &all, &golden()).unwrap();
    println!("{} steps, {} when finished", disk.steps(), again.steps());
}

#[test]
fn every_stop_and_a_second_one_in_the_recovery() {
    let reach =
        Reach { faults: &[Fault::Stop], cuts: 3 + effort(), stride: (12 / effort()).max(1), second_cuts: 2 + effort() };
    survives("two stops", reach, 10_000);
}

#[test]
fn every_error_then_a_stop() {
    let reach = Reach {
        faults: &[Fault::FailOnce, Fault::FailForever, Fault::Full, Fault::LoseSync],
        cuts: 1 + effort(),
        stride: (31 / effort()).max(1),
        second_cuts: 1 + effort(),
    };
    survives("errors", reach, 10_000);
}

#[test]
fn many_images_of_each_stop() {
    let reach = Reach { faults: &[Fault::Stop], cuts: 40 * effort(), stride: 0, second_cuts: 0 };
    survives("images", reach, 5_000);
}
