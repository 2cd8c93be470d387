//! The positions of a game and its moves.
//!
//! Formulas are judged, outcomes decided and Grundy values computed only on this graph. It is built
//! once from the rules of a game and independent of them afterwards.
//!
//! Positions are numbered from the end of the game; features are columns of `i32`. Options and
//! parents are adjacency lists: `starts[i]..starts[i + 1]` are the places of position `i`. Two
//! moves to the same position are one option, as in the paper's 70 configurations. An option takes
//! eight bytes and one hash look-up when the graph is built.
//!
//! # Invariants
//! 1. An option has a lower number than its parent. So there are no cycles, and one ascending pass
//!    decides everything.
//! 2. The sum of the features never falls from a position to the next.
//! 3. At most [`POSITIONS_MAX`] positions and [`OPTIONS_MAX`] options.

use crate::language::Scope;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::HashMap;
use trinim_game::{Rule, Value};
use xxhash_rust::xxh3::Xxh3DefaultBuilder;

/// Limit on the positions of a graph.
pub const POSITIONS_MAX: usize = 1 << 20;
/// Limit on the options of all positions together.
pub const OPTIONS_MAX: usize = 1 << 26;

/// Which orderings of the heaps count as separate positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ordering {
    /// Heaps in descending order stand for all orderings: the paper's configurations.
    #[serde(alias = "canonical")]
    Descending,
    /// Heaps in ascending order stand for all orderings.
    Ascending,
    /// Every ordering is a position.
    All,
}

impl Ordering {
    /// Sorts features into this order.
    pub fn arrange<T: Ord>(self, features: &mut [T]) {
        match self {
            Ordering::Descending => features.sort_unstable_by(|one, other| other.cmp(one)),
            Ordering::Ascending => features.sort_unstable(),
            Ordering::All => {}
        }
    }
}

/// A limit that a graph exceeds: the number, and its unit.
pub(super) type Excess = (usize, &'static str);

/// The positions of a game with their moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Names of the terminals.
    pub scope: Scope,
    /// Who wins when no move is left.
    pub rule: Rule,
    /// The position the game starts from.
    pub start: u32,
    features: Vec<Vec<i32>>,
    outcomes: Vec<Value>,
    options: Lists,
    parents: Lists,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Lists {
    starts: Vec<u32>,
    places: Vec<u32>,
}

impl Lists {
    fn row(&self, index: u32) -> &[u32] {
        &self.places[self.starts[index as usize] as usize..self.starts[index as usize + 1] as usize]
    }

    fn reversed(&self, count: usize) -> Lists {
        let mut starts = vec![0u32; count + 1];
        self.places.iter().for_each(|place| starts[*place as usize + 1] += 1);
        (0..count).for_each(|index| starts[index + 1] += starts[index]);
        let (mut next, mut places) = (starts.clone(), vec![0; self.places.len()]);
        for index in 0..count as u32 {
            for place in self.row(index) {
                let next = &mut next[*place as usize];
                places[*next as usize] = index;
                *next += 1;
            }
        }
        Lists { starts, places }
    }
}

impl Graph {
    /// Builds the graph of all positions that can be reached from `starts`, at least one; the first
    /// is the position the game starts from. `options` calls its second argument with every
    /// position one move away, in any order, possibly repeated.
    pub(super) fn explore(
        scope: Scope,
        rule: Rule,
        ordering: Ordering,
        starts: impl IntoIterator<Item = Vec<i32>>,
        positions_max: usize,
        options: impl Fn(&[i32], &mut dyn FnMut(&[i32])),
    ) -> Result<Graph, Excess> {
        let too_many = (positions_max, "positions");
        let mut known: HashMap<Vec<i32>, u32, Xxh3DefaultBuilder> = HashMap::default();
        let mut found: Vec<Vec<i32>> = Vec::new();
        let mut arranged = Vec::new();
        let mut number = |position: &[i32], found: &mut Vec<Vec<i32>>| {
            arranged.clear();
            arranged.extend_from_slice(position);
            ordering.arrange(&mut arranged);
            known.get(&arranged).copied().unwrap_or_else(|| {
                let index = found.len() as u32;
                known.insert(arranged.clone(), index);
                found.push(arranged.clone());
                index
            })
        };
        for start in starts {
            number(&start, &mut found);
            if found.len() > positions_max {
                return Err(too_many);
            }
        }
        let mut rows = Lists { starts: vec![0], places: Vec::new() };
        let mut row = Vec::new();
        while rows.starts.len() <= found.len() {
            let position = found[rows.starts.len() - 1].clone();
            row.clear();
            options(&position, &mut |next: &[i32]| {
                if found.len() <= positions_max {
                    row.push(number(next, &mut found));
                }
            });
            row.sort_unstable();
            row.dedup();
            rows.places.extend_from_slice(&row);
            rows.starts.push(rows.places.len() as u32);
            if found.len() > positions_max {
                return Err(too_many);
            }
            if rows.places.len() > OPTIONS_MAX {
                return Err((OPTIONS_MAX, "options"));
            }
        }
        Ok(Graph::numbered(scope, rule, &found, &rows))
    }

    /// Numbers the positions from the end of the game, given in the order in which they were found.
    fn numbered(scope: Scope, rule: Rule, found: &[Vec<i32>], rows: &Lists) -> Graph {
        let rank = |index: &u32| {
            let position = &found[*index as usize];
            let sum: i64 = position.iter().map(|feature| i64::from(*feature)).sum();
            (sum, Reverse(position.iter().filter(|feature| **feature > 0).count()), position)
        };
        let mut by_rank: Vec<u32> = (0..found.len() as u32).collect();
        by_rank.sort_by(|one, other| rank(one).cmp(&rank(other)));
        let mut place = vec![0u32; found.len()];
        by_rank.iter().enumerate().for_each(|(rank, index)| place[*index as usize] = rank as u32);
        let mut options = Lists { starts: vec![0], places: Vec::with_capacity(rows.places.len()) };
        for (rank, index) in (0..).zip(&by_rank) {
            let from = options.places.len();
            options.places.extend(rows.row(*index).iter().map(|option| place[*option as usize]));
            options.places[from..].sort_unstable();
            assert!(
                options.places[from..].iter().all(|option| *option < rank),
                "graph, invariant 1: an option is not below its position"
            );
            options.starts.push(options.places.len() as u32);
        }
        let column = |feature: usize| by_rank.iter().map(|index| found[*index as usize][feature]).collect();
        let features = (0..scope.features.len()).map(column).collect();
        let start = place.first().copied().unwrap_or(0);
        let (parents, outcomes) = (options.reversed(found.len()), outcomes(&options, rule));
        Graph { scope, rule, start, features, outcomes, options, parents }
    }

    /// Returns the number of positions.
    pub fn len(&self) -> usize {
        self.options.starts.len() - 1
    }

    /// Returns whether there is no position, which never happens.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of options of all positions together.
    pub fn options_total(&self) -> usize {
        self.options.places.len()
    }

    /// Returns the positions one move away.
    pub fn options(&self, position: u32) -> &[u32] {
        self.options.row(position)
    }

    /// Returns the positions that have a move to this one.
    pub fn parents(&self, position: u32) -> &[u32] {
        self.parents.row(position)
    }

    /// Returns the features, one column each.
    pub fn features(&self) -> &[Vec<i32>] {
        &self.features
    }

    /// Returns the features of one position.
    pub fn position(&self, position: u32) -> Vec<i32> {
        self.features.iter().map(|column| column[position as usize]).collect()
    }

    /// Writes a position as `(2,1)`.
    pub fn label(&self, position: u32) -> String {
        label(&self.position(position))
    }

    /// Returns the value of every position.
    pub fn outcomes(&self) -> &[Value] {
        &self.outcomes
    }

    /// Returns the Grundy value of every position: the least number that none of its options has.
    pub fn grundy(&self) -> Vec<i32> {
        let (mut values, mut seen): (Vec<i32>, _) = (Vec::with_capacity(self.len()), Vec::new());
        for index in 0..self.len() as u32 {
            values.push(mex(self.options(index).iter().map(|option| values[*option as usize]), &mut seen));
        }
        values
    }
}

/// Returns the value of every position, by the definition.
fn outcomes(options: &Lists, rule: Rule) -> Vec<Value> {
    let mut outcomes: Vec<Value> = Vec::with_capacity(options.starts.len() - 1);
    for index in 0..options.starts.len() as u32 - 1 {
        outcomes.push(match options.row(index) {
            [] => rule.empty(),
            some => Value::from_loss(!some.iter().any(|option| outcomes[*option as usize].is_loss())),
        });
    }
    outcomes
}

/// The order of counterexamples: by fewer pieces, then lexicographic.
pub(crate) fn size<T: Copy + Into<i128>>(heaps: &[T]) -> (i128, &[T]) {
    (heaps.iter().map(|heap| (*heap).into()).sum(), heaps)
}

/// Writes heaps as `(2,1)`.
pub fn label<T: ToString>(heaps: &[T]) -> String {
    format!("({})", heaps.iter().map(T::to_string).collect::<Vec<_>>().join(","))
}

/// Returns the least number from 0 that is not among `values`; `seen` is scratch space.
pub(crate) fn mex(values: impl ExactSizeIterator<Item = i32>, seen: &mut Vec<bool>) -> i32 {
    seen.clear();
    seen.resize(values.len() + 1, false);
    for value in values {
        if let Some(seen) = usize::try_from(value).ok().and_then(|value| seen.get_mut(value)) {
            *seen = true;
        }
    }
    seen.iter().position(|seen| !seen).unwrap_or(seen.len()) as i32
}
