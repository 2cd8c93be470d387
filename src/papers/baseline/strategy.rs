//! The papers' strategies and their names.

use clap::ValueEnum;
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

/// Which blocks are evaluated (\[SWLK12\] 3.2 and 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Redundancy {
    /// one block of each isomorphic group
    Remove,
    /// every block
    Keep,
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
}

impl fmt::Display for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
