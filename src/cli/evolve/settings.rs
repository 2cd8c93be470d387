//! The flags of the engine's settings: a preset, what overrides it, and the symbols.

use super::args::{ordering, refused};
use crate::cli::choice::{choice, name};
use clap::{Args, ValueEnum};
use serde::Serialize;
use trinim::evolve::alphabet::{Alphabet, Number};
use trinim::evolve::graph::Ordering;
use trinim::evolve::scope::Scope;
use trinim::evolve::score::{Count, Target};
use trinim::evolve::settings::{Crossover, Mutation, Replacement, Representative, Settings, Steps, Zero};

const HELP: &str = "see trinim evolve run --help";

const COUNTS: &[Count] = &[Count::Position, Count::Edge, Count::AllOptions];
const ZEROS: &[Zero] = &[Zero::Terminal, Zero::Zero, Zero::One, Zero::Numerator, Zero::Worst];
const REPRESENTATIVES: &[Representative] = &[Representative::Last, Representative::Best];
const REPLACEMENTS: &[Replacement] = &[Replacement::Strict, Replacement::Ties, Replacement::Both];
const MUTATIONS: &[Mutation] = &[Mutation::Genes, Mutation::GeneRate, Mutation::Symbols, Mutation::SymbolRate];
const CROSSOVERS: &[Crossover] = &[Crossover::OnePoint, Crossover::TwoPoint, Crossover::Uniform];
const NUMBERS: &[Number] = &[Number::Heaps, Number::Nonempty, Number::None];

/// Source of the settings that are not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// The paper, with gaps filled so that experiments 2 and 3 come out
    Paper,
    /// The author's later programs
    Source,
    /// Better than both
    Best,
}

impl Preset {
    /// Returns the settings.
    const fn settings(self) -> Settings {
        match self {
            Preset::Paper => Settings::paper(),
            Preset::Source => Settings::source(),
            Preset::Best => Settings::best(),
        }
    }
}

/// Declares the flags of settings: a given one overrides the preset.
macro_rules! given {
    ($($(#[$attribute:meta])* $setting:ident: $value:ty,)*) => {
        /// The settings that were given.
        #[derive(Clone, Args)]
        pub struct Given {
            $($(#[$attribute])* pub $setting: Option<$value>,)*
        }

        impl Given {
            fn over(&self, preset: Settings) -> Settings {
                Settings { $($setting: self.$setting.map_or(preset.$setting, Into::into),)* ..preset }
            }
        }
    };
}

given! {
    /// Chromosomes [default: 100]
    #[arg(long, alias = "pop", value_name = "N")]
    population: usize,

    /// Generations [default: 100]
    #[arg(long, value_name = "N")]
    generations: u32,

    /// Genes of a chromosome [default: 15]
    #[arg(long, value_name = "N")]
    genes: usize,

    /// Pairs of parents in a generation: half the population, the population, or a number
    #[arg(long, value_name = "STEPS", value_parser = steps)]
    steps: Steps,

    /// Chromosomes that compete to become a parent [default: 2]
    #[arg(long, value_name = "N")]
    tournament: u32,

    /// How parents are combined
    #[arg(long, value_name = "CROSSOVER", value_parser = choice(CROSSOVERS))]
    crossover: Crossover,

    /// Probability of a crossover [default: 0.9]
    #[arg(long, value_name = "P")]
    crossover_probability: f64,

    /// What mutation replaces: --mutations genes or symbols, or each gene or symbol with
    /// probability mutations/genes
    #[arg(long, value_name = "MODEL", value_parser = choice(MUTATIONS))]
    mutation: Mutation,

    /// Mutations of a chromosome [default: 2]
    #[arg(long, value_name = "N")]
    mutations: f64,

    /// What replaces the worst chromosome: the better of two offspring if better (strict) or not
    /// worse (ties), or both offspring, each if better
    #[arg(long, value_name = "MODEL", value_parser = choice(REPLACEMENTS))]
    replacement: Replacement,

    /// The gene that represents a chromosome
    #[arg(long, value_name = "GENE", value_parser = choice(REPRESENTATIVES))]
    representative: Representative,

    /// A division by zero makes its gene a random terminal, has a value, or makes the formula the
    /// worst
    #[arg(long, value_name = "VALUE", value_parser = choice(ZEROS))]
    zero: Zero,

    /// Probability that a drawn symbol is a terminal, or uniform: all symbols equally likely
    #[arg(long, value_name = "P", value_parser = terminal_share)]
    terminal_share: Share,

    /// Whether the initial population is the first generation
    #[arg(long, value_name = "BOOL")]
    initial_counts: bool,

    /// Which orderings of the heaps are distinct positions: canonical is descending
    #[arg(long = "states", value_name = "STATES", value_parser = ordering())]
    ordering: Ordering,

    /// A P-position with moves to P-positions counts once (node), once for each such move (edge),
    /// or only if all moves lead to P-positions (all)
    #[arg(long, value_name = "COUNT", value_parser = choice(COUNTS))]
    count: Count,
}

/// Every choice of the engine.
#[derive(Clone, Args)]
pub struct SettingsArgs {
    /// Source of the settings that are not given: the paper, the author's later programs, or what
    /// works best
    #[arg(long, value_name = "PRESET", value_enum, default_value = "paper")]
    pub preset: Preset,

    #[command(flatten)]
    pub given: Given,

    /// Meaning of the terminal n: the number of heaps, that of nonempty heaps, or no such terminal
    #[arg(long = "n", value_name = "MEANING", value_parser = choice(NUMBERS), default_value = "heaps")]
    meaning_of_n: Number,

    /// More terminals: integers, nonempty, big (heaps of 2 or more), largest, smallest, sum, m
    /// (parameter of the rules)
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    terminals: Vec<String>,

    /// Functions: paper means + - * div mod and or xor not; others are min, max, eq, lt, if, phi,
    /// isqrt
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "paper", allow_hyphen_values = true)]
    functions: Vec<String>,
}

/// `--terminal-share`.
#[derive(Clone, Copy, Debug)]
pub struct Share(Option<f64>);

impl From<Share> for Option<f64> {
    fn from(share: Share) -> Option<f64> {
        share.0
    }
}

fn terminal_share(text: &str) -> Result<Share, String> {
    match text {
        "uniform" => Ok(Share(None)),
        _ => text
            .parse()
            .map(|share| Share(Some(share)))
            .map_err(|_| "expected uniform or a number from 0 to 1".to_owned()),
    }
}

fn steps(text: &str) -> Result<Steps, String> {
    match text {
        "half" => Ok(Steps::Half),
        "population" => Ok(Steps::Population),
        _ => match text.parse() {
            Ok(pairs) if (1..=1_000_000).contains(&pairs) => Ok(Steps::Exactly(pairs)),
            _ => Err("expected half, population or a number from 1 to 1000000".to_owned()),
        },
    }
}

impl SettingsArgs {
    /// Returns the settings: the preset with its overrides.
    ///
    /// # Errors
    /// Returns [`Refused`](crate::cli::exit::Refused) for a number out of range.
    pub fn settings(&self, target: Target) -> anyhow::Result<Settings> {
        let settings = Settings { target, ..self.given.over(self.preset.settings()) };
        settings.check().map_err(|error| refused(format!("--{error}"), HELP))?;
        Ok(settings)
    }

    /// Returns the symbols for a game.
    ///
    /// # Errors
    /// Returns [`Refused`](crate::cli::exit::Refused) for an unknown name.
    pub fn alphabet(&self, scope: &Scope) -> anyhow::Result<Alphabet> {
        let terminals = self.terminals.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
        let functions = self.functions.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
        let (terminals, functions): (Vec<&str>, Vec<&str>) = (terminals.collect(), functions.collect());
        Alphabet::choose(scope, self.meaning_of_n, &terminals, &functions).map_err(|error| refused(error, HELP))
    }
}

/// Describes the settings in one line.
pub fn in_words(preset: Preset, settings: &Settings) -> String {
    format!(
        "preset {}: population {}, generations {}, genes {}; {} gene, {} mutation, {} replacement, zero {}, count {}",
        name(&preset),
        settings.population,
        settings.generations,
        settings.genes,
        name(&settings.representative),
        name(&settings.mutation),
        name(&settings.replacement),
        name(&settings.zero),
        name(&settings.count),
    )
}
