//! Walks through histories of faults.

use std::collections::BTreeSet;

use pipeline::testing::{Fault, SimulatedStorage};

use super::{Broken, Wrap, Wrong, finish, golden, run};

/// Returns images of a disk after the end of a process: a kill, or a power cut under some seeds.
pub fn images(disk: &SimulatedStorage, cuts: u64, salt: u64) -> Vec<SimulatedStorage> {
    let seeds = (0..cuts).map(|seed| if seed < 4 { seed } else { seed + 1000 * salt });
    std::iter::once(disk.kill()).chain(seeds.map(|seed| disk.power_cut(seed))).collect()
}

/// Returns the number of steps of an undisturbed run from a disk.
pub fn steps(disk: &SimulatedStorage, wrap: Wrap<'_>, broken: Broken) -> u64 {
    let disk = disk.kill();
    let _ = run(wrap(disk.clone()), 1, broken, &mut BTreeSet::new());
    disk.steps()
}

/// Runs until a fault strikes at a step; returns the disk afterwards and the acknowledged blocks.
pub fn struck(
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

/// How many states to explore.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// Faults that strike first.
    pub faults: &'static [Fault],
    /// Number of power cuts after the first fault.
    pub cuts: u64,
    /// Number of steps of a recovery between two second faults; 0 for none.
    pub stride: u64,
    /// Number of power cuts after the second fault.
    pub second_cuts: u64,
}

/// Strikes every step with every fault, examines every image, and strikes again. Returns the number
/// of states, or the first history that ends wrong.
pub fn explore(wrap: Wrap<'_>, broken: Broken, reach: Reach) -> Result<u64, String> {
    let golden = golden();
    let empty = SimulatedStorage::new(1);
    let nothing = BTreeSet::new();
    let mut states = 0;
    for step in 1..=steps(&empty, wrap, broken) {
        for &fault in reach.faults {
            let first = struck(&empty, wrap, broken, (step, fault), &nothing);
            let (disk, acknowledged) = first.map_err(|wrong| format!("{wrong:?}"))?;
            for (image, disk) in images(&disk, reach.cuts, step).iter().enumerate() {
                let story = |wrong| format!("{fault:?} at {step}, image {image}: {wrong:?}");
                let once = disk.kill();
                finish(&once, wrap, broken, &acknowledged, &golden).map_err(story)?;
                states += 1;
                if reach.stride == 0 {
                    continue;
                }
                let last = once.steps();
                let mut again = 1 + (step + image as u64) % reach.stride;
                while again <= last {
                    let story = |wrong| format!("{fault:?} at {step}, image {image}, stop at {again}: {wrong:?}");
                    let (disk, acknowledged) =
                        struck(disk, wrap, broken, (again, Fault::Stop), &acknowledged).map_err(story)?;
                    for disk in images(&disk, reach.second_cuts, again + 977 * step) {
                        finish(&disk, wrap, broken, &acknowledged, &golden).map_err(story)?;
                        states += 1;
                    }
                    again += reach.stride;
                }
            }
        }
    }
    Ok(states)
}
