//! Rules: who wins when the last piece is gone. Both rules have the same moves and differ only in
//! the value of the empty position.

use crate::Value;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// Who wins at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// A player without a move loses, so taking the last piece wins: the empty position is a loss
    /// for the player to move.
    Normal,
    /// A player without a move wins, so taking the last piece loses: the empty position is a win
    /// for the player to move. The usual game.
    Misere,
}

impl Rule {
    /// Both rules.
    pub const ALL: [Rule; 2] = [Rule::Normal, Rule::Misere];

    /// Returns the value of a position without a move, like the empty one, for the player to move.
    pub const fn empty(self) -> Value {
        match self {
            Rule::Normal => Value::Loss,
            Rule::Misere => Value::Win,
        }
    }

    /// Returns the name in plain ASCII, `normal` or `misere`.
    pub const fn name(self) -> &'static str {
        match self {
            Rule::Normal => "normal",
            Rule::Misere => "misere",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error for a text that names no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown rule {text:?}: expected normal or misere")]
pub struct ParseRuleError {
    /// The text that was read.
    pub text: String,
}

impl FromStr for Rule {
    type Err = ParseRuleError;

    fn from_str(text: &str) -> Result<Rule, ParseRuleError> {
        match text {
            "normal" => Ok(Rule::Normal),
            "misere" | "misère" => Ok(Rule::Misere),
            _ => Err(ParseRuleError { text: text.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for rule in Rule::ALL {
            assert_eq!(rule.to_string().parse(), Ok(rule));
        }
        assert_eq!("misère".parse(), Ok(Rule::Misere));
        let error = "Nim".parse::<Rule>().unwrap_err();
        assert_eq!(error.to_string(), "unknown rule \"Nim\": expected normal or misere");
    }
}
