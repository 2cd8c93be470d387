//! Values and outcomes.
//!
//! A position is a win or a loss *for the player to move*. The literature names it after the
//! winner: a loss is a P-position (the previous player wins), a win an N-position (the next player
//! wins).

use serde::Serialize;
use std::fmt;

/// The value of a position for the player to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Value {
    /// Some move leads to a loss of the opponent.
    Win,
    /// Every move, if there is one, leads to a win of the opponent.
    Loss,
}

impl Value {
    /// Returns the value as the outcome class of the literature.
    pub const fn outcome(self) -> Outcome {
        match self {
            Value::Win => Outcome::N,
            Value::Loss => Outcome::P,
        }
    }

    /// Returns [`Value::Loss`] if `loss` is true; loss bitmaps store exactly this bit.
    pub const fn from_loss(loss: bool) -> Value {
        if loss { Value::Loss } else { Value::Win }
    }

    /// Returns whether this is a loss.
    pub const fn is_loss(self) -> bool {
        matches!(self, Value::Loss)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Value::Win => "win",
            Value::Loss => "loss",
        })
    }
}

/// The outcome class of a position, as the literature names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Outcome {
    /// The next player wins: a win for the player to move.
    N,
    /// The previous player wins: a loss for the player to move.
    P,
}

impl Outcome {
    /// Returns the value of a position of this class for the player to move.
    pub const fn value(self) -> Value {
        match self {
            Outcome::N => Value::Win,
            Outcome::P => Value::Loss,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Outcome::N => "N",
            Outcome::P => "P",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_outcomes_are_two_names_of_one_thing() {
        for value in [Value::Win, Value::Loss] {
            assert_eq!(value.outcome().value(), value);
            assert_eq!(Value::from_loss(value.is_loss()), value);
        }
        assert_eq!(format!("{:>5}|{}", Value::Loss, Outcome::P), " loss|P");
    }
}
