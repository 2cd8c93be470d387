//! Negative controls of the protocol under the toy pipeline: rules left out, and noticed by the tests of crashes and damage. (Rules at the seam
//! to the storage are left out from outside, in `tests/controls.rs`; the whole engine has its controls in the package `simulation`.)

#[path = "../../tests/toy/mod.rs"]
mod toy;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::omitted::{Rule, without};
use crate::storage::Storage;
use crate::testing::{Fault, SimulatedStorage};
use toy::explore::{Reach, explore};
use toy::{Broken, Wrong, finish, golden, run};

fn plain(disk: SimulatedStorage) -> Arc<dyn Storage> {
    Arc::new(disk)
}

/// Failed syncs that mark pages clean, a kill, a resume that works on, and a power cut. Random kills
/// do not find this one: it takes the fault.
#[test]
fn continuing_an_old_generation_is_caught() {
    let reach = Reach { faults: &[Fault::LoseSync], cuts: 0, stride: 3, second_cuts: 3 };
    let untidy = Broken { untidy: true, ..Broken::default() };
    let with_all_rules = Reach { stride: 20, ..reach };
    explore(&plain, untidy, with_all_rules).unwrap();
    let search = || explore(&plain, untidy, reach);
    let told = without(&[Rule::NewGeneration], search).unwrap_err();
    println!("{told}");
}

/// A run with one commit, each byte of copy a of its journal flipped: what goes wrong first.
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
