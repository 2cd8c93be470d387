//! Negative controls: the exploration that the real engine passes catches it with one rule left
//! out.
//!
//! The last one is caught after 4,901 states. The test command explores up to 8,000, and 60,000
//! with `TRINIM_TESTS=full`.

use pipeline::omitted::{Rule, without};
use pipeline::{Options, Placement, Thresholds};
use simulation::controls::{self, Detection};
use simulation::explore::{Explorer, Failure, Found};
use simulation::omitting::Omit;
use simulation::session::{Ending, committed, run};
use simulation::subject::Subject;
use simulation::sweep::Sweep;
use std::time::Duration;
use testing::{Fault, SimulatedStorage};

/// Limit on the states before a control counts as not caught.
fn states_at_most() -> u64 {
    Sweep::asked().number(8_000, 60_000)
}

fn subjects() -> [Subject; 2] {
    [Subject::synthetic(3, 40, 50), Subject::game(3, trinim::game::Rule::Misere, 3)]
}

/// Explores root after root on this thread. Returns the number of states, and the first wrong one.
fn search(omit: Omit, rules: &[Rule], failures: &[Failure]) -> (u64, Option<Box<Found>>) {
    let mut subjects = subjects();
    for subject in &mut subjects {
        subject.omit = omit;
    }
    let explorer = Explorer::new(&subjects, failures);
    without(rules, || {
        let mut states = 0;
        for root in 0.. {
            match explorer.root(root) {
                Err(found) => return (states + found.states, Some(found)),
                Ok(tally) => states += tally.states,
            }
            if states > states_at_most() {
                break;
            }
        }
        (states, None)
    })
}

fn caught(omit: Omit, rules: &[Rule], failures: &[Failure]) {
    let (states, found) = search(omit, rules, failures);
    let found = found.unwrap_or_else(|| panic!("{omit:?} {rules:?} left out: survives {states} states"));
    println!("{omit:?} {rules:?} left out: caught after {states} states: {found}");
}

const CRASHES: [Failure; 2] = [Failure::Stop, Failure::Error];

#[test]
fn with_all_rules_nothing_is_caught() {
    let subjects = subjects();
    let explorer = Explorer::new(&subjects, &Failure::ALL);
    let threads = std::thread::available_parallelism().map_or(2, |threads| threads.get());
    let tally = explorer.explore(0, states_at_most(), Duration::MAX, threads, &|_| ());
    let tally = tally.unwrap_or_else(|found| panic!("{found}"));
    assert!(tally.states >= states_at_most(), "{tally:?}");
}

#[test]
fn syncs_left_out_are_caught() {
    // The sync of db/manifest.json is missing here, because a resume rewrites a manifest that
    // differs from the journal.
    for files in ["logs/", "db/0", "db/SUMS", "m/journal", "m/manifest", "FORMAT"] {
        caught(Omit::Files(files), &[], &CRASHES);
    }
    for folder in ["logs", "db", "m", ""] {
        caught(Omit::Folder(folder), &[], &CRASHES);
    }
}

#[test]
fn wrong_orders_are_caught() {
    for omit in [Omit::DataBeforeJournal, Omit::SyncBeforeRename, Omit::NoRetry, Omit::Removal] {
        caught(omit, &[], &CRASHES);
    }
}

/// Each place where the engine syncs, makes a name final or keeps an order.
#[test]
fn places_left_out_are_caught() {
    for rule in controls::rules(Detection::ByCrashes) {
        caught(Omit::Nothing, &[rule], &CRASHES);
    }
    for rule in controls::rules(Detection::BySilence) {
        caught(Omit::Nothing, &[rule], &[Failure::Silent]);
    }
}

/// Runs with the number of open files that their thresholds allow, and four workers.
fn short_of_files(rules: &[Rule]) -> Option<u64> {
    let subject = Subject::synthetic(5, 8, 50);
    let short = |seed: u64| {
        let placement = if seed.is_multiple_of(2) { Placement::Dedicated } else { Placement::Shared };
        let count = |salt: u64| 1 + (seed >> salt) as usize % 3;
        let (gathered, requested, waiting) = (count(1), count(3), count(5));
        let thresholds = Thresholds { gathered, requested, waiting, ..Thresholds::SMALLEST };
        let options = Options { thresholds: Some(thresholds), ..subject.options(4, placement, "raw") };
        match run(&subject, &SimulatedStorage::new(1), options, seed).ending {
            Ending::Finished => false,
            Ending::Failed(error) if error.is_too_many_files() => true,
            other => panic!("seed {seed}: {other:?}"),
        }
    };
    without(rules, || (0..2000).find(|seed| short(*seed)))
}

#[test]
fn files_left_open_are_caught() {
    assert_eq!(short_of_files(&[]), None);
    for rule in controls::rules(Detection::ByFiles) {
        let seed = short_of_files(&[rule]).unwrap_or_else(|| panic!("{rule:?} left out: survives"));
        println!("{rule:?} left out: caught after {seed} runs");
    }
}

/// Runs on a disk that becomes full at one call after another. Returns the first call after which
/// more finished blocks are lost than two workers can be sending.
fn lost_on_a_full_disk(rules: &[Rule]) -> Option<u64> {
    let subject = Subject::synthetic(4, 40, 50);
    let loses = |step: u64, is_over: &mut bool| {
        let placement = if step.is_multiple_of(2) { Placement::Dedicated } else { Placement::Shared };
        let thresholds = Thresholds { gather_bytes: 0, ..Thresholds::LARGEST };
        let options = Options { thresholds: Some(thresholds), ..subject.options(2, placement, "raw") };
        let disk = SimulatedStorage::new(step).with_fault(step, Fault::Full);
        match run(&subject, &disk, options, step).ending {
            Ending::Finished => *is_over = disk.steps() < step,
            Ending::Failed(error) if error.is_full_disk() => {}
            other => panic!("full at call {step}: {other:?}"),
        }
        let is_written = |(name, bytes): &(&String, &Vec<u8>)| disk.contents(name).as_ref() == Some(*bytes);
        let written = subject.golden.iter().filter(is_written).count();
        committed(&disk.kill()).map_or(0, |blocks| blocks.len()) + 2 < written
    };
    without(rules, || {
        let mut is_over = false;
        (1..).map_while(|step| (!is_over).then(|| (step, loses(step, &mut is_over)))).find(|(_, loses)| *loses)
    })
    .map(|(step, _)| step)
}

#[test]
fn blocks_lost_on_a_full_disk_are_caught() {
    assert_eq!(lost_on_a_full_disk(&[]), None);
    for rule in controls::rules(Detection::ByFullDisks) {
        let step = lost_on_a_full_disk(&[rule]).unwrap_or_else(|| panic!("{rule:?} left out: survives"));
        println!("{rule:?} left out: caught by a disk that is full at call {step}");
    }
}

/// Every diff in the folder of the controls leaves out rules of the table, and every rule of the
/// table is left out by one.
#[test]
fn every_rule_has_a_diff_and_something_that_notices() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/pipeline/changes");
    let diffs = std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    let diffs: String = diffs.collect();
    for rule in Rule::ALL {
        assert!(diffs.contains(&format!("Rule::{rule:?})")), "{rule:?} has no diff");
        println!("{rule:?}: {:?}", controls::noticed(*rule));
    }
}

#[test]
fn missing_hashes_and_copies_are_caught() {
    caught(Omit::Nothing, &[Rule::SecondCopy], &[Failure::Silent]);
    caught(Omit::Nothing, &[Rule::LogHashes, Rule::ExtentHash], &[Failure::Silent]);
}
