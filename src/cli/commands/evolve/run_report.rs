//! The report of `trinim evolve run`: each run, the success rate, the Pareto list, and where the
//! best formula is wrong if none is right.

use super::args::{Chosen, held_in_words, ordering_in_words};
use super::check::Check;
use super::settings::{Preset, in_words};
use crate::cli::face::output::{Out, grouped};
use crate::cli::words::choice::name;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;
use std::io::Write;
use trinim::game::Rule;
use trinim_evolve::check::HeldOut;
use trinim_evolve::engine::{Found, Problem, Run, WORST};
use trinim_evolve::formula::Formula;
use trinim_evolve::runs::Batch;
use trinim_evolve::scope::Scope;
use trinim_evolve::score::{Target, Violations, Wrong, violations, wrong};
use trinim_evolve::settings::Settings;
use trinim_evolve::simplify::simplify;
use trinim_evolve::stats::wilson;

/// What the parentheses after a number of violations mean.
pub const RULES_LEGEND: &str = "(i:N) counts moves or positions that break rule (i): no move leads from a loss to a \
                                loss; (ii): some move leads from every win to a loss; (iii): a position without \
                                moves is a loss, in misère play a win";

/// Largest number of wrong positions to list.
const WRONG_SHOWN: usize = 20;

/// What `trinim evolve run` prints.
#[derive(Serialize, JsonSchema)]
pub struct Printed<'a> {
    /// The game, as `--game` takes it.
    game: String,
    /// Whether who makes the last move wins (`normal`) or loses (`misere`).
    rule: Rule,
    /// What a formula has to tell.
    target: Target,
    /// Positions of the game.
    positions: usize,
    /// Moves of all positions together.
    options: usize,
    /// `--preset`.
    preset: Preset,
    /// All settings of the run.
    settings: PrintedSettings<'a>,
    /// Terminals.
    terminals: Vec<String>,
    /// Functions.
    functions: Vec<&'static str>,
    /// `--seed`.
    seed: u64,
    /// `--runs`.
    runs_asked: u64,
    /// Runs that were not stopped.
    pub runs_finished: u64,
    /// Whether the command was stopped.
    pub interrupted: bool,
    /// Runs with a formula without violations.
    success: Rate,
    /// Runs whose formula a player can rely on.
    strategies: Rate,
    /// Larger positions that formulas are checked on.
    held_out: Held,
    /// The runs.
    runs: Vec<PrintedRun>,
    /// Best formulas by size, over all runs.
    pareto: Vec<OfSize>,
    /// Where the best formula is wrong; null if nowhere.
    best_is_wrong_at: Option<WrongAt>,
}

/// The settings of a run.
#[derive(Serialize, JsonSchema)]
struct PrintedSettings<'a> {
    #[serde(flatten)]
    settings: &'a Settings,
    /// Pairs of parents in a generation: `steps` as a number.
    pairs_per_generation: usize,
}

/// A share of the finished runs.
#[derive(Serialize, JsonSchema)]
struct Rate {
    /// Such runs.
    runs: u64,
    /// Share of the finished runs.
    rate: f64,
    /// Wilson's 95 % interval of the rate.
    wilson_95: (f64, f64),
}

/// Positions that no run has seen.
#[derive(Serialize, JsonSchema)]
struct Held {
    /// Largest heap.
    heap_max: Option<i32>,
    /// Their number.
    positions: usize,
}

/// A run.
#[derive(Serialize, JsonSchema)]
struct PrintedRun {
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
    check: Option<Check>,
    /// Best formulas by size.
    front: Vec<OfSize>,
}

/// A formula that no smaller one equals.
#[derive(Serialize, JsonSchema)]
struct OfSize {
    /// Symbols.
    size: usize,
    /// Violations; null if it has no value.
    violations: Option<u32>,
    /// The formula.
    formula: String,
}

impl OfSize {
    fn of(violations: u32, formula: &Formula, scope: &Scope) -> OfSize {
        OfSize { size: formula.size(), violations: counted(violations), formula: formula.text(scope) }
    }
}

/// Returns the violations of a formula that has a value.
fn counted(violations: u32) -> Option<u32> {
    (violations != WORST).then_some(violations)
}

/// Where a formula is wrong.
#[derive(Serialize, JsonSchema)]
struct WrongAt {
    /// The formula.
    formula: String,
    /// The positions.
    positions: Vec<Wrong>,
}

impl<'a> Printed<'a> {
    /// Checks the formulas of all runs.
    pub fn new(
        chosen: &Chosen,
        problem: &Problem,
        preset: Preset,
        settings: &'a Settings,
        held: &HeldOut,
        batch: &Batch,
        runs: &[Run],
    ) -> Printed<'a> {
        let Problem { graph, alphabet, .. } = problem;
        let scope = &graph.scope;
        let Settings { target, count, .. } = *settings;
        let on_fault = settings.zero.on_fault();
        let column = |formula: &Formula| formula.column(scope, graph.features(), on_fault).ok();
        let mut known: HashMap<&Formula, Check> = HashMap::new();
        let mut printed = Vec::new();
        for Run { run, finished, success, judged, best, front } in runs {
            let formula = &best.formula;
            let judge = || {
                let standing = held.standing(formula, on_fault);
                Check::of(&standing, held.theorems(formula, &standing).as_ref())
            };
            let by_rule = column(formula).map(|column| violations(graph, target, count, &column));
            let simple = simplify(formula);
            printed.push(PrintedRun {
                run: run + 1,
                finished: *finished,
                generation: *success,
                judged: *judged,
                violations: counted(best.violations),
                violations_by_rule: by_rule.unwrap_or_default(),
                formula: formula.text(scope),
                simplified: simple.text(scope),
                size: simple.size(),
                is_shorter: simple.size() < formula.size(),
                chromosome: alphabet.text(&best.genes, |terminal| scope.name(terminal)),
                gene: best.place + 1,
                check: success.map(|_| known.entry(formula).or_insert_with(judge).clone()),
                front: front.iter().map(|found| OfSize::of(found.violations, &found.formula, scope)).collect(),
            });
        }
        let finished = printed.iter().filter(|run| run.finished).count() as u64;
        let rate = |is_one: fn(&PrintedRun) -> bool| {
            let runs = printed.iter().filter(|run| is_one(run)).count() as u64;
            Rate { runs, rate: runs as f64 / finished.max(1) as f64, wilson_95: wilson(runs, finished) }
        };
        let best = runs.iter().map(|run| &run.best).min_by_key(|best| best.violations);
        let wrong_at = best.filter(|best| best.violations > 0).and_then(|best| {
            let positions = wrong(graph, target, count, &column(&best.formula)?);
            Some(WrongAt { formula: best.formula.text(scope), positions })
        });
        Printed {
            game: chosen.game.to_string(),
            rule: chosen.rule,
            target,
            positions: graph.len(),
            options: graph.options_total(),
            preset,
            settings: PrintedSettings { settings, pairs_per_generation: settings.pairs() },
            terminals: alphabet.terminals.iter().map(|terminal| scope.name(*terminal)).collect(),
            functions: alphabet.functions.iter().map(|op| op.name()).collect(),
            seed: batch.seed,
            runs_asked: batch.runs.end,
            runs_finished: finished,
            interrupted: finished < batch.runs.end,
            success: rate(|run| run.generation.is_some()),
            strategies: rate(|run| run.check.as_ref().is_some_and(|check| check.strategy)),
            held_out: Held { heap_max: held.heap_max, positions: held.positions() },
            pareto: pareto(runs.iter().flat_map(|run| &run.front), scope),
            best_is_wrong_at: wrong_at,
            runs: printed,
        }
    }

    /// Prints the report as text.
    pub fn print(&self, chromosomes: bool, out: &mut Out) -> anyhow::Result<()> {
        let Printed { game, rule, target, held_out, .. } = self;
        let states = ordering_in_words(self.settings.settings.ordering);
        out.table(&[
            ("game", format!("{game}, {rule}, {}", name(target))),
            ("positions", format!("{}, {states}", grouped(self.positions as u64))),
            ("engine", in_words(self.preset, self.settings.settings)),
            ("symbols", format!("{}; {}", self.terminals.join(" "), self.functions.join(" "))),
            ("seed", self.seed.to_string()),
            ("checked on", held_in_words(held_out.heap_max, held_out.positions)),
        ])?;
        let violations: Vec<String> = self.runs.iter().map(PrintedRun::violations_text).collect();
        let width = violations.iter().map(String::len).fold("violations".len(), usize::max);
        // The column where the formulas begin.
        let indent = width + 19;
        writeln!(out, "\n{:>5} {:>10} {:>width$}  formula", "run", "generation", "violations")?;
        for (run, violations) in self.runs.iter().zip(violations) {
            let generation = match run.generation {
                Some(generation) => generation.to_string(),
                None if run.finished => "-".to_owned(),
                None => "stopped".to_owned(),
            };
            writeln!(out, "{:>5} {generation:>10} {violations:>width$}  {}", run.run, run.formula)?;
            if run.is_shorter {
                writeln!(out, "{:indent$}= {}", "", run.simplified)?;
            }
            if let Some(check) = &run.check {
                let text = check.text(held_out.heap_max);
                let paint = if check.strategy { out.paint.good(text) } else { out.paint.bad(text) };
                writeln!(out, "{:indent$}{paint}", "")?;
            }
            for gene in run.chromosome.iter().filter(|_| chromosomes) {
                writeln!(out, "{:indent$}{}", "", out.paint.faint(gene))?;
            }
        }
        if self.runs.iter().any(|run| !by_rule(&run.violations_by_rule).is_empty()) {
            out.paragraph(RULES_LEGEND)?;
        }
        self.print_rates(out)?;
        writeln!(out, "\n{:>5} {:>10}  fewest violations by size", "size", "violations")?;
        for OfSize { size, violations, formula } in &self.pareto {
            writeln!(out, "{size:>5} {:>10}  {formula}", violations.unwrap_or(WORST))?;
        }
        if let Some(WrongAt { formula, positions }) = &self.best_is_wrong_at {
            writeln!(out, "\nnone found; the best one, {formula}, is wrong at")?;
            print_wrong(positions, "  ", out)?;
        }
        Ok(())
    }

    fn print_rates(&self, out: &mut Out) -> anyhow::Result<()> {
        let finished = self.runs_finished;
        if finished == 0 {
            writeln!(out, "\nno run finished, so there is no success rate")?;
            return Ok(());
        }
        let rate = |Rate { runs, wilson_95: (low, high), .. }: &Rate| {
            let percent = *runs as f64 * 100.0 / finished as f64;
            let (low, high) = (low * 100.0, high * 100.0);
            format!("{runs} of {finished} runs, {percent:.1} % (95 % by Wilson: {low:.1} to {high:.1} %)")
        };
        writeln!(out)?;
        out.table(&[
            ("no violations", rate(&self.success)),
            ("strategies", format!("{}: right on the held-out positions too", rate(&self.strategies))),
        ])?;
        Ok(())
    }
}

impl PrintedRun {
    fn violations_text(&self) -> String {
        match self.violations {
            None => "no value".to_owned(),
            Some(some) => format!("{some} {}", by_rule(&self.violations_by_rule)).trim_end().to_owned(),
        }
    }
}

/// Lists the first positions that break a rule, each on a line.
pub fn print_wrong(wrong: &[Wrong], indent: &str, out: &mut Out) -> anyhow::Result<()> {
    for Wrong { position, rule, broken } in wrong.iter().take(WRONG_SHOWN) {
        writeln!(out, "{indent}{position} {rule}: {broken}")?;
    }
    if wrong.len() > WRONG_SHOWN {
        writeln!(out, "{indent}and {} more; --json lists all", wrong.len() - WRONG_SHOWN)?;
    }
    Ok(())
}

/// Lists the violations by rule in parentheses, without rules that are never broken.
pub fn by_rule(violations: &Violations) -> String {
    let parts = [(violations.rule_1, "i"), (violations.rule_2, "ii"), (violations.rule_3, "iii")];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, rule)| format!("{rule}:{count}")).collect();
    if parts.is_empty() { String::new() } else { format!("({})", parts.join(" ")) }
}

/// Returns the formulas with fewer violations than all smaller ones, smallest first.
fn pareto<'a>(found: impl Iterator<Item = &'a Found>, scope: &Scope) -> Vec<OfSize> {
    let mut all: Vec<(u32, Formula)> = found
        .filter(|found| found.violations != WORST)
        .map(|found| (found.violations, simplify(&found.formula)))
        .collect();
    all.sort_by_key(|(violations, formula)| (formula.size(), *violations));
    let mut least = WORST;
    all.retain(|(violations, _)| {
        let is_better = *violations < least;
        least = least.min(*violations);
        is_better
    });
    all.iter().map(|(violations, formula)| OfSize::of(*violations, formula, scope)).collect()
}
