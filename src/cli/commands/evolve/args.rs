//! Argument values of `evolve`: games, formulas, and the positions that check them.

use crate::cli::face::exit::Refused;
use crate::cli::face::output::counted;
use crate::cli::face::progress;
use crate::cli::face::watch::Reading;
use crate::cli::words::choice::choice;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::sync::atomic::{self, AtomicU64};
use trinim::game::Rule;
use trinim_evolve::check::HeldOut;
use trinim_evolve::experiment::PAPER_RUNS;
use trinim_evolve::formula::Formula;
use trinim_evolve::games::{Game, GameError};
use trinim_evolve::graph::{Graph, Ordering};
use trinim_evolve::int::OnFault;
use trinim_evolve::listing;
use trinim_evolve::parse::parse;
use trinim_evolve::scope::Scope;
use trinim_evolve::score::Target;

const RUNS_MAX: u64 = 100_000;

const TARGETS: &[Target] = &[Target::Rules, Target::Labels, Target::Grundy];
const FAULTS: &[OnFault] = &[OnFault::Stop, OnFault::Zero, OnFault::One, OnFault::Numerator];

/// The game.
#[derive(Clone, Args)]
pub struct EvolveGameArgs {
    /// nim:4,4,4,4, subtraction:1,2,3:21, wythoff:10 or moore:2:4,4,4
    #[arg(long, value_name = "GAME")]
    pub game: String,

    /// Whoever makes the last move loses
    #[arg(long)]
    pub misere: bool,

    /// What the formula computes: who wins by the rules alone, who wins by the true outcomes, or
    /// the Grundy value by the mex of the options
    #[arg(long, value_name = "TARGET", value_parser = choice(TARGETS), default_value = "outcome")]
    pub target: Target,
}

/// A game with its rule.
pub struct Chosen {
    /// The game.
    pub game: Game,
    /// Who wins at the end.
    pub rule: Rule,
    /// What a formula computes.
    pub target: Target,
}

/// Turns an error of the library into a refused command.
pub fn refused(error: impl ToString, hint: &str) -> anyhow::Error {
    Refused::new(error.to_string(), hint).into()
}

const GAME_HINT: &str = "trinim evolve run --help shows all games";

impl EvolveGameArgs {
    /// Reads the game.
    ///
    /// # Errors
    /// Returns [`Refused`].
    pub fn choose(&self) -> anyhow::Result<Chosen> {
        let game = Game::parse(&self.game).map_err(|error| refused(error, GAME_HINT))?;
        let rule = if self.misere { Rule::Misere } else { Rule::Normal };
        if self.target == Target::Grundy && rule == Rule::Misere {
            let hint = "leave out --misere, or use --target outcome";
            return Err(refused("Grundy values exist for normal play only", hint));
        }
        Ok(Chosen { game, rule, target: self.target })
    }
}

impl Chosen {
    /// Returns the positions of the game.
    ///
    /// # Errors
    /// Returns [`Refused`] beyond the limits.
    pub fn graph(&self, ordering: Ordering) -> anyhow::Result<Graph> {
        let smaller = "use fewer or smaller heaps, or --states canonical";
        self.game.graph(self.rule, ordering).map_err(|error| refused(error, smaller))
    }
}

/// Returns the larger positions to check formulas on, with heaps up to `most` if that is given.
///
/// # Errors
/// Returns [`Refused`] if there are too many or too few.
pub fn held_out(chosen: &Chosen, ordering: Ordering, most: Option<i32>) -> anyhow::Result<HeldOut> {
    HeldOut::new(&chosen.game, chosen.rule, chosen.target, ordering, most).map_err(|error| {
        let given = most.map_or(String::new(), |most| format!("--max {most}: "));
        let hint = match &error {
            GameError::TooSmall { .. } => "leave out --max for a range that is quick",
            _ => "use a smaller --max, or a smaller game",
        };
        refused(format!("{given}{error}"), hint)
    })
}

/// Describes the positions that check formulas: their number, and the largest heap.
pub fn held_in_words(heap_max: Option<i32>, positions: usize) -> String {
    let positions = counted(positions as u64, "position");
    match heap_max {
        Some(most) => format!("all heaps up to {most}: {positions}, {}", ordering_in_words(Ordering::All)),
        None => "nothing: the next larger heaps have too many positions".to_owned(),
    }
}

/// Returns the status of evolution of which `done` of `total` runs are finished.
pub fn evolving(done: &AtomicU64, total: u64) -> impl Fn(f64) -> Reading + Sync + '_ {
    move |elapsed| {
        let done = done.load(atomic::Ordering::Relaxed);
        let share = done as f64 / total as f64;
        progress::at_share(share, elapsed, |left| format!("evolving  ETA {left}  {done} of {total} runs"))
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

/// Describes which orderings of the heaps are positions.
pub const fn ordering_in_words(ordering: Ordering) -> &'static str {
    match ordering {
        Ordering::All => "all orderings",
        Ordering::Descending => "heaps descending",
        Ordering::Ascending => "heaps ascending",
    }
}
