//! # What the paper calls the rules
//!
//! Its goals are the two rules of every game here: normal play, and attrition for misère.

use crate::game::Rule;

/// `normal` or `attrition`.
pub const fn name(rule: Rule) -> &'static str {
    match rule {
        Rule::Normal => "normal",
        Rule::Misere => "attrition",
    }
}

/// The rule of that name; `misere` is one as well.
pub fn parse(text: &str) -> Option<Rule> {
    match text {
        "attrition" => Some(Rule::Misere),
        other => other.parse().ok(),
    }
}

/// The goal that a flip leads to.
pub const fn other(rule: Rule) -> Rule {
    match rule {
        Rule::Normal => Rule::Misere,
        Rule::Misere => Rule::Normal,
    }
}
