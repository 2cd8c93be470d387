//! Negative controls: rules inside the protocol that can be left out, in unit tests only, to see that
//! the crash and damage tests notice. (Rules at the seam to the storage are left out from outside, in
//! `tests/controls.rs`.)

#[path = "../../tests/toy/mod.rs"]
mod toy;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::journal::Journal;
use super::{manifest, names};
use crate::Error;
use crate::storage::{Entry, Fault, SimulatedStorage, Storage};
use toy::explore::{Reach, explore};
use toy::{Broken, Wrong, finish, golden, run};

/// A rule that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Each opening begins a generation, and so writes all metadata anew.
    NewGeneration,
    /// Hashes are compared.
    Hashes,
    /// The journal has a second copy.
    SecondCopy,
}

thread_local! {
    static OMITTED: Cell<Option<Rule>> = const { Cell::new(None) };
}

/// Whether a rule is left out on this thread.
pub(super) fn omits(rule: Rule) -> bool {
    OMITTED.get() == Some(rule)
}

/// The journal of the highest generation, if [`Rule::NewGeneration`] is left out.
pub(super) fn continued(storage: &dyn Storage, metadata: &[Entry]) -> Result<Option<Journal>, Error> {
    let generations = metadata.iter().filter_map(|entry| names::manifest_generation(&entry.name));
    let Some(current) = generations.max().filter(|_| omits(Rule::NewGeneration)) else {
        return Ok(None);
    };
    for entry in metadata {
        let is_temporary = entry.name.ends_with(names::TEMPORARY);
        if is_temporary || names::generation_in(&entry.name) != current {
            storage.remove(&format!("{}/{}", names::METADATA, entry.name))?;
        }
    }
    storage.sync_dir(names::METADATA)?;
    let hash = manifest::read_either(storage, current)?.hash;
    Journal::reopen(storage, current, hash).map(Some)
}

fn without<T>(rule: Option<Rule>, work: impl FnOnce() -> T) -> T {
    OMITTED.set(rule);
    let result = work();
    OMITTED.set(None);
    result
}

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
    let told = without(Some(Rule::NewGeneration), search).unwrap_err();
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
    assert!(without(None, flips).is_none());
    for rule in [Rule::Hashes, Rule::SecondCopy] {
        let wrong = without(Some(rule), flips);
        println!("{rule:?}: {wrong:?}");
        assert!(wrong.is_some(), "{rule:?}");
    }
}
