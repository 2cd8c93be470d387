//! Negative controls: each rule of the commit protocol left out, and caught by the crash tests.
//!
//! A crash test that passes on a protocol without its syncs proves nothing about the protocol with
//! them. The rules that are kept inside the package are left out in its own unit tests.

extern crate trinim_pipeline as pipeline;

mod sloppy;
mod toy;

use std::sync::Arc;

use pipeline::storage::Storage;
use pipeline::testing::{Fault, SimulatedStorage};
use sloppy::{Omit, Sloppy};
use toy::Broken;
use toy::explore::{Reach, explore};

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
            Err(told) => println!("{omit:?}: {told}"),
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
            Err(told) => println!("{broken:?}: {told}"),
            Ok(states) => panic!("{broken:?} survives {states} states"),
        }
    }
}
