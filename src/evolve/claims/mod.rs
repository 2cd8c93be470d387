//! The claims of \[Olt21\], each with what the program computes.
//!
//! `printed.txt` has what the paper prints, `theory` the rules of a strategy, the example and the
//! formulas; `experiments` repeats the paper's runs. A measured success rate confirms a printed one
//! unless Fisher's exact test finds the two too different: a probability below 0.05, divided by the
//! ten points of an experiment.

mod experiments;
mod theory;

use crate::games::{Game, Graph, Ordering};
use crate::language::{Formula, OnFault, parse};
use crate::proof::HeldOut;
use crate::search::{Bench, Target};
use std::fmt::Display;
use trinim_game::Rule;
use trinim_game::claims::{Claim, Paper};

/// A reason why the claims cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimsError {
    /// The stop flag was set.
    #[error("stopped before all runs were done")]
    Stopped,
    /// A game, formula or setting of the paper is refused.
    #[error("{0}")]
    Refused(String),
}

fn refused(error: impl Display) -> ClaimsError {
    ClaimsError::Refused(error.to_string())
}

/// Returns the number of runs that [`all`] makes, with `runs` for each point of an experiment.
pub fn runs(runs: u64) -> u64 {
    experiments::POINTS * runs + experiments::OTHER_RUNS * experiments::OTHER_GAMES.len() as u64
}

/// Computes all claims, in the order of the paper, with `runs` for each point of an experiment; the
/// paper has 50.
///
/// # Errors
/// [`ClaimsError::Stopped`] once the runs are stopped.
pub fn all(runs: u64, bench: &Bench<'_>) -> Result<Vec<Claim>, ClaimsError> {
    let mut claims = theory::rules()?;
    claims.extend(theory::example()?);
    claims.extend(theory::configuration()?);
    claims.extend(experiments::claims(&experiments::repeat(runs, bench)?)?);
    claims.extend(theory::formulas()?);
    claims.push(experiments::other_games(bench)?);
    Ok(claims)
}

const PAPER: Paper = Paper(include_str!("printed.txt"));

fn game(text: &str) -> Result<Game, ClaimsError> {
    Game::parse(text).map_err(refused)
}

fn graph(text: &str, ordering: Ordering) -> Result<Graph, ClaimsError> {
    game(text)?.graph(Rule::Normal, ordering).map_err(refused)
}

fn column(graph: &Graph, text: &str) -> Result<(Formula, Vec<i32>), ClaimsError> {
    let formula = parse(&graph.scope, text).map_err(refused)?;
    let column = formula.column(&graph.scope, graph.features(), OnFault::Stop);
    let column = column.map_err(|index| refused(format!("no value at {}", graph.label(index as u32))))?;
    Ok((formula, column))
}

fn held_out(text: &str, ordering: Ordering, most: i32) -> Result<HeldOut, ClaimsError> {
    HeldOut::new(&game(text)?, Rule::Normal, Target::Rules, ordering, Some(most)).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering as Sync};
    use trinim_game::claims::Verdict;

    #[test]
    fn every_verdict_is_the_known_one() {
        let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
        let finished = || {
            done.fetch_add(1, Sync::Relaxed);
        };
        let bench = Bench { seed: 1, threads: 2, stop: &stop, finished: &finished };
        let claims = all(6, &bench).unwrap();
        assert_eq!(done.load(Sync::Relaxed), runs(6));
        let of = |verdict: Verdict| -> Vec<&str> {
            claims.iter().filter(|claim| claim.verdict == verdict).map(|claim| &*claim.place).collect()
        };
        // Six runs cannot refute a point of an experiment.
        let text = ["experiment 1, text", "experiment 3, text"];
        let contradicted = [&["section 4"][..], &text, &["experiments 1 and 2", "section 4"]].concat();
        assert_eq!(of(Verdict::Contradicted), contradicted);
        assert_eq!(of(Verdict::Misprint), ["section 3.4", "experiment 2, text", "section 4"]);
        assert_eq!(of(Verdict::Undecided), ["section 5"]);
        for claim in claims.iter().filter(|claim| claim.verdict != Verdict::Agrees) {
            assert!(!claim.reason.is_empty(), "{claim:?}");
        }
        stop.store(true, Sync::Relaxed);
        assert_eq!(all(6, &bench), Err(ClaimsError::Stopped));
    }
}
