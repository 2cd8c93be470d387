//! What a solve computes of each position: who wins, or its nimber.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use trinim_game::Board;

/// The values that a solve computes.
///
/// A block of a solve for nimbers has one bitmap for each possible nimber, its *planes*, ascending:
/// in plane `n`, bit `x` is 1 iff the position has nimber `n`. Plane 0 has the losses of normal
/// play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Values {
    /// Wins and losses: one plane, with the losses.
    #[default]
    Outcomes,
    /// The nimber (Grundy value) of each position, in normal play.
    Nimbers,
}

/// The error for an unknown name of values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown values {name:?}: expected outcomes or nimbers")]
pub struct ParseValuesError {
    name: String,
}

/// Positions of one nimber.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NimberCount {
    /// The nimber.
    pub nimber: u32,
    /// Positions that have it.
    pub positions: u64,
}

impl Values {
    /// Both.
    pub const ALL: [Values; 2] = [Values::Outcomes, Values::Nimbers];

    /// The parameter in `FORMAT` that says what a run computes, unless it is wins and losses.
    pub const PARAMETER: &'static str = "values";

    /// Returns the name on the command line, in reports and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Values::Outcomes => "outcomes",
            Values::Nimbers => "nimbers",
        }
    }

    /// Returns the bitmaps of a block, as many as there may be values on a board. A nimber is at
    /// most the number of pieces: a position has more pieces than any of its children, so the least
    /// number that no child has is at most that.
    pub fn planes(self, board: &Board) -> usize {
        match self {
            Values::Outcomes => 1,
            Values::Nimbers => board.cells() as usize + 1,
        }
    }

    /// Returns whether these are wins and losses.
    pub fn is_outcomes(&self) -> bool {
        *self == Values::Outcomes
    }

    /// Returns the parameter of a run, if it has one.
    pub fn parameter(self) -> Option<(String, String)> {
        (!self.is_outcomes()).then(|| (Values::PARAMETER.to_owned(), self.name().to_owned()))
    }

    /// Returns what a run with these parameters computes; `None` if this program cannot tell.
    pub fn from_parameters(given: &[(String, String)]) -> Option<Values> {
        match given.iter().find(|(name, _)| name == Values::PARAMETER) {
            None => Some(Values::Outcomes),
            Some((_, value)) => value.parse().ok().filter(|values: &Values| values.parameter().is_some()),
        }
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Values {
    type Err = ParseValuesError;

    fn from_str(name: &str) -> Result<Values, ParseValuesError> {
        let mut all = Values::ALL.into_iter();
        all.find(|values| values.name() == name).ok_or_else(|| ParseValuesError { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_parameters_are_read_back_and_others_refused() {
        for values in Values::ALL {
            assert_eq!(values.to_string().parse(), Ok(values));
            let parameters: Vec<(String, String)> = values.parameter().into_iter().collect();
            assert_eq!(Values::from_parameters(&parameters), Some(values));
        }
        assert_eq!(Values::Outcomes.parameter(), None);
        for other in ["outcomes", "Nimbers", "", "nimbers "] {
            assert_eq!(Values::from_parameters(&[("values".into(), other.into())]), None, "{other:?}");
        }
    }
}
