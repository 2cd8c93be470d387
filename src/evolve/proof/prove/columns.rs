//! One bit column after another: the memory of a formula and a theorem between columns, and how a
//! column changes it.
//!
//! A condition of the proof is a set of bits, the variables of the diagrams:
//!
//! | bits | meaning |
//! |---|---|
//! | one for each comparison | its outcome, guessed before the first column and never changed |
//! | one for each comparison | the outcome for the bits read so far |
//! | value | the formula has a bit other than 0 |
//! | column | the sum of some column of the heaps is not a multiple of k + 1 |
//! | big, one | misère: some heap is 2 or more; the lowest column leaves 1 |
//! | one for each pair of neighbours | the heaps are in the wrong order by the bits read so far |
//! | carries | each sum's carry in two's complement |
//!
//! After the last column a guess counts only if it agrees with the bits read. Exactly one guess of
//! all comparisons is right for given heaps, so nothing is counted twice or left out.

use super::Theorem;
use super::diagram::{Diagrams, FALSE, Function, TRUE};
use super::words::{Condition, Place, Word, Words};
use crate::games::Ordering;
use trinim_game::Rule;

pub(super) struct Columns {
    words: Words,
    root: Place,
    theorem: Theorem,
    ordering: Ordering,
    pub(super) heaps: usize,
    /// Places of the bits: guesses from 0 on, then these.
    flags: u32,
    order: u32,
    checks: u32,
    /// First bit and number of bits of the carry of each word.
    carries: Vec<(u32, u32)>,
    /// Number of bits of a condition; the inputs follow as variables.
    pub(super) bits: u32,
}

const BITS_MAX: u32 = 96;
const GUESSES_MAX: u32 = 16;
const HEAPS_MAX: u32 = 16;

const VALUE: usize = 0;
const COLUMN: usize = 1;
const BIG: usize = 2;
const ONE: usize = 3;

impl Columns {
    /// Lays out the bits of a condition, unless there are too many.
    pub(super) fn new(
        words: Words,
        root: Place,
        theorem: Theorem,
        ordering: Ordering,
        heaps: usize,
    ) -> Result<Columns, String> {
        let guesses = words.conditions.len() as u32;
        let flags = guesses;
        let order = flags + if matches!(theorem, Theorem::Outcome { rule: Rule::Misere, .. }) { 4 } else { 2 };
        let checks = order + if ordering == Ordering::All { 0 } else { heaps.saturating_sub(1) as u32 };
        let mut next = checks + guesses;
        let mut carries = Vec::with_capacity(words.words.len());
        for word in &words.words {
            let size = if let Word::Sum(terms, constant) = word { carry_bits(terms, *constant) } else { 0 };
            carries.push((next, size));
            next += size;
        }
        let limits = [
            (guesses, GUESSES_MAX, format!("{guesses} comparisons")),
            (heaps as u32, HEAPS_MAX, format!("{heaps} heaps")),
            (next, BITS_MAX, format!("carries and comparisons take {next} bits")),
        ];
        if let Some((_, most, what)) = limits.iter().find(|(number, most, _)| number > most) {
            return Err(format!("{what}, more than {most}"));
        }
        Ok(Columns { words, root, theorem, ordering, heaps, flags, order, checks, carries, bits: next })
    }

    /// Returns the number of comparisons, whose guesses are the first bits.
    pub(super) fn guesses(&self) -> u32 {
        self.words.conditions.len() as u32
    }

    /// Returns the first column from which on all constants repeat their sign.
    pub(super) fn constant_columns(&self) -> u32 {
        let size = |value: i64| u64::BITS - (value ^ value >> 63).leading_zeros();
        let of = |word: &Word| match word {
            Word::Constant(value) | Word::Sum(_, value) => size(*value),
            Word::Flag(..) => 1,
            _ => 0,
        };
        // Misère play needs the lowest column.
        self.words.words.iter().map(of).max().unwrap_or(0).max(1)
    }

    /// Computes how a column changes a condition: a function of the condition and the inputs for
    /// each bit. `read` has the column's bit of each heap; the last column of a word is its sign.
    pub(super) fn step(&self, diagrams: &mut Diagrams, column: u32, read: &[Function], is_sign: bool) -> Vec<Function> {
        let mut after: Vec<Function> = (0..self.bits).map(|bit| diagrams.variable(bit)).collect();
        let mut values: Vec<Function> = Vec::with_capacity(self.words.words.len());
        for (place, word) in self.words.words.iter().enumerate() {
            let value = match word {
                Word::Heap(heap) => read[*heap],
                Word::Constant(value) => bit_of(*value, column),
                Word::Not(a) => diagrams.not(values[*a]),
                Word::And(a, b) => diagrams.and(values[*a], values[*b]),
                Word::Or(a, b) => diagrams.or(values[*a], values[*b]),
                Word::Xor(a, b) => diagrams.xor(values[*a], values[*b]),
                Word::Sum(terms, constant) => {
                    let (first, size) = self.carries[place];
                    let terms = terms.iter().map(|(factor, place)| (*factor, values[*place]));
                    let carry: Vec<Function> = (first..first + size).map(|bit| diagrams.variable(bit)).collect();
                    let total = total(diagrams, carry, terms, bit_of(*constant, column));
                    (0..size as usize).for_each(|bit| after[first as usize + bit] = total[bit + 1]);
                    total[0]
                }
                Word::Pick(condition, a, b) => {
                    let guess = diagrams.variable(*condition as u32);
                    diagrams.choose(guess, values[*a], values[*b])
                }
                Word::Flag(condition, holds) if column == 0 => {
                    let guess = diagrams.variable(*condition as u32);
                    if *holds { guess } else { diagrams.not(guess) }
                }
                Word::Flag(..) => FALSE,
            };
            values.push(value);
        }
        for (index, condition) in self.words.conditions.iter().enumerate() {
            let check = (self.checks as usize) + index;
            after[check] = match *condition {
                Condition::Zero(a) => diagrams.or(after[check], values[a]),
                Condition::Less(a, b) => {
                    let (a, b) = if is_sign { (values[b], values[a]) } else { (values[a], values[b]) };
                    let differ = diagrams.xor(a, b);
                    diagrams.choose(differ, b, after[check])
                }
            };
        }
        let flags = &mut after[self.flags as usize..];
        flags[VALUE] = diagrams.or(flags[VALUE], values[self.root]);
        self.step_theorem(diagrams, column, read, &mut after);
        after
    }

    fn step_theorem(&self, diagrams: &mut Diagrams, column: u32, read: &[Function], after: &mut [Function]) {
        let flags = &mut after[self.flags as usize..];
        if let Theorem::Outcome { most, rule } = self.theorem {
            // How many heaps have the bit, modulo k + 1.
            let mut counts = vec![FALSE; most as usize + 1];
            counts[0] = TRUE;
            for bit in read {
                let before = counts.clone();
                for (rest, count) in counts.iter_mut().enumerate() {
                    let one_less = before[(rest + most as usize) % before.len()];
                    *count = diagrams.choose(*bit, one_less, before[rest]);
                }
            }
            let rest = diagrams.not(counts[0]);
            flags[COLUMN] = diagrams.or(flags[COLUMN], rest);
            if rule == Rule::Misere {
                if column == 0 {
                    flags[ONE] = counts[1 % counts.len()];
                } else {
                    let any = read.iter().fold(FALSE, |any, bit| diagrams.or(any, *bit));
                    flags[BIG] = diagrams.or(flags[BIG], any);
                }
            }
        }
        // An order flag is set while the heap that should be larger is smaller in the bits so far.
        for (flag, pair) in (self.order as usize..self.checks as usize).zip(read.windows(2)) {
            let smaller = if self.ordering == Ordering::Descending { pair[1] } else { pair[0] };
            let differ = diagrams.xor(pair[0], pair[1]);
            after[flag] = diagrams.choose(differ, smaller, after[flag]);
        }
    }

    /// Returns the conditions that are wrong after the last column: right guesses, heaps in order,
    /// but formula and theorem disagree.
    pub(super) fn wrong(&self, diagrams: &mut Diagrams) -> Function {
        let flag = |diagrams: &mut Diagrams, flag: usize| diagrams.variable(self.flags + flag as u32);
        let value = flag(diagrams, VALUE);
        let mut wrong = match self.theorem {
            Theorem::Grundy => value,
            Theorem::Outcome { rule, .. } => {
                let column = flag(diagrams, COLUMN);
                let win = match rule {
                    Rule::Normal => column,
                    Rule::Misere => {
                        let (big, one) = (flag(diagrams, BIG), flag(diagrams, ONE));
                        // With no heap of 2 or more, the player to move loses if the heaps of 1
                        // leave 1.
                        let not_one = diagrams.not(one);
                        diagrams.choose(big, column, not_one)
                    }
                };
                diagrams.xor(value, win)
            }
        };
        for (index, condition) in self.words.conditions.iter().enumerate() {
            let (guess, check) = (diagrams.variable(index as u32), diagrams.variable(self.checks + index as u32));
            let is_right = match condition {
                // The check of a zero is whether a bit was set.
                Condition::Zero(_) => diagrams.xor(guess, check),
                Condition::Less(..) => {
                    let differ = diagrams.xor(guess, check);
                    diagrams.not(differ)
                }
            };
            wrong = diagrams.choose(is_right, wrong, FALSE);
        }
        for flag in self.order..self.checks {
            let flag = diagrams.variable(flag);
            wrong = diagrams.choose(flag, FALSE, wrong);
        }
        wrong
    }
}

fn bit_of(value: i64, column: u32) -> Function {
    if value >> column.min(63) & 1 == 1 { TRUE } else { FALSE }
}

/// Returns the bits that hold the carry of a sum in two's complement, without a sign if it is never
/// negative.
///
/// A column adds between `-low` and `high`, and the carry is half of the total, rounded down. So it
/// stays between `-low` and `high - 1`.
fn carry_bits(terms: &[(i64, Place)], constant: i64) -> u32 {
    let low: u64 = terms.iter().map(|(factor, _)| factor.min(&0).unsigned_abs()).sum();
    let high: u64 = terms.iter().map(|(factor, _)| *factor.max(&0) as u64).sum::<u64>() + u64::from(constant != 0);
    let bits = |value: u64| u64::BITS - value.leading_zeros();
    bits(high.saturating_sub(1)).max(bits(low.saturating_sub(1))) + u32::from(low > 0)
}

/// Adds a column's bits with their factors to a carry: the lowest bit of the result is the sum's
/// bit, the others are the next carry.
fn total(
    diagrams: &mut Diagrams,
    carry: Vec<Function>,
    terms: impl Iterator<Item = (i64, Function)> + Clone,
    constant: Function,
) -> Vec<Function> {
    let is_signed = terms.clone().any(|(factor, _)| factor < 0);
    let size = carry.len() + 1;
    let sign = if is_signed { carry.last().copied().unwrap_or(FALSE) } else { FALSE };
    let mut total = carry;
    total.resize(size, sign);
    let mut add = |diagrams: &mut Diagrams, factor: i64, bit: Function| {
        let mut carry = FALSE;
        for (place, digit) in total.iter_mut().enumerate() {
            let other = if factor >> place.min(63) & 1 == 1 { bit } else { FALSE };
            let differ = diagrams.xor(*digit, other);
            let sum = diagrams.xor(differ, carry);
            carry = diagrams.choose(differ, carry, other);
            *digit = sum;
        }
    };
    add(diagrams, 1, constant);
    for (factor, bit) in terms {
        add(diagrams, factor, bit);
    }
    total
}
