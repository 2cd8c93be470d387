//! The flipper pays, and the winner takes the bank.
//!
//! \[Ver10\] section 21 proposes this variant of Flip-Flop without an analysis. Here a flip is a
//! part of the move after it, costs its player one unit, and the winner gets a stake from the loser
//! and all that was paid. [`solve`] computes from the rules what both players gain. The result
//! follows from (56): a flip changes no winner, so the loser never pays for one and the winner gets
//! back what it pays.

use super::flips::{Budget, Condition, Flip};
use super::retrograde::{Setting, Situation};
use std::collections::HashMap;
use trinim_game::{Rule, Value};

/// Flips in a game, by both players together.
const FLIPS: u8 = 2;

/// What best play leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gains {
    /// Situations solved: heaps, goal, flips left and payments so far.
    pub situations: u64,
    /// Situations where the winner is not the one of the goal in force, or where best play adds
    /// payments that the loser does not get back.
    pub differences: u64,
}

type Key = (Situation, u8, u8);

/// A hashable form of a [`Key`].
fn packed((at, mine, theirs): Key) -> [usize; 6] {
    [at.short, at.long, at.rule as usize, at.left.into(), mine.into(), theirs.into()]
}

fn gain(setting: Setting, stake: i32, key: Key, known: &mut HashMap<[usize; 6], i32>) -> i32 {
    if let Some(gain) = known.get(&packed(key)) {
        return *gain;
    }
    let (at, mine, theirs) = key;
    let best = setting.options(at).map(|next| {
        let paid = at.left - next.left;
        // The other player moves next, so the payments change places.
        -gain(setting, stake, (next, theirs, mine + paid), known)
    });
    let found = best.collect::<Vec<i32>>().into_iter().max().unwrap_or_else(|| match at.rule {
        // The mover has lost, or won, and gets the payments of the other.
        Rule::Normal => -stake - i32::from(mine),
        Rule::Misere => stake + i32::from(theirs),
    });
    known.insert(packed(key), found);
    found
}

/// Solves all situations with heaps up to `most`, a stake and two flips in all. `value` says who
/// wins with the goal in force.
pub fn solve(most: usize, stake: i32, value: impl Fn(Situation) -> Value) -> Gains {
    let setting = Setting { flip: Flip::Free, budget: Budget::Two, condition: Condition::Paper };
    let (mut known, mut gains) = (HashMap::new(), Gains::default());
    let payments = (0..=FLIPS).flat_map(|mine| (0..=FLIPS - mine).map(move |theirs| (mine, theirs)));
    for (mine, theirs) in payments {
        let points = (0..=most).flat_map(|long| (0..=long).map(move |short| (short, long)));
        for (short, long) in points {
            for rule in Rule::ALL {
                let at = Situation { short, long, rule, left: FLIPS - mine - theirs };
                let expected = match value(at) {
                    Value::Win => stake + i32::from(theirs),
                    Value::Loss => -stake - i32::from(mine),
                };
                gains.situations += 1;
                gains.differences += u64::from(gain(setting, stake, (at, mine, theirs), &mut known) != expected);
            }
        }
    }
    gains
}

#[cfg(test)]
mod tests {
    use super::super::{point::Point, winning};
    use super::*;

    #[test]
    fn no_flip_changes_a_winner_and_no_loser_pays() {
        for stake in [0, 1, 5] {
            let value = |at: Situation| winning::value(at.rule, &Point::new(at.short, at.long));
            assert_eq!(solve(12, stake, value), Gains { situations: 91 * 2 * 6, differences: 0 });
        }
        // A wrong winner is a difference in all six states of the payments.
        let wrong = |at: Situation| match (at.short, at.long, at.rule) {
            (1, 2, Rule::Normal) => Value::Win,
            _ => winning::value(at.rule, &Point::new(at.short, at.long)),
        };
        assert_eq!(solve(12, 1, wrong).differences, 6);
    }
}
