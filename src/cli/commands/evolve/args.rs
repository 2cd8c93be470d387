//! Argument values of `evolve`: games, formulas, and the positions that check them.

use crate::cli::face::exit::Refused;
use crate::cli::face::file::InputKind;
use crate::cli::face::output::counted;
use crate::cli::words::choice::choice;
use crate::cli::words::summary::board_words;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::{Path, PathBuf};
use trinim::database::Database;
use trinim::game::Rule;
use trinim::game::Value;
use trinim_evolve::check::HeldOut;
use trinim_evolve::experiment::PAPER_RUNS;
use trinim_evolve::formula::Formula;
use trinim_evolve::games::{Game, GameError, dag};
use trinim_evolve::graph::{Graph, Ordering};
use trinim_evolve::int::OnFault;
use trinim_evolve::listing;
use trinim_evolve::parse::parse;
use trinim_evolve::scope::Scope;
use trinim_evolve::score::Target;

/// The file of `dag:FILE`.
const DAG: InputKind = InputKind {
    what: "game",
    most_bytes: 64 << 20,
    hint: "the file has a line \"features a b\" and lines \"name: 1 2 -> other names\"",
};

/// Largest number of runs.
const RUNS_MAX: u64 = 100_000;

const TARGETS: &[Target] = &[Target::Rules, Target::Labels, Target::Grundy];
const FAULTS: &[OnFault] = &[OnFault::Stop, OnFault::Zero, OnFault::One, OnFault::Numerator];

/// The game.
#[derive(Clone, Args)]
pub struct EvolveGameArgs {
    /// nim:4,4,4,4, subtraction:1,2,3:21, wythoff:10, moore:2:4,4,4, octal:0.137:10, triangular:3,
    /// triangular:3:rows or dag:FILE
    #[arg(long, value_name = "GAME")]
    pub game: String,

    /// Whoever makes the last move loses
    #[arg(long)]
    pub misere: bool,

    /// What the formula computes: who wins by the rules alone, who wins by the true outcomes, or
    /// the Grundy value by the mex of the options
    #[arg(long, value_name = "TARGET", value_parser = choice(TARGETS), default_value = "outcome")]
    pub target: Target,

    /// Solved database of the triangular game: gives the rule and, for --target labels, the true
    /// outcomes
    #[arg(long, value_name = "DIR")]
    pub database: Option<PathBuf>,
}

/// A game with its rule and its database.
pub struct Chosen {
    /// The game.
    pub game: Game,
    /// Who wins at the end.
    pub rule: Rule,
    /// What a formula computes.
    pub target: Target,
    database: Option<Database>,
}

/// Turns an error of the library into a refused command.
pub fn refused(error: impl ToString, hint: &str) -> anyhow::Error {
    Refused::new(error.to_string(), hint).into()
}

const GAME_HINT: &str = "trinim evolve run --help shows all games";

impl EvolveGameArgs {
    /// Reads the game, its file and its database.
    ///
    /// # Errors
    /// Returns [`Refused`], or the errors of the files.
    pub fn choose(&self) -> anyhow::Result<Chosen> {
        let game = match self.game.trim().strip_prefix("dag:") {
            Some(file) => Game::File(read_dag(Path::new(file))?),
            None => Game::parse(&self.game).map_err(|error| refused(error, GAME_HINT))?,
        };
        let mut rule = if self.misere { Rule::Misere } else { Rule::Normal };
        let database = self.database.as_deref().map(Database::open).transpose()?;
        if let Some(database) = &database {
            database.require_values()?;
            let Game::Triangular(triangle) = &game else {
                let message = format!("--database is for triangular games, which {game} is not");
                return Err(refused(message, "leave out --database"));
            };
            let manifest = database.manifest();
            if manifest.layers != Some(triangle.layers) || manifest.max_take.is_some() {
                let take = manifest.max_take.map_or(String::new(), |take| format!(", at most {take} pieces a move"));
                let board = board_words(database.board().name());
                let message = format!("the database has {board}{take}, the game is {game}");
                return Err(refused(message, "name the database of the same board, solved without --max-take"));
            }
            if self.misere && database.rule() == Rule::Normal {
                let hint = "leave out --misere, or name a database solved with --rule misere";
                return Err(refused("--misere, but the database is for normal play", hint));
            }
            rule = database.rule();
        }
        if self.target == Target::Grundy && rule == Rule::Misere {
            let hint = "leave out --misere, or use --target outcome";
            return Err(refused("Grundy values exist for normal play only", hint));
        }
        Ok(Chosen { game, rule, target: self.target, database })
    }
}

impl Chosen {
    /// Returns the positions of the game and their true outcomes.
    ///
    /// # Errors
    /// Returns [`Refused`] beyond the limits, or if the database contradicts the rules.
    pub fn graph(&self, ordering: Ordering) -> anyhow::Result<(Graph, Vec<Value>)> {
        let smaller = "use fewer or smaller heaps, or --states canonical";
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
                return Err(refused(message, "trinim verify DIR checks the whole database"));
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

/// Returns the larger positions to check formulas on, with heaps up to `most` if that is given.
///
/// # Errors
/// Returns [`Refused`] if there are too many or too few, or if the game has no heaps.
pub fn held_out(chosen: &Chosen, ordering: Ordering, most: Option<i32>) -> anyhow::Result<HeldOut> {
    HeldOut::new(&chosen.game, chosen.rule, chosen.target, ordering, most).map_err(|error| {
        let given = most.map_or(String::new(), |most| format!("--max {most}: "));
        let hint = match &error {
            GameError::OneSize { .. } => "leave out --max",
            GameError::TooSmall { .. } => "leave out --max for a range that is quick",
            _ => "use a smaller --max, or a smaller game",
        };
        refused(format!("{given}{error}"), hint)
    })
}

/// Describes the positions that check formulas.
pub fn held_in_words(game: &Game, held: &HeldOut) -> String {
    let positions = counted(held.positions() as u64, "position");
    let ordering = ordering_in_words(game, Ordering::All);
    match held.heap_max {
        Some(most) if game.splits() => {
            format!("all heaps up to {most} and what they split into: {positions}, {ordering}")
        }
        Some(most) => format!("all heaps up to {most}: {positions}, {ordering}"),
        None if held.positions() > 0 => format!("all {positions}"),
        None => "nothing: the next larger heaps have too many positions".to_owned(),
    }
}

/// The formula, typed or as a chromosome, and the meaning of a division by zero in it.
#[derive(Clone, Args)]
pub struct FormulaArgs {
    /// The formula; operators bind as in C
    #[arg(
        long,
        value_name = "FORMULA",
        allow_hyphen_values = true,
        required_unless_present = "chromosome",
        conflicts_with = "chromosome"
    )]
    formula: Option<String>,

    /// A chromosome in the paper's notation instead, like "1: a1 2: a2 3: + 1, 2"; its formula is
    /// that of the last gene
    #[arg(long, value_name = "GENES")]
    chromosome: Option<String>,

    /// The gene of the chromosome to read the formula from
    #[arg(long, value_name = "N", requires = "chromosome")]
    gene: Option<usize>,

    /// A quotient without a value: an error, or the value to use instead
    #[arg(long, value_name = "VALUE", value_parser = choice(FAULTS), default_value = "error")]
    pub zero: OnFault,
}

impl FormulaArgs {
    /// Reads the formula over the terminals of a game.
    ///
    /// # Errors
    /// Returns [`Refused`] with the column or the gene of the mistake.
    pub fn read(&self, scope: &Scope) -> anyhow::Result<Formula> {
        if let Some(genes) = &self.chromosome {
            let hint = "genes are numbered from 1: a terminal, or a function and the numbers of earlier genes";
            return listing::read(scope, genes, self.gene).map_err(|error| refused(error, hint));
        }
        let functions = "+ - * div mod and or xor not, min( max( eq( lt( if( phi( isqrt(, parentheses";
        let hint = format!("a formula consists of {}, integers, {functions}", scope.names());
        parse(scope, self.formula.as_deref().unwrap_or_default()).map_err(|error| refused(error, &hint))
    }
}

/// Returns a parser for orderings; `canonical` is the paper's word for `descending`.
pub fn ordering() -> impl TypedValueParser<Value = Ordering> {
    PossibleValuesParser::new(["canonical", "descending", "ascending", "all"]).map(|text| {
        match text.to_lowercase().as_str() {
            "ascending" => Ordering::Ascending,
            "all" => Ordering::All,
            _ => Ordering::Descending,
        }
    })
}

/// `--states`.
#[derive(Clone, Args)]
pub struct StatesArgs {
    /// Which orderings of the heaps are distinct positions: canonical is descending
    #[arg(long, value_name = "STATES", value_parser = ordering())]
    pub states: Option<Ordering>,
}

/// Parses a number of runs.
pub fn runs(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(runs) if (1..=RUNS_MAX).contains(&runs) => Ok(runs),
        _ => Err(format!("expected 1 to {RUNS_MAX}")),
    }
}

/// `--runs` and `--seed` of the paper's experiments.
#[derive(Args)]
pub struct RunsArgs {
    /// Runs per point of an experiment; the paper has 50
    #[arg(long, value_name = "N", value_parser = runs, default_value_t = PAPER_RUNS)]
    pub runs: u64,

    /// Seed of the random numbers
    #[arg(long, value_name = "SEED", default_value = "1")]
    pub seed: u64,
}

/// Describes how the positions of a game are ordered.
pub fn ordering_in_words(game: &Game, ordering: Ordering) -> &'static str {
    match (game, ordering) {
        (Game::File(_), _) => "as in the file",
        (game, Ordering::All) if game.splits() => "heaps as play leaves them",
        (_, Ordering::All) => "all orderings",
        (Game::Triangular(_), _) => "one of symmetric boards",
        (_, Ordering::Descending) => "heaps descending",
        (_, Ordering::Ascending) => "heaps ascending",
    }
}
