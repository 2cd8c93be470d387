//! Proofs that a formula is right for all heaps, decided bit column by bit column.
//!
//! A check up to some heap size proves nothing beyond it. But formulas of `+ - and or xor not`,
//! products with constants, comparisons and choices can read heaps from the lowest bit upwards with
//! a bounded memory: they are finite automata over bit columns (`columns`). So is the outcome of
//! Nim and of Moore's Nim (Bouton 1901, Moore 1910: a bit column whose sum is not a multiple of k +
//! 1), in misère play too, and so is the order of heaps. Read in parallel, they show for any heaps
//! whether formula and theorem disagree. The highest bits decide a comparison and come last, so its
//! outcome is guessed first and checked at the end. This method is ours.
//!
//! The search goes backwards: from the conditions that are wrong after the last column to those
//! from which some column leads there, as sets in decision `diagram`s. If the condition before the
//! first column is not among them, no heaps are wrong. A set needs only those carries that can
//! still matter, and conditions that are wrong for the same further heaps are merged.
//!
//! There are two theorems, for two readings of a formula ([`Domain`]): words of 32 bits that wrap,
//! as the program computes, for all heaps below 2^31; and integers of any size, for all heaps. For
//! integers the columns have no end. Columns above all constants are equal, so the sets grow until
//! nothing changes, and a condition is wrong if zeros for ever make it wrong.
//!
//! First all heaps of few bits are tried one by one (`small`), which refutes most wrong formulas.
//! Products of two variables, most quotients, `phi` and `isqrt` can only be refuted.
//!
//! # Invariants
//! 1. `Proved` means that no wrong condition can be reached. Anything undecided is `Open`, with the
//!    reason.
//! 2. Every refutation is confirmed by the value of the formula.
//! 3. The answer depends only on the arguments, not on the order of a hash table.
//! 4. Of several counterexamples, the one whose largest heap has the fewest bits is reported, of
//!    these the one with the smallest sum, then the lexicographically first; unless more than
//!    [`PATHS_MAX`] conditions lead to the same number of bits.
//!
//! # Cost
//! A proof gives up after [`WORK_MAX`] steps, about a second.

mod columns;
mod diagram;
mod small;
mod words;

use crate::games::{Ordering, size};
use crate::language::{Formula, Scope, simplify};
use columns::Columns;
use diagram::{Diagrams, FALSE, Function};
pub(super) use small::is_loss;
use std::collections::BTreeMap;
use trinim_game::Rule;
pub use words::Domain;
use words::Words;

/// Limit on the work of one proof, in steps of its diagrams.
pub const WORK_MAX: u64 = 1 << 22;
/// Limit on the conditions that are followed for the smallest counterexample.
pub const PATHS_MAX: usize = 1 << 12;
/// Words of formulas, in bits.
pub const WORD_BITS: u32 = 32;
/// Largest heap of a counterexample among integers, in bits.
const HEAP_BITS_MAX: usize = 62;

/// A known theorem about a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theorem {
    /// The outcome of Moore's Nim with moves on up to `most` heaps; 1 is Nim.
    Outcome {
        /// The most heaps that a move can change.
        most: u32,
        /// Who wins when no move is left.
        rule: Rule,
    },
    /// The Grundy value of Nim is the xor of all heaps.
    Grundy,
}

/// The outcome of an attempted proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The formula is right for all heaps of the domain in this ordering.
    Proved,
    /// The formula is wrong for these heaps.
    Refuted(Vec<i64>),
    /// The question is undecided, for this reason.
    Open(String),
}

/// Whether a formula is right for all heaps in an ordering.
///
/// The heaps are those that are not negative in the domain: below 2^31 for words of 32 bits.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The formula.
    pub formula: &'a Formula,
    /// Its heaps.
    pub scope: &'a Scope,
    /// The truth.
    pub theorem: Theorem,
    /// The heaps that count.
    pub ordering: Ordering,
    /// The integers that the formula computes with.
    pub domain: Domain,
}

impl Question<'_> {
    /// Decides the question.
    pub fn prove(&self) -> Proof {
        if let Some(wrong) = small::counterexample(self) {
            return Proof::Refuted(wrong);
        }
        let answer = self.columns().and_then(|columns| Search::new(&columns, self.domain).decide());
        match answer {
            Ok(None) => Proof::Proved,
            Ok(Some(wrong)) if self.is_wrong(&wrong) => Proof::Refuted(wrong),
            Ok(Some(wrong)) => Proof::Open(format!("{wrong:?} could not be confirmed as a counterexample")),
            Err(reason) => Proof::Open(reason),
        }
    }

    fn columns(&self) -> Result<Columns, String> {
        let heaps = self.scope.features.len();
        let mut words = Words::new(self.domain);
        // Simplification folds constants as words of 32 bits do.
        let formula = match self.domain {
            Domain::Words(WORD_BITS) => &simplify(self.formula),
            _ => self.formula,
        };
        let mut root = words.add(formula, self.scope)?;
        if self.theorem == Theorem::Grundy {
            // The value is right if it differs in no bit from the xor of all heaps.
            for heap in 0..heaps {
                let heap = words.heap(heap);
                root = words.xor(root, heap);
            }
        }
        let root = words.zero_form(root)?;
        let root = words.keep(root);
        Columns::new(words, root, self.theorem, self.ordering, heaps)
    }
}

/// The sets of conditions from which wrong ones can be reached.
struct Search<'a> {
    columns: &'a Columns,
    domain: Domain,
    diagrams: Diagrams,
    inputs: Vec<Function>,
    steps: Vec<Vec<Function>>,
    /// Conditions before a column that become wrong if it and all further columns are zeros. Above
    /// the last of these columns all are equal.
    ends: Vec<Function>,
}

impl<'a> Search<'a> {
    fn new(columns: &'a Columns, domain: Domain) -> Search<'a> {
        let mut diagrams = Diagrams::new(WORK_MAX);
        let inputs = (0..columns.heaps as u32).map(|heap| diagrams.variable(columns.bits + heap)).collect();
        Search { columns, domain, diagrams, inputs, steps: Vec::new(), ends: Vec::new() }
    }

    fn exhausted<T>(&self, value: T) -> Result<T, String> {
        if self.diagrams.is_exhausted() { Err("too many conditions".to_owned()) } else { Ok(value) }
    }

    /// Returns the conditions before a column from which some bits in it lead into the set.
    fn before(&mut self, set: Function, column: usize) -> Result<Function, String> {
        let column = column.min(self.ends.len() - 1);
        while self.steps.len() <= column {
            let next = self.steps.len() as u32;
            let step = self.columns.step(&mut self.diagrams, next, &self.inputs, false);
            self.steps.push(step);
        }
        let replaced = self.diagrams.replace(set, &self.steps[column]);
        let before = self.diagrams.exists_from(replaced, self.columns.bits);
        self.exhausted(before)
    }

    /// Lists the guesses with which the condition before the first column is in the set.
    fn guesses(&self, set: Function) -> impl Iterator<Item = u128> {
        let guesses = 0..1u128 << self.columns.guesses();
        guesses.filter(move |guess| self.diagrams.value(set, |bit| guess >> bit & 1 == 1))
    }

    fn is_reached(&self, set: Function) -> bool {
        self.guesses(set).next().is_some()
    }

    /// Finds the sets for zeros from each column on, and the number of columns that are read.
    fn find_ends(&mut self) -> Result<usize, String> {
        let zeros = vec![FALSE; self.columns.heaps];
        let wrong = self.columns.wrong(&mut self.diagrams);
        let columns = match self.domain {
            Domain::Words(bits) => bits - 1,
            Domain::Integers => self.columns.constant_columns(),
        };
        let mut step = |column, is_sign| self.columns.step(&mut self.diagrams, column, &zeros, is_sign);
        let (sign, steps) = (step(columns, true), (0..=columns).map(|column| step(column, false)).collect::<Vec<_>>());
        let mut end = self.diagrams.replace(wrong, &sign);
        if self.domain == Domain::Integers {
            // Zeros for ever: carries die down, and then nothing changes.
            loop {
                let next = self.diagrams.replace(end, &steps[columns as usize]);
                if self.exhausted(next)? == end {
                    break;
                }
                end = next;
            }
        }
        self.ends = vec![end];
        for step in steps[..columns as usize].iter().rev() {
            end = self.diagrams.replace(end, step);
            self.ends.push(self.exhausted(end)?);
        }
        self.ends.reverse();
        Ok(columns as usize)
    }

    /// Returns the sets before each column if heaps have `bits` bits.
    fn sets(&mut self, bits: usize) -> Result<Vec<Function>, String> {
        let mut sets = vec![self.ends[bits.min(self.ends.len() - 1)]];
        for column in (0..bits).rev() {
            sets.push(self.before(sets[sets.len() - 1], column)?);
        }
        sets.reverse();
        Ok(sets)
    }

    fn is_wrong_within(&mut self, bits: usize) -> Result<bool, String> {
        let sets = self.sets(bits)?;
        Ok(self.is_reached(sets[0]))
    }

    fn decide(&mut self) -> Result<Option<Vec<i64>>, String> {
        let columns = self.find_ends()?;
        let mut set = self.ends[columns];
        if self.domain == Domain::Integers {
            loop {
                let before = self.before(set, columns)?;
                let more = self.diagrams.or(before, set);
                if self.exhausted(more)? == set {
                    break;
                }
                set = more;
            }
        }
        for column in (0..columns).rev() {
            set = self.before(set, column)?;
        }
        if !self.is_reached(set) {
            return Ok(None);
        }
        // Conditions reached by fewer bits are also reached by more bits.
        let limit = match self.domain {
            Domain::Words(bits) => bits as usize - 1,
            Domain::Integers => HEAP_BITS_MAX,
        };
        let (mut least, mut most) = (0, 1);
        while most < limit && !self.is_wrong_within(most)? {
            (least, most) = (most + 1, (2 * most).min(limit));
        }
        while least < most {
            let middle = (least + most) / 2;
            (least, most) = if self.is_wrong_within(middle)? { (least, middle) } else { (middle + 1, most) };
        }
        let sets = self.sets(least)?;
        if !self.is_reached(sets[0]) {
            return Err(format!("wrong for heaps of more than {HEAP_BITS_MAX} bits only"));
        }
        Ok(Some(self.smallest(&sets)))
    }

    /// Returns the smallest heaps that lead through the sets.
    fn smallest(&self, sets: &[Function]) -> Vec<i64> {
        let (heaps, bits) = (self.columns.heaps, self.columns.bits);
        let mut level: Vec<(u128, Vec<i64>)> =
            self.guesses(sets[0]).take(PATHS_MAX).map(|guess| (guess, vec![0; heaps])).collect();
        for (column, set) in sets[1..].iter().enumerate() {
            let step = &self.steps[column.min(self.ends.len() - 1)];
            let mut next: BTreeMap<u128, Vec<i64>> = BTreeMap::new();
            for (condition, found) in &level {
                for input in 0..1u128 << heaps {
                    let all = condition | input << bits;
                    let is_set = |bit: u32| self.diagrams.value(step[bit as usize], |bit| all >> bit & 1 == 1);
                    let after = (0..bits).fold(0u128, |after, bit| after | u128::from(is_set(bit)) << bit);
                    if !self.diagrams.value(*set, |bit| after >> bit & 1 == 1) {
                        continue;
                    }
                    let with_bit = |(heap, value): (usize, &i64)| value | ((input >> heap & 1) as i64) << column;
                    let found: Vec<i64> = found.iter().enumerate().map(with_bit).collect();
                    let known = next.entry(after).or_insert_with(|| found.clone());
                    if size(&found) < size(known) {
                        *known = found;
                    }
                }
            }
            level = next.into_iter().collect();
            if level.len() > PATHS_MAX {
                level.sort_by(|a, b| size(&a.1).cmp(&size(&b.1)));
                level.truncate(PATHS_MAX);
            }
        }
        level.into_iter().map(|(_, found)| found).min_by(|a, b| size(a).cmp(&size(b))).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
