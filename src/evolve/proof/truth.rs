//! A graph with its true outcomes, and where a formula is wrong on it.
//!
//! # Invariants
//! 1. The counterexample of a graph of heaps is the smallest wrong position: by the sum of its
//!    features, then by lexicographic order.

use crate::games::{Graph, label};
use crate::language::{Formula, OnFault, Scope};
use crate::search::Target;
use serde::Serialize;
use std::fmt;
use trinim_game::Value;

/// The true outcome or value of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrueValue {
    /// Who wins.
    Outcome(Value),
    /// The Grundy value.
    Grundy(i32),
}

impl TrueValue {
    /// Returns whether a formula with this value is right.
    pub const fn accepts(self, value: i32) -> bool {
        match self {
            TrueValue::Outcome(outcome) => outcome.is_loss() == (value == 0),
            TrueValue::Grundy(grundy) => grundy == value,
        }
    }

    fn said(self, value: i32) -> String {
        match self {
            TrueValue::Outcome(_) => format!("{} (value {value})", Value::from_loss(value == 0).outcome()),
            TrueValue::Grundy(_) => format!("Grundy value {value}"),
        }
    }
}

impl fmt::Display for TrueValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrueValue::Outcome(value) => write!(f, "{}", value.outcome()),
            TrueValue::Grundy(value) => write!(f, "Grundy value {value}"),
        }
    }
}

/// What found a counterexample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FoundBy {
    /// The check of all positions; it is the smallest.
    Check,
    /// Probing of large heaps for which a theorem tells the truth; smaller ones were then sought.
    Probe,
    /// The proof for all heaps; smaller ones were then sought.
    Proof,
}

/// A graph with the truth about each position.
pub struct Truth {
    /// The graph.
    pub graph: Graph,
    expected: Vec<TrueValue>,
}

/// A position where a formula is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Counterexample {
    /// The position.
    #[serde(rename = "position")]
    pub label: String,
    /// The value of the formula; null if it has none.
    pub value: Option<i32>,
    /// The formula's claim, in words.
    pub said: String,
    /// The truth, in words.
    pub truth: String,
    /// For a win, the position reached by a winning move.
    #[serde(rename = "winning_move_to")]
    pub because: Option<String>,
    /// What found it.
    pub found_by: FoundBy,
}

impl Counterexample {
    /// Describes a position where a formula is wrong.
    pub fn new(
        formula: &Formula,
        scope: &Scope,
        position: &[i32],
        on_fault: OnFault,
        expected: TrueValue,
        found_by: FoundBy,
    ) -> Counterexample {
        let value = formula.value(scope, position, on_fault);
        Counterexample {
            label: label(position),
            value: value.ok(),
            said: match value {
                Ok(value) => expected.said(value),
                Err(fault) => format!("nothing, as {}", fault.text(formula, scope)),
            },
            truth: expected.to_string(),
            because: None,
            found_by,
        }
    }
}

impl Truth {
    /// Solves a graph.
    pub fn new(graph: Graph, target: Target) -> Truth {
        let expected = match target {
            Target::Grundy => graph.grundy().into_iter().map(TrueValue::Grundy).collect(),
            Target::Rules | Target::Labels => graph.outcomes().iter().copied().map(TrueValue::Outcome).collect(),
        };
        Truth { graph, expected }
    }

    /// Returns the smallest position where a formula is wrong.
    pub fn counterexample(&self, formula: &Formula, on_fault: OnFault) -> Option<Counterexample> {
        let graph = &self.graph;
        let first = first_wrong(formula, &graph.scope, graph.features(), on_fault, &self.expected)?;
        let index = self.smallest(formula, first as u32, on_fault);
        let expected = self.expected[index as usize];
        let found =
            Counterexample::new(formula, &graph.scope, &graph.position(index), on_fault, expected, FoundBy::Check);
        let is_lost = |option: &&u32| self.expected[**option as usize] == TrueValue::Outcome(Value::Loss);
        let winning = graph.options(index).iter().find(is_lost);
        let because = winning.filter(|_| expected == TrueValue::Outcome(Value::Win)).map(|option| graph.label(*option));
        Some(Counterexample { because, ..found })
    }

    /// Returns the wrong position that comes first among those with the sum of `first`.
    fn smallest(&self, formula: &Formula, first: u32, on_fault: OnFault) -> u32 {
        let graph = &self.graph;
        let sum = |index: u32| graph.position(index).iter().map(|feature| i64::from(*feature)).sum::<i64>();
        let alike = (first..graph.len() as u32).take_while(|index| sum(*index) == sum(first));
        let wrong = alike.filter(|index| {
            let value = formula.value(&graph.scope, &graph.position(*index), on_fault);
            !value.is_ok_and(|value| self.expected[*index as usize].accepts(value))
        });
        wrong.min_by_key(|index| graph.position(*index)).unwrap_or(first)
    }
}

/// Returns the index of the first position, given as columns of features, where a formula has no
/// value or not the right one.
pub(super) fn first_wrong(
    formula: &Formula,
    scope: &Scope,
    features: &[Vec<i32>],
    on_fault: OnFault,
    expected: &[TrueValue],
) -> Option<usize> {
    let (column, fault) = match formula.column(scope, features, on_fault) {
        Ok(column) => (column, None),
        // No position before the first fault has a fault, so its replacement does not matter there.
        Err(fault) => (formula.column(scope, features, OnFault::Zero).unwrap_or_default(), Some(fault)),
    };
    let wrong = (0..fault.unwrap_or(column.len())).find(|index| !expected[*index].accepts(column[*index]));
    wrong.or(fault)
}
