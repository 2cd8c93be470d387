//! Which of the two theorems holds for a formula, as text and as JSON.

use super::args::ordering_in_words;
use serde_json::{Value as Json, json};
use trinim_evolve::check::Standing;
use trinim_evolve::graph::label;
use trinim_evolve::prove::Proof;
use trinim_evolve::theorems::Theorems;

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

/// Returns both theorems as JSON, `null` if none is known for the game.
pub fn theorems_json(theorems: Option<&Theorems>) -> Json {
    let Some(theorems) = theorems else { return Json::Null };
    let rows = ["words", "integers"].into_iter().zip(theorems.in_words()).map(|(domain, (_, proof))| {
        let (verdict, wrong_at, reason) = match proof {
            Proof::Proved => ("proved", None, None),
            Proof::Refuted(heaps) => ("refuted", Some(label(heaps)), None),
            Proof::Open(reason) => ("open", None, Some(reason)),
        };
        json!({
            "domain": domain,
            "verdict": verdict,
            "states": theorems.ordering,
            "wrong_at": wrong_at,
            "open_because": reason,
        })
    });
    rows.collect()
}
