//! Comparison of the formulas with the rules.
//!
//! [`compare`] compares [`super::winning`] at every small point with what follows from the rules.

use super::goals::{self, Budget, Condition, Flip};
use super::heaps::{Move, Point};
use super::retrograde::{Setting, Situation, Table};
use super::winning;
use serde::Serialize;
use trinim_game::{Rule, Value};

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// The goal in force in the compared situations: `normal` or `attrition`.
    pub goal: &'static str,
    /// When the goal can change.
    pub flip: Flip,
    /// How often; null if it cannot.
    pub flips: Option<Budget>,
    /// Where; null if it cannot.
    pub condition: Option<Condition>,
    /// Situations compared.
    pub situations: u64,
    /// Losses among them, by the rules.
    pub losses: u64,
    /// Draws among them, by the rules.
    pub draws: u64,
    /// Situations in which the formula gives another value; a draw always counts as one.
    pub differences: u64,
    /// Whether the formula is right throughout.
    pub agrees: bool,
    /// Points with 0, 1, 2 and 3 winning moves, all of these moves compared too; only if the goal
    /// cannot change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winning_moves: Option<[u64; 4]>,
    /// The first situation in which the formula is wrong; only if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_difference: Option<Difference>,
}

/// A situation in which the formula is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The heaps, the short one first.
    pub position: [String; 2],
    /// Flips that are left, like `1`, `1 and 0` or `unlimited`.
    pub flips_left: String,
    /// The true value: `win`, `loss` or `draw`, or `other winning moves`.
    pub by_rules: String,
}

/// Compares all situations with heaps up to `most`; one result for each goal.
pub fn compare(setting: Setting, most: usize) -> [Comparison; 2] {
    let table = Table::new(setting, most);
    let flips = setting.flip != Flip::None;
    let mut found = Rule::ALL.map(|rule| Comparison {
        goal: goals::name(rule),
        flip: setting.flip,
        flips: flips.then_some(setting.budget),
        condition: flips.then_some(setting.condition),
        situations: 0,
        losses: 0,
        draws: 0,
        differences: 0,
        agrees: true,
        winning_moves: (!flips).then_some([0; 4]),
        first_difference: None,
    });
    for at in table.situations() {
        let comparison = &mut found[at.rule as usize];
        let point = Point::new(at.short, at.long);
        let value = table.value(at);
        comparison.situations += 1;
        comparison.losses += u64::from(value == Some(Value::Loss));
        comparison.draws += u64::from(value.is_none());
        let mut wrong = None;
        if value != Some(winning::value(at.rule, &point)) {
            comparison.differences += 1;
            wrong = Some(value.map_or_else(|| "draw".to_owned(), |value| value.to_string()));
        }
        if let Some(counts) = &mut comparison.winning_moves {
            let by_rules = winning_by_rules(&table, at);
            // More than three would also be wrong: they then differ from the formula's moves.
            counts[by_rules.len().min(3)] += 1;
            let by_formula = winning::moves(at.rule, &point);
            if by_rules.len() != by_formula.len() || by_formula.iter().any(|step| !by_rules.contains(step)) {
                wrong.get_or_insert("other winning moves".to_owned());
            }
        }
        if let Some(by_rules) = wrong {
            comparison.agrees = false;
            let position = [at.short, at.long].map(|heap| heap.to_string());
            let flips_left = match setting.budget {
                Budget::Each => format!("{} and {}", at.left & 1, at.left >> 1),
                Budget::Unlimited => "unlimited".to_owned(),
                Budget::One | Budget::Two => at.left.to_string(),
            };
            comparison.first_difference.get_or_insert(Difference { position, flips_left, by_rules });
        }
    }
    found
}

/// Returns every move that leaves a loss, found by trying all.
fn winning_by_rules(table: &Table, at: Situation) -> Vec<Move> {
    let lost = |short, long| table.value(Situation { short, long, ..at }) == Some(Value::Loss);
    let winning = at.steps().filter(|(_, short, long)| lost(*short, *long));
    winning.map(|((kind, amount), ..)| Move::new(kind, amount)).collect()
}
