//! What theorems say about all heaps of a game, however large.
//!
//! | game | theorem |
//! |---|---|
//! | Nim, Moore's Nim, both rules | Bouton 1901, Moore 1910 |
//! | Wythoff's game, normal play | Wythoff 1907: (⌊nφ⌋, ⌊nφ⌋ + n); misère play differs at four points |
//! | subtraction games | a repeat of the window, see [`crate::period`]; in misère play for one heap |
//!
//! A theorem judges a formula where no graph of positions can be built: see [`crate::probe`] and
//! [`crate::settle`].

use crate::games::{Game, Moves};
use crate::int::golden;
use crate::period::Period;
use crate::prove::Theorem;
use crate::score::Target;
use crate::truth::Expected;
use trinim_game::{Rule, Value};

/// What is known for all heaps of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Law {
    /// Bouton's and Moore's theorems, which [`crate::prove`] decides bit by bit.
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
    pub fn of(game: &Game, rule: Rule, target: Target) -> Option<Law> {
        let grundy = target == Target::Grundy;
        Some(match &game.moves {
            Moves::Nim if grundy => Law::Bits(Theorem::Grundy),
            Moves::Nim => Law::Bits(Theorem::Outcome { most: 1, rule }),
            // Grundy values say nothing about sums in misère play.
            Moves::Subtraction(numbers) if rule == Rule::Normal || game.heaps.len() == 1 => {
                Law::Repeats { period: Period::of(numbers, rule)?, grundy }
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
    pub fn expected(&self, heaps: &[i32]) -> Expected {
        let lost = |loss: bool| Expected::Outcome(Value::from_loss(loss));
        match self {
            Law::Bits(Theorem::Grundy) => Expected::Grundy(heaps.iter().fold(0, |xor, heap| xor ^ heap)),
            Law::Bits(Theorem::Outcome { most, rule }) => lost(is_moores(heaps, *most as usize, *rule)),
            Law::Wythoff(rule) => {
                let (one, other) = (heaps[0], heaps[1]);
                lost(is_wythoffs(one.min(other), one.max(other), *rule))
            }
            Law::Repeats { period, grundy } => {
                let xor = heaps.iter().fold(0, |xor, heap| xor ^ period.value(*heap));
                if *grundy { Expected::Grundy(xor) } else { lost(xor == 0) }
            }
        }
    }
}

/// Returns whether the player to move loses Moore's Nim with moves on up to `most` heaps.
fn is_moores(heaps: &[i32], most: usize, rule: Rule) -> bool {
    if rule == Rule::Misere && heaps.iter().all(|heap| *heap <= 1) {
        return heaps.iter().filter(|heap| **heap == 1).count() % (most + 1) == 1;
    }
    (0..31).all(|bit| heaps.iter().filter(|heap| **heap >> bit & 1 == 1).count() % (most + 1) == 0)
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
pub(super) mod tests {
    use super::*;
    use crate::formula::Formula;
    use crate::graph::Ordering;
    use crate::parse::parse;
    use crate::scope::Scope;

    /// Reads a game and a formula for its outcome.
    pub(in crate::proof) fn case(game: &str, rule: Rule, formula: &str) -> (Law, Scope, Formula) {
        let game = Game::parse(game).unwrap();
        let formula = parse(&game.scope(), formula).unwrap();
        (Law::of(&game, rule, Target::Rules).unwrap(), game.scope(), formula)
    }

    #[test]
    fn laws_say_what_the_graph_says() {
        let games = [
            "nim:9,4,5",
            "nim:7,7",
            "moore:2:5,4,5",
            "moore:3:3,3,3,3",
            "wythoff:60",
            "subtraction:1,2,3:40",
            "subtraction:2,5,7:9,30",
        ];
        for text in games {
            let game = Game::parse(text).unwrap();
            for rule in Rule::ALL {
                let graph = game.graph_of_all(rule, Ordering::All, 10_000).unwrap();
                let Some(law) = Law::of(&game, rule, Target::Rules) else {
                    assert!(rule == Rule::Misere && game.heaps.len() > 1, "{text}");
                    continue;
                };
                for (index, value) in (0..).zip(graph.outcomes()) {
                    let heaps = graph.position(index);
                    assert_eq!(law.expected(&heaps), Expected::Outcome(value), "{text} {rule}: {heaps:?}");
                }
            }
            let Some(law) = Law::of(&game, Rule::Normal, Target::Grundy) else { continue };
            let graph = game.graph_of_all(Rule::Normal, Ordering::All, 10_000).unwrap();
            let values = (0..).zip(graph.grundy());
            assert!(values.fold(true, |all, (index, value)| {
                all && law.expected(&graph.position(index)) == Expected::Grundy(value)
            }));
        }
        for text in ["moore:2:4,4,4", "wythoff:9"] {
            assert_eq!(Law::of(&Game::parse(text).unwrap(), Rule::Normal, Target::Grundy), None, "{text}");
        }
    }

    /// The exact golden ratio of Nim on the plane decides points of any size.
    #[test]
    fn wythoffs_law_is_that_of_the_plane_up_to_the_largest_heap() {
        for rule in Rule::ALL {
            let law = Law::Wythoff(rule);
            for n in (0..40u32).chain([28_657, 102_334_155, 433_494_437, 820_265_625]) {
                for nudge in [-1, 0, 1] {
                    let short = (golden(n) as i32 + nudge).max(0);
                    let long = short + n as i32;
                    let value =
                        trinim_plane::winning::value(rule, &trinim_plane::heaps::Point::new(short as u32, long as u32));
                    assert_eq!(law.expected(&[short, long]), Expected::Outcome(value), "{rule} {short} {long}");
                }
            }
        }
    }
}
