//! Settings of a run: every point that the paper leaves open is a choice here, and presets make
//! all choices.
//!
//! # Invariants
//! 1. [`Settings::check`] accepts only values that the engine handles without overflow.

use crate::games::Ordering;
use crate::language::{GENES_MAX, OnFault};
use crate::search::{Count, Target};
use serde::{Deserialize, Serialize};

const WHOLE: &str = "a whole number";
const ANY: &str = "a number";

/// Which gene represents the chromosome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Representative {
    /// The last.
    Last,
    /// The one with the fewest violations, the first of equals.
    Best,
}

/// How many pairs of parents a generation has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", expecting = "expected half, population or a number")]
pub enum Steps {
    /// Half the population.
    Half,
    /// The population.
    Population,
    /// This number.
    #[serde(untagged)]
    Exactly(u32),
}

/// When offspring replace the worst chromosome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    /// The better one, if it is better.
    Strict,
    /// The better one, if it is not worse.
    Ties,
    /// Both, one after the other, each if it is better.
    Both,
}

/// How a chromosome is mutated; `mutations` is [`Settings::mutations`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mutation {
    /// `mutations` random genes are redrawn, possibly one twice.
    Genes,
    /// Each gene is redrawn with probability mutations/genes.
    GeneRate,
    /// `mutations` random symbols, functions or single arguments, are redrawn.
    Symbols,
    /// Each symbol is redrawn with probability mutations/genes.
    SymbolRate,
}

/// How parents are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Crossover {
    /// Exchange everything after one point.
    OnePoint,
    /// Exchange everything between two points.
    TwoPoint,
    /// Exchange each gene with probability 1/2.
    Uniform,
}

/// The effect of a division without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Zero {
    /// The gene becomes a random terminal.
    Terminal,
    /// The quotient is 0.
    #[serde(rename = "0")]
    Zero,
    /// The quotient is 1.
    #[serde(rename = "1")]
    One,
    /// The quotient is the numerator.
    Numerator,
    /// The formula gets the worst fitness.
    Worst,
}

impl Zero {
    /// Returns the effect in a finished formula.
    pub const fn on_fault(self) -> OnFault {
        match self {
            Zero::Terminal | Zero::Worst => OnFault::Stop,
            Zero::Zero => OnFault::Zero,
            Zero::One => OnFault::One,
            Zero::Numerator => OnFault::Numerator,
        }
    }
}

/// All choices of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Number of chromosomes.
    pub population: usize,
    /// Number of generations.
    pub generations: u32,
    /// Genes per chromosome.
    pub genes: usize,
    /// Pairs of parents in a generation.
    pub steps: Steps,
    /// Number of random chromosomes in a tournament, whose best becomes a parent.
    pub tournament: u32,
    /// How parents are combined.
    pub crossover: Crossover,
    /// Probability of crossover.
    pub crossover_probability: f64,
    /// How offspring are mutated.
    pub mutation: Mutation,
    /// Amount of mutation: genes or symbols, see `mutation`.
    pub mutations: f64,
    /// When offspring replace the worst chromosome.
    pub replacement: Replacement,
    /// Which gene represents the chromosome.
    pub representative: Representative,
    /// The effect of a division without a value.
    pub zero: Zero,
    /// What counts as a violation of rule (i).
    pub count: Count,
    /// The values that a formula has to compute.
    pub target: Target,
    /// Which orderings of the heaps are judged.
    #[serde(rename = "states")]
    pub ordering: Ordering,
    /// Probability that a drawn symbol is a terminal; null draws all symbols alike.
    pub terminal_share: Option<f64>,
    /// Whether the initial population is the first generation.
    pub initial_counts: bool,
}

impl Settings {
    /// The paper, with its gaps filled in so that it reproduces experiments 2 and 3.
    pub const fn paper() -> Settings {
        Settings {
            population: 100,
            generations: 100,
            genes: 15,
            steps: Steps::Half,
            tournament: 2,
            crossover: Crossover::OnePoint,
            crossover_probability: 0.9,
            mutation: Mutation::Genes,
            mutations: 2.0,
            replacement: Replacement::Strict,
            representative: Representative::Last,
            zero: Zero::Terminal,
            count: Count::Position,
            target: Target::Rules,
            ordering: Ordering::Descending,
            terminal_share: None,
            initial_counts: false,
        }
    }

    /// The author's later published programs: the initial population is the first generation, and
    /// half of the symbols drawn are terminals.
    pub const fn source() -> Settings {
        Settings {
            mutation: Mutation::SymbolRate,
            replacement: Replacement::Both,
            representative: Representative::Best,
            terminal_share: Some(0.5),
            initial_counts: true,
            ..Settings::paper()
        }
    }

    /// The highest success rate. All orderings of the heaps are judged, which rejects formulas that
    /// are right in one ordering only.
    pub const fn best() -> Settings {
        Settings {
            mutation: Mutation::SymbolRate,
            representative: Representative::Best,
            ordering: Ordering::All,
            ..Settings::paper()
        }
    }

    /// Misère play: wrong positions are counted instead of broken rules, and there is more room.
    /// Only the end of the game differs, so a formula of normal play breaks one rule and evolution
    /// gets stuck there. It needs symbols that distinguish the end from the rest: the terminal
    /// `big` and the functions `eq`, `lt` and `if`.
    pub const fn misere() -> Settings {
        Settings { population: 200, genes: 25, count: Count::Wrong, ..Settings::best() }
    }

    /// Returns the number of generations after the initial population.
    pub fn rounds(&self) -> u32 {
        self.generations.saturating_sub(u32::from(self.initial_counts))
    }

    /// Returns the number of pairs of parents in a generation.
    pub fn pairs(&self) -> usize {
        match self.steps {
            Steps::Half => self.population / 2,
            Steps::Population => self.population,
            Steps::Exactly(pairs) => pairs as usize,
        }
    }

    /// Checks all numbers.
    ///
    /// # Errors
    /// The first one out of range.
    pub fn check(&self) -> Result<(), ProblemError> {
        let range = |name: &str, what, value: f64, least: f64, most: f64| {
            let is_right = (least..=most).contains(&value) && (what == ANY || value.fract() == 0.0);
            let expected = || ProblemError(format!("{name} {value}: expected {what} from {least} to {most}"));
            is_right.then_some(()).ok_or_else(expected)
        };
        range("population", WHOLE, self.population as f64, 2.0, 1e5)?;
        range("generations", WHOLE, self.generations.into(), 1.0, 1e6)?;
        range("genes", WHOLE, self.genes as f64, 1.0, GENES_MAX as f64)?;
        if let Steps::Exactly(pairs) = self.steps {
            range("steps", WHOLE, pairs.into(), 1.0, 1e6)?;
        }
        range("tournament", WHOLE, self.tournament.into(), 1.0, 1e3)?;
        range("crossover-probability", ANY, self.crossover_probability, 0.0, 1.0)?;
        // As a rate the amount is an expectation and need not be whole.
        let mutations = match self.mutation {
            Mutation::Genes | Mutation::Symbols => WHOLE,
            Mutation::GeneRate | Mutation::SymbolRate => ANY,
        };
        range("mutations", mutations, self.mutations, 0.0, GENES_MAX as f64)?;
        range("terminal-share", ANY, self.terminal_share.unwrap_or(0.5), 0.0, 1.0)
    }
}

/// A reason why a problem cannot be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct ProblemError(pub(super) String);
