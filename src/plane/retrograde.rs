//! Small heaps, solved only by the rules.
//!
//! This is the slow, obvious solver that the formulas are tested against: it tries every option of
//! every point, from the end upwards. It uses the moves, the goals and the flips, and no golden
//! ratio. It takes about `most³` steps for each goal and each number of flips left, and one byte a
//! [`Situation`]; heaps go up to `most`.
//!
//! \[Ver10\] section 21 also proposes, without an analysis, that the flipper pays and the winner
//! takes the bank. [`bank`] computes the gains of both players from the rules. A flip is a part of
//! the move after it and costs its player one unit; the winner gets a stake from the loser and all
//! payments. The result follows from (56): a flip changes no winner, so the loser never pays for
//! one and the winner gets its own payments back.
//!
//! # Invariants
//! 1. A move makes the heaps smaller, so only situations of one point can depend on each other, and
//!    only if a flip takes a turn. A situation still undecided then is a draw: both players flip
//!    for ever rather than lose.

use super::goals::{self, Budget, Condition, Flip};
use super::heaps::Kind;
use std::collections::HashMap;
use trinim_game::{Rule, Value};

/// The largest accepted heap; a table of this size takes some seconds.
pub const HEAP_MAX: usize = 1000;

/// How a game is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// When the goal can change.
    pub flip: Flip,
    /// How often; ignored if the goal cannot change.
    pub budget: Budget,
    /// Where it can change.
    pub condition: Condition,
}

/// A point with everything that its value depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Situation {
    /// The shorter heap.
    pub short: usize,
    /// The longer heap.
    pub long: usize,
    /// The goal in force.
    pub rule: Rule,
    /// Flips left: their number, or for [`Budget::Each`] bit 0 for the player to move and bit 1 for
    /// the other.
    pub left: u8,
}

/// The heaps that a move takes from, and how many it takes from each of them.
pub type Step = (Kind, usize);

/// Who wins in each situation.
#[derive(Clone, Debug)]
pub struct Table {
    setting: Setting,
    most: usize,
    /// `None` is a draw.
    values: Vec<Option<Value>>,
}

impl Situation {
    /// Returns each move with the heaps after it; none at the end. Equal heaps count as one heap,
    /// the long one.
    pub fn steps(self) -> impl Iterator<Item = (Step, usize, usize)> {
        let Situation { short, long, .. } = self;
        let shorter = if short == long { 0 } else { short };
        let steps = (1..=shorter).map(move |x| ((Kind::Short, x), short - x, long));
        let steps = steps.chain((1..=long).map(move |x| ((Kind::Long, x), short.min(long - x), short.max(long - x))));
        steps.chain((1..=short).map(move |x| ((Kind::Both, x), short - x, long - x)))
    }
}

impl Setting {
    /// The game without flips.
    pub const PLAIN: Setting = Setting { flip: Flip::None, budget: Budget::One, condition: Condition::Paper };

    /// Returns the number of states of the budget.
    fn lefts(self) -> u8 {
        match (self.flip, self.budget) {
            (Flip::None, _) | (_, Budget::Unlimited) => 1,
            (_, Budget::One) => 2,
            (_, Budget::Two) => 3,
            (_, Budget::Each) => 4,
        }
    }

    /// Returns the state of an unused budget.
    pub fn full(self) -> u8 {
        self.lefts() - 1
    }

    /// Returns each possible turn with the situation after it: a move, or `None` where changing the
    /// goal is the whole turn; none at the end.
    pub fn turns(self, at: Situation) -> impl Iterator<Item = (Option<Step>, Situation)> {
        let flips_left = match self.budget {
            _ if self.flip == Flip::None => false,
            Budget::Unlimited => true,
            Budget::Each => at.left & 1 == 1,
            Budget::One | Budget::Two => at.left > 0,
        };
        let may_flip = move |short, long| flips_left && self.condition.holds_for(short as u64, long as u64);
        let after = move |short, long, flips| {
            let rule = if flips { goals::other(at.rule) } else { at.rule };
            Situation { short, long, rule, left: self.left_after(at.left, flips) }
        };
        let here = may_flip(at.short, at.long);
        let moved = at.steps().flat_map(move |(step, short, long)| {
            let flips = match self.flip {
                Flip::Free => here,
                Flip::After => may_flip(short, long),
                Flip::None | Flip::Turn => false,
            };
            let flipped = flips.then(|| after(short, long, true));
            std::iter::once(after(short, long, false)).chain(flipped).map(move |to| (Some(step), to))
        });
        let flips = self.flip == Flip::Turn && at.long > 0 && here;
        moved.chain(flips.then(|| (None, after(at.short, at.long, true))))
    }

    /// Returns the state of the budget for the other player after a turn.
    fn left_after(self, left: u8, flips: bool) -> u8 {
        match self.budget {
            _ if self.flip == Flip::None => left,
            Budget::Unlimited => left,
            Budget::Each => left >> 1 | (left & 1 & u8::from(!flips)) << 1,
            Budget::One | Budget::Two => left - u8::from(flips),
        }
    }
}

impl Table {
    /// Decides all situations with heaps up to `most`.
    pub fn new(setting: Setting, most: usize) -> Table {
        let points = (most + 1) * (most + 2) / 2;
        let values = vec![None; points * Rule::ALL.len() * usize::from(setting.lefts())];
        let mut table = Table { setting, most, values };
        for long in 0..=most {
            for short in 0..=long {
                table.decide(short, long);
            }
        }
        table
    }

    fn place(&self, at: Situation) -> usize {
        let point = at.long * (at.long + 1) / 2 + at.short;
        (point * Rule::ALL.len() + at.rule as usize) * usize::from(self.setting.lefts()) + usize::from(at.left)
    }

    /// Returns the value of a situation, `None` for a draw.
    pub fn value(&self, at: Situation) -> Option<Value> {
        self.values[self.place(at)]
    }

    /// Returns all situations of a point.
    fn at(&self, short: usize, long: usize) -> impl Iterator<Item = Situation> + use<> {
        let lefts = self.setting.lefts();
        Rule::ALL.into_iter().flat_map(move |rule| (0..lefts).map(move |left| Situation { short, long, rule, left }))
    }

    /// Returns every situation, from the end upwards.
    pub fn situations(&self) -> impl Iterator<Item = Situation> + '_ {
        (0..=self.most).flat_map(move |long| (0..=long).flat_map(move |short| self.at(short, long)))
    }

    fn decide(&mut self, short: usize, long: usize) {
        loop {
            let mut changed = false;
            for at in self.at(short, long) {
                let place = self.place(at);
                if self.values[place].is_none()
                    && let Some(value) = self.found(at)
                {
                    self.values[place] = Some(value);
                    changed = true;
                }
            }
            if !changed || self.setting.flip != Flip::Turn {
                return;
            }
        }
    }

    /// Returns the value that follows from the values known so far.
    fn found(&self, at: Situation) -> Option<Value> {
        if at.long == 0 {
            return Some(at.rule.empty());
        }
        let mut all_wins = true;
        for (_, next) in self.setting.turns(at) {
            let is_smaller = (next.long, next.short) <= (at.long, at.short);
            debug_assert!(is_smaller, "retrograde, invariant 1: {at:?} leads to {next:?}");
            match self.value(next) {
                Some(Value::Loss) => return Some(Value::Win),
                Some(Value::Win) => {}
                None => all_wins = false,
            }
        }
        all_wins.then_some(Value::Loss)
    }
}

/// Flips in a game, by both players together.
const FLIPS: u8 = 2;

/// The result of best play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gains {
    /// Situations solved: heaps, goal, flips left and payments so far.
    pub situations: u64,
    /// Situations where the winner is not the one of the goal in force, or where best play adds
    /// payments that the loser does not get back.
    pub differences: u64,
}

/// A situation, and what the player to move and the other have paid.
type Key = (Situation, u8, u8);

fn gain(setting: Setting, stake: i32, key: Key, known: &mut HashMap<Key, i32>) -> i32 {
    if let Some(gain) = known.get(&key) {
        return *gain;
    }
    let (at, mine, theirs) = key;
    let best = setting.turns(at).map(|(_, next)| {
        let paid = at.left - next.left;
        // The other player moves next, so the payments change places.
        -gain(setting, stake, (next, theirs, mine + paid), known)
    });
    let found = best.collect::<Vec<i32>>().into_iter().max().unwrap_or_else(|| match at.rule {
        // The mover has lost, or won, and gets the payments of the other.
        Rule::Normal => -stake - i32::from(mine),
        Rule::Misere => stake + i32::from(theirs),
    });
    known.insert(key, found);
    found
}

/// Solves all situations with heaps up to `most`, a stake and two flips in all. `value` says who
/// wins with the goal in force.
pub fn bank(most: usize, stake: i32, value: impl Fn(Situation) -> Value) -> Gains {
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
    use super::super::{heaps::Point, winning};
    use super::*;

    fn by_definition(short: usize, long: usize, rule: Rule, known: &mut HashMap<(usize, usize, Rule), Value>) -> Value {
        if long == 0 {
            return rule.empty();
        }
        if let Some(value) = known.get(&(short, long, rule)) {
            return *value;
        }
        let mut children = Vec::new();
        for x in 1..=long {
            children.push((short, long - x));
            if x <= short {
                children.extend([(short - x, long), (short - x, long - x)]);
            }
        }
        let loss = children
            .into_iter()
            .all(|(one, other)| by_definition(one.min(other), one.max(other), rule, known) == Value::Win);
        known.insert((short, long, rule), Value::from_loss(loss));
        Value::from_loss(loss)
    }

    #[test]
    fn the_table_is_the_recursion() {
        let table = Table::new(Setting::PLAIN, 60);
        let mut known = HashMap::new();
        for at in table.situations() {
            assert_eq!(table.value(at), Some(by_definition(at.short, at.long, at.rule, &mut known)), "{at:?}");
        }
    }

    #[test]
    fn no_flip_changes_a_winner_and_no_loser_pays() {
        for stake in [0, 1, 5] {
            let value = |at: Situation| winning::value(at.rule, &Point::new(at.short, at.long));
            assert_eq!(bank(12, stake, value), Gains { situations: 91 * 2 * 6, differences: 0 });
        }
        // A wrong winner is a difference in all six states of the payments.
        let wrong = |at: Situation| match (at.short, at.long, at.rule) {
            (1, 2, Rule::Normal) => Value::Win,
            _ => winning::value(at.rule, &Point::new(at.short, at.long)),
        };
        assert_eq!(bank(12, 1, wrong).differences, 6);
    }
}
