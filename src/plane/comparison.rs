//! Comparison of the formulas with the rules.
//!
//! [`compare`] sets what [`super::winning`] says of every small point beside what follows from the
//! rules alone.

use super::goals::Flip;
use super::heaps::{Move, Point};
use super::retrograde::{Setting, Situation, Table};
use super::winning;
use trinim_game::{Rule, Value};

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// How the game was played.
    pub setting: Setting,
    /// The goal in force in the compared situations.
    pub rule: Rule,
    /// Situations compared.
    pub situations: u64,
    /// Losses among them, by the rules.
    pub losses: u64,
    /// Draws among them, by the rules.
    pub draws: u64,
    /// Situations in which the formula gives another value; a draw always counts as one.
    pub differences: u64,
    /// The first such situation with its value by the rules, `None` for a draw.
    pub first: Option<(Situation, Option<Value>)>,
    /// Points by their number of winning moves, from 0 to 3, all of these moves compared too;
    /// `None` if the goal can change.
    pub winning_moves: Option<[u64; 4]>,
    /// The first point for which the formula gives other winning moves.
    pub wrong_moves: Option<Situation>,
}

impl Comparison {
    /// Returns whether the formula is right throughout.
    pub fn agrees(&self) -> bool {
        self.differences == 0 && self.wrong_moves.is_none()
    }
}

/// Compares all situations with heaps up to `most`; one result for each goal.
pub fn compare(setting: Setting, most: usize) -> [Comparison; 2] {
    let table = Table::new(setting, most);
    let mut found = Rule::ALL.map(|rule| Comparison {
        setting,
        rule,
        situations: 0,
        losses: 0,
        draws: 0,
        differences: 0,
        first: None,
        winning_moves: (setting.flip == Flip::None).then_some([0; 4]),
        wrong_moves: None,
    });
    for at in table.situations() {
        let comparison = &mut found[at.rule as usize];
        let point = Point::new(at.short, at.long);
        let value = table.value(at);
        comparison.situations += 1;
        comparison.losses += u64::from(value == Some(Value::Loss));
        comparison.draws += u64::from(value.is_none());
        if value != Some(winning::value(at.rule, &point)) {
            comparison.differences += 1;
            comparison.first.get_or_insert((at, value));
        }
        if let Some(counts) = &mut comparison.winning_moves {
            let by_rules = winning_by_rules(&table, at);
            // More than three would also be wrong: they then differ from the formula's moves.
            counts[by_rules.len().min(3)] += 1;
            let by_formula = winning::moves(at.rule, &point);
            let same = by_rules.len() == by_formula.len() && by_formula.iter().all(|step| by_rules.contains(step));
            if !same && comparison.wrong_moves.is_none() {
                comparison.wrong_moves = Some(at);
            }
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
