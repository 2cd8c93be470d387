//! The flags of the engine's settings: a preset, what overrides it, and the symbols.

use super::args::{ordering, refused};
use crate::cli::words::choice::{choice, name};
use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Serialize;
use trinim_evolve::alphabet::{Alphabet, Number};
use trinim_evolve::graph::Ordering;
use trinim_evolve::scope::Scope;
use trinim_evolve::score::{Count, Target};
use trinim_evolve::settings::{Crossover, Mutation, Replacement, Representative, Settings, Steps, Zero};

const HELP: &str = "see trinim evolve run --help";

const COUNTS: &[Count] = &[Count::Position, Count::Edge, Count::AllOptions, Count::Wrong];
const ZEROS: &[Zero] = &[Zero::Terminal, Zero::Zero, Zero::One, Zero::Numerator, Zero::Worst];
const REPRESENTATIVES: &[Representative] = &[Representative::Last, Representative::Best];
const REPLACEMENTS: &[Replacement] = &[Replacement::Strict, Replacement::Ties, Replacement::Both];
const MUTATIONS: &[Mutation] = &[Mutation::Genes, Mutation::GeneRate, Mutation::Symbols, Mutation::SymbolRate];
const CROSSOVERS: &[Crossover] = &[Crossover::OnePoint, Crossover::TwoPoint, Crossover::Uniform];
const NUMBERS: &[Number] = &[Number::Heaps, Number::Nonempty, Number::None];

/// Source of the settings that are not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// The paper, with gaps filled so that experiments 2 and 3 come out
    Paper,
    /// The author's later programs
    Source,
    /// Better than both
    Best,
    /// For misère play: counts wrong positions, with big - + xor eq lt if as symbols
    Misere,
}

impl Preset {
    /// Returns the settings.
    const fn settings(self) -> Settings {
        match self {
            Preset::Paper => Settings::paper(),
            Preset::Source => Settings::source(),
            Preset::Best => Settings::best(),
            Preset::Misere => Settings::misere(),
        }
    }

    /// Returns the meaning of `n`, the terminals beside the heaps, and the functions.
    const fn symbols(self) -> (Number, &'static [&'static str], &'static [&'static str]) {
        match self {
            Preset::Paper | Preset::Source | Preset::Best => (Number::Heaps, &[], &["paper"]),
            Preset::Misere => (Number::None, &["big"], &["+", "-", "xor", "eq", "lt", "if"]),
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
    #[arg(long, hide = true, value_name = "STEPS", value_parser = steps)]
    steps: Steps,

    /// Chromosomes that compete to become a parent [default: 2]
    #[arg(long, hide = true, value_name = "N")]
    tournament: u32,

    /// How parents are combined
    #[arg(long, hide = true, value_name = "CROSSOVER", value_parser = choice(CROSSOVERS))]
    crossover: Crossover,

    /// Probability of a crossover [default: 0.9]
    #[arg(long, hide = true, value_name = "P")]
    crossover_probability: f64,

    /// What mutation replaces: --mutations genes or symbols, or each gene or symbol with
    /// probability mutations/genes
    #[arg(long, hide = true, value_name = "MODEL", value_parser = choice(MUTATIONS))]
    mutation: Mutation,

    /// Mutations of a chromosome [default: 2]
    #[arg(long, hide = true, value_name = "N")]
    mutations: f64,

    /// What replaces the worst chromosome: the better of two offspring if better (strict) or not
    /// worse (ties), or both offspring, each if better
    #[arg(long, hide = true, value_name = "MODEL", value_parser = choice(REPLACEMENTS))]
    replacement: Replacement,

    /// The gene that represents a chromosome
    #[arg(long, hide = true, value_name = "GENE", value_parser = choice(REPRESENTATIVES))]
    representative: Representative,

    /// A division by zero makes its gene a random terminal, has a value, or makes the formula the
    /// worst
    #[arg(long, value_name = "VALUE", value_parser = choice(ZEROS))]
    zero: Zero,

    /// Probability that a drawn symbol is a terminal, or uniform: all symbols equally likely
    #[arg(long, hide = true, value_name = "P", value_parser = terminal_share)]
    terminal_share: Share,

    /// Whether the initial population is the first generation
    #[arg(long, hide = true, value_name = "BOOL")]
    initial_counts: bool,

    /// Which orderings of the heaps are distinct positions: canonical is descending
    #[arg(long = "states", value_name = "STATES", value_parser = ordering())]
    ordering: Ordering,

    /// A P-position with moves to P-positions counts once (node), once for each such move (edge),
    /// or only if all moves lead to P-positions (all); or each position with the wrong outcome
    /// counts (wrong)
    #[arg(long, value_name = "COUNT", value_parser = choice(COUNTS))]
    count: Count,
}

/// Every choice of the engine.
#[derive(Clone, Args)]
pub struct SettingsArgs {
    /// Source of the settings that are not given: the paper, the author's later programs, what
    /// works best, or what finds strategies of misère play
    #[arg(long, value_name = "PRESET", value_enum, default_value = "paper")]
    pub preset: Preset,

    #[command(flatten)]
    pub given: Given,

    /// Meaning of the terminal n: the number of heaps, that of nonempty heaps, or no such terminal
    /// [default: heaps; none with preset misere]
    #[arg(long = "n", value_name = "MEANING", value_parser = choice(NUMBERS))]
    meaning_of_n: Option<Number>,

    /// More terminals: integers, nonempty, big (heaps of 2 or more), largest, smallest, sum, m
    /// (parameter of the rules) [default: none; big with preset misere]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    terminals: Option<Vec<String>>,

    /// Functions: paper means + - * div mod and or xor not; others are min, max, eq, lt, if, phi,
    /// isqrt [default: paper; + - xor eq lt if with preset misere]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    functions: Option<Vec<String>>,
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
    /// Returns [`Refused`](crate::cli::face::exit::Refused) for a number out of range.
    pub fn settings(&self, target: Target) -> anyhow::Result<Settings> {
        let settings = Settings { target, ..self.given.over(self.preset.settings()) };
        settings.check().map_err(|error| refused(format!("--{error}"), HELP))?;
        Ok(settings)
    }

    /// Returns the symbols for a game.
    ///
    /// # Errors
    /// Returns [`Refused`](crate::cli::face::exit::Refused) for an unknown name.
    pub fn alphabet(&self, scope: &Scope) -> anyhow::Result<Alphabet> {
        let (number, terminals, functions) = self.preset.symbols();
        let terminals = given_or(&self.terminals, terminals);
        let functions = given_or(&self.functions, functions);
        let number = self.meaning_of_n.unwrap_or(number);
        Alphabet::choose(scope, number, &terminals, &functions).map_err(|error| refused(error, HELP))
    }
}

/// Returns the names that were given, or those of the preset.
fn given_or<'a>(given: &'a Option<Vec<String>>, preset: &[&'a str]) -> Vec<&'a str> {
    match given {
        Some(names) => names.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect(),
        None => preset.to_vec(),
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
