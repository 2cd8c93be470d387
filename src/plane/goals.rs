//! The goal of a game, and Flip-Flop, in which the players can change it.
//!
//! The paper's goals are the rules: normal play, and *attrition* for misère. \[Ver10\] section 20
//! lets players turn normal play into attrition and back, once in a game, where `L ≥ S + 2 ≥ 7`
//! (54). It leaves open what a flip is: part of a move, before or after it, or a whole turn. The
//! paper's claim (56), that the losses remain those of the goal in force, is right for the first
//! two and wrong for the third, as [`super::retrograde`] shows.

use super::heaps::Point;
use dashu_int::UBig;
use serde::Serialize;
use trinim_game::Rule;

/// Returns `normal` or `attrition`.
pub const fn name(rule: Rule) -> &'static str {
    match rule {
        Rule::Normal => "normal",
        Rule::Misere => "attrition",
    }
}

/// Returns the goal after a flip.
pub const fn other(rule: Rule) -> Rule {
    match rule {
        Rule::Normal => Rule::Misere,
        Rule::Misere => Rule::Normal,
    }
}

/// When the goal can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "program", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Flip {
    /// Never.
    None,
    /// Before a move, where the condition holds for the point before it.
    Free,
    /// After a move, where the condition holds for the point after it.
    After,
    /// Instead of a move, where the condition holds.
    Turn,
}

/// How often the goal can change in a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "program", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Budget {
    /// Once, by either player.
    One,
    /// Once by each player.
    Each,
    /// Twice in all.
    Two,
    /// Without limit.
    Unlimited,
}

/// Where the goal can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "program", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Condition {
    /// `L ≥ S + 2 ≥ 7`, the paper's.
    Paper,
    /// `L ≥ S + 2`, its first half.
    Apart,
    /// `L + S ≥ 27`, the other reading of the damaged print.
    Sum,
    /// Everywhere.
    Always,
}

impl Condition {
    /// Returns whether the condition holds for two small heaps, the shorter one first.
    pub const fn holds_for(self, short: u64, long: u64) -> bool {
        match self {
            Condition::Paper => short >= 5 && long >= short + 2,
            Condition::Apart => long >= short + 2,
            Condition::Sum => short + long >= 27,
            Condition::Always => true,
        }
    }

    /// Returns whether the condition holds for a point.
    pub fn holds(self, point: &Point) -> bool {
        // Heaps of 2^32 and more behave like 2^32, but their difference does not.
        let cap = |number: &UBig| u64::try_from(number).map_or(1 << 32, |number| number.min(1 << 32));
        let short = cap(point.short());
        self.holds_for(short, short + cap(&point.difference()))
    }
}
