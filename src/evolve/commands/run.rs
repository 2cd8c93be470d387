//! `trinim-evolve run`: runs of the engine, and a check of each formula on more positions than
//! those it was found on.

use super::args::{GameArgs, MaxArgs, SearchArgs, Subject, held_in_words, ordering_in_words};
use super::output::{Stop, name, refused, table, write_sorted};
use super::score::{RULES_LEGEND, in_parentheses, write_wrong};
use super::settings::{SettingsArgs, in_words, set_help};
use super::verify::Verdict;
use clap::Args;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, Write};
use trinim_evolve::games::Ordering;
use trinim_evolve::language::{Formula, Scope, simplify};
use trinim_evolve::proof::HeldOut;
use trinim_evolve::search::{
    Bench, BrokenPosition, Candidate, Problem, Run, Settings, Violations, WORST, violations, wilson, wrong,
};

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

pub fn run(args: &RunArgs, json: bool, out: &mut dyn Write) -> anyhow::Result<u8> {
    let subject = args.game.read()?;
    let settings = args.settings.settings(subject.target)?;
    let smaller = match settings.ordering {
        Ordering::All => "use fewer or smaller heaps, or --states canonical",
        _ => "use fewer or smaller heaps",
    };
    let graph = subject.graph(settings.ordering, smaller)?;
    let alphabet = args.settings.alphabet(&graph.scope)?;
    let help = "see trinim-evolve run --help";
    let problem = Problem::new(graph, alphabet, &settings).map_err(|error| refused(error, help))?;
    let trained = subject.game.largest();
    if let Some(most) = args.max.max.filter(|most| *most <= trained) {
        let message = format!("--max {most}: formulas are found on heaps up to {trained}, expected a larger number");
        return Err(refused(message, "leave out --max to use a quick range"));
    }
    // Fails before hours of work, not after them.
    let held = subject.held_out(settings.ordering, args.max.max)?;
    let stop = Stop::at_signals()?;
    let all = |bench: &Bench<'_>| bench.run_all(&problem, &settings, 0..args.runs);
    let runs = args.search.with_bench(args.runs, &stop, all);
    let report = Report::new(args, &subject, &problem, &settings, &held, &runs);
    match json {
        true => write_sorted(out, "trinim.evolve.run/1", report.json())?,
        false => report.write(out)?,
    }
    match report.finished {
        finished if finished < args.runs => Ok(stop.code(format_args!("after {finished} of {} runs", args.runs))),
        _ => Ok(0),
    }
}

/// A run, and the verdict on its formula.
struct Row<'a> {
    run: &'a Run,
    by_rule: Violations,
    simple: Formula,
    /// `None` if the formula has violations.
    check: Option<Verdict>,
}

struct Report<'a> {
    args: &'a RunArgs,
    subject: &'a Subject,
    problem: &'a Problem,
    settings: &'a Settings,
    held: &'a HeldOut,
    rows: Vec<Row<'a>>,
    /// Runs that were not stopped.
    finished: u64,
    /// Formulas with fewer violations than all smaller ones, smallest first.
    pareto: Vec<(u32, Formula)>,
    /// The best formula and where it is wrong.
    wrong_at: Option<(String, Vec<BrokenPosition>)>,
}

impl<'a> Report<'a> {
    fn new(
        args: &'a RunArgs,
        subject: &'a Subject,
        problem: &'a Problem,
        settings: &'a Settings,
        held: &'a HeldOut,
        runs: &'a [Run],
    ) -> Report<'a> {
        let (graph, on_fault) = (&problem.graph, settings.zero.on_fault());
        let column = |formula: &Formula| formula.column(&graph.scope, graph.features(), on_fault).ok();
        let mut known: HashMap<&Formula, Verdict> = HashMap::new();
        let row = |run: &'a Run| {
            let formula = &run.best.formula;
            let by_rule = column(formula).map(|column| violations(graph, settings.target, settings.count, &column));
            let check = || Verdict::new(held, formula, on_fault);
            let check = run.success.map(|_| known.entry(formula).or_insert_with(check).clone());
            Row { run, by_rule: by_rule.unwrap_or_default(), simple: simplify(formula), check }
        };
        let rows = runs.iter().map(row).collect();
        let best = runs.iter().map(|run| &run.best).min_by_key(|best| best.violations);
        let wrong_at = best.filter(|best| best.violations > 0).and_then(|Candidate { formula, .. }| {
            let positions = wrong(graph, settings.target, settings.count, &column(formula)?);
            Some((formula.text(&graph.scope), positions))
        });
        let finished = runs.iter().filter(|run| run.finished).count() as u64;
        let pareto = pareto(runs.iter().flat_map(|run| &run.front));
        Report { args, subject, problem, settings, held, rows, finished, pareto, wrong_at }
    }

    fn successes(&self) -> u64 {
        self.rows.iter().filter(|row| row.run.success.is_some()).count() as u64
    }

    /// Counts the runs with a formula that is a reliable strategy.
    fn strategies(&self) -> u64 {
        let is_strategy = |row: &&Row<'_>| row.check.as_ref().is_some_and(|check| check.standing.is_strategy());
        self.rows.iter().filter(is_strategy).count() as u64
    }

    /// Returns the share of the finished runs, and its interval by Wilson.
    fn rate(&self, runs: u64) -> (f64, (f64, f64)) {
        (runs as f64 / self.finished.max(1) as f64, wilson(runs, self.finished))
    }

    fn json(&self) -> Value {
        let Report { args, subject, problem, settings, held, finished, .. } = self;
        let Problem { graph, alphabet, .. } = problem;
        let scope = &graph.scope;
        let rate = |runs: u64| {
            let (rate, wilson_95) = self.rate(runs);
            json!({ "runs": runs, "rate": rate, "wilson_95": wilson_95 })
        };
        let sized = |violations: u32, formula: &Formula| {
            let size = formula.size();
            json!({ "size": size, "violations": with_value(violations), "formula": formula.text(scope) })
        };
        let front = |found: &Candidate| sized(found.violations, &found.formula);
        let row = |Row { run, by_rule, simple, check }: &Row<'_>| {
            json!({
                "run": run.run + 1,
                "finished": run.finished,
                // Of the success.
                "generation": run.success,
                // Chromosomes.
                "judged": run.judged,
                // Null if the formula has no value at some position.
                "violations": with_value(run.best.violations),
                "violations_by_rule": by_rule,
                "formula": run.best.formula.text(scope),
                "simplified": simple.text(scope),
                "size": simple.size(),
                "chromosome": alphabet.text(&run.best.genes, |terminal| scope.name(terminal)),
                // The representative of the chromosome, from 1.
                "gene": run.best.place + 1,
                "check": check.as_ref().map(Verdict::json),
                "front": run.front.iter().map(front).collect::<Vec<_>>(),
            })
        };
        let mut all_settings = json!(settings);
        all_settings["pairs_per_generation"] = json!(settings.pairs());
        json!({
            "game": subject.game.to_string(),
            "rule": subject.rule,
            "target": settings.target,
            "positions": graph.len(),
            "options": graph.options_total(),
            "preset": args.settings.preset,
            "settings": all_settings,
            "terminals": alphabet.terminals.iter().map(|terminal| scope.name(*terminal)).collect::<Vec<_>>(),
            "functions": alphabet.functions.iter().map(|op| op.name()).collect::<Vec<_>>(),
            "seed": args.search.seed,
            "runs_asked": args.runs,
            "runs_finished": finished,
            "interrupted": *finished < args.runs,
            // A formula without violations; one that is a reliable strategy.
            "success": rate(self.successes()),
            "strategies": rate(self.strategies()),
            "held_out": { "heap_max": held.heap_max, "positions": held.positions() },
            "runs": self.rows.iter().map(row).collect::<Vec<_>>(),
            "pareto": self.pareto.iter().map(|(violations, formula)| sized(*violations, formula)).collect::<Vec<_>>(),
            "best_is_wrong_at": self.wrong_at.as_ref().map(|(formula, positions)| {
                json!({ "formula": formula, "positions": positions })
            }),
        })
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Report { args, subject: Subject { game, rule, target }, problem, settings, finished, .. } = self;
        let Problem { graph, alphabet, .. } = problem;
        let scope = &graph.scope;
        let terminals: Vec<String> = alphabet.terminals.iter().map(|terminal| scope.name(*terminal)).collect();
        let functions: Vec<&str> = alphabet.functions.iter().map(|op| op.name()).collect();
        let rows = [
            ("game", format!("{game}, {rule}, {}", name(target))),
            ("positions", format!("{}, {}", graph.len(), ordering_in_words(settings.ordering))),
            ("engine", in_words(args.settings.preset, settings)),
            ("symbols", format!("{}; {}", terminals.join(" "), functions.join(" "))),
            ("seed", args.search.seed.to_string()),
            ("checked on", held_in_words(self.held)),
        ];
        table(out, &rows)?;
        self.write_runs(scope, out)?;
        if self.rows.iter().any(|row| !in_parentheses(&row.by_rule).is_empty()) {
            writeln!(out, "{RULES_LEGEND}")?;
        }
        writeln!(out)?;
        let rate = |runs: u64| {
            let (rate, (low, high)) = self.rate(runs);
            let [percent, low, high] = [rate, low, high].map(|rate| rate * 100.0);
            format!("{runs} of {finished} runs, {percent:.1} % (95 % by Wilson: {low:.1} to {high:.1} %)")
        };
        if *finished == 0 {
            writeln!(out, "no run finished, so there is no success rate")?;
        } else {
            let strategies = format!("{}: right on the held-out positions too", rate(self.strategies()));
            table(out, &[("no violations", rate(self.successes())), ("strategies", strategies)])?;
        }
        writeln!(out, "\n{:>5} {:>10}  fewest violations by size", "size", "violations")?;
        for (violations, formula) in &self.pareto {
            writeln!(out, "{:>5} {violations:>10}  {}", formula.size(), formula.text(scope))?;
        }
        if let Some((formula, positions)) = &self.wrong_at {
            writeln!(out, "\nnone found; the best one, {formula}, is wrong at")?;
            write_wrong(positions, "  ", out)?;
        }
        Ok(())
    }

    fn write_runs(&self, scope: &Scope, out: &mut dyn Write) -> io::Result<()> {
        let text = |row: &Row<'_>| match with_value(row.run.best.violations) {
            None => "no value".to_owned(),
            Some(some) => format!("{some} {}", in_parentheses(&row.by_rule)).trim_end().to_owned(),
        };
        let violations: Vec<String> = self.rows.iter().map(text).collect();
        let width = violations.iter().map(String::len).fold("violations".len(), usize::max);
        // The column where the formulas begin.
        let indent = width + 19;
        writeln!(out, "\n{:>5} {:>10} {:>width$}  formula", "run", "generation", "violations")?;
        for (Row { run, simple, check, .. }, violations) in self.rows.iter().zip(violations) {
            let (formula, number) = (&run.best.formula, run.run + 1);
            let generation = match run.success {
                Some(generation) => generation.to_string(),
                None if run.finished => "-".to_owned(),
                None => "stopped".to_owned(),
            };
            writeln!(out, "{number:>5} {generation:>10} {violations:>width$}  {}", formula.text(scope))?;
            let simplified = (simple.size() < formula.size()).then(|| format!("= {}", simple.text(scope)));
            let check = check.as_ref().map(|check| check.text(self.held.heap_max));
            let genes = self.problem.alphabet.text(&run.best.genes, |terminal| scope.name(terminal));
            let genes = genes.into_iter().filter(|_| self.args.chromosomes);
            for line in simplified.into_iter().chain(check).chain(genes) {
                writeln!(out, "{:indent$}{line}", "")?;
            }
        }
        Ok(())
    }
}

/// Returns the violations of a formula that has a value.
fn with_value(violations: u32) -> Option<u32> {
    (violations != WORST).then_some(violations)
}

fn pareto<'a>(found: impl Iterator<Item = &'a Candidate>) -> Vec<(u32, Formula)> {
    let valued = found.filter(|found| found.violations != WORST);
    let mut all: Vec<(u32, Formula)> = valued.map(|found| (found.violations, simplify(&found.formula))).collect();
    all.sort_by_key(|(violations, formula)| (formula.size(), *violations));
    let mut least = WORST;
    all.retain(|(violations, _)| {
        let is_better = *violations < least;
        least = least.min(*violations);
        is_better
    });
    all
}
