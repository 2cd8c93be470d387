//! Where a formula breaks the rules of a strategy.
//!
//! A formula calls every position a loss (value 0) or a win. It is a strategy exactly if it breaks
//! none of three rules: (i) no move leads from a loss to a loss, (ii) some move leads from every
//! win to a loss, (iii) a position without moves is a loss, in misère play a win. No true outcome
//! has to be known. Other targets are the outcomes themselves and the Grundy values, which need no
//! labels either: the value must be the mex of the values of the options.
//!
//! The paper counts one violation for each position that breaks a rule ([`Count::Position`]; its
//! figure 1 shows it). [`Count::Edge`] counts each move from a loss to a loss.
//! [`Count::AllOptions`] is the literal text of the paper, all options being losses; it exists to
//! show that wrong formulas pass it. A formula can break a rule at one position and be wrong at
//! many: in misère Nim of two heaps `a1 - a2` breaks only rule (iii) at the end, and is wrong at
//! four. [`Count::Wrong`] counts these, with the outcomes as they follow from the end.
//!
//! # Invariants
//! 1. [`Judge::total`], the fast count over the parents of losses, agrees with [`violations`],
//!    which judges each position by its options. A total of 0 under `Position`, `Edge` or `Wrong`
//!    is equivalent to right outcomes.

use crate::games::{Graph, mex};
use serde::{Deserialize, Serialize};
use trinim_game::Value;

/// What counts as a violation of rule (i).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Count {
    /// A loss with an option that is a loss counts once.
    #[serde(rename = "node")]
    Position,
    /// Each move from a loss to a loss counts.
    Edge,
    /// A loss counts once if it has options and all are losses.
    #[serde(rename = "all")]
    AllOptions,
    /// Every position whose outcome is not the true one counts once, for any rule it breaks.
    Wrong,
}

/// The values that a formula has to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// Who wins, judged by the rules alone.
    #[serde(rename = "outcome")]
    Rules,
    /// Who wins, compared with the true outcomes.
    Labels,
    /// The Grundy value, judged by the mex of the options.
    Grundy,
}

/// The way a position is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breach {
    /// Rule (i): a loss with a move to a loss.
    LossToLoss,
    /// Rule (ii): a win without a move to a loss.
    WinStuck,
    /// Rule (iii): the wrong value where no move is left.
    End,
    /// Differs from the true outcome.
    Label,
    /// Differs from the mex of the options.
    Mex,
}

impl Breach {
    /// Returns the rule in the paper's numbering, or its replacement.
    pub const fn name(self) -> &'static str {
        match self {
            Breach::LossToLoss => "(i)",
            Breach::WinStuck => "(ii)",
            Breach::End => "(iii)",
            Breach::Label => "label",
            Breach::Mex => "mex",
        }
    }
}

/// Number of violations by rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violations {
    /// Rule (i).
    pub rule_1: u64,
    /// Rule (ii).
    pub rule_2: u64,
    /// Rule (iii).
    pub rule_3: u64,
    /// Wrong outcomes or Grundy values, for the targets that compare them.
    pub wrong: u64,
}

impl Violations {
    /// Returns the sum.
    pub fn total(&self) -> u64 {
        [self.rule_1, self.rule_2, self.rule_3, self.wrong].into_iter().fold(0, u64::saturating_add)
    }

    /// Adds `times` violations of one kind.
    pub fn add(&mut self, breach: Breach, times: u64) {
        let place = match breach {
            Breach::LossToLoss => &mut self.rule_1,
            Breach::WinStuck => &mut self.rule_2,
            Breach::End => &mut self.rule_3,
            Breach::Label | Breach::Mex => &mut self.wrong,
        };
        *place = place.saturating_add(times);
    }
}

/// Returns the mistake at one position, by the definition, and how often it counts.
pub fn broken(graph: &Graph, target: Target, count: Count, column: &[i32], index: u32) -> Option<(Breach, u64)> {
    let is_loss = |index: u32| column[index as usize] == 0;
    let options = graph.options(index);
    match target {
        _ if compares(target, count) => {
            (is_loss(index) != graph.outcomes()[index as usize].is_loss()).then_some((Breach::Label, 1))
        }
        Target::Grundy => {
            let values = options.iter().map(|option| column[*option as usize]);
            (mex(values, &mut Vec::new()) != column[index as usize]).then_some((Breach::Mex, 1))
        }
        Target::Rules | Target::Labels => {
            let losses = options.iter().filter(|option| is_loss(**option)).count();
            match (options.len(), is_loss(index)) {
                (0, loss) => (loss != graph.rule.empty().is_loss()).then_some((Breach::End, 1)),
                (all, true) => {
                    let times = match count {
                        Count::Position => u64::from(losses > 0),
                        Count::Edge => losses as u64,
                        Count::AllOptions | Count::Wrong => u64::from(losses == all),
                    };
                    (times > 0).then_some((Breach::LossToLoss, times))
                }
                (_, false) => (losses == 0).then_some((Breach::WinStuck, 1)),
            }
        }
    }
}

/// Returns whether outcomes are compared with the true ones.
fn compares(target: Target, count: Count) -> bool {
    target == Target::Labels || (target, count) == (Target::Rules, Count::Wrong)
}

/// Explains the mistake at a position in words.
pub fn explain(graph: &Graph, column: &[i32], index: u32, breach: Breach) -> String {
    let value = column[index as usize];
    match breach {
        Breach::LossToLoss => "P, but some move leads to a P-position".to_owned(),
        Breach::WinStuck => "N, but no move leads to a P-position".to_owned(),
        Breach::End => "the wrong value where no move is left".to_owned(),
        Breach::Label => {
            let said = Value::from_loss(value == 0).outcome();
            format!("{said} by the formula, {} in truth", graph.outcomes()[index as usize].outcome())
        }
        Breach::Mex => {
            let values = graph.options(index).iter().map(|option| column[*option as usize]);
            format!("value {value}, but the mex of the options is {}", mex(values, &mut Vec::new()))
        }
    }
}

/// A position that breaks a rule, as reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BrokenPosition {
    /// The position.
    pub position: String,
    /// The rule.
    pub rule: &'static str,
    /// The mistake, in words.
    pub broken: String,
}

/// Lists all positions that break a rule, smallest first.
pub fn wrong(graph: &Graph, target: Target, count: Count, column: &[i32]) -> Vec<BrokenPosition> {
    let here = |index: u32| {
        let (breach, _) = broken(graph, target, count, column, index)?;
        let broken = explain(graph, column, index, breach);
        Some(BrokenPosition { position: graph.label(index), rule: breach.name(), broken })
    };
    (0..graph.len() as u32).filter_map(here).collect()
}

/// Counts the violations of all positions, by the definition. Slow.
pub fn violations(graph: &Graph, target: Target, count: Count, column: &[i32]) -> Violations {
    let mut violations = Violations::default();
    for index in 0..graph.len() as u32 {
        if let Some((breach, times)) = broken(graph, target, count, column, index) {
            violations.add(breach, times);
        }
    }
    violations
}

/// A fast counter of violations for many formulas in turn.
pub struct Judge<'a> {
    graph: &'a Graph,
    target: Target,
    count: Count,
    losing_options: Vec<u32>,
    degrees: Vec<u32>,
    ends: Vec<u32>,
    seen: Vec<bool>,
}

impl<'a> Judge<'a> {
    /// Prepares for one graph.
    pub fn new(graph: &'a Graph, target: Target, count: Count) -> Judge<'a> {
        Judge {
            graph,
            target,
            count,
            losing_options: vec![0; graph.len()],
            ends: (0..graph.len() as u32).filter(|index| graph.options(*index).is_empty()).collect(),
            degrees: (0..graph.len() as u32).map(|index| graph.options(index).len() as u32).collect(),
            seen: Vec::new(),
        }
    }

    /// Returns the number of violations of a formula with these values.
    pub fn total(&mut self, column: &[i32]) -> u32 {
        match self.target {
            _ if compares(self.target, self.count) => {
                let both = column.iter().zip(self.graph.outcomes());
                let wrong = both.filter(|(value, outcome)| (**value == 0) != outcome.is_loss());
                wrong.count() as u32
            }
            Target::Rules | Target::Labels => self.by_rules(column),
            Target::Grundy => {
                let mut wrong = 0;
                for (index, value) in (0..).zip(column) {
                    let options = self.graph.options(index).iter().map(|option| column[*option as usize]);
                    wrong += u32::from(mex(options, &mut self.seen) != *value);
                }
                wrong
            }
        }
    }

    fn by_rules(&mut self, column: &[i32]) -> u32 {
        self.losing_options.fill(0);
        for (index, _) in (0..).zip(column).filter(|(_, value)| **value == 0) {
            for parent in self.graph.parents(index) {
                self.losing_options[*parent as usize] += 1;
            }
        }
        let losing = &self.losing_options;
        let counted = match self.count {
            Count::Position => sum(column, losing, |loss, losing| u32::from(loss == (losing > 0))),
            Count::Edge => sum(column, losing, |loss, losing| if loss { losing } else { u32::from(losing == 0) }),
            Count::AllOptions | Count::Wrong => {
                let each = column.iter().zip(losing).zip(&self.degrees);
                each.map(|((value, losing), degree)| match *value == 0 {
                    true => u32::from(losing == degree && *degree > 0),
                    false => u32::from(*losing == 0),
                })
                .sum()
            }
        };
        // Wins without options were counted as stuck so far, which is right in normal play.
        match self.graph.rule.empty() {
            Value::Loss => counted,
            Value::Win => self.ends.iter().fold(counted, |counted, end| match column[*end as usize] == 0 {
                true => counted + 1,
                false => counted - 1,
            }),
        }
    }
}

#[inline]
fn sum(column: &[i32], losing: &[u32], each: impl Fn(bool, u32) -> u32) -> u32 {
    column.iter().zip(losing).map(|(value, losing)| each(*value == 0, *losing)).sum()
}
