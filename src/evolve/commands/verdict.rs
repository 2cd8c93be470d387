//! How far a formula can be trusted: what is checked, what is proved, and where it is wrong, as
//! JSON and as text.

use super::args::ordering_in_words;
use serde::Serialize;
use trinim_evolve::games::{Ordering, label};
use trinim_evolve::language::{Formula, OnFault};
use trinim_evolve::proof::{Counterexample, FoundBy, HeldOut, Proof, Standing, Theorems};

/// How far a formula can be trusted.
#[derive(Clone, Serialize)]
pub struct Verdict {
    /// `proved`, `checked`, `refuted` or `unchecked`.
    verdict: &'static str,
    /// Whether a player can rely on it.
    pub strategy: bool,
    /// Whether it is right for all heaps; null if no theorem is known for the game.
    pub theorems: Option<[TheoremRow; 2]>,
    /// With `proved` and `checked`: orderings of the heaps for which it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<Ordering>,
    /// With `proved` by a theorem about the game: the argument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theorem: Option<String>,
    /// With `checked`: why it is not proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_proof_because: Option<String>,
    /// With `refuted`: where it is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    counterexample: Option<Counterexample>,
}

/// Whether a formula is right for all heaps of a domain.
#[derive(Clone, Serialize)]
pub struct TheoremRow {
    /// `words`: 32 bits that wrap, heaps below 2^31; `integers`: of any size.
    domain: &'static str,
    /// `proved`, `refuted` or `open`.
    verdict: &'static str,
    /// Orderings of the heaps that count.
    states: Ordering,
    /// With `refuted`: the smallest position where it is wrong.
    wrong_at: Option<String>,
    /// With `open`: why it is undecided.
    open_because: Option<String>,
}

impl Verdict {
    /// Checks a formula on larger positions.
    pub fn new(held: &HeldOut, formula: &Formula, on_fault: OnFault) -> Verdict {
        let standing = held.standing(formula, on_fault);
        let mut verdict = Verdict {
            verdict: standing.word(),
            strategy: standing.is_strategy(),
            theorems: held.theorems(formula, &standing).as_ref().map(TheoremRow::both),
            states: standing.ordering(),
            theorem: None,
            no_proof_because: None,
            counterexample: None,
        };
        match standing {
            Standing::Theorem(_, argument) => verdict.theorem = Some(argument),
            Standing::Checked(_, reason) => verdict.no_proof_because = Some(reason),
            Standing::Refuted(found) => verdict.counterexample = Some(found),
            Standing::Proved(_) | Standing::Unchecked => {}
        }
        verdict
    }

    /// Whether nothing could be checked.
    pub fn is_unchecked(&self) -> bool {
        !self.strategy && self.counterexample.is_none()
    }

    /// Describes the verdict; positions with heaps up to `heap_max` were checked.
    pub fn text(&self, heap_max: Option<i32>) -> String {
        let integers = self.theorems.as_ref().map(|[_, integers]| integers);
        let Some(states) = self.states.map(ordering_in_words) else {
            let Some(found) = &self.counterexample else {
                return "not checked: the next larger heaps have too many positions".to_owned();
            };
            let right = integers.is_some_and(|row| row.verdict == "proved");
            let right = if right { "; right for integers of any size" } else { "" };
            return format!("wrong at {}{right}", counterexample_text(found));
        };
        if self.theorem.is_some() {
            return format!("proved for all heaps up to 2147483647, {states}");
        }
        if self.no_proof_because.is_some() {
            let range = heap_max.map_or_else(String::new, |most| format!(" to heaps of {most}"));
            return format!("checked{range}, {states}");
        }
        let integers = match integers.map(|row| (row.verdict, &row.wrong_at)) {
            Some(("proved", _)) => " and for integers of any size".to_owned(),
            Some((_, Some(heaps))) => format!(", but for integers of any size wrong at {heaps}"),
            _ => String::new(),
        };
        format!("proved for all heaps, {states}: for 32-bit words{integers}")
    }
}

impl TheoremRow {
    /// Returns both theorems.
    pub fn both(theorems: &Theorems) -> [TheoremRow; 2] {
        [("words", &theorems.words), ("integers", &theorems.integers)].map(|(domain, proof)| {
            let (verdict, wrong_at, open_because) = match proof {
                Proof::Proved => ("proved", None, None),
                Proof::Refuted(heaps) => ("refuted", Some(label(heaps)), None),
                Proof::Open(reason) => ("open", None, Some(reason.clone())),
            };
            TheoremRow { domain, verdict, states: theorems.ordering, wrong_at, open_because }
        })
    }

    /// Returns the theorem as a row of a table.
    pub fn text(&self) -> (&'static str, String) {
        let words = match (&self.wrong_at, &self.open_because) {
            (Some(heaps), _) => format!("wrong at {heaps}"),
            (_, Some(reason)) => format!("undecided: {reason}"),
            _ => format!("right for all heaps, {}", ordering_in_words(self.states)),
        };
        let integers = match self.domain {
            "words" => "32-bit words that wrap, heaps below 2^31",
            _ => "integers of any size",
        };
        (self.domain, format!("{words} ({integers})"))
    }
}

fn counterexample_text(Counterexample { label, said, truth, because, found_by, .. }: &Counterexample) -> String {
    let because = because.as_ref().map_or(String::new(), |option| format!(", by a move to {option}"));
    let found = match found_by {
        FoundBy::Check => "",
        FoundBy::Probe => "; found by probing large heaps, then shrunk",
        FoundBy::Proof => "; found by the proof for all heaps, then shrunk",
    };
    format!("{label}: the formula says {said}, true is {truth}{because}{found}")
}
