//! Values of the arguments of `evolve`: games, formulas, and every choice of the engine.

use super::super::exit::Refused;
use super::super::export::{Export, Kind};
use super::super::input;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::{Path, PathBuf};
use trinim::database::Database;
use trinim::evolve::alphabet::{Alphabet, Number};
use trinim::evolve::check::HeldOut;
use trinim::evolve::formula::Formula;
use trinim::evolve::games::{Game, GameError, dag};
use trinim::evolve::graph::{Graph, Ordering};
use trinim::evolve::int::OnFault;
use trinim::evolve::parse::parse;
use trinim::evolve::scope::Scope;
use trinim::evolve::score::{Count, Target};
use trinim::evolve::settings::{Crossover, Mutation, Replacement, Representative, Settings, Steps, Zero};
use trinim::game::Rule;
use trinim::game::Value;

/// The file of `dag:FILE`.
const DAG: input::Kind = input::Kind {
    what: "game",
    most_bytes: 64 << 20,
    hint: "the file has a line \"features a b\" and lines \"name: 1 2 -> other names\"",
};

/// A parser for a choice among names.
fn choice<T: Copy + Send + Sync + 'static>(names: &'static [(&'static str, T)]) -> impl TypedValueParser<Value = T> {
    let parser = PossibleValuesParser::new(names.iter().map(|(name, _)| *name));
    parser.try_map(move |text| {
        let found = names.iter().find(|(name, _)| *name == text);
        found.map(|(_, value)| *value).ok_or_else(|| format!("unknown choice {text:?}"))
    })
}

const ORDERINGS: &[(&str, Ordering)] = &[
    ("canonical", Ordering::Descending),
    ("descending", Ordering::Descending),
    ("ascending", Ordering::Ascending),
    ("all", Ordering::All),
];
const TARGETS: &[(&str, Target)] =
    &[("outcome", Target::Rules), ("labels", Target::Labels), ("grundy", Target::Grundy)];
const COUNTS: &[(&str, Count)] = &[("node", Count::Position), ("edge", Count::Edge), ("all", Count::AllOptions)];
const ZEROS: &[(&str, Zero)] = &[
    ("terminal", Zero::Terminal),
    ("0", Zero::Zero),
    ("1", Zero::One),
    ("numerator", Zero::Numerator),
    ("worst", Zero::Worst),
];
const FAULTS: &[(&str, OnFault)] =
    &[("error", OnFault::Stop), ("0", OnFault::Zero), ("1", OnFault::One), ("numerator", OnFault::Numerator)];
const REPRESENTATIVES: &[(&str, Representative)] = &[("last", Representative::Last), ("best", Representative::Best)];
const REPLACEMENTS: &[(&str, Replacement)] =
    &[("strict", Replacement::Strict), ("ties", Replacement::Ties), ("both", Replacement::Both)];
const MUTATIONS: &[(&str, Mutation)] = &[
    ("genes", Mutation::Genes),
    ("gene-rate", Mutation::GeneRate),
    ("symbols", Mutation::Symbols),
    ("symbol-rate", Mutation::SymbolRate),
];
const CROSSOVERS: &[(&str, Crossover)] =
    &[("one-point", Crossover::OnePoint), ("two-point", Crossover::TwoPoint), ("uniform", Crossover::Uniform)];
const NUMBERS: &[(&str, Number)] = &[("heaps", Number::Heaps), ("nonempty", Number::Nonempty), ("none", Number::None)];
const PRESETS: &[(&str, Preset)] = &[("paper", Preset::Paper), ("source", Preset::Source), ("best", Preset::Best)];

/// The name of a choice.
fn name_of<T: PartialEq>(names: &[(&'static str, T)], value: &T) -> &'static str {
    names.iter().find(|(_, each)| each == value).map_or("", |(name, _)| name)
}

/// Where the choices come from that are not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// The paper, its gaps filled so that experiments 2 and 3 come out.
    Paper,
    /// The author's later programs.
    Source,
    /// Better than both.
    Best,
}

impl Preset {
    /// The settings.
    pub const fn settings(self) -> Settings {
        match self {
            Preset::Paper => Settings::paper(),
            Preset::Source => Settings::source(),
            Preset::Best => Settings::best(),
        }
    }

    /// The name.
    pub fn name(self) -> &'static str {
        name_of(PRESETS, &self)
    }
}

/// The game.
#[derive(Clone, Args)]
pub struct EvolveGameArgs {
    /// nim:4,4,4,4, subtraction:1,2,3:21, wythoff:10, moore:2:4,4,4, octal:0.137:10, triangular:3, triangular:3:rows or dag:FILE
    #[arg(long, value_name = "GAME")]
    pub game: String,

    /// Who makes the last move loses
    #[arg(long)]
    pub misere: bool,

    /// What the formula computes: who wins by the rules alone, who wins by the true outcomes, or the Grundy value by the mex of the options
    #[arg(long, value_name = "TARGET", value_parser = choice(TARGETS), default_value = "outcome")]
    pub target: Target,

    /// Solved database of the triangular game: gives the rule and, for --target labels, the true outcomes
    #[arg(long, value_name = "DIR")]
    pub database: Option<PathBuf>,
}

/// A game with its rule and the database behind it.
pub struct Chosen {
    /// The game.
    pub game: Game,
    /// Who wins at the end.
    pub rule: Rule,
    /// What is computed.
    pub target: Target,
    database: Option<Database>,
}

/// An error of the library as a refused command.
pub fn refused(error: impl ToString, hint: &str) -> anyhow::Error {
    Refused::new(error.to_string(), hint).into()
}

const GAME_HINT: &str = "trinim evolve run --help shows all games";

impl EvolveGameArgs {
    /// Reads the game, its file and its database.
    ///
    /// # Errors
    /// [`Refused`], or what the files say.
    pub fn choose(&self) -> anyhow::Result<Chosen> {
        let game = match self.game.trim().strip_prefix("dag:") {
            Some(file) => Game::File(read_dag(Path::new(file))?),
            None => Game::parse(&self.game).map_err(|error| refused(error, GAME_HINT))?,
        };
        let mut rule = if self.misere { Rule::Misere } else { Rule::Normal };
        let database = self.database.as_deref().map(Database::open).transpose()?;
        if let Some(database) = &database {
            let Game::Triangular(triangle) = &game else {
                let message = format!("--database is for triangular games, {game} is none");
                return Err(refused(message, "leave --database out"));
            };
            let manifest = database.manifest();
            if manifest.layers != triangle.layers || manifest.max_take.is_some() {
                let take = manifest.max_take.map_or(String::new(), |take| format!(", at most {take} pieces a move"));
                let message = format!("the database is of {} layers{take}, the game is {game}", manifest.layers);
                return Err(refused(message, "name the database of the same board, solved without --max-take"));
            }
            if self.misere && database.rule() == Rule::Normal {
                let hint = "leave --misere out, or name a database solved with --rule misere";
                return Err(refused("--misere, but the database is of normal play", hint));
            }
            rule = database.rule();
        }
        if self.target == Target::Grundy && rule == Rule::Misere {
            return Err(refused("Grundy values are of normal play", "leave --misere out, or take --target outcome"));
        }
        Ok(Chosen { game, rule, target: self.target, database })
    }
}

impl Chosen {
    /// The positions of the game and their true outcomes.
    ///
    /// # Errors
    /// [`Refused`] beyond the limits, or when a database contradicts the rules.
    pub fn graph(&self, ordering: Ordering) -> anyhow::Result<(Graph, Vec<Value>)> {
        let smaller = "fewer or smaller heaps make fewer positions; --states canonical makes fewer as well";
        let graph = self.game.graph(self.rule, ordering).map_err(|error| refused(error, smaller))?;
        let outcomes = graph.outcomes();
        let (Some(database), Game::Triangular(triangle)) = (&self.database, &self.game) else {
            return Ok((graph, outcomes));
        };
        let masks = triangle.masks(ordering).map_err(|error| refused(error, smaller))?;
        let mut labels = Vec::with_capacity(masks.len());
        for (index, mask) in masks.into_iter().enumerate() {
            let value = database.value(mask)?;
            if value != outcomes[index] {
                let label = graph.label(index as u32);
                let message = format!("the database says {value} at {label}, the rules say {}", outcomes[index]);
                return Err(refused(message, "trinim verify DIR looks for everything that is wrong"));
            }
            labels.push(value);
        }
        Ok((graph, labels))
    }
}

fn read_dag(path: &Path) -> anyhow::Result<dag::Dag> {
    if path.as_os_str().is_empty() {
        return Err(refused("game dag:: expected the name of a file", DAG.hint));
    }
    dag::parse(&path.display().to_string(), &DAG.read(path)?).map_err(|error| refused(error, DAG.hint))
}

/// Reads a formula over the terminals of a game.
///
/// # Errors
/// [`Refused`] with the column.
pub fn formula(scope: &Scope, text: &str) -> anyhow::Result<Formula> {
    let functions = "+ - * div mod and or xor not, min( max( eq( lt( if( phi( isqrt(, parentheses";
    let hint = format!("a formula is made of {}, integers, {functions}", scope.names());
    parse(scope, text).map_err(|error| refused(error, &hint))
}

/// The larger positions to check formulas on, with heaps up to `most` if that is given.
///
/// # Errors
/// [`Refused`] when that is too many, or the game has no heaps.
pub fn held_out(chosen: &Chosen, ordering: Ordering, most: Option<i32>) -> anyhow::Result<HeldOut> {
    HeldOut::new(&chosen.game, chosen.rule, chosen.target, ordering, most).map_err(|error| match (most, &error) {
        (Some(most), GameError::OneSize { .. }) => refused(format!("--max {most}: {error}"), "leave --max out"),
        _ => refused(error, "a smaller --max makes fewer positions"),
    })
}

/// `--formula`, and what a division by zero in it is.
#[derive(Clone, Args)]
pub struct FormulaArgs {
    /// The formula; operators bind as in C
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    pub formula: String,

    /// A quotient without a value: an error, or a value that stands for it
    #[arg(long, value_name = "VALUE", value_parser = choice(FAULTS), default_value = "error")]
    pub zero: OnFault,
}

/// `--states`.
#[derive(Clone, Args)]
pub struct StatesArgs {
    /// Which orderings of the heaps are positions of their own: canonical is descending
    #[arg(long, value_name = "STATES", value_parser = choice(ORDERINGS))]
    pub states: Option<Ordering>,
}

/// `--count`.
#[derive(Clone, Args)]
pub struct CountArgs {
    /// A P-position with moves to P-positions counts once (node), once for each such move (edge), or only if all moves lead to P-positions (all)
    #[arg(long, value_name = "COUNT", value_parser = choice(COUNTS))]
    pub count: Option<Count>,
}

/// Every choice of the engine.
#[derive(Clone, Args)]
pub struct SettingsArgs {
    /// Where the choices come from that are not given: the paper, the author's later programs, or what works best
    #[arg(long, value_name = "PRESET", value_parser = choice(PRESETS), default_value = "paper")]
    pub preset: Preset,

    /// Chromosomes [default: 100]
    #[arg(long, alias = "pop", value_name = "N")]
    pub population: Option<usize>,

    /// Generations [default: 100]
    #[arg(long, value_name = "N")]
    pub generations: Option<u32>,

    /// Genes of a chromosome [default: 15]
    #[arg(long, value_name = "N")]
    pub genes: Option<usize>,

    /// Pairs of parents in a generation: half the population, the population, or a number
    #[arg(long, value_name = "STEPS", value_parser = steps)]
    steps: Option<Steps>,

    /// Chromosomes of which the best becomes a parent [default: 2]
    #[arg(long, value_name = "N")]
    tournament: Option<u32>,

    /// How parents are combined
    #[arg(long, value_name = "CROSSOVER", value_parser = choice(CROSSOVERS))]
    crossover: Option<Crossover>,

    /// How often they are [default: 0.9]
    #[arg(long, value_name = "P")]
    crossover_probability: Option<f64>,

    /// What mutation draws anew: --mutations genes or symbols, or each gene or symbol with probability mutations/genes
    #[arg(long, value_name = "MODEL", value_parser = choice(MUTATIONS))]
    mutation: Option<Mutation>,

    /// Mutations of a chromosome [default: 2]
    #[arg(long, value_name = "N")]
    mutations: Option<f64>,

    /// Who replaces the worst chromosome: the better of two offspring if better (strict) or not worse (ties), or both offspring, each if better
    #[arg(long, value_name = "MODEL", value_parser = choice(REPLACEMENTS))]
    replacement: Option<Replacement>,

    /// The gene that stands for a chromosome
    #[arg(long, value_name = "GENE", value_parser = choice(REPRESENTATIVES))]
    representative: Option<Representative>,

    /// A division by zero makes its gene a random terminal, has a value, or makes the formula the worst
    #[arg(long, value_name = "VALUE", value_parser = choice(ZEROS))]
    zero: Option<Zero>,

    /// Probability that a drawn symbol is a terminal, or uniform: all symbols alike
    #[arg(long, value_name = "P", value_parser = terminal_share)]
    terminal_share: Option<Share>,

    /// Whether the initial population is the first generation
    #[arg(long, value_name = "BOOL")]
    initial_counts: Option<bool>,

    #[command(flatten)]
    states: StatesArgs,

    #[command(flatten)]
    count: CountArgs,

    /// What the terminal n is: the number of heaps, of those that are not empty, or not there
    #[arg(long = "n", value_name = "MEANING", value_parser = choice(NUMBERS), default_value = "heaps")]
    meaning_of_n: Number,

    /// More terminals: integers, nonempty, big (heaps of 2 or more), largest, smallest, sum, m (parameter of the rules)
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    terminals: Vec<String>,

    /// Functions: paper stands for + - * div mod and or xor not; others are min, max, eq, lt, if, phi, isqrt
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "paper", allow_hyphen_values = true)]
    functions: Vec<String>,
}

/// `--terminal-share`.
#[derive(Clone, Copy, Debug)]
pub struct Share(Option<f64>);

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
    /// The settings: the preset with what was given.
    ///
    /// # Errors
    /// [`Refused`] for a number out of range.
    pub fn settings(&self, target: Target) -> anyhow::Result<Settings> {
        let preset = self.preset.settings();
        let settings = Settings {
            population: self.population.unwrap_or(preset.population),
            generations: self.generations.unwrap_or(preset.generations),
            genes: self.genes.unwrap_or(preset.genes),
            steps: self.steps.unwrap_or(preset.steps),
            tournament: self.tournament.unwrap_or(preset.tournament),
            crossover: self.crossover.unwrap_or(preset.crossover),
            crossover_probability: self.crossover_probability.unwrap_or(preset.crossover_probability),
            mutation: self.mutation.unwrap_or(preset.mutation),
            mutations: self.mutations.unwrap_or(preset.mutations),
            replacement: self.replacement.unwrap_or(preset.replacement),
            representative: self.representative.unwrap_or(preset.representative),
            zero: self.zero.unwrap_or(preset.zero),
            count: self.count.count.unwrap_or(preset.count),
            target,
            ordering: self.states.states.unwrap_or(preset.ordering),
            terminal_share: self.terminal_share.map_or(preset.terminal_share, |share| share.0),
            initial_counts: self.initial_counts.unwrap_or(preset.initial_counts),
        };
        settings.check().map_err(|error| refused(format!("--{error}"), "see trinim evolve run --help"))?;
        Ok(settings)
    }
}

impl SettingsArgs {
    /// The symbols for a game.
    ///
    /// # Errors
    /// [`Refused`] for a name that is none.
    pub fn alphabet(&self, scope: &Scope) -> anyhow::Result<Alphabet> {
        let terminals = self.terminals.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
        let functions = self.functions.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
        let (terminals, functions): (Vec<&str>, Vec<&str>) = (terminals.collect(), functions.collect());
        Alphabet::choose(scope, self.meaning_of_n, &terminals, &functions)
            .map_err(|error| refused(error, "see trinim evolve run --help"))
    }
}

/// The settings with their names, for reports.
pub fn described(settings: &Settings) -> serde_json::Value {
    serde_json::json!({
        "population": settings.population,
        "generations": settings.generations,
        "genes": settings.genes,
        "pairs_per_generation": settings.pairs(),
        "tournament": settings.tournament,
        "crossover": name_of(CROSSOVERS, &settings.crossover),
        "crossover_probability": settings.crossover_probability,
        "mutation": name_of(MUTATIONS, &settings.mutation),
        "mutations": settings.mutations,
        "replacement": name_of(REPLACEMENTS, &settings.replacement),
        "representative": name_of(REPRESENTATIVES, &settings.representative),
        "zero": name_of(ZEROS, &settings.zero),
        "count": name_of(COUNTS, &settings.count),
        "states": settings.ordering.name(),
        "terminal_share": settings.terminal_share,
        "initial_counts": settings.initial_counts,
    })
}

/// The settings in a sentence.
pub fn in_words(preset: Preset, settings: &Settings) -> String {
    format!(
        "preset {}: population {}, generations {}, genes {}; {} gene, {} mutation, {} replacement, zero {}, count {}",
        preset.name(),
        settings.population,
        settings.generations,
        settings.genes,
        name_of(REPRESENTATIVES, &settings.representative),
        name_of(MUTATIONS, &settings.mutation),
        name_of(REPLACEMENTS, &settings.replacement),
        name_of(ZEROS, &settings.zero),
        name_of(COUNTS, &settings.count),
    )
}

/// How the positions of a game are ordered, in words.
pub fn ordering_in_words(game: &Game, ordering: Ordering) -> &'static str {
    match (game, ordering) {
        (Game::File(_), _) => "as in the file",
        (_, Ordering::All) => "all orderings",
        (Game::Triangular(_), _) => "one of symmetric boards",
        (_, Ordering::Descending) => "heaps descending",
        (_, Ordering::Ascending) => "heaps ascending",
    }
}

/// Checks before the work that a picture can be written.
///
/// # Errors
/// As [`Export::claim`].
pub fn claim_svg(path: &Path) -> anyhow::Result<Export> {
    Export::claim(path, Kind { flag: "--svg", what: "SVG picture", signature: "<svg" })
}
