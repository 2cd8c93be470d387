//! The words that a formula depends on once it is in its shortest form.

use super::words::{Condition, Literal, Place, Word, Words};

impl Words {
    /// Removes the words and conditions that the root does not depend on, and returns its place.
    pub(super) fn keep(&mut self, root: Place) -> Place {
        let mut used = vec![false; self.words.len()];
        let mut used_conditions = vec![false; self.conditions.len()];
        let mut open = vec![root];
        while let Some(place) = open.pop() {
            if std::mem::replace(&mut used[place], true) {
                continue;
            }
            let condition = match &self.words[place] {
                Word::Heap(_) | Word::Constant(_) => None,
                Word::Not(a) => {
                    open.push(*a);
                    None
                }
                Word::And(a, b) | Word::Or(a, b) | Word::Xor(a, b) => {
                    open.extend([*a, *b]);
                    None
                }
                Word::Sum(terms, _) => {
                    open.extend(terms.iter().map(|(_, place)| *place));
                    None
                }
                Word::Pick(literal, a, b) => {
                    open.extend([*a, *b]);
                    Some(literal.condition)
                }
                Word::Flag(literal) => Some(literal.condition),
            };
            let Some(condition) = condition else { continue };
            if !std::mem::replace(&mut used_conditions[condition], true) {
                match self.conditions[condition] {
                    Condition::Zero(a) => open.push(a),
                    Condition::Less(a, b) => open.extend([a, b]),
                }
            }
        }
        let renumber = |used: &[bool]| -> Vec<usize> {
            let mut next = 0;
            used.iter()
                .map(|used| {
                    next += usize::from(*used);
                    next - usize::from(*used)
                })
                .collect()
        };
        let (to, condition_to) = (renumber(&used), renumber(&used_conditions));
        let literal = |literal: Literal| Literal { condition: condition_to[literal.condition], ..literal };
        let kept = std::mem::take(&mut self.words).into_iter().zip(&used).filter(|(_, used)| **used);
        self.words = kept
            .map(|(word, _)| match word {
                Word::Heap(_) | Word::Constant(_) => word,
                Word::Not(a) => Word::Not(to[a]),
                Word::And(a, b) => Word::And(to[a], to[b]),
                Word::Or(a, b) => Word::Or(to[a], to[b]),
                Word::Xor(a, b) => Word::Xor(to[a], to[b]),
                Word::Sum(terms, constant) => {
                    Word::Sum(terms.into_iter().map(|(factor, place)| (factor, to[place])).collect(), constant)
                }
                Word::Pick(condition, a, b) => Word::Pick(literal(condition), to[a], to[b]),
                Word::Flag(condition) => Word::Flag(literal(condition)),
            })
            .collect();
        let kept = std::mem::take(&mut self.conditions).into_iter().zip(&used_conditions).filter(|(_, used)| **used);
        self.conditions = kept
            .map(|(condition, _)| match condition {
                Condition::Zero(a) => Condition::Zero(to[a]),
                Condition::Less(a, b) => Condition::Less(to[a], to[b]),
            })
            .collect();
        self.known.clear();
        to[root]
    }
}
