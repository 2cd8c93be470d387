//! The paper's names of the rules: its goals are normal play, and *attrition* for misère.

use trinim_game::Rule;

/// Returns `normal` or `attrition`.
pub const fn name(rule: Rule) -> &'static str {
    match rule {
        Rule::Normal => "normal",
        Rule::Misere => "attrition",
    }
}

/// Parses a goal; `misere` is accepted too.
pub fn parse(text: &str) -> Option<Rule> {
    match text {
        "attrition" => Some(Rule::Misere),
        other => other.parse().ok(),
    }
}

/// Returns the goal after a flip.
pub const fn other(rule: Rule) -> Rule {
    match rule {
        Rule::Normal => Rule::Misere,
        Rule::Misere => Rule::Normal,
    }
}
