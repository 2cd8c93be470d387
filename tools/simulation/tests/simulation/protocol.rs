//! Negative controls of the commit protocol under the toy pipeline of its crash tests: leaving out
//! any rule is caught.
//!
//! A crash test that passes on a protocol without its syncs proves nothing about the protocol with
//! them. The whole engine has its controls in `controls.rs`.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::toy::explore::{Reach, explore};
use crate::toy::{Broken, Wrong, finish, golden, run};
use pipeline::Storage;
use pipeline::omitted::{Rule, without};
use pipeline::testing::{Fault, SimulatedStorage};
use simulation::sloppy::{Omit, Sloppy};

const REACH: Reach = Reach { faults: &[Fault::Stop], cuts: 12, stride: 9, second_cuts: 5 };

fn outcome(omit: Omit, broken: Broken) -> Result<u64, String> {
    let wrap = |disk: SimulatedStorage| -> Arc<dyn Storage> { Arc::new(Sloppy::new(disk, omit)) };
    explore(&wrap, broken, REACH)
}

#[test]
fn with_all_rules_nothing_is_caught() {
    let quick = Reach { stride: 0, ..REACH };
    let wrap = |disk: SimulatedStorage| -> Arc<dyn Storage> { Arc::new(Sloppy::new(disk, Omit::Nothing)) };
    explore(&wrap, Broken::default(), quick).unwrap();
}

#[test]
fn every_rule_left_out_is_caught() {
    for omit in [
        Omit::Files("logs/"),
        Omit::Files("db/"),
        Omit::Files("m/journal"),
        Omit::Files("m/manifest"),
        Omit::Files("FORMAT"),
        Omit::Folder("logs"),
        Omit::Folder("db"),
        Omit::Folder("m"),
        Omit::Folder(""),
        Omit::DataBeforeJournal,
        Omit::SyncBeforeRename,
    ] {
        match outcome(omit, Broken::default()) {
            Err(story) => println!("{omit:?}: {story}"),
            Ok(states) => panic!("{omit:?} survives {states} states"),
        }
    }
}

#[test]
fn engine_rules_left_out_are_caught() {
    let salvage = Broken { salvage: true, ..Broken::default() };
    let remove_early = Broken { remove_early: true, ..Broken::default() };
    for broken in [salvage, remove_early] {
        match outcome(Omit::Nothing, broken) {
            Err(story) => println!("{broken:?}: {story}"),
            Ok(states) => panic!("{broken:?} survives {states} states"),
        }
    }
}

fn plain(disk: SimulatedStorage) -> Arc<dyn Storage> {
    Arc::new(disk)
}

/// Failed syncs that mark pages clean, a kill, a resume that continues, and a power cut. Random
/// kills do not find this one; it takes the fault.
#[test]
fn continuing_an_old_generation_is_caught() {
    let reach = Reach { faults: &[Fault::LoseSync], cuts: 0, stride: 3, second_cuts: 3 };
    let untidy = Broken { untidy: true, ..Broken::default() };
    let with_all_rules = Reach { stride: 20, ..reach };
    explore(&plain, untidy, with_all_rules).unwrap();
    let search = || explore(&plain, untidy, reach);
    let story = without(&[Rule::NewGeneration], search).unwrap_err();
    println!("{story}");
}

/// Flips each byte of copy a of the journal of a run with one commit, and returns the first
/// mistake.
fn flips() -> Option<Wrong> {
    let committed = (1..).find_map(|step| {
        let disk = SimulatedStorage::new(1).with_fault(step, Fault::Stop);
        let mut acknowledged = BTreeSet::new();
        let _ = run(plain(disk.clone()), 1, Broken::default(), &mut acknowledged);
        (!acknowledged.is_empty()).then_some((disk, acknowledged))
    });
    let (disk, acknowledged) = committed?;
    let name = "m/journal.1.a";
    let whole = disk.contents(name)?;
    (0..whole.len()).find_map(|place| {
        let disk = disk.kill();
        let mut bytes = whole.clone();
        bytes[place] ^= 1 << (place % 8);
        disk.put(name, &bytes);
        match finish(&disk, &plain, Broken::default(), &acknowledged, &golden()) {
            Ok(()) | Err(Wrong::Stuck(_)) => None,
            Err(wrong) => Some(wrong),
        }
    })
}

#[test]
fn missing_hashes_and_copies_are_caught() {
    assert!(without(&[], flips).is_none());
    for rule in [Rule::Hashes, Rule::SecondCopy] {
        let wrong = without(&[rule], flips);
        println!("{rule:?}: {wrong:?}");
        assert!(wrong.is_some(), "{rule:?}");
    }
}
