//! Checks of every measured run: no time counts without the right answer.

use serde_json::Value;
use std::collections::BTreeMap;
use trinim::game::Rule;

/// Known counts of losses by layers and rule.
pub type Known = fn(u32, Rule) -> Option<u64>;

/// Compares answers with known counts, and with each other.
pub struct Checker {
    known: Known,
    digests: BTreeMap<String, String>,
}

impl Checker {
    /// Returns a checker of counts against `known`.
    pub fn new(known: Known) -> Checker {
        Checker { known, digests: BTreeMap::new() }
    }

    /// Checks a solve's report: the known number of losses, all positions, and the digest of every
    /// other solve of the same board, rule and layout.
    ///
    /// # Errors
    /// Returns what is wrong.
    pub fn solve(&mut self, report: &Value) -> Result<(), String> {
        let number = |name: &str| report[name].as_u64().ok_or_else(|| format!("no {name} in the report"));
        let text = |name: &str| report[name].as_str().ok_or_else(|| format!("no {name} in the report"));
        let (layers, losses, positions) = (number("layers")?, number("losses")?, number("positions")?);
        let layers = u32::try_from(layers).map_err(|_| format!("{layers} layers"))?;
        let rule: Rule = text("rule")?.parse().map_err(|error: trinim::game::ParseRuleError| error.to_string())?;
        if positions.checked_ilog2() != Some(layers * (layers + 1) / 2) || !positions.is_power_of_two() {
            return Err(format!("{positions} positions on {layers} layers"));
        }
        if let Some(expected) = (self.known)(layers, rule)
            && losses != expected
        {
            return Err(format!("{losses} losses, expected {expected}"));
        }
        if report["resumed_blocks"].as_u64().unwrap_or(0) > 0 {
            return Err("blocks of an earlier session".to_owned());
        }
        let digest = text("digest")?;
        let problem = format!("{layers} {rule} {} {}", report["max_take"], report["bid_cells"]);
        let first = self.digests.entry(problem).or_insert_with(|| digest.to_owned());
        if first != digest {
            return Err(format!("digest {digest}, but {first} in another run of the same layout"));
        }
        Ok(())
    }
}

/// Checks a verifier's report: no finding, and every position examined.
///
/// # Errors
/// Returns what is wrong.
pub fn verify(report: &Value) -> Result<(), String> {
    if report["ok"] != true || report["depth"] != "full" || report["positions"].as_u64().unwrap_or(0) == 0 {
        return Err(format!("the verifier says: {report}"));
    }
    Ok(())
}

/// Checks that answers are consistent: one for each question, and a position is a win exactly if a
/// move leads to a loss.
///
/// # Errors
/// Returns what is wrong.
pub fn probes(output: &str, questions: usize) -> Result<(), String> {
    let mut answers = 0;
    for line in output.lines() {
        let answer: Value = serde_json::from_str(line).map_err(|error| format!("{error} in {line}"))?;
        let moves = answer["moves"].as_array().ok_or_else(|| format!("no moves in {line}"))?;
        // The rule alone decides the empty position.
        let wins = moves.iter().any(|step| step["value"] == "loss");
        if !moves.is_empty() && answer["value"] != if wins { "win" } else { "loss" } {
            return Err(format!("value and moves contradict each other in {line}"));
        }
        answers += 1;
    }
    if answers != questions {
        return Err(format!("{answers} answers to {questions} questions"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::super::exit::{Exit, WrongAnswer, classify};
    use super::*;
    use serde_json::json;

    fn report() -> Value {
        json!({ "layers": 4, "rule": "misere", "losses": 142, "positions": 1024, "digest": "a", "bid_cells": [1],
            "max_take": null, "resumed_blocks": 0 })
    }

    #[test]
    fn wrong_answers_are_found() {
        let mut checker = Checker::new(trinim::papers::published::losses);
        assert_eq!(checker.solve(&report()), Ok(()));
        let changes = [
            ("losses", json!(143)),
            ("positions", json!(1023)),
            ("digest", json!("b")),
            ("rule", json!("normal")),
            ("layers", Value::Null),
            ("resumed_blocks", json!(1)),
        ];
        for (name, value) in changes {
            let mut wrong = report();
            wrong[name] = value;
            assert!(checker.solve(&wrong).is_err(), "{name}");
        }
        let mut other_layout = report();
        (other_layout["bid_cells"], other_layout["digest"]) = (json!([2]), json!("b"));
        assert_eq!(checker.solve(&other_layout), Ok(()));
        let mut mistaken = Checker::new(|_, _| Some(141));
        assert_eq!(mistaken.solve(&report()), Err("142 losses, expected 141".to_owned()));
    }

    #[test]
    fn a_wrong_answer_ends_the_program_with_1() {
        let wrong = WrongAnswer { command: "trinim solve".into(), what: "142 losses, expected 141".into() };
        let (exit, hint) = classify(&anyhow::Error::new(wrong)).unwrap();
        assert_eq!(exit, Exit::Refuted);
        assert!(hint.contains("report it"));
    }

    #[test]
    fn wrong_probes_and_verdicts_are_found() {
        let good = "{\"value\":\"win\",\"moves\":[{\"value\":\"loss\"}]}\n{\"value\":\"win\",\"moves\":[]}\n";
        assert_eq!(probes(good, 2), Ok(()));
        assert!(probes(good, 3).is_err());
        assert!(probes("{\"value\":\"loss\",\"moves\":[{\"value\":\"loss\"}]}", 1).is_err());
        assert!(probes("{\"value\":\"win\",\"moves\":[{\"value\":\"win\"}]}", 1).is_err());
        assert!(probes("{\"error\":\"no\"}", 1).is_err());
        assert!(verify(&json!({ "ok": true, "depth": "full", "positions": 5 })).is_ok());
        assert!(verify(&json!({ "ok": false, "depth": "full", "positions": 5 })).is_err());
        assert!(verify(&json!({ "ok": true, "depth": "checksums", "positions": 0 })).is_err());
    }
}
