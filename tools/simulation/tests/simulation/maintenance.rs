//! Checks and repairs on the simulated disk, also with one of their rules left out.

use crate::mend::{self, file_of, flip, look, wrong_repairs_are_refused};
use crate::synthetic::Synthetic;
use pipeline::checkpoint::inspect;
use pipeline::maintenance::check::Depth;
use pipeline::omitted::without;
use pipeline::{BlockId, Placement, Storage, Thresholds};
use simulation::controls::{self, Detection};
use simulation::judge::{Trust, Verdict, bits_of, judge};
use simulation::session::{committed, killed_after, run};
use simulation::subject::Subject;
use std::collections::BTreeSet;
use std::sync::Arc;
use testing::{Fault, SimulatedStorage};

const PLACEMENTS: [Placement; 2] = [Placement::Dedicated, Placement::Shared];

fn workload() -> Synthetic {
    Synthetic { bits: 3, words: 40, density: 50, salt: 11, stop_after: None, publishes: false }
}

fn subject() -> Subject {
    Subject::synthetic(3, 40, 50)
}

/// A folder in its second generation whose records are all in the manifest.
fn finished(subject: &Subject, placement: Placement) -> SimulatedStorage {
    let disk = SimulatedStorage::new(1);
    for seed in 0..2 {
        run(subject, &disk, subject.options(1, placement, "raw"), seed);
    }
    disk.power_cut(1)
}

/// Number of interleavings of a run that is then repaired: what a repair has to do differs.
const HALVES: usize = 4;

/// Folders of half a run with two damaged blocks and every needed log entry damaged.
fn damaged(subject: &Subject, placement: Placement) -> Vec<SimulatedStorage> {
    let options = || subject.options(1, placement, "raw");
    let halves = (0..1000).filter_map(|seed| {
        let disk = killed_after(subject, &SimulatedStorage::new(1), options(), seed, 3)?;
        let blocks = committed(&disk).ok()?.len();
        let logs = disk.names().iter().filter(|name| name.starts_with("logs/")).count();
        ((3..6).contains(&blocks) && logs > 2).then_some(disk)
    });
    let halves: Vec<SimulatedStorage> = halves.take(HALVES).collect();
    assert_eq!(halves.len(), HALVES, "too few interleavings commit three blocks");
    halves.iter().for_each(damage);
    halves
}

fn damage(disk: &SimulatedStorage) {
    let records = inspect(disk).unwrap().records;
    for record in records.iter().filter(|record| record.block != BlockId(0)).take(2) {
        flip(disk, &record.published.as_ref().unwrap().name);
    }
    let files: BTreeSet<String> =
        records.iter().flat_map(|record| &record.extents).map(|extent| extent.file.name()).collect();
    files.iter().filter(|name| disk.contents(name).is_some()).for_each(|name| flip(disk, name));
}

/// Stops a repair before each of its calls, repairs again, cuts the power, and lets the run finish.
/// Returns the number of stops.
fn repairs_survive_stops_and_power_cuts() -> Result<u32, String> {
    let (subject, workload) = (subject(), workload());
    let mut stops = 0;
    let folders =
        PLACEMENTS.map(|placement| damaged(&subject, placement).into_iter().map(move |disk| (placement, disk)));
    for (placement, damaged) in folders.into_iter().flatten() {
        let acknowledged = bits_of(&committed(&damaged).unwrap());
        for step in 1.. {
            let disk = damaged.kill().with_fault(step, Fault::Stop);
            let storage: Arc<dyn Storage> = Arc::new(disk.clone());
            let ended = mend::mend(&workload, &storage, &Thresholds::SMALLEST).is_ok();
            drop(storage);
            let images = [disk.kill(), disk.power_cut(0), disk.power_cut(3), disk.power_cut(step + 10)];
            for (image, disk) in images.into_iter().enumerate() {
                let story = format!("{placement:?}, stopped at {step}, image {image}");
                if !ended {
                    let storage: Arc<dyn Storage> = Arc::new(disk.clone());
                    let mended = mend::mend(&workload, &storage, &Thresholds::SMALLEST);
                    mended.map_err(|error| format!("{story}: {error}"))?;
                }
                // The reported result of a repair survives a power cut.
                let disk = disk.power_cut(0);
                let report = look(&workload, &disk, Depth::Full).map_err(|error| format!("{story}: {error}"))?;
                if !report.is_sound() {
                    return Err(format!("{story}: {:?}", report.findings));
                }
                let session = run(&subject, &disk, subject.options(1, placement, "raw"), step);
                match judge(&subject, &disk, session, acknowledged, Trust::Honest) {
                    Ok(Verdict::Right) => {}
                    other => return Err(format!("{story}: {other:?}")),
                }
            }
            stops += 1;
            if ended {
                break;
            }
        }
    }
    Ok(stops)
}

fn wrong_repairs() -> Result<u32, String> {
    wrong_repairs_are_refused(&finished(&subject(), Placement::Dedicated), workload)
}

/// Flips a published file; a check of all hashes finds it.
fn flips_are_found() -> Result<u32, String> {
    let disk = finished(&subject(), Placement::Dedicated);
    flip(&disk, &file_of(&disk, BlockId(5)));
    let report = look(&workload(), &disk, Depth::Sums).map_err(|error| error.to_string())?;
    let blocks: Vec<BlockId> = report.damaged_blocks.into_iter().collect();
    if blocks == [BlockId(5)] { Ok(1) } else { Err(format!("damaged: {blocks:?}")) }
}

const TESTS: [fn() -> Result<u32, String>; 3] = [repairs_survive_stops_and_power_cuts, wrong_repairs, flips_are_found];

#[test]
fn with_all_rules_checks_and_repairs_are_right() {
    let [stops, refused, found] = TESTS.map(|test| test().unwrap());
    println!("{stops} stops");
    assert!(stops > 40 && refused == 5 && found == 1);
}

#[test]
fn rules_of_checks_and_repairs_left_out_are_caught() {
    for rule in controls::rules(Detection::ByCare) {
        let stories = without(&[rule], || TESTS.map(|test| test().err()));
        println!("{rule:?} left out: {stories:?}");
        assert!(stories.iter().any(Option::is_some), "{rule:?} left out: survives");
    }
    assert_eq!(controls::rules(Detection::ByCare).count(), 5);
}
