//! Theorems about all heaps of a game, of any size.
//!
//! | game | theorem |
//! |---|---|
//! | Nim, Moore's Nim, both rules | Bouton 1901, Moore 1910 |
//! | Wythoff's game, normal play | Wythoff 1907: (⌊nφ⌋, ⌊nφ⌋ + n); misère play differs at four points |
//! | subtraction games | a repeat of the window, see [`Period`]; in misère play for one heap |
//!
//! A theorem judges a formula where no graph of positions can be built: `probe` and `settle`.

use crate::games::{Game, Moves, Ordering, Period};
use crate::language::{Formula, OnFault, Scope, golden};
use crate::proof::{Theorem, TrueValue, is_loss};
use crate::search::Target;
use trinim_game::{Rule, Value};

/// The known theorem for all heaps of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Law {
    /// Bouton's and Moore's theorems, which [`Question`](crate::proof::Question) decides bit by
    /// bit.
    Bits(Theorem),
    /// Wythoff's theorem.
    Wythoff(Rule),
    /// Values of single heaps that repeat: the xor is 0 for a loss, or is the Grundy value.
    Repeats {
        /// The values.
        period: Period,
        /// Whether the Grundy value is wanted.
        grundy: bool,
    },
}

impl Law {
    /// Returns the theorem that covers a game, if there is one.
    pub fn for_game(game: &Game, rule: Rule, target: Target) -> Option<Law> {
        let grundy = target == Target::Grundy;
        Some(match &game.moves {
            Moves::Nim if grundy => Law::Bits(Theorem::Grundy),
            Moves::Nim => Law::Bits(Theorem::Outcome { most: 1, rule }),
            // Grundy values determine nothing about sums in misère play.
            Moves::Subtraction(numbers) if rule == Rule::Normal || game.heaps.len() == 1 => {
                Law::Repeats { period: Period::find(numbers, rule)?, grundy }
            }
            Moves::Moore(most) if !grundy => Law::Bits(Theorem::Outcome { most: *most as u32, rule }),
            Moves::Wythoff if !grundy => Law::Wythoff(rule),
            _ => return None,
        })
    }

    /// Returns the name of the theorem.
    pub fn name(&self) -> &'static str {
        match self {
            Law::Bits(Theorem::Outcome { most: 1, .. }) => "Bouton's theorem",
            Law::Bits(Theorem::Outcome { .. }) => "Moore's theorem",
            Law::Bits(Theorem::Grundy) => "the theorem of Sprague and Grundy",
            Law::Wythoff(_) => "Wythoff's theorem",
            Law::Repeats { .. } => "the period of the game",
        }
    }

    /// Returns the truth for these heaps, none of them negative.
    pub fn expected(&self, heaps: &[i32]) -> TrueValue {
        let lost = |loss: bool| TrueValue::Outcome(Value::from_loss(loss));
        match self {
            Law::Bits(Theorem::Grundy) => TrueValue::Grundy(heaps.iter().fold(0, |xor, heap| xor ^ heap)),
            Law::Bits(Theorem::Outcome { most, rule }) => lost(is_loss(heaps, *most, *rule)),
            Law::Wythoff(rule) => {
                let (one, other) = (heaps[0], heaps[1]);
                lost(is_wythoffs(one.min(other), one.max(other), *rule))
            }
            Law::Repeats { period, grundy } => {
                let xor = heaps.iter().fold(0, |xor, heap| xor ^ period.value(*heap));
                if *grundy { TrueValue::Grundy(xor) } else { lost(xor == 0) }
            }
        }
    }
}

/// A formula, and the law with which it is compared.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    pub law: &'a Law,
    pub formula: &'a Formula,
    pub scope: &'a Scope,
    pub ordering: Ordering,
    pub on_fault: OnFault,
}

impl Case<'_> {
    /// Returns whether the formula has no value for these heaps, or not the right one.
    pub(super) fn is_wrong(&self, heaps: &[i32]) -> bool {
        let value = self.formula.value(self.scope, heaps, self.on_fault);
        !value.is_ok_and(|value| self.law.expected(heaps).accepts(value))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The formula is right for all heaps from 0 to 2^31 − 1 in this ordering, by this argument.
    Right(String),
    /// The formula is wrong for these heaps.
    Wrong(Vec<i32>),
    /// The question is undecided, for this reason.
    Open(String),
}

/// Returns whether the player to move loses Wythoff's game with heaps `short` and `long`.
fn is_wythoffs(short: i32, long: i32, rule: Rule) -> bool {
    match (rule, short, long) {
        (Rule::Misere, 0, 1) | (Rule::Misere, 2, 2) => true,
        (Rule::Misere, 0, 0) | (Rule::Misere, 1, 2) => false,
        _ => golden(long.abs_diff(short)) == u64::from(short.unsigned_abs()),
    }
}

#[cfg(test)]
impl Law {
    /// The common start of tests of probes and of proofs: a law by the text of its game, and a
    /// formula over its heaps.
    pub(super) fn case(game: &str, rule: Rule, formula: &str) -> (Law, Scope, Formula) {
        let game = Game::parse(game).unwrap();
        let formula = crate::language::parse(&game.scope(), formula).unwrap();
        (Law::for_game(&game, rule, Target::Rules).unwrap(), game.scope(), formula)
    }
}
