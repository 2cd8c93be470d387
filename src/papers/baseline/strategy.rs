//! The papers' strategies and their names.

use std::fmt;

/// A strategy from the papers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// Forward checking (Hsu 1985, \[SWLK12\] 2.1): the board in memory; a position inspects its
    /// children.
    Forward,
    /// Retrograde (\[LWS09\] chapter 3, \[SWLK12\] 2.2): the board in memory; a loss turns all its
    /// parents into wins.
    Retrograde,
    /// \[LWS09\] 4.1, the first algorithm of \[SWLK12\] 3.1: a finished block loads, updates and
    /// stores every target.
    BlockPush(Redundancy),
    /// The second algorithm of \[SWLK12\] 3.1: a block loads every child block, updates itself and
    /// is stored once.
    BlockPull(Redundancy),
}

/// Whether to evaluate every block or one of each isomorphic group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redundancy {
    /// All `2^b` blocks (\[SWLK12\] 3.1).
    Keep,
    /// One block of each isomorphic group (\[SWLK12\] 3.2).
    Remove,
}

impl Baseline {
    /// Returns the name used on the command line, in reports and in run folders.
    pub fn name(self) -> &'static str {
        match self {
            Baseline::Forward => "forward",
            Baseline::Retrograde => "retrograde",
            Baseline::BlockPush(_) => "block-push",
            Baseline::BlockPull(_) => "block-pull",
        }
    }

    /// Returns which blocks are evaluated; `None` for a baseline in memory.
    pub fn redundancy(self) -> Option<Redundancy> {
        match self {
            Baseline::Forward | Baseline::Retrograde => None,
            Baseline::BlockPush(redundancy) | Baseline::BlockPull(redundancy) => Some(redundancy),
        }
    }

    /// Returns the parameters in the `FORMAT` of a run, which prevent any other solve from
    /// continuing it; only the first for one in memory.
    pub fn parameters(self) -> Vec<(String, String)> {
        let values = [("strategy", Some(self.name())), ("redundancy", self.redundancy().map(Redundancy::name))];
        values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect()
    }

    /// Returns this baseline with another redundancy; a baseline in memory stays the same.
    #[must_use]
    pub fn with_redundancy(self, redundancy: Redundancy) -> Baseline {
        match self {
            Baseline::BlockPush(_) => Baseline::BlockPush(redundancy),
            Baseline::BlockPull(_) => Baseline::BlockPull(redundancy),
            in_memory => in_memory,
        }
    }
}

impl Redundancy {
    /// Returns the name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Redundancy::Keep => "keep",
            Redundancy::Remove => "remove",
        }
    }
}

impl fmt::Display for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
