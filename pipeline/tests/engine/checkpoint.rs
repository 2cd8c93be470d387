//! The commit protocol through every crash, on a simulated disk and under a toy pipeline.
//!
//! `PIPELINE_CRASH_STATES=N` covers more images and more second stops. The number of states grows a
//! little faster than N squared: 60,000 for 1 (4 s), 4.9 million for 8 (8 min, 2 cores).

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::toy::explore::{Reach, explore};
use crate::toy::{BLOCKS, Broken, Wrong, finish, golden, run};
use pipeline::Storage;
use pipeline::testing::{Fault, SimulatedStorage};

fn effort() -> u64 {
    let text = std::env::var("PIPELINE_CRASH_STATES").unwrap_or_default();
    text.parse().unwrap_or(1)
}

fn plain(disk: SimulatedStorage) -> Arc<dyn Storage> {
    Arc::new(disk)
}

fn survives(name: &str, reach: Reach, at_least: u64) {
    let start = std::time::Instant::now();
    let states = explore(&plain, Broken::default(), reach).unwrap_or_else(|story| panic!("{story}"));
    println!("{name}: {states} states in {:.1?}", start.elapsed());
    assert!(states >= at_least, "only {states} states");
}

#[test]
fn an_undisturbed_run_gives_the_golden_result() {
    let disk = SimulatedStorage::new(1);
    finish(&disk, &plain, Broken::default(), &BTreeSet::new(), &golden()).unwrap();
    // Again: nothing to do, and nothing changes.
    let again = disk.kill();
    let all = (0..BLOCKS).collect();
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

/// Only a disk that lies can defeat the protocol: it may cost finished work, but it must never lead
/// to a wrong result.
#[test]
fn a_lying_disk_never_gives_a_wrong_result() {
    let golden = golden();
    let (mut states, mut lost, mut refused) = (0_u32, 0_u32, 0_u32);
    for step in 1..=150 {
        for seed in 0..8 + 4 * effort() {
            // One sync lies, the run continues for a while, then the power is cut.
            for stop in (step + 1..step + 60).step_by(7) {
                let disk = SimulatedStorage::new(step).with_fault(step, Fault::LieSync).with_fault(stop, Fault::Stop);
                let mut acknowledged = BTreeSet::new();
                let _ = run(plain(disk.clone()), 1, Broken::default(), &mut acknowledged);
                let disk = disk.power_cut(seed);
                match finish(&disk, &plain, Broken::default(), &acknowledged, &golden) {
                    Ok(()) => {}
                    Err(Wrong::Lost(_)) => lost += 1,
                    Err(Wrong::Stuck(_)) => refused += 1,
                    Err(wrong) => panic!("lie at {step}, stop at {stop}, cut {seed}: {wrong:?}"),
                }
                states += 1;
            }
        }
    }
    println!("lying disk: {states} states, {lost} lost, {refused} refused, 0 wrong");
    assert!(lost + refused > 0, "the lies had no effect at all");
}
