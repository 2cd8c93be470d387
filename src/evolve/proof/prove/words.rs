//! Formulas in the form the prover reads: sums, bits, choices.
//!
//! The cost of a proof is the memory between bit columns: the carry of a sum and the outcome of a
//! comparison. So nested sums, differences and products with constants become one sum with
//! coefficients and one carry; `min max eq lt if`, `largest`, `smallest`, `nonempty` and `big`
//! become choices by comparisons; `n`, `m` and constant parts become constants. Where only zero or
//! not matters, common factors are removed, and `x - y` becomes `x xor y`, which has no carry.
//!
//! # Invariants
//! 1. A word has the value of its formula in its [`Domain`], for all heaps.
//! 2. No two words and no two conditions are equal; arguments come before their word.

use crate::language::{Formula, Op, Scope, Term, Terminal};
use std::collections::BTreeMap;

/// The integers that a formula computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Words of this many bits that wrap.
    Words(u32),
    /// Integers of any size.
    Integers,
}

const COEFFICIENT_BITS: u32 = 40;

impl Domain {
    /// Reduces a value to a word; `None` for an integer too large to be a coefficient.
    pub(super) fn reduce(self, value: i128) -> Option<i64> {
        match self {
            Domain::Words(bits) => Some(((value << (128 - bits)) >> (128 - bits)) as i64),
            Domain::Integers => i64::try_from(value).ok().filter(|value| value.unsigned_abs() >> COEFFICIENT_BITS == 0),
        }
    }
}

pub(super) type Place = usize;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Condition {
    Zero(Place),
    /// The first word is smaller, as signed integers.
    Less(Place, Place),
}

#[derive(Clone, PartialEq)]
pub(super) enum Word {
    Heap(usize),
    Constant(i64),
    Not(Place),
    And(Place, Place),
    Or(Place, Place),
    Xor(Place, Place),
    /// Sum of products with coefficients other than 0, and a constant.
    Sum(Vec<(i64, Place)>, i64),
    /// The first word where the condition holds, otherwise the second.
    Pick(usize, Place, Place),
    /// 1 where the condition holds (or, if false, does not hold), otherwise 0.
    Flag(usize, bool),
}

impl Word {
    /// Returns the words and the condition that this one depends on.
    fn parts(&mut self) -> (Vec<&mut Place>, Option<&mut usize>) {
        match self {
            Word::Heap(_) | Word::Constant(_) => (Vec::new(), None),
            Word::Not(a) => (vec![a], None),
            Word::And(a, b) | Word::Or(a, b) | Word::Xor(a, b) => (vec![a, b], None),
            Word::Sum(terms, _) => (terms.iter_mut().map(|(_, term)| term).collect(), None),
            Word::Pick(condition, a, b) => (vec![a, b], Some(condition)),
            Word::Flag(condition, _) => (Vec::new(), Some(condition)),
        }
    }
}

impl Condition {
    fn parts(&mut self) -> Vec<&mut Place> {
        match self {
            Condition::Zero(a) => vec![a],
            Condition::Less(a, b) => vec![a, b],
        }
    }
}

pub(super) struct Words {
    pub(super) domain: Domain,
    pub(super) words: Vec<Word>,
    pub(super) conditions: Vec<Condition>,
}

fn too_large() -> String {
    format!("a constant has more than {COEFFICIENT_BITS} bits")
}

impl Words {
    pub(super) fn new(domain: Domain) -> Words {
        Words { domain, words: Vec::new(), conditions: Vec::new() }
    }

    /// Adds a formula.
    ///
    /// # Errors
    /// The reason why it cannot be read bit by bit.
    pub(super) fn add(&mut self, formula: &Formula, scope: &Scope) -> Result<Place, String> {
        let mut places: Vec<Place> = Vec::new();
        for (index, term) in formula.terms().iter().enumerate() {
            let undecided = || format!("{} cannot be decided bit by bit", formula.part(scope, index));
            let place = match *term {
                Term::Terminal(terminal) => self.terminal(terminal, scope)?,
                Term::Apply(op, args) => {
                    let arg = |index: usize| places.get(usize::from(args[index])).copied().unwrap_or(0);
                    self.apply(op, [arg(0), arg(1), arg(2)])?.ok_or_else(undecided)?
                }
            };
            places.push(place);
        }
        places.pop().ok_or_else(|| "an empty formula".to_owned())
    }

    fn word(&mut self, mut word: Word) -> Place {
        debug_assert!(word.parts().0.iter().all(|part| **part < self.words.len()), "words, invariant 2: not in order");
        self.words.iter().position(|known| *known == word).unwrap_or_else(|| {
            self.words.push(word);
            self.words.len() - 1
        })
    }

    pub(super) fn constant(&mut self, value: i64) -> Place {
        self.word(Word::Constant(value))
    }

    pub(super) fn heap(&mut self, heap: usize) -> Place {
        self.word(Word::Heap(heap))
    }

    fn value(&self, place: Place) -> Option<i64> {
        match self.words[place] {
            Word::Constant(value) => Some(value),
            _ => None,
        }
    }

    fn terminal(&mut self, terminal: Terminal, scope: &Scope) -> Result<Place, String> {
        let heaps: Vec<Place> = (0..scope.features.len()).map(|heap| self.heap(heap)).collect();
        Ok(match terminal {
            Terminal::Feature(heap) => self.heap(usize::from(heap)),
            Terminal::Constant(_) | Terminal::Number | Terminal::Parameter => {
                let value = self.domain.reduce(scope.exact::<i32>(terminal, &[])).ok_or_else(too_large)?;
                self.constant(value)
            }
            Terminal::Largest | Terminal::Smallest => {
                let op = if terminal == Terminal::Largest { Op::Max } else { Op::Min };
                heaps.into_iter().reduce(|a, b| self.extreme(op, a, b)).unwrap_or_else(|| self.constant(0))
            }
            Terminal::Sum => self.sum(heaps.into_iter().map(|heap| (1, heap)), 0)?,
            Terminal::Nonempty | Terminal::Big => {
                let least = self.constant(i64::from(terminal == Terminal::Big));
                let flags: Vec<(i64, Place)> = heaps.into_iter().map(|heap| (1, self.less(least, heap))).collect();
                self.sum(flags, 0)?
            }
        })
    }

    fn extreme(&mut self, op: Op, a: Place, b: Place) -> Place {
        let less = self.less(a, b);
        if op == Op::Max { self.pick(less, b, a) } else { self.pick(less, a, b) }
    }

    fn apply(&mut self, op: Op, [a, b, c]: [Place; 3]) -> Result<Option<Place>, String> {
        let (values, nothing) = ([self.value(a), self.value(b)], self.constant(0));
        Ok(Some(match op {
            Op::Add => self.sum([(1, a), (1, b)], 0)?,
            Op::Sub => self.sum([(1, a), (-1, b)], 0)?,
            Op::Mul => match (values, &self.words[a], &self.words[b]) {
                ([_, Some(factor)], ..) => self.sum([(factor, a)], 0)?,
                ([Some(factor), _], ..) => self.sum([(factor, b)], 0)?,
                (_, Word::Flag(..), _) => self.pick(a, b, nothing),
                (_, _, Word::Flag(..)) => self.pick(b, a, nothing),
                _ => return Ok(None),
            },
            Op::Mod => match values[1] {
                // The remainder of a number that is not negative is its lowest bits.
                Some(divisor) if divisor > 0 && divisor & (divisor - 1) == 0 && self.is_natural(a) => {
                    let mask = self.constant(divisor - 1);
                    self.and(a, mask)
                }
                _ => return Ok(None),
            },
            Op::And => self.and(a, b),
            Op::Or => self.or(a, b),
            Op::Xor => self.xor(a, b),
            Op::Not => self.not(a),
            Op::Min | Op::Max => self.extreme(op, a, b),
            Op::Eq => self.equal(a, b)?,
            Op::Lt => self.less(a, b),
            Op::If => {
                let zero = self.zero(a)?;
                self.pick(zero, c, b)
            }
            Op::Div | Op::Phi | Op::Isqrt => return Ok(None),
        }))
    }

    fn is_natural(&self, place: Place) -> bool {
        match self.words[place] {
            Word::Heap(_) | Word::Flag(..) => true,
            Word::Constant(value) => value >= 0,
            Word::And(a, b) => self.is_natural(a) || self.is_natural(b),
            Word::Or(a, b) | Word::Xor(a, b) | Word::Pick(_, a, b) => self.is_natural(a) && self.is_natural(b),
            Word::Not(_) | Word::Sum(..) => false,
        }
    }

    fn not(&mut self, a: Place) -> Place {
        match self.words[a] {
            Word::Constant(value) => self.constant(!value),
            Word::Not(inner) => inner,
            _ => self.word(Word::Not(a)),
        }
    }

    fn and(&mut self, a: Place, b: Place) -> Place {
        match (self.value(a), self.value(b)) {
            (Some(a), Some(b)) => self.constant(a & b),
            (Some(0), _) | (_, Some(-1)) => a,
            (_, Some(0)) | (Some(-1), _) => b,
            _ if a == b => a,
            _ => self.word(Word::And(a.min(b), a.max(b))),
        }
    }

    fn or(&mut self, a: Place, b: Place) -> Place {
        match (self.value(a), self.value(b)) {
            (Some(a), Some(b)) => self.constant(a | b),
            (Some(-1), _) | (_, Some(0)) => a,
            (_, Some(-1)) | (Some(0), _) => b,
            _ if a == b => a,
            _ => self.word(Word::Or(a.min(b), a.max(b))),
        }
    }

    pub(super) fn xor(&mut self, a: Place, b: Place) -> Place {
        match (self.value(a), self.value(b)) {
            (Some(a), Some(b)) => self.constant(a ^ b),
            (_, Some(0)) => a,
            (Some(0), _) => b,
            (_, Some(-1)) => self.not(a),
            (Some(-1), _) => self.not(b),
            _ if a == b => self.constant(0),
            _ => self.word(Word::Xor(a.min(b), a.max(b))),
        }
    }

    /// Adds a sum of products, and merges the sums among its words into it.
    fn sum(&mut self, terms: impl IntoIterator<Item = (i64, Place)>, constant: i64) -> Result<Place, String> {
        let mut all: BTreeMap<Place, i128> = BTreeMap::new();
        let mut total = i128::from(constant);
        for (factor, place) in terms {
            let factor = i128::from(factor);
            match &self.words[place] {
                Word::Constant(value) => total += factor * i128::from(*value),
                // The complement of x is -1 - x.
                Word::Not(inner) => {
                    total -= factor;
                    *all.entry(*inner).or_default() -= factor;
                }
                Word::Sum(terms, value) => {
                    total += factor * i128::from(*value);
                    for (inner, place) in terms {
                        *all.entry(*place).or_default() += factor * i128::from(*inner);
                    }
                }
                _ => *all.entry(place).or_default() += factor,
            }
        }
        let constant = self.domain.reduce(total).ok_or_else(too_large)?;
        let mut terms = Vec::new();
        for (place, factor) in all {
            let factor = self.domain.reduce(factor).ok_or_else(too_large)?;
            if factor != 0 {
                terms.push((factor, place));
            }
        }
        Ok(match (&terms[..], constant) {
            ([], _) => self.constant(constant),
            ([(1, place)], 0) => *place,
            ([(-1, place)], -1) => self.not(*place),
            _ => self.word(Word::Sum(terms, constant)),
        })
    }

    /// Adds a word that is 0 exactly where this one is, with less memory between columns.
    ///
    /// # Errors
    /// A coefficient is too large.
    pub(super) fn zero_form(&mut self, place: Place) -> Result<Place, String> {
        match self.words[place].clone() {
            Word::Sum(terms, constant) => self.zero_form_of_sum(terms, constant),
            Word::Xor(a, b) if [a, b].iter().any(|place| matches!(self.words[*place], Word::Sum(..))) => {
                let difference = self.sum([(1, a), (-1, b)], 0)?;
                self.zero_form(difference)
            }
            Word::Or(a, b) => {
                let (a, b) = (self.zero_form(a)?, self.zero_form(b)?);
                Ok(self.or(a, b))
            }
            Word::Pick(condition, a, b) => {
                let flag = self.word(Word::Flag(condition, true));
                let (a, b) = (self.zero_form(a)?, self.zero_form(b)?);
                Ok(self.pick(flag, a, b))
            }
            _ => Ok(place),
        }
    }

    fn zero_form_of_sum(&mut self, mut terms: Vec<(i64, Place)>, mut constant: i64) -> Result<Place, String> {
        let gcd = terms.iter().fold(constant.unsigned_abs(), |gcd, (factor, _)| gcd_of(gcd, factor.unsigned_abs()));
        let divisor = match self.domain {
            // An odd factor has an inverse among words; a power of two clears the highest bits.
            Domain::Words(_) => gcd >> gcd.trailing_zeros(),
            Domain::Integers => gcd,
        };
        terms.iter_mut().for_each(|(factor, _)| *factor /= divisor as i64);
        constant /= divisor as i64;
        match (&terms[..], constant) {
            // Neither is a sum.
            ([(1, a), (-1, b)] | [(-1, a), (1, b)], 0) => Ok(self.xor(*a, *b)),
            ([(1, a), (1, b)], 1) | ([(-1, a), (-1, b)], -1) => {
                let not = self.not(*b);
                Ok(self.xor(*a, not))
            }
            ([(factor @ (1 | -1), a)], _) => {
                let value = self.domain.reduce(-i128::from(constant) * i128::from(*factor)).ok_or_else(too_large)?;
                let value = self.constant(value);
                Ok(self.xor(*a, value))
            }
            _ => self.sum(terms, constant),
        }
    }

    /// Adds a comparison; like the following ones it returns a flag, or the constant 0 or 1.
    fn condition(&mut self, condition: Condition) -> Place {
        let known = self.conditions.iter().position(|other| *other == condition);
        let condition = known.unwrap_or_else(|| {
            self.conditions.push(condition);
            self.conditions.len() - 1
        });
        self.word(Word::Flag(condition, true))
    }

    fn known(&mut self, is_so: bool) -> Place {
        self.constant(i64::from(is_so))
    }

    fn negated(&mut self, flag: Place) -> Place {
        match self.words[flag] {
            Word::Flag(condition, holds) => self.word(Word::Flag(condition, !holds)),
            _ => self.known(self.value(flag) == Some(0)),
        }
    }

    fn zero(&mut self, place: Place) -> Result<Place, String> {
        let place = self.zero_form(place)?;
        Ok(match self.words[place] {
            Word::Constant(_) | Word::Flag(..) => self.negated(place),
            _ => self.condition(Condition::Zero(place)),
        })
    }

    fn equal(&mut self, a: Place, b: Place) -> Result<Place, String> {
        for (flag, value) in [(a, b), (b, a)] {
            if let (Word::Flag(..), Some(value)) = (&self.words[flag], self.value(value)) {
                return Ok(match value {
                    0 => self.negated(flag),
                    1 => flag,
                    _ => self.known(false),
                });
            }
        }
        let pair = self.xor(a, b);
        self.zero(pair)
    }

    fn less(&mut self, a: Place, b: Place) -> Place {
        match (&self.words[a], &self.words[b]) {
            (Word::Constant(a), Word::Constant(b)) => self.known(a < b),
            (Word::Flag(..), Word::Constant(1)) => self.negated(a),
            (Word::Flag(..), Word::Constant(value)) => self.known(*value > 1),
            (Word::Constant(0), Word::Flag(..)) => b,
            (Word::Constant(value), Word::Flag(..)) => self.known(*value < 0),
            _ if a == b => self.known(false),
            (_, Word::Constant(..=0)) if self.is_natural(a) => self.known(false),
            (Word::Constant(..=-1), _) if self.is_natural(b) => self.known(true),
            // The two most frequent comparisons are those with 0.
            (Word::Constant(0), _) if self.is_natural(b) => {
                let zero = self.condition(Condition::Zero(b));
                self.negated(zero)
            }
            (_, Word::Constant(1)) if self.is_natural(a) => self.condition(Condition::Zero(a)),
            _ => self.condition(Condition::Less(a, b)),
        }
    }

    /// Adds the word `then` where a flag is 1, otherwise `other`.
    fn pick(&mut self, flag: Place, then: Place, other: Place) -> Place {
        match self.words[flag] {
            Word::Flag(..) if then == other => then,
            Word::Flag(condition, true) => self.word(Word::Pick(condition, then, other)),
            Word::Flag(condition, false) => self.word(Word::Pick(condition, other, then)),
            Word::Constant(0) => other,
            _ => then,
        }
    }

    /// Removes the words and conditions that the root does not depend on, and returns its place.
    pub(super) fn keep(&mut self, root: Place) -> Place {
        let (mut used, mut tested) = (vec![false; self.words.len()], vec![false; self.conditions.len()]);
        used[root] = true;
        for place in (0..=root).rev() {
            if !used[place] {
                continue;
            }
            let (parts, condition) = self.words[place].parts();
            debug_assert!(parts.iter().all(|part| **part < place), "words, invariant 2: read out of order");
            parts.into_iter().for_each(|part| used[*part] = true);
            if let Some(condition) = condition.copied() {
                tested[condition] = true;
                self.conditions[condition].parts().into_iter().for_each(|part| used[*part] = true);
            }
        }
        let (to, condition_to) = (renumbered(&used), renumbered(&tested));
        let (mut used, mut tested) = (used.into_iter(), tested.into_iter());
        self.words.retain(|_| used.next() == Some(true));
        self.conditions.retain(|_| tested.next() == Some(true));
        for word in &mut self.words {
            let (parts, condition) = word.parts();
            parts.into_iter().for_each(|part| *part = to[*part]);
            condition.into_iter().for_each(|condition| *condition = condition_to[*condition]);
        }
        self.conditions.iter_mut().flat_map(Condition::parts).for_each(|part| *part = to[*part]);
        to[root]
    }
}

fn renumbered(used: &[bool]) -> Vec<usize> {
    let before = used.iter().scan(0, |next, used| Some(std::mem::replace(next, *next + usize::from(*used))));
    before.collect()
}

fn gcd_of(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd_of(b, a % b) }
}
