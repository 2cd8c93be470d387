//! Rules of the engine and of its protocol that can be left out, to prove that the tests of crashes
//! and damage notice.
//!
//! A test that passes without a rule proves nothing about the rule. Each rule has a diff of the
//! engine's sources in `../controls`, which asks [`omits`] whether to leave out the rule. Rules at
//! the seam to the storage (what is synced, and when) need no diff: `Sloppy` of package
//! `simulation` leaves them out from outside.
//!
//! A rule is left out on one thread, and a simulated run has one.

use std::cell::Cell;

/// A rule that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Logs are removed after the commit of the block that read them.
    RemovalLast,
    /// A commit leaves a log unsynced only if it commits all remaining targets of the log.
    AllTargets,
    /// Targets of a block start after its entries are in their files.
    WrittenFirst,
    /// Log entries start on fresh sectors.
    FreshSectors,
    /// Each open starts a generation and rewrites all metadata.
    NewGeneration,
    /// Hashes of the metadata are compared.
    Hashes,
    /// The journal has a second copy.
    SecondCopy,
    /// Hashes of log entries and their frames are compared.
    LogHashes,
    /// The hash of an extent is compared with the journal.
    ExtentHash,
    /// An entry is valid only at its own place in its own run.
    Salt,
}

thread_local! {
    /// A bit for each rule.
    static OMITTED: Cell<u32> = const { Cell::new(0) };
}

/// Returns whether a rule is left out on this thread.
pub fn omits(rule: Rule) -> bool {
    OMITTED.get() >> rule as u32 & 1 == 1
}

/// Runs `work` without these rules.
pub fn without<T>(rules: &[Rule], work: impl FnOnce() -> T) -> T {
    OMITTED.set(rules.iter().fold(0, |bits, rule| bits | 1 << *rule as u32));
    let result = work();
    OMITTED.set(0);
    result
}
