//! What a solve computes of each position: who wins, its nimber, or its distance to the end.
//!
//! Nimbers and distances are numbers, one plane each. They follow from the numbers of the children
//! by the rule of [`Values::follows`].

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use trinim_game::position::cells;
use trinim_game::{Board, Rule, Value};

/// The values that a solve computes.
///
/// A block has one or more bitmaps, its *planes*; the first has the losses. With nimbers there is
/// one for each possible nimber, ascending: in plane `n`, bit `x` is 1 iff the position has nimber
/// `n`. With distances, bit `x` of plane `1 + d` is 1 iff the position has distance `d`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Values {
    /// Wins and losses: one plane, with the losses.
    #[default]
    Outcomes,
    /// The nimber (Grundy value) of each position, in normal play.
    Nimbers,
    /// The remoteness of each position: the moves that are left if the winner hurries and the loser
    /// delays, its distance to the end (Steinhaus 1925; Smith 1966). A position without a move has
    /// 0, another win 1 + the least of its losing children, a loss 1 + the largest of its winning
    /// children.
    Remoteness,
}

/// The error for an unknown name of values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown value {name:?}: expected outcomes, nimbers or remoteness")]
pub struct ParseValuesError {
    name: String,
}

/// Positions of one nimber.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NimberCount {
    /// The nimber.
    pub nimber: u32,
    /// Positions with this nimber.
    pub positions: u64,
}

/// Positions of one distance to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DistanceCount {
    /// The distance, in moves.
    pub distance: u32,
    /// Wins with this distance.
    pub wins: u64,
    /// Losses with this distance.
    pub losses: u64,
}

impl DistanceCount {
    /// Returns the row of a distance, which determines who wins: the moves alternate.
    pub fn new(distance: u32, positions: u64, rule: Rule) -> DistanceCount {
        match value_at(distance, rule) {
            Value::Win => DistanceCount { distance, wins: positions, losses: 0 },
            Value::Loss => DistanceCount { distance, wins: 0, losses: positions },
        }
    }

    /// Returns all positions that have it, or `None` where a forged manifest overflows.
    pub fn positions(&self) -> Option<u64> {
        self.wins.checked_add(self.losses)
    }
}

/// Returns the value of the positions of a distance: after each move it is the other player's turn.
pub fn value_at(distance: u32, rule: Rule) -> Value {
    Value::from_loss(rule.empty().is_loss() == distance.is_multiple_of(2))
}

impl Values {
    /// All of them.
    pub const ALL: [Values; 3] = [Values::Outcomes, Values::Nimbers, Values::Remoteness];

    /// The parameter in `FORMAT` with the values that a run computes, unless they are wins and
    /// losses.
    pub const PARAMETER: &'static str = "values";

    /// Returns the name on the command line, in reports and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Values::Outcomes => "outcomes",
            Values::Nimbers => "nimbers",
            Values::Remoteness => "remoteness",
        }
    }

    /// Returns the number of bitmaps of a block, one for each possible value on a board. A nimber
    /// and a distance are at most the number of pieces: a position has more pieces than any of its
    /// children, and its number is at most one more than the largest of theirs.
    pub fn planes(self, board: &Board) -> usize {
        match self {
            Values::Outcomes => 1,
            Values::Nimbers => board.cells() as usize + 1,
            Values::Remoteness => board.cells() as usize + 2,
        }
    }

    /// Returns the plane of the number 0.
    pub const fn first_number(self) -> usize {
        match self {
            Values::Outcomes | Values::Nimbers => 0,
            Values::Remoteness => 1,
        }
    }

    /// Returns in which planes a position is, bit by plane, by the planes of each of its children:
    /// the definition of these values.
    pub fn follows(self, rule: Rule, children: &[u64]) -> u64 {
        let is_loss = |planes: &&u64| *planes & 1 == 1;
        let value = match children {
            [] => rule.empty(),
            _ => Value::from_loss(!children.iter().any(|child| is_loss(&child))),
        };
        let number = match self {
            Values::Outcomes => return u64::from(value.is_loss()),
            Values::Nimbers => return 1 << children.iter().fold(0, |reached, child| reached | child).trailing_ones(),
            Values::Remoteness => {
                let distance = |planes: &u64| (planes >> 1).trailing_zeros() + 1;
                match value {
                    Value::Win => children.iter().filter(is_loss).map(distance).min(),
                    Value::Loss => children.iter().map(distance).max(),
                }
            }
        };
        u64::from(value.is_loss()) | 2 << number.unwrap_or(0)
    }

    /// Describes a position by the planes that contain it; a sound one is in those of one number.
    pub fn words(self, planes: u64) -> String {
        let value = Value::from_loss(planes & 1 == 1);
        let name = match self {
            Values::Outcomes => return format!("a {value}"),
            Values::Nimbers => "nimber",
            Values::Remoteness => "distance",
        };
        let numbers = cells(planes >> self.first_number());
        match numbers.iter().map(u32::to_string).collect::<Vec<_>>() {
            none if none.is_empty() => format!("a {value} of no {name}"),
            numbers => format!("a {value} of {name} {}", numbers.join(" and ")),
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

    /// Returns what a run with these parameters computes; `None` if this program does not know.
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
    use trinim_game::reference;

    #[test]
    fn what_follows_from_children_is_what_the_reference_says() {
        let line = [0b001, 0b010, 0b100, 0b011, 0b110, 0b111];
        for (values, rule) in [(Values::Nimbers, Rule::Normal), (Values::Remoteness, Rule::Normal)]
            .into_iter()
            .chain([(Values::Outcomes, Rule::Misere), (Values::Remoteness, Rule::Misere)])
        {
            let mut planes: Vec<u64> = Vec::new();
            for position in 0..8 {
                let children: Vec<u64> =
                    reference::children(&line, position).map(|child| planes[child as usize]).collect();
                planes.push(values.follows(rule, &children));
            }
            let outcomes = reference::values(3, &line, rule);
            let losses = || outcomes.iter().map(|value| u64::from(value.is_loss()));
            let expected: Vec<u64> = match values {
                Values::Outcomes => losses().collect(),
                Values::Nimbers => reference::nimbers(3, &line).iter().map(|nimber| 1 << nimber).collect(),
                Values::Remoteness => {
                    losses().zip(reference::distances(3, &line, rule)).map(|(loss, at)| loss | 2 << at).collect()
                }
            };
            assert_eq!(planes, expected, "{values}, {rule}");
        }
    }

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
