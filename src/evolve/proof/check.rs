//! Checks whether a formula is right beyond the positions it was found on.
//!
//! One in ten formulas that are perfect on the paper's 70 positions is wrong on other orderings or
//! larger heaps. [`HeldOut`] holds larger graphs, built once for many formulas: every position with
//! heaps up to a largest one, not only those that play reaches from it. [`HeldOut::standing`] tries
//! all orderings of the heaps, then the ordering the formula was found in. A formula that is right
//! on all of them is then proved, if possible: bit by bit (`prove`) or by a theorem about the game
//! (`settle`). Otherwise it is tried at large heaps (`probe`).
//!
//! # Invariants
//! 1. A formula is [`Standing::Proved`], [`Standing::Theorem`] or [`Standing::Checked`] only if it
//!    is right on every position checked.

use crate::games::{Game, GameError, Graph, Ordering, POSITIONS_MAX};
use crate::language::{Formula, OnFault, Scope};
use crate::proof::{
    Answer, Case, Counterexample, Domain, FoundBy, Law, Probes, Proof, Question, Truth, WORD_BITS, settle, shrink,
};
use crate::search::Target;
use trinim_game::Rule;

/// Limit on the positions of a held-out graph of default size.
const POSITIONS_QUICK: usize = 100_000;

/// How far a formula without violations can be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Right for all heaps, in the given ordering.
    Proved(Ordering),
    /// Right for all heaps up to 2^31 − 1, in the given ordering, by this theorem about the game.
    Theorem(Ordering, String),
    /// Right on every position of the larger graph, in the given ordering, and at every point
    /// probed; with the reason why there is no proof.
    Checked(Ordering, String),
    /// Wrong.
    Refuted(Counterexample),
    /// Not checked, because a larger graph would exceed the limits.
    Unchecked,
}

impl Standing {
    /// Returns whether the formula can be called a strategy.
    pub const fn is_strategy(&self) -> bool {
        self.ordering().is_some()
    }

    /// Returns the ordering in which it is one.
    pub const fn ordering(&self) -> Option<Ordering> {
        match self {
            Standing::Proved(ordering) | Standing::Theorem(ordering, _) | Standing::Checked(ordering, _) => {
                Some(*ordering)
            }
            Standing::Refuted(_) | Standing::Unchecked => None,
        }
    }

    /// Returns one word for reports.
    pub const fn word(&self) -> &'static str {
        match self {
            Standing::Proved(_) | Standing::Theorem(..) => "proved",
            Standing::Checked(..) => "checked",
            Standing::Refuted(_) => "refuted",
            Standing::Unchecked => "unchecked",
        }
    }
}

/// Larger positions to check formulas on.
pub struct HeldOut {
    /// Largest heap; `None` if nothing is checked.
    pub heap_max: Option<i32>,
    law: Option<Law>,
    /// The positions of all orderings first, then those of the ordering formulas are found in, if
    /// different; with points beyond them, if there is a law.
    truths: Vec<(Ordering, Truth, Option<Probes>)>,
}

impl HeldOut {
    /// Builds the graphs of all positions with heaps up to `heap_max`, or by default up to a size
    /// that is quick to check.
    ///
    /// # Errors
    /// [`GameError::TooLarge`] if `heap_max` exceeds the limits, [`GameError::TooSmall`] if the
    /// game has a larger heap.
    pub fn new(
        game: &Game,
        rule: Rule,
        target: Target,
        ordering: Ordering,
        heap_max: Option<i32>,
    ) -> Result<HeldOut, GameError> {
        let law = Law::for_game(game, rule, target);
        let own = game.largest();
        let orderings = if ordering == Ordering::All { vec![ordering] } else { vec![Ordering::All, ordering] };
        let larger = |most: i32, positions_max: usize| {
            let larger = game.with_heaps_of(most);
            let graph = |ordering: &Ordering| larger.graph_of_all(rule, *ordering, positions_max);
            let graphs = orderings.iter().map(graph).collect::<Result<Vec<_>, GameError>>()?;
            let truth = |(ordering, graph): (&Ordering, Graph)| {
                let probes = law.as_ref().map(|law| Probes::new(law, game.heaps.len(), *ordering));
                (*ordering, Truth::new(graph, target), probes)
            };
            let truths = orderings.iter().zip(graphs).map(truth).collect();
            Ok(HeldOut { heap_max: Some(most), law: law.clone(), truths })
        };
        if let Some(most) = heap_max {
            if most < own {
                return Err(GameError::TooSmall(game.to_string(), own, most));
            }
            return larger(most, POSITIONS_MAX);
        }
        for most in [4 * own, 3 * own, 2 * own, own + 2, own + 1] {
            match larger(most.max(own + 1), POSITIONS_QUICK) {
                Err(GameError::TooLarge(..)) => {}
                settled => return settled,
            }
        }
        Ok(HeldOut { heap_max: None, law, truths: Vec::new() })
    }

    /// Returns the number of positions checked, in the first ordering.
    pub fn positions(&self) -> usize {
        self.truths.first().map_or(0, |(_, truth, _)| truth.graph.len())
    }

    /// Returns the number of points beyond these positions that are probed where there is no proof,
    /// in the first ordering, and the theorem with the truth about them.
    pub fn probed(&self) -> Option<(usize, &'static str)> {
        let (.., probes) = self.truths.first()?;
        Some((probes.as_ref()?.points(), self.law.as_ref()?.name()))
    }

    /// Checks a formula.
    pub fn standing(&self, formula: &Formula, on_fault: OnFault) -> Standing {
        let mut refuted = Standing::Unchecked;
        for (ordering, truth, probes) in &self.truths {
            let standing = match (truth.counterexample(formula, on_fault), &self.law) {
                (Some(counterexample), _) => Standing::Refuted(counterexample),
                (None, None) => Standing::Checked(*ordering, "no theorem covers this game".to_owned()),
                (None, Some(law)) => {
                    let (scope, ordering) = (&truth.graph.scope, *ordering);
                    beyond(&Case { law, formula, scope, ordering, on_fault }, probes.as_ref())
                }
            };
            if standing.is_strategy() {
                return standing;
            }
            // The last one, in the ordering the formula was found in, says most.
            refuted = standing;
        }
        refuted
    }

    /// Decides whether the formula is right for all heaps, as words and as integers, in the
    /// ordering of its standing; `None` for games other than Nim and Moore's Nim.
    pub fn theorems(&self, formula: &Formula, standing: &Standing) -> Option<Theorems> {
        let (last, truth, _) = self.truths.last()?;
        let ordering = standing.ordering().unwrap_or(*last);
        Theorems::decide(formula, &truth.graph.scope, self.law.as_ref()?, ordering)
    }
}

/// Decides about a formula that is right on every position checked: by a proof, or by probing
/// points beyond.
fn beyond(case: &Case<'_>, probes: Option<&Probes>) -> Standing {
    let Case { law, formula, scope, ordering, on_fault } = *case;
    let refuted = |heaps: Vec<i32>, found_by: FoundBy| {
        let expected = law.expected(&heaps);
        Standing::Refuted(Counterexample::new(formula, scope, &heaps, on_fault, expected, found_by))
    };
    let smaller = |heaps| refuted(shrink(case, heaps), FoundBy::Proof);
    let reason = match law {
        Law::Bits(theorem) => {
            let domain = Domain::Words(WORD_BITS);
            match (Question { formula, scope, theorem: *theorem, ordering, domain }.prove()) {
                Proof::Proved => return Standing::Proved(ordering),
                Proof::Refuted(heaps) => return smaller(heaps.into_iter().map(|heap| heap as i32).collect()),
                Proof::Open(reason) => reason,
            }
        }
        _ => match settle(case) {
            Answer::Right(theorem) => return Standing::Theorem(ordering, theorem),
            Answer::Wrong(heaps) => return smaller(heaps),
            Answer::Open(reason) => reason,
        },
    };
    match probes.and_then(|probes| probes.wrong(case)) {
        Some(heaps) => refuted(heaps, FoundBy::Probe),
        None => Standing::Checked(ordering, reason),
    }
}

/// Whether a formula is right for all heaps, in both readings.
///
/// The program computes with words of 32 bits that wrap, and a mathematician reads the same text as
/// integers of any size. `(a1 xor a2) and 2147483647` is right for words and wrong for integers
/// from 2^31 on; `4 * (a1 xor a2)` is wrong for words, as it loses the two highest bits, and right
/// for integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theorems {
    /// The orderings of the heaps that count.
    pub ordering: Ordering,
    /// With words of 32 bits that wrap, for all heaps below 2^31.
    pub words: Proof,
    /// With integers of any size, for all heaps.
    pub integers: Proof,
}

impl Theorems {
    /// Decides both; `None` for a law that cannot be read bit by bit.
    pub fn decide(formula: &Formula, scope: &Scope, law: &Law, ordering: Ordering) -> Option<Theorems> {
        let Law::Bits(theorem) = *law else { return None };
        let prove = |domain| Question { formula, scope, theorem, ordering, domain }.prove();
        Some(Theorems { ordering, words: prove(Domain::Words(WORD_BITS)), integers: prove(Domain::Integers) })
    }
}
