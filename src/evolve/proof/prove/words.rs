//! Formulas in the form the prover reads: sums, bits, choices.
//!
//! What costs a proof is the memory between bit columns: the carry of a sum and the outcome of a
//! comparison. So nested sums, differences and products with constants become one sum with
//! coefficients and one carry; `min max eq lt if`, `largest`, `smallest`, `nonempty` and `big`
//! become choices by comparisons; `n`, `m` and constant parts become constants. Where only zero or
//! not matters, common factors go, and `x - y` becomes `x xor y`, which has no carry.
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

/// Largest coefficient or constant of an integer, in bits.
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

/// Index of a word.
pub(super) type Place = usize;

/// A condition or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Literal {
    /// Index of the condition.
    pub(super) condition: usize,
    /// Whether it has to be false.
    pub(super) is_negated: bool,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Condition {
    /// The word is 0.
    Zero(Place),
    /// The first word is smaller, as signed integers.
    Less(Place, Place),
}

/// A value made of earlier ones.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Word {
    /// A heap.
    Heap(usize),
    /// A constant.
    Constant(i64),
    /// Complement of all bits.
    Not(Place),
    /// Conjunction of bits.
    And(Place, Place),
    /// Disjunction of bits.
    Or(Place, Place),
    /// Exclusive disjunction of bits.
    Xor(Place, Place),
    /// Sum of products with coefficients other than 0, and a constant.
    Sum(Vec<(i64, Place)>, i64),
    /// The first word where the literal holds, otherwise the second.
    Pick(Literal, Place, Place),
    /// 1 where the literal holds, otherwise 0.
    Flag(Literal),
}

/// Words and conditions.
pub(super) struct Words {
    /// The integers that they stand for.
    pub(super) domain: Domain,
    /// The words.
    pub(super) words: Vec<Word>,
    /// The conditions.
    pub(super) conditions: Vec<Condition>,
    /// Places of the words, while words are added.
    pub(super) known: BTreeMap<Word, Place>,
}

/// Either a constant truth or a literal.
#[derive(Clone, Copy)]
enum Truth {
    Known(bool),
    Open(Literal),
}

impl Truth {
    fn not(self) -> Truth {
        match self {
            Truth::Known(value) => Truth::Known(!value),
            Truth::Open(literal) => Truth::Open(Literal { is_negated: !literal.is_negated, ..literal }),
        }
    }
}

fn too_large() -> String {
    format!("a constant has more than {COEFFICIENT_BITS} bits")
}

impl Words {
    /// Makes an empty list.
    pub(super) fn new(domain: Domain) -> Words {
        Words { domain, words: Vec::new(), conditions: Vec::new(), known: BTreeMap::new() }
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

    fn word(&mut self, word: Word) -> Place {
        let next = self.words.len();
        let place = *self.known.entry(word.clone()).or_insert(next);
        if place == next {
            self.words.push(word);
        }
        place
    }

    /// Adds a constant.
    pub(super) fn constant(&mut self, value: i64) -> Place {
        self.word(Word::Constant(value))
    }

    /// Adds a heap.
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
            Terminal::Largest => self.extreme(&heaps, Words::max),
            Terminal::Smallest => self.extreme(&heaps, Words::min),
            Terminal::Sum => self.sum(heaps.into_iter().map(|heap| (1, heap)), 0)?,
            Terminal::Nonempty | Terminal::Big => {
                let least = self.constant(if terminal == Terminal::Big { 1 } else { 0 });
                let flags: Vec<(i64, Place)> = heaps
                    .into_iter()
                    .map(|heap| {
                        let larger = self.less(least, heap);
                        (1, self.flag(larger))
                    })
                    .collect();
                self.sum(flags, 0)?
            }
        })
    }

    fn extreme(&mut self, heaps: &[Place], better: impl Fn(&mut Words, Place, Place) -> Place) -> Place {
        let first = heaps.first().copied();
        let first = first.unwrap_or_else(|| self.constant(0));
        heaps.iter().skip(1).fold(first, |best, heap| better(self, best, *heap))
    }

    fn min(&mut self, a: Place, b: Place) -> Place {
        let less = self.less(a, b);
        self.pick(less, a, b)
    }

    fn max(&mut self, a: Place, b: Place) -> Place {
        let less = self.less(a, b);
        self.pick(less, b, a)
    }

    fn apply(&mut self, op: Op, [a, b, c]: [Place; 3]) -> Result<Option<Place>, String> {
        let values = [self.value(a), self.value(b)];
        Ok(Some(match op {
            Op::Add => self.sum([(1, a), (1, b)], 0)?,
            Op::Sub => self.sum([(1, a), (-1, b)], 0)?,
            Op::Mul => match (values, &self.words[a], &self.words[b]) {
                ([_, Some(factor)], ..) => self.sum([(factor, a)], 0)?,
                ([Some(factor), _], ..) => self.sum([(factor, b)], 0)?,
                (_, Word::Flag(literal), _) => self.pick_or_zero(*literal, b),
                (_, _, Word::Flag(literal)) => self.pick_or_zero(*literal, a),
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
            Op::Min => self.min(a, b),
            Op::Max => self.max(a, b),
            Op::Eq => {
                let equal = self.equal(a, b)?;
                self.flag(equal)
            }
            Op::Lt => {
                let less = self.less(a, b);
                self.flag(less)
            }
            Op::If => {
                let zero = self.zero(a)?;
                self.pick(zero, c, b)
            }
            Op::Div | Op::Phi | Op::Isqrt => return Ok(None),
        }))
    }

    fn pick_or_zero(&mut self, literal: Literal, word: Place) -> Place {
        let zero = self.constant(0);
        self.pick(Truth::Open(literal), word, zero)
    }

    /// Returns whether a word is never negative.
    fn is_natural(&self, place: Place) -> bool {
        match self.words[place] {
            Word::Heap(_) | Word::Flag(_) => true,
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

    /// Adds the exclusive disjunction of two words.
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

    /// Adds a sum of products, with the sums among its words dissolved.
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
            ([(-1, place)], -1) => {
                let place = *place;
                self.not(place)
            }
            _ => self.word(Word::Sum(terms, constant)),
        })
    }

    /// Adds a word that is 0 exactly where this one is, with less to remember.
    ///
    /// # Errors
    /// A coefficient is too large.
    pub(super) fn zero_form(&mut self, place: Place) -> Result<Place, String> {
        match self.words[place].clone() {
            Word::Sum(terms, constant) => self.zero_form_of_sum(terms, constant),
            Word::Xor(a, b) if [a, b].iter().any(|place| matches!(self.words[*place], Word::Sum(..))) => {
                let difference = self.sum([(1, a), (-1, b)], 0)?;
                match &self.words[difference] {
                    Word::Sum(terms, constant) => {
                        let (terms, constant) = (terms.clone(), *constant);
                        self.zero_form_of_sum(terms, constant)
                    }
                    _ => self.zero_form(difference),
                }
            }
            Word::Or(a, b) => {
                let (a, b) = (self.zero_form(a)?, self.zero_form(b)?);
                Ok(self.or(a, b))
            }
            Word::Pick(literal, a, b) => {
                let (a, b) = (self.zero_form(a)?, self.zero_form(b)?);
                Ok(self.pick(Truth::Open(literal), a, b))
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
            ([(1, a), (-1, b)] | [(-1, a), (1, b)], 0) => {
                // Neither is a sum.
                Ok(self.xor(*a, *b))
            }
            ([(1, a), (1, b)], 1) | ([(-1, a), (-1, b)], -1) => {
                let (a, b) = (*a, *b);
                let not = self.not(b);
                Ok(self.xor(a, not))
            }
            ([(1 | -1, a)], _) => {
                let (a, factor) = (*a, terms[0].0);
                let Some(value) = self.domain.reduce(-i128::from(constant) * i128::from(factor)) else {
                    return Err(too_large());
                };
                let value = self.constant(value);
                Ok(self.xor(a, value))
            }
            _ => self.sum(terms, constant),
        }
    }

    fn condition(&mut self, condition: Condition) -> Truth {
        let known = self.conditions.iter().position(|other| *other == condition);
        let condition = known.unwrap_or_else(|| {
            self.conditions.push(condition);
            self.conditions.len() - 1
        });
        Truth::Open(Literal { condition, is_negated: false })
    }

    fn zero(&mut self, place: Place) -> Result<Truth, String> {
        let place = self.zero_form(place)?;
        Ok(match self.words[place] {
            Word::Constant(value) => Truth::Known(value == 0),
            Word::Flag(literal) => Truth::Open(literal).not(),
            _ => self.condition(Condition::Zero(place)),
        })
    }

    fn equal(&mut self, a: Place, b: Place) -> Result<Truth, String> {
        for (flag, value) in [(a, b), (b, a)] {
            if let (Word::Flag(literal), Some(value)) = (&self.words[flag], self.value(value)) {
                let literal = Truth::Open(*literal);
                return Ok(match value {
                    0 => literal.not(),
                    1 => literal,
                    _ => Truth::Known(false),
                });
            }
        }
        let pair = self.xor(a, b);
        self.zero(pair)
    }

    fn less(&mut self, a: Place, b: Place) -> Truth {
        match (&self.words[a], &self.words[b]) {
            (Word::Constant(a), Word::Constant(b)) => Truth::Known(a < b),
            (Word::Flag(literal), Word::Constant(value)) => match value {
                ..=0 => Truth::Known(false),
                1 => Truth::Open(*literal).not(),
                _ => Truth::Known(true),
            },
            (Word::Constant(value), Word::Flag(literal)) => match value {
                ..=-1 => Truth::Known(true),
                0 => Truth::Open(*literal),
                _ => Truth::Known(false),
            },
            _ if a == b => Truth::Known(false),
            (_, Word::Constant(..=0)) if self.is_natural(a) => Truth::Known(false),
            (Word::Constant(..=-1), _) if self.is_natural(b) => Truth::Known(true),
            // The two most frequent comparisons are those with 0.
            (Word::Constant(0), _) if self.is_natural(b) => self.condition(Condition::Zero(b)).not(),
            (_, Word::Constant(1)) if self.is_natural(a) => self.condition(Condition::Zero(a)),
            _ => self.condition(Condition::Less(a, b)),
        }
    }

    fn flag(&mut self, truth: Truth) -> Place {
        match truth {
            Truth::Known(value) => self.constant(i64::from(value)),
            Truth::Open(literal) => self.word(Word::Flag(literal)),
        }
    }

    fn pick(&mut self, truth: Truth, then: Place, other: Place) -> Place {
        match truth {
            Truth::Known(true) => then,
            Truth::Known(false) => other,
            Truth::Open(_) if then == other => then,
            Truth::Open(literal) if literal.is_negated => {
                self.word(Word::Pick(Literal { is_negated: false, ..literal }, other, then))
            }
            Truth::Open(literal) => self.word(Word::Pick(literal, then, other)),
        }
    }
}

fn gcd_of(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd_of(b, a % b) }
}
