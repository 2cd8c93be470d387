//! Checks of every measured run: a time counts only with the right answer.

use serde_json::Value;
use std::collections::BTreeMap;
use terminal::exit::{Exit, Refused};
use trinim_game::Rule;
use trinim_game::published;

/// Compares answers with known counts, and with each other.
#[derive(Default)]
pub struct Checker {
    /// Positions and losses of a game, the same for any layout.
    counts: BTreeMap<String, [u64; 2]>,
    /// Digests, by game, values and layout.
    digests: BTreeMap<String, String>,
}

impl Checker {
    /// Checks the report of a solve; `file` describes a board that has no name of its own. Compares
    /// the number of losses with the known one, and the positions and counts with every other solve
    /// of the same game, and the digest with every other one of the same layout.
    pub fn solve(&mut self, file: Option<&str>, report: &Value) -> Result<(), String> {
        let number = |name: &str| report[name].as_u64().ok_or_else(|| format!("no {name} in the report"));
        let text = |name: &str| report[name].as_str().ok_or_else(|| format!("no {name} in the report"));
        let (losses, positions) = (number("losses")?, number("positions")?);
        let rule: Rule = text("rule")?.parse().map_err(|error: trinim_game::ParseRuleError| error.to_string())?;
        let is_whole = |cells: u32| positions.checked_ilog2() == Some(cells) && positions.is_power_of_two();
        let takes = [&report["min_take"], &report["max_take"]];
        if !report["layers"].is_null() {
            let layers = u32::try_from(number("layers")?).map_err(|error| error.to_string())?;
            if !is_whole(layers * (layers + 1) / 2) {
                return Err(format!("{positions} positions on {layers} layers"));
            }
            if takes.iter().all(|take| take.is_null())
                && let Some(expected) = published::losses(layers, rule)
                && losses != expected
            {
                return Err(format!("{losses} losses, expected {expected}"));
            }
        }
        if report["resumed_blocks"].as_u64().unwrap_or(0) > 0 {
            return Err("blocks of an earlier session".to_owned());
        }
        let game = format!("{} {rule} {} {}", file.unwrap_or(text("board")?), takes[0], takes[1]);
        let counts = [positions, losses];
        let first = *self.counts.entry(game.clone()).or_insert(counts);
        if first != counts {
            let [others, all] = [first[1], first[0]];
            return Err(format!(
                "{losses} losses of {positions} positions, but {others} of {all} in another run of the same game"
            ));
        }
        let digest = text("digest")?;
        let layout = format!("{game} {} {}", report["values"], report["bid_cells"]);
        let first = self.digests.entry(layout).or_insert_with(|| digest.to_owned());
        if first != digest {
            return Err(format!("digest {digest}, but {first} in another run of the same layout"));
        }
        Ok(())
    }
}

/// Checks a verifier's report: no findings, and every position examined.
pub fn verify(report: &Value) -> Result<(), String> {
    if report["ok"] != true || report["depth"] != "full" || report["positions"].as_u64().unwrap_or(0) == 0 {
        return Err(format!("the verifier says: {report}"));
    }
    Ok(())
}

/// Checks that answers are consistent: one for each question, and a position is a win exactly if a
/// move leads to a loss.
pub fn probes(output: &str, questions: usize) -> Result<(), String> {
    for line in output.lines() {
        let answer: Value = serde_json::from_str(line).map_err(|error| format!("{error} in {line}"))?;
        let moves = answer["moves"].as_array().ok_or_else(|| format!("no moves in {line}"))?;
        // Only the rule decides the empty position.
        let wins = moves.iter().any(|step| step["value"] == "loss");
        if !moves.is_empty() && answer["value"] != if wins { "win" } else { "loss" } {
            return Err(format!("value and moves contradict each other in {line}"));
        }
    }
    match output.lines().count() {
        answers if answers == questions => Ok(()),
        answers => Err(format!("{answers} answers to {questions} questions")),
    }
}

/// Builds the refusal for a wrong answer of a measured command.
pub fn wrong_answer(command: &str, what: &str) -> Refused {
    let hint = "this is a bug in trinim: please report it with the command";
    Refused::with(Exit::Refuted, format!("wrong answer from {command}: {what}"), hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report() -> Value {
        json!({ "board": "triangle:4", "layers": 4, "rule": "misere", "losses": 142, "positions": 1024,
            "digest": "a", "values": "outcomes", "bid_cells": [1], "min_take": null, "max_take": null,
            "resumed_blocks": 0 })
    }

    /// Returns the first report with other fields.
    fn with(changes: Value) -> Value {
        let mut report = report();
        for (name, value) in changes.as_object().unwrap() {
            report[name] = value.clone();
        }
        report
    }

    #[test]
    fn wrong_answers_are_found() {
        let mut checker = Checker::default();
        assert_eq!(checker.solve(None, &report()), Ok(()));
        for wrong in [
            json!({ "losses": 143 }),
            json!({ "positions": 1023 }),
            json!({ "digest": "b" }),
            json!({ "rule": "normal" }),
            json!({ "board": null }),
            json!({ "layers": 5 }),
            json!({ "resumed_blocks": 1 }),
        ] {
            assert!(checker.solve(None, &with(wrong.clone())).is_err(), "{wrong}");
        }
        assert_eq!(checker.solve(None, &with(json!({ "bid_cells": [2], "digest": "b" }))), Ok(()));
        let mut other = Checker::default();
        let wrong = json!({ "losses": 143 });
        assert_eq!(other.solve(None, &with(wrong)), Err("143 losses, expected 142".to_owned()));
        // The known counts hold only without limits.
        assert_eq!(other.solve(None, &with(json!({ "losses": 143, "max_take": 2 }))), Ok(()));
    }

    #[test]
    fn solves_of_one_game_have_the_same_counts_whatever_they_compute() {
        let mut checker = Checker::default();
        let star = json!({ "board": "rect:2x2", "layers": null, "positions": 16, "losses": 5 });
        assert_eq!(checker.solve(None, &with(star.clone())), Ok(()));
        let nimbers = |losses: u64| {
            let mut nimbers = with(star.clone());
            (nimbers["values"], nimbers["digest"], nimbers["losses"]) = (json!("nimbers"), json!("n"), json!(losses));
            nimbers
        };
        assert_eq!(checker.solve(None, &nimbers(5)), Ok(()));
        let found = checker.solve(None, &nimbers(6)).unwrap_err();
        assert_eq!(found, "6 losses of 16 positions, but 5 of 16 in another run of the same game");
        // A file can give its board any name.
        assert_eq!(checker.solve(Some("file:star.toml"), &nimbers(6)), Ok(()));
        assert!(checker.solve(Some("file:star.toml"), &nimbers(5)).is_err());
    }

    #[test]
    fn a_wrong_answer_ends_the_program_with_1() {
        let wrong = wrong_answer("trinim solve", "142 losses, expected 141");
        assert_eq!(wrong.exit, Exit::Refuted);
        assert!(wrong.hint.contains("report it"));
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
