//! Arguments that commands share: the game, the formula, and how searches are run.

use super::output::{Progress, Stop, counted, named, refused};
use clap::Args;
use trinim_evolve::games::{Game, GameError, Graph, HEAP_MAX, Ordering};
use trinim_evolve::language::{Formula, OnFault, Scope, parse, parse_chromosome};
use trinim_evolve::proof::HeldOut;
use trinim_evolve::search::{Bench, Target};
use trinim_game::Rule;

#[derive(Args)]
pub struct GameArgs {
    /// Game: nim:4,4,4,4, subtraction:1,2,3:21, wythoff:10 or moore:2:4,4,4
    #[arg(long)]
    game: String,

    /// The player who makes the last move loses
    #[arg(long)]
    misere: bool,

    /// What the formula computes: who wins (outcome, labels) or the Grundy value (grundy)
    ///
    /// outcome is judged by the rules alone, labels by the true outcomes, grundy by the mex of the
    /// options.
    #[arg(long, value_parser = named::<Target>, default_value = "outcome")]
    target: Target,
}

/// A game, who wins at its end, and what a formula computes.
pub struct Subject {
    pub game: Game,
    pub rule: Rule,
    pub target: Target,
}

impl GameArgs {
    pub fn read(&self) -> anyhow::Result<Subject> {
        let game =
            Game::parse(&self.game).map_err(|error| refused(error, "trinim-evolve run --help shows all games"))?;
        let rule = if self.misere { Rule::Misere } else { Rule::Normal };
        if self.target == Target::Grundy && rule == Rule::Misere {
            let hint = "leave out --misere, or use --target outcome";
            return Err(refused("Grundy values exist for normal play only", hint));
        }
        Ok(Subject { game, rule, target: self.target })
    }
}

impl Subject {
    /// Returns the positions of the game; if they are too many, refuses with the hint `smaller`.
    pub fn graph(&self, ordering: Ordering, smaller: &str) -> anyhow::Result<Graph> {
        self.game.graph(self.rule, ordering).map_err(|error| refused(error, smaller))
    }

    /// Returns the larger positions to check formulas on, with heaps up to `most` if given.
    pub fn held_out(&self, ordering: Ordering, most: Option<i32>) -> anyhow::Result<HeldOut> {
        HeldOut::new(&self.game, self.rule, self.target, ordering, most).map_err(|error| {
            let hint = match &error {
                GameError::TooSmall(..) => "leave out --max to use a quick range",
                _ if most.is_some() => "use a smaller --max, or a smaller game",
                _ => "use a smaller game, or --max",
            };
            refused(format!("{}{error}", most.map_or(String::new(), |most| format!("--max {most}: "))), hint)
        })
    }
}

#[derive(Args)]
pub struct MaxArgs {
    /// Largest heap of the positions that formulas are checked on [default: up to four times the
    /// largest heap of the game]
    #[arg(long, value_name = "HEAP", value_parser = clap::value_parser!(i32).range(0..=i64::from(HEAP_MAX)))]
    pub max: Option<i32>,
}

/// Describes the positions that check formulas: their number, and the largest heap.
pub fn held_in_words(held: &HeldOut) -> String {
    match held.heap_max {
        Some(most) => format!("all heaps up to {most}: {}, all orderings", counted(held.positions(), "position")),
        None => "nothing: the next larger heaps have too many positions".to_owned(),
    }
}

/// Describes which orderings of the heaps are positions.
pub const fn ordering_in_words(ordering: Ordering) -> &'static str {
    match ordering {
        Ordering::All => "all orderings",
        Ordering::Descending => "heaps descending",
        Ordering::Ascending => "heaps ascending",
    }
}

#[derive(Args)]
pub struct FormulaArgs {
    /// The formula; operators bind as in C
    #[arg(long, allow_hyphen_values = true, required_unless_present = "chromosome", conflicts_with = "chromosome")]
    formula: Option<String>,

    /// Chromosome in the paper's notation, like "1: a1 2: a2 3: + 1, 2"
    ///
    /// Its formula is that of the last gene.
    #[arg(long, value_name = "GENES")]
    chromosome: Option<String>,

    /// The gene of the chromosome to read the formula from
    #[arg(long, value_name = "N", requires = "chromosome")]
    gene: Option<usize>,

    /// Value of undefined quotients: error, 0, 1 or numerator
    #[arg(long, value_name = "VALUE", value_parser = named::<OnFault>, default_value = "error")]
    pub zero: OnFault,
}

impl FormulaArgs {
    pub fn read(&self, scope: &Scope) -> anyhow::Result<Formula> {
        if let Some(genes) = &self.chromosome {
            let hint = "genes are numbered from 1: a terminal, or a function and the numbers of earlier genes";
            return parse_chromosome(scope, genes, self.gene).map_err(|error| refused(error, hint));
        }
        let functions = "+ - * div mod and or xor not, min( max( eq( lt( if( phi( isqrt(, parentheses";
        let hint = format!("a formula consists of {}, integers, {functions}", scope.names());
        parse(scope, self.formula.as_deref().unwrap_or_default()).map_err(|error| refused(error, &hint))
    }
}

#[derive(Args)]
pub struct SearchArgs {
    /// Seed of the random numbers
    #[arg(long, value_parser = terminal::values::seed, default_value = "1")]
    pub seed: u64,

    /// Threads, 0 for all; does not change the result
    #[arg(long, value_name = "N", default_value = "0", env = "TRINIM_THREADS", hide_env = true)]
    threads: usize,
}

impl SearchArgs {
    /// Does some work whose runs are shown as progress.
    pub fn with_bench<T>(&self, runs: u64, stop: &Stop, work: impl FnOnce(&Bench<'_>) -> T) -> T {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if self.threads == 0 { all() } else { self.threads };
        let progress = Progress::new(runs);
        work(&Bench { seed: self.seed, threads, stop: &stop.flag, finished: &|| progress.count() })
    }
}
