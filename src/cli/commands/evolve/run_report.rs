//! The report of `trinim evolve run`: each run, the success rate, the Pareto list, and where the
//! best formula is wrong if none is right.

use super::args::{Chosen, held_in_words, ordering_in_words};
use super::settings::{Preset, in_words};
use super::theorems::{TheoremRow, integers_text, printed};
use crate::cli::face::output::{Out, grouped};
use crate::cli::words::choice::name;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;
use std::io::Write;
use trinim_evolve::check::{HeldOut, Standing, Theorems};
use trinim_evolve::engine::{Found, Problem, Run, WORST};
use trinim_evolve::formula::Formula;
use trinim_evolve::graph::Ordering;
use trinim_evolve::runs::Batch;
use trinim_evolve::scope::Scope;
use trinim_evolve::score::{Target, Violations, Wrong, violations, wrong};
use trinim_evolve::settings::Settings;
use trinim_evolve::simplify::simplify;
use trinim_evolve::stats::wilson;
use trinim_evolve::truth::{Counterexample, FoundBy};

/// What the parentheses after a number of violations mean.
pub const RULES_LEGEND: &str = "(i:N) counts moves or positions that break rule (i): no move leads from a loss to a \
                                loss; (ii): some move leads from every win to a loss; (iii): a position without \
                                moves is a loss, in misère play a win";

/// Largest number of wrong positions to list.
const WRONG_SHOWN: usize = 20;

/// A run with the analysis of its formula.
struct Row<'a> {
    run: &'a Run,
    violations: Violations,
    simple: Formula,
    /// Only for a formula without violations.
    standing: Option<(Standing, Option<Theorems>)>,
}

impl Row<'_> {
    fn violations_text(&self) -> String {
        match self.run.best.violations {
            WORST => "no value".to_owned(),
            some => format!("{some} {}", by_rule(&self.violations)).trim_end().to_owned(),
        }
    }
}

/// The data of the report.
pub struct Report<'a> {
    chosen: &'a Chosen,
    problem: &'a Problem,
    settings: &'a Settings,
    held: &'a HeldOut,
    batch: &'a Batch,
    rows: Vec<Row<'a>>,
    pareto: Vec<(u32, Formula)>,
}

/// Describes a counterexample.
pub fn counterexample_text(counterexample: &Counterexample) -> String {
    let because = counterexample.because.as_ref().map_or(String::new(), |option| format!(", by a move to {option}"));
    let found = match counterexample.found_by {
        FoundBy::Check => "",
        FoundBy::Probe => "; found by probing large heaps, then shrunk",
        FoundBy::Proof => "; found by the proof for all heaps, then shrunk",
    };
    format!(
        "{}: the formula says {}, true is {}{because}{found}",
        counterexample.label, counterexample.said, counterexample.truth
    )
}

/// What `trinim evolve run` prints.
#[derive(Serialize, JsonSchema)]
pub struct Printed<'a> {
    /// The game, as `--game` takes it.
    game: String,
    /// Whether who makes the last move wins (`normal`) or loses (`misere`).
    #[schemars(with = "trinim::game::Rule")]
    rule: &'a str,
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
    functions: Vec<&'a str>,
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
    held_out: Held,
    /// The runs.
    runs: Vec<PrintedRun<'a>>,
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
struct PrintedRun<'a> {
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
    /// Its genes.
    chromosome: Vec<String>,
    /// The gene that stands for it, from 1.
    gene: usize,
    /// How far the formula can be trusted; null with violations.
    check: Option<Check<'a>>,
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
        OfSize { size: formula.size(), violations: count(violations), formula: formula.text(scope) }
    }
}

/// Returns the violations of a formula that has a value.
fn count(violations: u32) -> Option<u32> {
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

/// How far a formula can be trusted.
#[derive(Serialize, JsonSchema)]
pub struct Check<'a> {
    /// `proved`, `checked`, `refuted` or `unchecked`.
    verdict: &'static str,
    /// Whether a player can rely on it.
    strategy: bool,
    /// Whether it is right for all heaps; null if no theorem is known for the game.
    theorems: Option<Vec<TheoremRow<'a>>>,
    /// With `proved` and `checked`: orderings of the heaps for which it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<Ordering>,
    /// With `proved` by a theorem about the game: the argument.
    #[serde(skip_serializing_if = "Option::is_none")]
    theorem: Option<&'a str>,
    /// With `checked`: why it is not proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_proof_because: Option<&'a str>,
    /// With `refuted`: where it is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    counterexample: Option<&'a Counterexample>,
}

impl<'a> Check<'a> {
    /// Returns the verdict on a formula.
    pub fn of(standing: &'a Standing, theorems: Option<&'a Theorems>) -> Check<'a> {
        let (mut theorem, mut no_proof_because, mut counterexample) = (None, None, None);
        match standing {
            Standing::Theorem(_, argument) => theorem = Some(argument.as_str()),
            Standing::Checked(_, reason) => no_proof_because = Some(reason.as_str()),
            Standing::Refuted(found) => counterexample = Some(found),
            Standing::Proved(_) | Standing::Unchecked => {}
        }
        Check {
            verdict: standing.word(),
            strategy: standing.is_strategy(),
            theorems: theorems.map(printed),
            states: standing.ordering(),
            theorem,
            no_proof_because,
            counterexample,
        }
    }
}

/// Describes how far a formula can be trusted.
pub fn standing_text(standing: &Standing, theorems: Option<&Theorems>, held: &HeldOut) -> String {
    let range = held.heap_max.map_or(String::new(), |most| format!(" to heaps of {most}"));
    let states = standing.ordering().map_or("", ordering_in_words);
    let text = match standing {
        Standing::Proved(_) => format!("proved for all heaps, {states}: for 32-bit words"),
        Standing::Theorem(..) => format!("proved for all heaps up to 2,147,483,647, {states}"),
        Standing::Checked(..) => format!("checked{range}, {states}"),
        Standing::Refuted(counterexample) => format!("wrong at {}", counterexample_text(counterexample)),
        Standing::Unchecked => "not checked: the next larger heaps have too many positions".to_owned(),
    };
    text + &integers_text(standing, theorems)
}

impl<'a> Report<'a> {
    /// Checks the formulas of all runs.
    pub fn new(
        chosen: &'a Chosen,
        problem: &'a Problem,
        settings: &'a Settings,
        held: &'a HeldOut,
        batch: &'a Batch,
        runs: &'a [Run],
    ) -> Report<'a> {
        let mut report = Report { chosen, problem, settings, held, batch, rows: Vec::new(), pareto: Vec::new() };
        let mut known: HashMap<&Formula, (Standing, Option<Theorems>)> = HashMap::new();
        for run in runs {
            let formula = &run.best.formula;
            let judge = || {
                let standing = held.standing(formula, settings.zero.on_fault());
                let theorems = held.theorems(formula, &standing);
                (standing, theorems)
            };
            let standing = run.success.map(|_| known.entry(formula).or_insert_with(judge).clone());
            let violations = report.violations_of(formula).unwrap_or_default();
            report.rows.push(Row { run, violations, simple: simplify(formula), standing });
        }
        report.pareto = pareto(runs.iter().flat_map(|run| &run.front));
        report
    }

    fn column_of(&self, formula: &Formula) -> Option<Vec<i32>> {
        let graph = &self.problem.graph;
        formula.column(&graph.scope, graph.features(), self.settings.zero.on_fault()).ok()
    }

    fn violations_of(&self, formula: &Formula) -> Option<Violations> {
        let column = self.column_of(formula)?;
        let Problem { graph, labels, .. } = self.problem;
        Some(violations(graph, labels, self.settings.target, self.settings.count, &column))
    }

    /// Finished runs: only these count for the success rate.
    fn finished(&self) -> u64 {
        self.rows.iter().filter(|row| row.run.finished).count() as u64
    }

    fn successes(&self) -> u64 {
        self.rows.iter().filter(|row| row.run.success.is_some()).count() as u64
    }

    fn strategies(&self) -> u64 {
        let is_strategy = |row: &&Row<'_>| row.standing.as_ref().is_some_and(|(standing, _)| standing.is_strategy());
        self.rows.iter().filter(is_strategy).count() as u64
    }

    /// Returns where the formula with the fewest violations breaks a rule; `None` if it breaks
    /// none.
    fn wrong(&self) -> Option<(&Formula, Vec<Wrong>)> {
        let best = self.rows.iter().map(|row| &row.run.best).min_by_key(|best| best.violations)?;
        let column = self.column_of(&best.formula).filter(|_| best.violations > 0)?;
        let Problem { graph, labels, .. } = self.problem;
        Some((&best.formula, wrong(graph, labels, self.settings.target, self.settings.count, &column)))
    }

    fn printed_run<'b>(&'b self, row: &'b Row<'a>) -> PrintedRun<'b> {
        let scope = &self.problem.graph.scope;
        let standing = row.standing.as_ref();
        PrintedRun {
            run: row.run.run + 1,
            finished: row.run.finished,
            generation: row.run.success,
            judged: row.run.judged,
            violations: count(row.run.best.violations),
            violations_by_rule: row.violations,
            formula: row.run.best.formula.text(scope),
            simplified: row.simple.text(scope),
            size: row.simple.size(),
            chromosome: self.problem.alphabet.text(&row.run.best.genes, |terminal| scope.name(terminal)),
            gene: row.run.best.place + 1,
            check: standing.map(|(standing, theorems)| Check::of(standing, theorems.as_ref())),
            front: row.run.front.iter().map(|found| OfSize::of(found.violations, &found.formula, scope)).collect(),
        }
    }

    /// Returns the report as it is printed with `--json`.
    pub fn printed(&self, preset: Preset, interrupted: bool) -> Printed<'_> {
        let Problem { graph, alphabet, .. } = self.problem;
        let scope = &graph.scope;
        let finished = self.finished();
        let rate =
            |runs: u64| Rate { runs, rate: runs as f64 / finished.max(1) as f64, wilson_95: wilson(runs, finished) };
        let wrong = self.wrong();
        Printed {
            game: self.chosen.game.to_string(),
            rule: self.chosen.rule.name(),
            target: self.settings.target,
            positions: graph.len(),
            options: graph.options_total(),
            preset,
            settings: PrintedSettings { settings: self.settings, pairs_per_generation: self.settings.pairs() },
            terminals: alphabet.terminals.iter().map(|terminal| scope.name(*terminal)).collect(),
            functions: alphabet.functions.iter().map(|op| op.name()).collect(),
            seed: self.batch.seed,
            runs_asked: self.batch.runs.end,
            runs_finished: finished,
            interrupted,
            success: rate(self.successes()),
            strategies: rate(self.strategies()),
            held_out: Held { heap_max: self.held.heap_max, positions: self.held.positions() },
            runs: self.rows.iter().map(|row| self.printed_run(row)).collect(),
            pareto: self.pareto.iter().map(|(violations, formula)| OfSize::of(*violations, formula, scope)).collect(),
            best_is_wrong_at: wrong.map(|(formula, positions)| WrongAt { formula: formula.text(scope), positions }),
        }
    }

    /// Prints the report as text.
    pub fn print(&self, preset: Preset, chromosomes: bool, out: &mut Out) -> anyhow::Result<()> {
        let graph = &self.problem.graph;
        let scope = &graph.scope;
        let Chosen { game, rule, .. } = self.chosen;
        let terminals: Vec<String> =
            self.problem.alphabet.terminals.iter().map(|terminal| scope.name(*terminal)).collect();
        let functions: Vec<&str> = self.problem.alphabet.functions.iter().map(|op| op.name()).collect();
        out.table(&[
            ("game", format!("{game}, {rule}, {}", name(&self.settings.target))),
            ("positions", format!("{}, {}", grouped(graph.len() as u64), ordering_in_words(self.settings.ordering))),
            ("engine", in_words(preset, self.settings)),
            ("symbols", format!("{}; {}", terminals.join(" "), functions.join(" "))),
            ("seed", self.batch.seed.to_string()),
            ("checked on", held_in_words(self.held)),
        ])?;
        let violations: Vec<String> = self.rows.iter().map(Row::violations_text).collect();
        let width = violations.iter().map(String::len).fold("violations".len(), usize::max);
        // The column where the formulas begin.
        let indent = width + 19;
        writeln!(out, "\n{:>5} {:>10} {:>width$}  formula", "run", "generation", "violations")?;
        for (row, violations) in self.rows.iter().zip(violations) {
            let generation = match row.run.success {
                Some(generation) => generation.to_string(),
                None if row.run.finished => "-".to_owned(),
                None => "stopped".to_owned(),
            };
            let formula = row.run.best.formula.text(scope);
            writeln!(out, "{:>5} {generation:>10} {violations:>width$}  {formula}", row.run.run + 1)?;
            if row.simple.size() < row.run.best.formula.size() {
                writeln!(out, "{:indent$}= {}", "", row.simple.text(scope))?;
            }
            if let Some((standing, theorems)) = &row.standing {
                let text = standing_text(standing, theorems.as_ref(), self.held);
                let paint = if standing.is_strategy() { out.paint.good(text) } else { out.paint.bad(text) };
                writeln!(out, "{:indent$}{paint}", "")?;
            }
            if chromosomes {
                for gene in self.problem.alphabet.text(&row.run.best.genes, |terminal| scope.name(terminal)) {
                    writeln!(out, "{:indent$}{}", "", out.paint.faint(gene))?;
                }
            }
        }
        if self.rows.iter().any(|row| !by_rule(&row.violations).is_empty()) {
            out.paragraph(RULES_LEGEND)?;
        }
        self.print_rates(out)?;
        writeln!(out, "\n{:>5} {:>10}  fewest violations by size", "size", "violations")?;
        for (violations, formula) in &self.pareto {
            writeln!(out, "{:>5} {violations:>10}  {}", formula.size(), formula.text(scope))?;
        }
        if let Some((formula, wrong)) = self.wrong() {
            writeln!(out, "\nnone found; the best one, {}, is wrong at", formula.text(scope))?;
            for Wrong { position, rule, broken } in wrong.iter().take(WRONG_SHOWN) {
                writeln!(out, "  {position} {rule}: {broken}")?;
            }
            if wrong.len() > WRONG_SHOWN {
                writeln!(out, "  and {} more; --json lists all", wrong.len() - WRONG_SHOWN)?;
            }
        }
        Ok(())
    }

    fn print_rates(&self, out: &mut Out) -> anyhow::Result<()> {
        let (finished, successes, strategies) = (self.finished(), self.successes(), self.strategies());
        if finished == 0 {
            writeln!(out, "\nno run finished, so there is no success rate")?;
            return Ok(());
        }
        let rate = |hits: u64| {
            let (low, high) = wilson(hits, finished);
            let percent = hits as f64 * 100.0 / finished as f64;
            format!(
                "{hits} of {finished} runs, {percent:.1} % (95 % by Wilson: {:.1} to {:.1} %)",
                low * 100.0,
                high * 100.0
            )
        };
        writeln!(out)?;
        out.table(&[
            ("no violations", rate(successes)),
            ("strategies", format!("{}: right on the held-out positions too", rate(strategies))),
        ])?;
        Ok(())
    }
}

/// Lists the violations by rule in parentheses, without rules that are never broken.
pub fn by_rule(violations: &Violations) -> String {
    let parts = [(violations.rule_1, "i"), (violations.rule_2, "ii"), (violations.rule_3, "iii")];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, rule)| format!("{rule}:{count}")).collect();
    if parts.is_empty() { String::new() } else { format!("({})", parts.join(" ")) }
}

/// Returns the formulas with fewer violations than all smaller ones, smallest first.
fn pareto<'a>(found: impl Iterator<Item = &'a Found>) -> Vec<(u32, Formula)> {
    let mut all: Vec<(usize, u32, Formula)> = found
        .filter(|found| found.violations != WORST)
        .map(|found| {
            let simple = simplify(&found.formula);
            (simple.size(), found.violations, simple)
        })
        .collect();
    all.sort_by_key(|(size, violations, _)| (*size, *violations));
    let mut least = None;
    let mut front = Vec::new();
    for (_, violations, formula) in all {
        if least.is_none_or(|least| violations < least) {
            least = Some(violations);
            front.push((violations, formula));
        }
    }
    front
}
