//! Strategies: the update logs of this program, or one of the papers' baselines. All leave the same
//! `db` folder; they differ in time, memory and bytes moved.

use std::fmt;
use std::str::FromStr;

/// A way to solve a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Update logs: a finished block writes compressed logs for its targets ([`super::solve`]).
    UpdateLog,
    /// A strategy from the papers ([`super::baseline`]).
    Baseline(Baseline),
}

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

/// The error for an unknown name of a strategy or redundancy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{name}`")]
pub struct ParseStrategyError {
    what: &'static str,
    name: String,
}

impl Strategy {
    /// All strategies, the default first; block strategies with redundancy removed.
    pub const ALL: [Strategy; 5] = [
        Strategy::UpdateLog,
        Strategy::Baseline(Baseline::BlockPull(Redundancy::Remove)),
        Strategy::Baseline(Baseline::BlockPush(Redundancy::Remove)),
        Strategy::Baseline(Baseline::Retrograde),
        Strategy::Baseline(Baseline::Forward),
    ];

    /// The parameters in `FORMAT` that identify the baseline of a run; a run of update logs has
    /// neither.
    pub const PARAMETERS: [&str; 2] = ["strategy", "redundancy"];

    /// Returns the strategy of a run with these parameters; `None` if this program has none such.
    pub fn from_parameters(given: &[(String, String)]) -> Option<Strategy> {
        let value = |name: &str| given.iter().find(|pair| pair.0 == name).map(|pair| pair.1.as_str());
        let [strategy, redundancy] = Strategy::PARAMETERS.map(value);
        match (strategy.map_or(Some(Strategy::UpdateLog), |name| name.parse().ok())?, redundancy) {
            (Strategy::Baseline(baseline), Some(redundancy)) => {
                Some(Strategy::Baseline(baseline.with_redundancy(redundancy.parse().ok()?)))
            }
            (strategy, _) => Some(strategy),
        }
    }

    /// Returns the name used on the command line, in reports and in run folders.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::UpdateLog => "update-log",
            Strategy::Baseline(baseline) => baseline.name(),
        }
    }

    /// Returns which blocks are evaluated; strategies in memory evaluate all positions.
    pub fn redundancy(self) -> Redundancy {
        match self {
            Strategy::UpdateLog => Redundancy::Remove,
            Strategy::Baseline(baseline) => baseline.redundancy().unwrap_or(Redundancy::Keep),
        }
    }
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

    /// Returns the parameters of a run; only the first for one in memory.
    pub fn parameters(self) -> Vec<(String, String)> {
        let values = [Some(self.name()), self.redundancy().map(Redundancy::name)];
        let pairs = Strategy::PARAMETERS.into_iter().zip(values);
        pairs.filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect()
    }

    /// Returns this baseline with another redundancy; a baseline in memory stays as it is.
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
    /// Both kinds.
    pub const ALL: [Redundancy; 2] = [Redundancy::Remove, Redundancy::Keep];

    /// Returns the name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Redundancy::Keep => "keep",
            Redundancy::Remove => "remove",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Redundancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Strategy {
    type Err = ParseStrategyError;

    fn from_str(name: &str) -> Result<Strategy, ParseStrategyError> {
        let unknown = || ParseStrategyError { what: "strategy", name: name.to_owned() };
        Strategy::ALL.into_iter().find(|strategy| strategy.name() == name).ok_or_else(unknown)
    }
}

impl FromStr for Redundancy {
    type Err = ParseStrategyError;

    fn from_str(name: &str) -> Result<Redundancy, ParseStrategyError> {
        let unknown = || ParseStrategyError { what: "redundancy", name: name.to_owned() };
        Redundancy::ALL.into_iter().find(|redundancy| redundancy.name() == name).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for strategy in Strategy::ALL {
            assert_eq!(strategy.to_string().parse(), Ok(strategy));
        }
        for redundancy in Redundancy::ALL {
            assert_eq!(redundancy.to_string().parse(), Ok(redundancy));
        }
        assert_eq!("guess".parse::<Strategy>().unwrap_err().to_string(), "unknown strategy `guess`");
        assert_eq!("some".parse::<Redundancy>().unwrap_err().to_string(), "unknown redundancy `some`");
    }
}
