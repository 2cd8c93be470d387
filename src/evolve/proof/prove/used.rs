//! The words that a formula depends on once it is in its shortest form.

use super::words::{Condition, Place, Word, Words};

impl Word {
    /// Shows each word and each condition that this word depends on.
    fn refer(&mut self, place: &mut dyn FnMut(&mut Place), condition: &mut dyn FnMut(&mut usize)) {
        match self {
            Word::Heap(_) | Word::Constant(_) => {}
            Word::Not(a) => place(a),
            Word::And(a, b) | Word::Or(a, b) | Word::Xor(a, b) => [a, b].into_iter().for_each(place),
            Word::Sum(terms, _) => terms.iter_mut().for_each(|(_, term)| place(term)),
            Word::Pick(literal, a, b) => {
                condition(&mut literal.condition);
                [a, b].into_iter().for_each(place);
            }
            Word::Flag(literal) => condition(&mut literal.condition),
        }
    }
}

impl Condition {
    fn refer(&mut self, place: &mut dyn FnMut(&mut Place)) {
        match self {
            Condition::Zero(a) => place(a),
            Condition::Less(a, b) => [a, b].into_iter().for_each(place),
        }
    }
}

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
            let mut conditions = Vec::new();
            self.words[place].refer(&mut |place| open.push(*place), &mut |condition| conditions.push(*condition));
            for condition in conditions {
                if !std::mem::replace(&mut used_conditions[condition], true) {
                    self.conditions[condition].refer(&mut |place| open.push(*place));
                }
            }
        }
        let (to, condition_to) = (renumbered(&used), renumbered(&used_conditions));
        let (mut kept, mut kept_conditions) = (used.into_iter(), used_conditions.into_iter());
        self.words.retain(|_| kept.next() == Some(true));
        self.conditions.retain(|_| kept_conditions.next() == Some(true));
        for word in &mut self.words {
            word.refer(&mut |place| *place = to[*place], &mut |condition| *condition = condition_to[*condition]);
        }
        self.conditions.iter_mut().for_each(|condition| condition.refer(&mut |place| *place = to[*place]));
        self.known.clear();
        to[root]
    }
}

/// Returns the place that each used one has once the others are gone.
fn renumbered(used: &[bool]) -> Vec<usize> {
    let before = used.iter().scan(0, |next, used| Some(std::mem::replace(next, *next + usize::from(*used))));
    before.collect()
}
