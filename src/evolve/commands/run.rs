//! `trinim-evolve run`: runs of the engine, whose formulas are checked on more positions than they
//! were found on.

use super::args::{GameArgs, MaxArgs, SearchArgs, Subject, held_in_words, ordering_in_words};
use super::output::{Stop, name, progress, refused, table, write};
use super::score::{RULES_LEGEND, in_parentheses, write_wrong};
use super::settings::{Preset, SettingsArgs, in_words, set_help};
use super::verdict::Verdict;
use clap::Args;
use serde::Serialize;
use std::collections::HashMap;
use std::fmt;
use std::io::Write;
use trinim_evolve::language::{Formula, Scope, simplify};
use trinim_evolve::proof::HeldOut;
use trinim_evolve::search::{
    Bench, BrokenPosition, Candidate, Problem, Run, Settings, Target, Violations, WORST, violations, wilson, wrong,
};
use trinim_game::Rule;

const EXAMPLES: &str = "\
Examples:
  trinim-evolve run --game nim:4,4,4,4 --preset best --runs 10
  trinim-evolve run --game nim:4,4,4,4 --runs 50 --seed 1 --json
  trinim-evolve run --game nim:4,4,4,4 --set representative=best
  trinim-evolve run --game wythoff:10 --states ascending \\
      --functions +,-,xor,phi --n none --preset best --max 200
  trinim-evolve run --game nim:5,5,5 --target grundy --preset best
  trinim-evolve run --game nim:3,3,3 --misere --preset misere

The same seed gives the same results for any number of threads. Finding no formula without violations is a result, \
with exit code 0. Ctrl-C stops the runs and prints what they have found; only finished runs count for the rates.";

/// Evolve formulas for a game
#[derive(Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", set_help()))]
pub struct RunArgs {
    #[command(flatten)]
    game: GameArgs,

    #[command(flatten)]
    settings: SettingsArgs,

    /// Number of runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000), default_value = "10")]
    runs: u64,

    #[command(flatten)]
    search: SearchArgs,

    #[command(flatten)]
    max: MaxArgs,

    /// Also print the genes of each run
    #[arg(long)]
    chromosomes: bool,
}

/// What `run` prints.
#[derive(Serialize)]
struct Report<'a> {
    /// The game, as `--game` takes it.
    game: String,
    /// `normal`: the player who makes the last move wins; `misere`: loses.
    rule: Rule,
    /// What a formula computes.
    target: Target,
    /// Positions of the game.
    positions: usize,
    /// Moves of all positions together.
    options: usize,
    /// `--preset`.
    preset: Preset,
    /// All settings of the run.
    settings: RunSettings<'a>,
    /// Terminals.
    terminals: Vec<String>,
    /// Functions.
    functions: Vec<&'static str>,
    /// `--seed`.
    seed: u64,
    /// `--runs`.
    runs_asked: u64,
    /// Runs that were not stopped.
    runs_finished: u64,
    /// Whether the command was stopped.
    interrupted: bool,
    /// Runs with a formula without violations.
    success: Rate,
    /// Runs whose formula a player can rely on.
    strategies: Rate,
    /// Larger positions that formulas are checked on.
    held_out: HeldOutRow,
    /// The runs.
    runs: Vec<RunRow>,
    /// Best formulas by size, over all runs.
    pareto: Vec<SizeRow>,
    /// Where the best formula is wrong; null if nowhere.
    best_is_wrong_at: Option<WrongAt>,
    /// Whether the text has the genes of each run.
    #[serde(skip)]
    chromosomes: bool,
}

/// The settings of a run.
#[derive(Serialize)]
struct RunSettings<'a> {
    #[serde(flatten)]
    settings: &'a Settings,
    /// Pairs of parents in a generation: `steps` as a number.
    pairs_per_generation: usize,
}

/// A share of the finished runs.
#[derive(Serialize)]
struct Rate {
    /// Such runs.
    runs: u64,
    /// Share of the finished runs.
    rate: f64,
    /// Wilson's 95 % interval of the rate.
    wilson_95: (f64, f64),
}

impl Rate {
    fn text(&self, finished: u64) -> String {
        let [percent, low, high] = [self.rate, self.wilson_95.0, self.wilson_95.1].map(|rate| rate * 100.0);
        format!("{} of {finished} runs, {percent:.1} % (95 % by Wilson: {low:.1} to {high:.1} %)", self.runs)
    }
}

/// Positions that no run has seen.
#[derive(Serialize)]
struct HeldOutRow {
    /// Largest heap.
    heap_max: Option<i32>,
    /// Their number.
    positions: usize,
}

/// A run.
#[derive(Serialize)]
struct RunRow {
    /// Number of the run, from 1.
    run: u64,
    /// Whether it was not stopped.
    finished: bool,
    /// Generation of the success.
    generation: Option<u32>,
    /// Formulas judged.
    judged: u64,
    /// Violations of the best formula; null if it has no value.
    violations: Option<u32>,
    /// Violations by rule.
    violations_by_rule: Violations,
    /// The best formula.
    formula: String,
    /// The same, simplified.
    simplified: String,
    /// Symbols of the simplified formula.
    size: usize,
    /// Whether these are fewer.
    #[serde(skip)]
    is_shorter: bool,
    /// Its genes.
    chromosome: Vec<String>,
    /// The gene that stands for it, from 1.
    gene: usize,
    /// How far the formula can be trusted; null with violations.
    check: Option<Verdict>,
    /// Best formulas by size.
    front: Vec<SizeRow>,
}

/// A formula that no smaller one equals.
#[derive(Serialize)]
struct SizeRow {
    /// Symbols.
    size: usize,
    /// Violations; null if it has no value.
    violations: Option<u32>,
    /// The formula.
    formula: String,
}

impl SizeRow {
    fn new(violations: u32, formula: &Formula, scope: &Scope) -> SizeRow {
        SizeRow { size: formula.size(), violations: with_value(violations), formula: formula.text(scope) }
    }
}

/// Returns the violations of a formula that has a value.
fn with_value(violations: u32) -> Option<u32> {
    (violations != WORST).then_some(violations)
}

/// Where a formula is wrong.
#[derive(Serialize)]
struct WrongAt {
    /// The formula.
    formula: String,
    /// The positions.
    positions: Vec<BrokenPosition>,
}

/// Runs the command.
pub fn run(args: RunArgs, json: bool, out: &mut dyn Write) -> anyhow::Result<u8> {
    let subject = args.game.read()?;
    let settings = args.settings.settings(subject.target)?;
    let graph = subject.graph(settings.ordering)?;
    let alphabet = args.settings.alphabet(&graph.scope)?;
    let help = "see trinim-evolve run --help";
    let problem = Problem::new(graph, alphabet, &settings).map_err(|error| refused(error, help))?;
    let trained = subject.game.largest();
    if let Some(most) = args.max.max.filter(|most| *most <= trained) {
        let message = format!("--max {most}: formulas are found on heaps up to {trained}, expected a larger number");
        return Err(refused(message, "leave out --max for a range that is quick"));
    }
    // Fail before hours of work, not after them.
    let held = subject.held_out(settings.ordering, args.max.max)?;
    let (stop, bar) = (Stop::at_signals()?, progress(args.runs));
    let (seed, threads) = (args.search.seed, args.search.threads());
    let bench = Bench { seed, threads, stop: &stop.flag, finished: &|| bar.inc(1) };
    let runs = bench.run_all(&problem, &settings, 0..args.runs);
    bar.finish_and_clear();
    let report = Report::new(&args, &subject, &problem, &settings, &held, &runs);
    write(out, json, "trinim.evolve.run/1", &report)?;
    Ok(match report.interrupted {
        true => stop.code(format_args!("after {} of {} runs", report.runs_finished, args.runs)),
        false => 0,
    })
}

/// Describes each run, and checks its formula if it has no violations.
fn rows<'a>(problem: &Problem, settings: &Settings, held: &HeldOut, runs: &'a [Run]) -> Vec<RunRow> {
    let Problem { graph, alphabet, .. } = problem;
    let (scope, on_fault) = (&graph.scope, settings.zero.on_fault());
    let mut known: HashMap<&Formula, Verdict> = HashMap::new();
    let row = |Run { run, finished, success, judged, best, front }: &'a Run| {
        let formula = &best.formula;
        let column = formula.column(scope, graph.features(), on_fault).ok();
        let by_rule = column.map(|column| violations(graph, settings.target, settings.count, &column));
        let simple = simplify(formula);
        let check = || Verdict::new(held, formula, on_fault);
        RunRow {
            run: run + 1,
            finished: *finished,
            generation: *success,
            judged: *judged,
            violations: with_value(best.violations),
            violations_by_rule: by_rule.unwrap_or_default(),
            formula: formula.text(scope),
            simplified: simple.text(scope),
            size: simple.size(),
            is_shorter: simple.size() < formula.size(),
            chromosome: alphabet.text(&best.genes, |terminal| scope.name(terminal)),
            gene: best.place + 1,
            check: success.map(|_| known.entry(formula).or_insert_with(check).clone()),
            front: front.iter().map(|found| SizeRow::new(found.violations, &found.formula, scope)).collect(),
        }
    };
    runs.iter().map(row).collect()
}

impl<'a> Report<'a> {
    fn new(
        args: &RunArgs,
        subject: &Subject,
        problem: &Problem,
        settings: &'a Settings,
        held: &HeldOut,
        runs: &[Run],
    ) -> Report<'a> {
        let Problem { graph, alphabet, .. } = problem;
        let (scope, &Settings { target, count, .. }) = (&graph.scope, settings);
        let rows = rows(problem, settings, held, runs);
        let finished = rows.iter().filter(|run| run.finished).count() as u64;
        let rate = |is_one: fn(&RunRow) -> bool| {
            let runs = rows.iter().filter(|run| is_one(run)).count() as u64;
            Rate { runs, rate: runs as f64 / finished.max(1) as f64, wilson_95: wilson(runs, finished) }
        };
        let best = runs.iter().map(|run| &run.best).min_by_key(|best| best.violations);
        let wrong_at = best.filter(|best| best.violations > 0).and_then(|Candidate { formula, .. }| {
            let column = formula.column(scope, graph.features(), settings.zero.on_fault()).ok()?;
            Some(WrongAt { formula: formula.text(scope), positions: wrong(graph, target, count, &column) })
        });
        Report {
            game: subject.game.to_string(),
            rule: subject.rule,
            target,
            positions: graph.len(),
            options: graph.options_total(),
            preset: args.settings.preset,
            settings: RunSettings { settings, pairs_per_generation: settings.pairs() },
            terminals: alphabet.terminals.iter().map(|terminal| scope.name(*terminal)).collect(),
            functions: alphabet.functions.iter().map(|op| op.name()).collect(),
            seed: args.search.seed,
            runs_asked: args.runs,
            runs_finished: finished,
            interrupted: finished < args.runs,
            success: rate(|run| run.generation.is_some()),
            strategies: rate(|run| run.check.as_ref().is_some_and(|check| check.strategy)),
            held_out: HeldOutRow { heap_max: held.heap_max, positions: held.positions() },
            pareto: pareto(runs.iter().flat_map(|run| &run.front), scope),
            best_is_wrong_at: wrong_at,
            runs: rows,
            chromosomes: args.chromosomes,
        }
    }

    fn write_runs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |run: &RunRow| match run.violations {
            None => "no value".to_owned(),
            Some(some) => format!("{some} {}", in_parentheses(&run.violations_by_rule)).trim_end().to_owned(),
        };
        let violations: Vec<String> = self.runs.iter().map(text).collect();
        let width = violations.iter().map(String::len).fold("violations".len(), usize::max);
        // The column where the formulas begin.
        let indent = width + 19;
        writeln!(f, "\n{:>5} {:>10} {:>width$}  formula", "run", "generation", "violations")?;
        for (run, violations) in self.runs.iter().zip(violations) {
            let generation = match run.generation {
                Some(generation) => generation.to_string(),
                None if run.finished => "-".to_owned(),
                None => "stopped".to_owned(),
            };
            writeln!(f, "{:>5} {generation:>10} {violations:>width$}  {}", run.run, run.formula)?;
            let simplified = run.is_shorter.then(|| format!("= {}", run.simplified));
            let check = run.check.as_ref().map(|check| check.text(self.held_out.heap_max));
            let genes = run.chromosome.iter().filter(|_| self.chromosomes).cloned();
            for line in simplified.into_iter().chain(check).chain(genes) {
                writeln!(f, "{:indent$}{line}", "")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { game, rule, target, positions, held_out, runs_finished: finished, .. } = self;
        let states = ordering_in_words(self.settings.settings.ordering);
        let rows = [
            ("game", format!("{game}, {rule}, {}", name(target))),
            ("positions", format!("{positions}, {states}")),
            ("engine", in_words(self.preset, self.settings.settings)),
            ("symbols", format!("{}; {}", self.terminals.join(" "), self.functions.join(" "))),
            ("seed", self.seed.to_string()),
            ("checked on", held_in_words(held_out.heap_max, held_out.positions)),
        ];
        table(f, &rows)?;
        self.write_runs(f)?;
        if self.runs.iter().any(|run| !in_parentheses(&run.violations_by_rule).is_empty()) {
            writeln!(f, "{RULES_LEGEND}")?;
        }
        writeln!(f)?;
        if *finished == 0 {
            writeln!(f, "no run finished, so there is no success rate")?;
        } else {
            let strategies = format!("{}: right on the held-out positions too", self.strategies.text(*finished));
            table(f, &[("no violations", self.success.text(*finished)), ("strategies", strategies)])?;
        }
        writeln!(f, "\n{:>5} {:>10}  fewest violations by size", "size", "violations")?;
        for SizeRow { size, violations, formula } in &self.pareto {
            writeln!(f, "{size:>5} {:>10}  {formula}", violations.unwrap_or(WORST))?;
        }
        if let Some(WrongAt { formula, positions }) = &self.best_is_wrong_at {
            writeln!(f, "\nnone found; the best one, {formula}, is wrong at")?;
            write_wrong(positions, "  ", f)?;
        }
        Ok(())
    }
}

/// Returns the formulas with fewer violations than all smaller ones, smallest first.
fn pareto<'a>(found: impl Iterator<Item = &'a Candidate>, scope: &Scope) -> Vec<SizeRow> {
    let valued = found.filter(|found| found.violations != WORST);
    let mut all: Vec<(u32, Formula)> = valued.map(|found| (found.violations, simplify(&found.formula))).collect();
    all.sort_by_key(|(violations, formula)| (formula.size(), *violations));
    let mut least = WORST;
    all.retain(|(violations, _)| {
        let is_better = *violations < least;
        least = least.min(*violations);
        is_better
    });
    all.iter().map(|(violations, formula)| SizeRow::new(*violations, formula, scope)).collect()
}
