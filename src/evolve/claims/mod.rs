//! The claims of \[Olt21\], each with what the program computes.
//!
//! `theory` has the rules of a strategy, the example and the formulas; `experiments` repeats the
//! paper's runs. A measured success rate confirms a printed one unless Fisher's exact test finds
//! the two too different: a probability below 0.05, divided by the ten points of an experiment.

mod experiments;
mod theory;

use crate::check::HeldOut;
use crate::engine::{Problem, Run};
use crate::formula::Formula;
use crate::games::Game;
use crate::graph::{Graph, Ordering};
use crate::int::OnFault;
use crate::parse::parse;
use crate::runs::{Batch, run_all};
use crate::score::Target;
use crate::settings::Settings;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering as Sync};
use trinim_game::Rule;
use trinim_game::claims::Claim;

/// How much is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Runs per point of an experiment; the paper has 50.
    pub runs: u64,
    /// Seed of all runs.
    pub seed: u64,
    /// Number of threads.
    pub threads: usize,
}

/// A reason why the claims cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimsError {
    /// The stop was set.
    #[error("stopped before all runs were done")]
    Stopped,
    /// A game, formula or setting of the paper is refused.
    #[error("{0}")]
    Refused(String),
}

fn refused(error: impl std::fmt::Display) -> ClaimsError {
    ClaimsError::Refused(error.to_string())
}

/// Returns the number of runs that [`all`] makes.
pub fn runs(effort: Effort) -> u64 {
    experiments::POINTS * effort.runs + experiments::OTHER_RUNS * experiments::OTHER_GAMES.len() as u64
}

/// Computes all claims, in the order of the paper; `done` counts finished runs.
///
/// # Errors
/// [`ClaimsError::Stopped`] once `stop` is set.
pub fn all(effort: Effort, stop: &AtomicBool, done: &AtomicU64) -> Result<Vec<Claim>, ClaimsError> {
    let bench = Bench { effort, stop, done };
    let mut claims = theory::rules()?;
    claims.extend(theory::example()?);
    claims.extend(theory::configuration()?);
    let measured = experiments::measure(&bench)?;
    claims.extend(experiments::claims(&measured)?);
    claims.extend(theory::formulas()?);
    claims.push(experiments::other_games(&bench)?);
    Ok(claims)
}

struct Bench<'a> {
    effort: Effort,
    stop: &'a AtomicBool,
    done: &'a AtomicU64,
}

impl Bench<'_> {
    fn runs(&self, problem: &Problem, settings: &Settings, first: u64, count: u64) -> Result<Vec<Run>, ClaimsError> {
        let batch = Batch { seed: self.effort.seed, runs: first..first + count, threads: self.effort.threads };
        let found = run_all(problem, settings, &batch, self.stop, self.done);
        let stopped = self.stop.load(Sync::Relaxed) || found.iter().any(|run| !run.finished);
        if stopped { Err(ClaimsError::Stopped) } else { Ok(found) }
    }
}

fn game(text: &str) -> Result<Game, ClaimsError> {
    Game::parse(text).map_err(refused)
}

fn graph(text: &str, ordering: Ordering) -> Result<Graph, ClaimsError> {
    game(text)?.graph(Rule::Normal, ordering).map_err(refused)
}

/// Returns a formula with its values at all positions.
fn column(graph: &Graph, text: &str) -> Result<(Formula, Vec<i32>), ClaimsError> {
    let formula = parse(&graph.scope, text).map_err(refused)?;
    let column = formula.column(&graph.scope, graph.features(), OnFault::Stop);
    let column = column.map_err(|index| refused(format!("no value at {}", graph.label(index as u32))))?;
    Ok((formula, column))
}

/// Returns larger positions of a game, to check formulas on.
fn held_out(text: &str, ordering: Ordering, most: i32) -> Result<HeldOut, ClaimsError> {
    HeldOut::new(&game(text)?, Rule::Normal, Target::Rules, ordering, Some(most)).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trinim_game::claims::Verdict;

    #[test]
    fn every_verdict_is_the_known_one() {
        let effort = Effort { runs: 6, seed: 1, threads: 2 };
        let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
        let claims = all(effort, &stop, &done).unwrap();
        assert_eq!(done.into_inner(), runs(effort));
        let of = |verdict: Verdict| -> Vec<&str> {
            claims.iter().filter(|claim| claim.verdict == verdict).map(|claim| &*claim.place).collect()
        };
        // Six runs refute no point of an experiment.
        let text = ["experiment 1, text", "experiment 3, text"];
        let contradicted = [&["section 4"][..], &text, &["experiments 1 and 2", "section 4"]].concat();
        assert_eq!(of(Verdict::Contradicted), contradicted);
        assert_eq!(of(Verdict::Misprint), ["section 3.4", "experiment 2, text", "section 4"]);
        assert_eq!(of(Verdict::Undecided), ["section 5"]);
        for claim in claims.iter().filter(|claim| claim.verdict != Verdict::Agrees) {
            assert!(!claim.reason.is_empty(), "{claim:?}");
        }
        stop.store(true, Sync::Relaxed);
        assert_eq!(all(effort, &stop, &AtomicU64::new(0)), Err(ClaimsError::Stopped));
    }
}
