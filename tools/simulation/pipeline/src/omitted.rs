//! Rules of the engine and of its protocol that can be left out, to see that the tests of crashes and damage notice.
//!
//! A test that passes without a rule proves nothing about the rule. Each rule has a diff of the engine's sources in
//! `../controls`; what it adds asks [`omits`] whether the rule is left out now. Rules at the seam to the storage (what
//! is synced, and when) need no diff: `Sloppy` of package `simulation` leaves them out from outside.
//!
//! A rule is left out on one thread; the threads of a simulated run are one.

use std::cell::Cell;

/// A rule that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Logs are removed after the commit of the block that read them.
    RemovalLast,
    /// A commit leaves a log unsynced only if it commits all targets that are left of it.
    AllTargets,
    /// Targets of a block start after its entries are in their files.
    WrittenFirst,
    /// Log entries begin on fresh sectors.
    FreshSectors,
    /// Each opening begins a generation, and so writes all metadata anew.
    NewGeneration,
    /// Hashes of the metadata are compared.
    Hashes,
    /// The journal has a second copy.
    SecondCopy,
    /// Hashes of log entries and their frames are compared.
    LogHashes,
    /// The hash of an extent is the one in the journal.
    ExtentHash,
    /// An entry counts only in its own place of its own run.
    Salt,
}

thread_local! {
    /// A bit for each rule.
    static OMITTED: Cell<u32> = const { Cell::new(0) };
}

/// Whether a rule is left out on this thread.
pub fn omits(rule: Rule) -> bool {
    OMITTED.get() >> rule as u32 & 1 == 1
}

/// Does some work without these rules.
pub fn without<T>(rules: &[Rule], work: impl FnOnce() -> T) -> T {
    OMITTED.set(rules.iter().fold(0, |bits, rule| bits | 1 << *rule as u32));
    let result = work();
    OMITTED.set(0);
    result
}
