//! What a run does: every point that the paper leaves open is a choice here.
//!
//! # What and why
//! - [`Settings::paper`]: the paper as it reads once its gaps are filled the way that reproduces its experiments 2 and 3.
//! - [`Settings::source`]: the habits of the author's later published programs: the best gene stands for the chromosome, both offspring replace,
//!   each symbol is mutated with a probability, half of the symbols drawn are terminals, the initial population is the first generation.
//! - [`Settings::best`]: the best gene, each symbol mutated with probability 2/genes, all orderings of the heaps judged, which leaves no room for
//!   formulas that are right in one ordering only.
//!
//! # Shape
//! Plain values; probabilities are numbers from 0 to 1.
//!
//! # Invariants
//! 1. [`Settings::check`] accepts only what the engine can do without overflow.
//!
//! # Cost
//! None.
//!
//! # Not here
//! The terminals and functions: `alphabet`.

use super::graph::Ordering;
use super::int::OnFault;
use super::score::{Count, Target};
use serde::Serialize;

/// Most chromosomes of a population.
pub const POPULATION_MAX: usize = 100_000;
/// Most genes of a chromosome.
pub const GENES_MAX: usize = 1_000;
/// Most generations.
pub const GENERATIONS_MAX: u32 = 1_000_000;
/// Most chromosomes of which one becomes a parent.
pub const TOURNAMENT_MAX: u32 = 1_000;
const WHOLE: &str = "a whole number";
const ANY: &str = "a number";

/// Which gene stands for the chromosome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Representative {
    /// The last.
    Last,
    /// The one with the fewest violations, the first of equals.
    Best,
}

/// How many pairs of parents a generation has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Steps {
    /// Half the population.
    Half,
    /// The population.
    Population,
    /// So many.
    #[serde(untagged)]
    Exactly(u32),
}

/// When offspring replace the worst chromosome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mutation {
    /// `mutations` random genes are drawn anew, maybe one twice.
    Genes,
    /// Each gene is drawn anew with probability mutations/genes.
    GeneRate,
    /// `mutations` random symbols, functions or single arguments, are drawn anew.
    Symbols,
    /// Each symbol is drawn anew with probability mutations/genes.
    SymbolRate,
}

/// How parents are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Crossover {
    /// Exchange everything behind one point.
    OnePoint,
    /// Exchange everything between two points.
    TwoPoint,
    /// Exchange each gene with probability 1/2.
    Uniform,
}

/// What a division without a value does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
    /// What a finished formula does.
    pub const fn on_fault(self) -> OnFault {
        match self {
            Zero::Terminal | Zero::Worst => OnFault::Stop,
            Zero::Zero => OnFault::Zero,
            Zero::One => OnFault::One,
            Zero::Numerator => OnFault::Numerator,
        }
    }
}

/// All choices.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Chromosomes.
    pub population: usize,
    /// Generations.
    pub generations: u32,
    /// Genes of a chromosome.
    pub genes: usize,
    /// Pairs of parents in a generation.
    pub steps: Steps,
    /// Chromosomes of which the best becomes a parent.
    pub tournament: u32,
    /// How parents are combined.
    pub crossover: Crossover,
    /// How often.
    pub crossover_probability: f64,
    /// How offspring are mutated.
    pub mutation: Mutation,
    /// How much.
    pub mutations: f64,
    /// Who replaces whom.
    pub replacement: Replacement,
    /// Which gene counts.
    pub representative: Representative,
    /// Divisions without a value.
    pub zero: Zero,
    /// What is a violation.
    pub count: Count,
    /// What is to be computed.
    pub target: Target,
    /// Which orderings of the heaps are judged.
    #[serde(rename = "states")]
    pub ordering: Ordering,
    /// Probability that a drawn symbol is a terminal; `None` draws all symbols alike.
    pub terminal_share: Option<f64>,
    /// The initial population is the first generation.
    pub initial_counts: bool,
}

impl Settings {
    /// The paper's preset.
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

    /// The preset of the author's later programs.
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

    /// The better preset.
    pub const fn best() -> Settings {
        Settings {
            mutation: Mutation::SymbolRate,
            representative: Representative::Best,
            ordering: Ordering::All,
            ..Settings::paper()
        }
    }

    /// Generations after the initial population.
    pub fn rounds(&self) -> u32 {
        self.generations.saturating_sub(u32::from(self.initial_counts))
    }

    /// Pairs of parents in a generation.
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
    /// The first that is out of range, with its range.
    pub fn check(&self) -> Result<(), SettingsError> {
        let range = |name, what, value: f64, least: f64, most: f64| {
            let is_right = (least..=most).contains(&value) && (what == ANY || value.fract() == 0.0);
            if is_right { Ok(()) } else { Err(SettingsError { name, value, what, least, most }) }
        };
        range("population", WHOLE, self.population as f64, 2.0, POPULATION_MAX as f64)?;
        range("generations", WHOLE, self.generations.into(), 1.0, GENERATIONS_MAX.into())?;
        range("genes", WHOLE, self.genes as f64, 1.0, GENES_MAX as f64)?;
        range("tournament", WHOLE, self.tournament.into(), 1.0, TOURNAMENT_MAX.into())?;
        range("crossover-probability", ANY, self.crossover_probability, 0.0, 1.0)?;
        // Drawn for each gene or symbol they are an expectation, and need not be whole.
        let mutations = match self.mutation {
            Mutation::Genes | Mutation::Symbols => WHOLE,
            Mutation::GeneRate | Mutation::SymbolRate => ANY,
        };
        range("mutations", mutations, self.mutations, 0.0, GENES_MAX as f64)?;
        range("terminal-share", ANY, self.terminal_share.unwrap_or(0.5), 0.0, 1.0)
    }
}

/// A number out of range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{name} {value}: expected {what} from {least} to {most}")]
pub struct SettingsError {
    /// The number.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// Which kind of number it has to be.
    pub what: &'static str,
    /// Least.
    pub least: f64,
    /// Most.
    pub most: f64,
}
