//! The definition executed: the value of a formula in a [`Domain`], the truth by the theorem, and
//! all heaps of few bits tried one by one.

use super::{Domain, Question, Theorem, WORD_BITS};
use crate::games::size;
use crate::language::{Term, first};
use trinim_game::Rule;

const TRIED_MAX: u64 = 1 << 14;

impl Question<'_> {
    /// Computes the value of the formula; `None` if it has none, or one too large to compute.
    fn value(&self, heaps: &[i64]) -> Option<i128> {
        let mut values: Vec<i128> = Vec::with_capacity(self.formula.size());
        for term in self.formula.terms() {
            let value = match term {
                Term::Terminal(terminal) => self.scope.exact(*terminal, heaps),
                Term::Apply(op, args) => {
                    let args = first(op.arity(), |index| values[usize::from(args[index])]);
                    // Whether a quotient of words has a value depends on their width.
                    match self.domain {
                        Domain::Words(WORD_BITS) if op.may_fault() => op.apply(args.map(|arg| arg as i32))?.into(),
                        _ => op.exact(args)?,
                    }
                }
            };
            values.push(match self.domain {
                Domain::Words(bits) => value << (128 - bits) >> (128 - bits),
                Domain::Integers => value,
            });
        }
        values.pop()
    }

    /// Returns whether the formula has a value for these heaps, and a wrong one.
    pub fn is_wrong(&self, heaps: &[i64]) -> bool {
        let mut arranged = heaps.to_vec();
        self.ordering.arrange(&mut arranged);
        if arranged != heaps {
            return false;
        }
        let Some(value) = self.value(heaps) else { return false };
        match self.theorem {
            Theorem::Grundy => value != i128::from(heaps.iter().fold(0, |xor, heap| xor ^ heap)),
            Theorem::Outcome { most, rule } => (value == 0) != is_loss(heaps, most, rule),
        }
    }
}

/// Returns whether the player to move loses Moore's Nim (Moore 1910).
pub(crate) fn is_loss<T: Copy + Into<i64>>(heaps: &[T], most: u32, rule: Rule) -> bool {
    let heaps = || heaps.iter().map(|heap| (*heap).into());
    let any = heaps().fold(0, |any: i64, heap| any | heap);
    let rest = |bit: u32| heaps().filter(|heap| heap >> bit & 1 == 1).count() % (most as usize + 1);
    if rule == Rule::Misere && any < 2 {
        return rest(0) == 1;
    }
    (0..i64::BITS - any.leading_zeros()).all(|bit| rest(bit) == 0)
}

/// Returns the smallest counterexample among all heaps of few bits.
pub(super) fn counterexample(question: &Question<'_>) -> Option<Vec<i64>> {
    let heaps = question.scope.features.len() as u32;
    let most = match question.domain {
        Domain::Words(bits) => bits - 1,
        Domain::Integers => 62,
    };
    let sizes = (0..=most).take_while(|bits| u64::from(bits * heaps) <= u64::from(TRIED_MAX.ilog2()));
    for bits in sizes {
        let mut wrong: Option<Vec<i64>> = None;
        for code in 0..1u64 << (bits * heaps) {
            let found: Vec<i64> =
                (0..heaps).rev().map(|heap| (code >> (bits * heap) & ((1 << bits) - 1)) as i64).collect();
            let is_smaller = wrong.as_ref().is_none_or(|wrong| size(&found) < size(wrong));
            if is_smaller && question.is_wrong(&found) {
                wrong = Some(found);
            }
        }
        if wrong.is_some() {
            return wrong;
        }
    }
    None
}
