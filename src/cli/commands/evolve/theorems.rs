//! Which of the two theorems holds for a formula, as text and as JSON.

use super::args::ordering_in_words;
use schemars::JsonSchema;
use serde::Serialize;
use trinim_evolve::check::{Standing, Theorems};
use trinim_evolve::graph::{Ordering, label};
use trinim_evolve::prove::Proof;

/// Returns a row for each theorem.
pub fn theorem_rows(theorems: &Theorems) -> Vec<(&'static str, String)> {
    let states = ordering_in_words(theorems.ordering);
    let row = |(name, (domain, proof)): (&'static str, (&str, &Proof))| {
        let words = match proof {
            Proof::Proved => format!("right for all heaps, {states}"),
            Proof::Refuted(heaps) => format!("wrong at {}", label(heaps)),
            Proof::Open(reason) => format!("undecided: {reason}"),
        };
        (name, format!("{words} ({domain})"))
    };
    ["words", "integers"].into_iter().zip(theorems.in_words()).map(row).collect()
}

/// Returns what integers of any size add to the verdict on a formula.
pub fn integers_text(standing: &Standing, theorems: Option<&Theorems>) -> String {
    match (standing, theorems.map(|theorems| &theorems.integers)) {
        (Standing::Proved(_), Some(Proof::Proved)) => " and for integers of any size".to_owned(),
        (Standing::Proved(_), Some(Proof::Refuted(heaps))) => {
            format!(", but for integers of any size wrong at {}", label(heaps))
        }
        (Standing::Refuted(_), Some(Proof::Proved)) => "; right for integers of any size".to_owned(),
        _ => String::new(),
    }
}

/// Whether a formula is right for all heaps of a domain.
#[derive(Serialize, JsonSchema)]
pub struct TheoremRow<'a> {
    /// `words`: 32 bits that wrap, heaps below 2^31; `integers`: of any size.
    domain: &'static str,
    /// `proved`, `refuted` or `open`.
    verdict: &'static str,
    /// Orderings of the heaps asked about.
    states: Ordering,
    /// With `refuted`: the smallest position where it is wrong.
    wrong_at: Option<String>,
    /// With `open`: why it is undecided.
    open_because: Option<&'a str>,
}

/// Returns both theorems for `--json`.
pub fn printed<'a>(theorems: &'a Theorems) -> Vec<TheoremRow<'a>> {
    let row = |domain, proof: &'a Proof| {
        let (verdict, wrong_at, open_because) = match proof {
            Proof::Proved => ("proved", None, None),
            Proof::Refuted(heaps) => ("refuted", Some(label(heaps)), None),
            Proof::Open(reason) => ("open", None, Some(reason.as_str())),
        };
        TheoremRow { domain, verdict, states: theorems.ordering, wrong_at, open_because }
    };
    vec![row("words", &theorems.words), row("integers", &theorems.integers)]
}
