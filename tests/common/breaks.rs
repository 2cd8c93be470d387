//! Interrupted runs on a simulated disk.

use super::assert_same_files;
use pipeline::Error;
use std::collections::BTreeMap;
use testing::{Fault, SimulatedStorage};
use trinim::random::Random;

/// The published files of a simulated disk.
pub fn published(disk: &SimulatedStorage) -> BTreeMap<String, Vec<u8>> {
    let names = disk.names().into_iter().filter_map(|name| name.strip_prefix("db/").map(str::to_owned));
    names.map(|name| (name.clone(), disk.contents(&format!("db/{name}")).unwrap())).collect()
}

/// Interrupts a session by a stop and by an error, at the steps that `takes` selects, and often the
/// next session by a second stop. The last session must publish the expected files.
///
/// `look` gets each disk after the first session and after the last. Returns how often the first
/// session was interrupted.
pub fn break_off_anywhere(
    run: &dyn Fn(&SimulatedStorage) -> Result<(), Error>,
    takes: &dyn Fn(u64, u64) -> bool,
    expected: &BTreeMap<String, Vec<u8>>,
    look: &mut dyn FnMut(&SimulatedStorage, &SimulatedStorage, &str),
) -> u32 {
    let (mut random, mut broken) = (Random::new(9), 0);
    let steps_of = |disk: &SimulatedStorage| run(disk).map(|()| disk.steps());
    let steps = steps_of(&SimulatedStorage::new(1)).unwrap();
    for (number, step) in (1..=steps).filter(|step| takes(*step, steps)).enumerate() {
        for fault in [Fault::Stop, [Fault::FailOnce, Fault::Full, Fault::LoseSync][number % 3]] {
            let disk = SimulatedStorage::new(step).with_fault(step, fault);
            let story = format!("{fault:?} at step {step} of {steps}");
            match run(&disk) {
                // An optional step can fail.
                Ok(()) => assert_same_files(&published(&disk), expected, &story),
                Err(Error::Io { .. } | Error::Poisoned) => broken += 1,
                Err(error) => panic!("{story}: {error}"),
            }
            let disk = if random.below(2) == 0 { disk.kill() } else { disk.power_cut(random.bits()) };
            let mut last = disk.kill();
            if random.below(2) == 0 {
                let left = steps_of(&disk.kill()).unwrap_or(steps);
                last = last.with_fault(1 + random.below(left), Fault::Stop);
                let _ = run(&last);
                last = last.power_cut(random.bits());
            }
            run(&last).unwrap_or_else(|error| panic!("{story}: {error}"));
            assert_same_files(&published(&last), expected, &story);
            look(&disk, &last, &story);
        }
    }
    broken
}
