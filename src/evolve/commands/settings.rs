//! The settings of the engine: a preset, replacements for single settings of it, and the symbols.

use super::output::{name, named, refused};
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::Value;
use trinim_evolve::games::Ordering;
use trinim_evolve::language::{Alphabet, Number, Scope};
use trinim_evolve::search::{Count, Settings, Target, Zero};

const HELP: &str = "see trinim-evolve run --help";

/// Names of `--set`, with their values.
pub const SETTINGS: [(&str, &str); 10] = [
    ("steps", "pairs of parents in a generation: half (the population), population or a number"),
    ("tournament", "chromosomes that compete to become a parent; 2"),
    ("crossover", "how parents are combined: one-point, two-point or uniform"),
    ("crossover-probability", "0.9"),
    ("mutation", "what is redrawn: a number of genes or symbols, or each with a probability: gene-rate, symbol-rate"),
    ("mutations", "how many, or the expected number; 2"),
    (
        "replacement",
        "what replaces the worst: the better of two offspring if better (strict) or not worse (ties), or both",
    ),
    ("representative", "the gene that stands for a chromosome: last or best"),
    ("terminal-share", "probability that a symbol drawn is a terminal, or uniform: all symbols equally likely"),
    ("initial-counts", "whether the initial population is the first generation: true or false"),
];

pub fn set_help() -> String {
    let lines = SETTINGS.iter().map(|(name, values)| format!("\n  {name:22} {values}"));
    format!("Settings of the engine for --set:{}", lines.collect::<String>())
}

/// Source of the settings that are not given.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
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
    const fn settings(self) -> Settings {
        match self {
            Preset::Paper => Settings::paper(),
            Preset::Source => Settings::source(),
            Preset::Best => Settings::best(),
            Preset::Misere => Settings::misere(),
        }
    }

    /// Returns the meaning of `n`, the terminals in addition to the heaps, and the functions.
    const fn symbols(self) -> (Number, &'static [&'static str], &'static [&'static str]) {
        match self {
            Preset::Paper | Preset::Source | Preset::Best => (Number::Heaps, &[], &["paper"]),
            Preset::Misere => (Number::None, &["big"], &["+", "-", "xor", "eq", "lt", "if"]),
        }
    }
}

#[derive(Args)]
pub struct SettingsArgs {
    /// Source of the settings that are not given
    #[arg(long, value_enum, default_value = "paper")]
    pub preset: Preset,

    /// Chromosomes [default: 100; misere: 200]
    #[arg(long, alias = "pop", value_name = "N")]
    pub population: Option<usize>,

    /// Generations [default: 100]
    #[arg(long, value_name = "N")]
    pub generations: Option<u32>,

    /// Genes of a chromosome [default: 15; misere: 25]
    #[arg(long, value_name = "N")]
    pub genes: Option<usize>,

    /// Effect of a division by zero: terminal, 0, 1, numerator or worst
    ///
    /// It makes its gene a random terminal (terminal), has a value (0, 1, numerator), or makes the
    /// formula the worst (worst).
    #[arg(long, value_name = "VALUE", value_parser = named::<Zero>)]
    zero: Option<Zero>,

    /// Which orderings of the heaps are distinct positions: all, ascending, or canonical, which is
    /// descending
    #[arg(long, value_parser = named::<Ordering>)]
    states: Option<Ordering>,

    /// How violations are counted: node, edge, all or wrong
    ///
    /// A P-position with moves to P-positions counts once (node), once for each such move (edge),
    /// or only if all moves lead to P-positions (all); or each position with the wrong outcome
    /// counts (wrong).
    #[arg(long, value_parser = named::<Count>)]
    count: Option<Count>,

    /// Another setting of the engine, listed below; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,

    /// Meaning of the terminal n: number of heaps, number of nonempty heaps, or none [default:
    /// heaps; none with preset misere]
    #[arg(long = "n", value_name = "MEANING", value_parser = named::<Number>)]
    meaning_of_n: Option<Number>,

    /// More terminals: integers, nonempty, big, largest, smallest, sum, m [default: none; big with
    /// preset misere]
    ///
    /// big is the number of heaps of 2 or more, m the parameter of the rules.
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    terminals: Option<Vec<String>>,

    /// Functions: paper, or a list; also min, max, eq, lt, if, phi, isqrt [default: paper; + - xor
    /// eq lt if with preset misere]
    ///
    /// paper means + - * div mod and or xor not.
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    functions: Option<Vec<String>>,
}

impl SettingsArgs {
    pub fn settings(&self, target: Target) -> anyhow::Result<Settings> {
        let preset = self.preset.settings();
        let mut settings = Settings {
            population: self.population.unwrap_or(preset.population),
            generations: self.generations.unwrap_or(preset.generations),
            genes: self.genes.unwrap_or(preset.genes),
            zero: self.zero.unwrap_or(preset.zero),
            count: self.count.unwrap_or(preset.count),
            ordering: self.states.unwrap_or(preset.ordering),
            target,
            ..preset
        };
        for text in &self.set {
            settings = set(&settings, text).map_err(|error| refused(format!("--set {text}: {error}"), HELP))?;
        }
        settings.check().map_err(|error| refused(error, HELP))?;
        Ok(settings)
    }

    pub fn alphabet(&self, scope: &Scope) -> anyhow::Result<Alphabet> {
        let (number, terminals, functions) = self.preset.symbols();
        let (terminals, functions) = (given_or(&self.terminals, terminals), given_or(&self.functions, functions));
        let number = self.meaning_of_n.unwrap_or(number);
        Alphabet::choose(scope, number, &terminals, &functions).map_err(|error| refused(error, HELP))
    }
}

/// Replaces a setting, given as `NAME=VALUE`.
fn set(settings: &Settings, text: &str) -> Result<Settings, String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    if !SETTINGS.iter().any(|(known, _)| *known == name) {
        return Err(format!("expected one of {}", SETTINGS.map(|(name, _)| name).join(", ")));
    }
    let mut all = serde_json::to_value(settings).map_err(|error| error.to_string())?;
    all[name.replace('-', "_")] = match value {
        "uniform" if name == "terminal-share" => Value::Null,
        _ => serde_json::from_str(value).unwrap_or_else(|_| value.to_lowercase().into()),
    };
    serde_json::from_value(all).map_err(|error| error.to_string())
}

/// Returns the given names, or those of the preset.
fn given_or<'a>(given: &'a Option<Vec<String>>, preset: &[&'a str]) -> Vec<&'a str> {
    match given {
        Some(names) => names.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect(),
        None => preset.to_vec(),
    }
}

pub fn in_words(preset: Preset, settings: &Settings) -> String {
    let Settings { population, generations, genes, representative, mutation, replacement, zero, count, .. } = settings;
    format!(
        "preset {}: population {population}, generations {generations}, genes {genes}; {} gene, {} mutation, {} \
         replacement, zero {}, count {}",
        name(preset),
        name(representative),
        name(mutation),
        name(replacement),
        name(zero),
        name(count),
    )
}
