//! `trinim-evolve experiment` and `trinim-evolve claims`: the paper's experiments repeated, with a
//! test for each point, and every claim of the paper, with a verdict.

use super::args::SearchArgs;
use super::output::{FAILED, Stop, counted, name, progress, refused, write, write_json};
use super::settings::{Preset, SettingsArgs};
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use trinim_evolve::claims::{self, ClaimsError};
use trinim_evolve::games::Game;
use trinim_evolve::search::{
    Axis, Bench, EXPERIMENTS, Experiment, GAME, PAPER_RUNS, PointResult, Target, log_likelihood, wilson,
};
use trinim_game::Rule;
use trinim_game::claims::{Claim, Verdict};

const EXAMPLES: &str = "\
Examples:
  trinim-evolve experiment 1                  population sizes, at 100 and at 50 generations
  trinim-evolve experiment 2 --csv > generations.csv
  trinim-evolve experiment 3 --runs 300
  trinim-evolve experiment 2 --set representative=best

p is Fisher's exact test, two-sided, of the paper's 50 runs against ours. Among ten points, one p below 0.05 is no \
surprise. Ctrl-C stops the runs and prints the finished points. trinim-evolve run --help lists the settings.";

const CLAIMS_EXAMPLES: &str = "\
Examples:
  trinim-evolve claims
  trinim-evolve claims --runs 500 --json    repeat the experiments with 500 runs a point

Every rule, table, figure, formula, experiment and number of [Olt21] with the printed value, the computed one and a \
verdict: agrees, contradicted, misprint (the paper itself shows what was meant), undecided. A success rate is \
contradicted if Fisher's exact test, two-sided, gives a probability below 0.05 divided by the ten points of its \
experiment; many runs show smaller differences. The exit code is 1 if a claim is contradicted or misprinted, as some \
are.";

/// Findings from the repetition of each experiment.
const REMARKS: [&str; 3] = [
    "\
The paper contradicts itself: population 100, 100 generations and 15 genes succeed in 25 of 50 runs in experiment 1 \
and in 41 of 50 in experiment 2 (Fisher p = 0.0014). With the paper preset experiments 2 and 3 come out as printed. \
Experiment 1 does not with the 100 generations of its text; it comes close with 50, the number that experiment 3 \
uses. The log-likelihoods say how well each reading explains the ten points: with some hundred runs a point about -95 \
at 100 generations and -35 at 50, where a true reading gives -25 to -27. The text calls population 140 the best one; \
the figure has the same 37 of 50 at 200.",
    "\
At 20 generations the figure shows 8 successes of 50, which is what is compared here; the text says 9. Its 41 of 50 \
at 100 generations are 25 of 50 in the paper's experiment 1 with the same settings.",
    "\
The text calls 35 genes the optimum; the figure has the same 25 of 50 at 45 genes, and with some hundred runs a point \
the best lengths are 15 to 25. Five genes cannot hold a formula of four heaps, which takes seven.",
];

/// The runs of an experiment.
#[derive(Args)]
struct PointArgs {
    /// Runs per point of an experiment; the paper has 50
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000), default_value_t = PAPER_RUNS)]
    runs: u64,

    #[command(flatten)]
    search: SearchArgs,
}

impl PointArgs {
    /// Does something with the runs, whose progress is shown.
    fn with_bench<T>(&self, runs: u64, stop: &Stop, work: impl FnOnce(&Bench<'_>) -> T) -> T {
        let bar = progress(runs);
        let (seed, threads) = (self.search.seed, self.search.threads());
        let done = work(&Bench { seed, threads, stop: &stop.flag, finished: &|| bar.inc(1) });
        bar.finish_and_clear();
        done
    }
}

/// Repeat the paper's experiment 1, 2 or 3
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ExperimentArgs {
    /// 1 varies the population, 2 the generations, 3 the genes
    #[arg(value_parser = clap::value_parser!(u32).range(1..=3))]
    number: u32,

    #[command(flatten)]
    settings: SettingsArgs,

    #[command(flatten)]
    points: PointArgs,

    /// Print the points as CSV, for a plot
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

/// What `experiment` prints.
#[derive(Serialize)]
struct Report {
    /// Number of the experiment, 1 to 3.
    experiment: u32,
    /// The game.
    game: &'static str,
    /// The parameter that varies.
    varied: &'static str,
    /// `--preset`.
    preset: Preset,
    /// `--seed`.
    seed: u64,
    /// Runs of the paper at each point.
    paper_runs: u64,
    /// The test behind `p`.
    test: &'static str,
    /// One for each number of generations.
    sweeps: Vec<Sweep>,
    /// What is known about the experiment.
    remark: &'static str,
    /// Whether the command was stopped.
    interrupted: bool,
    /// Runs at each point.
    #[serde(skip)]
    runs: u64,
}

/// All points at one number of generations.
#[derive(Serialize)]
struct Sweep {
    /// Generations; null if they vary.
    generations: Option<u32>,
    /// The points.
    points: Vec<Rates>,
    /// Log-likelihood of the paper's points at our rates; null if points are missing.
    log_likelihood: Option<f64>,
}

/// A point of a sweep.
#[derive(Serialize)]
struct Rates {
    /// Value of the varied parameter.
    value: u32,
    /// The paper's success rate.
    paper_rate: f64,
    /// Wilson's 95 % interval of it.
    paper_wilson_95: (f64, f64),
    /// Our successes.
    successes: u64,
    /// Our runs.
    runs: u64,
    /// Our success rate.
    rate: f64,
    /// Wilson's 95 % interval of it.
    wilson_95: (f64, f64),
    /// Probability of a difference at least as large, by the test.
    p: f64,
}

impl Rates {
    fn new(measured: &PointResult) -> Rates {
        let PointResult { point, runs, successes, .. } = measured;
        Rates {
            value: point.value,
            paper_rate: point.paper as f64 / PAPER_RUNS as f64,
            paper_wilson_95: wilson(point.paper, PAPER_RUNS),
            successes: *successes,
            runs: *runs,
            rate: *successes as f64 / *runs as f64,
            wilson_95: wilson(*successes, *runs),
            p: measured.p(),
        }
    }
}

/// Runs `experiment`.
pub fn run(args: &ExperimentArgs, json: bool, out: &mut dyn Write) -> anyhow::Result<u8> {
    let experiment = chosen(args)?;
    let preset = args.settings.settings(Target::Rules)?;
    let given = args.settings.generations;
    // Experiment 1 is repeated as printed and as it was probably run.
    let generations: Vec<Option<u32>> = match (experiment.number, given) {
        (1, None) => vec![Some(experiment.generations), Some(50)],
        (2, _) => vec![None],
        (_, given) => vec![Some(given.unwrap_or(experiment.generations))],
    };
    let help = "see trinim-evolve experiment --help";
    let graph = Game::parse(GAME).and_then(|game| game.graph(Rule::Normal, preset.ordering));
    let graph = graph.map_err(|error| refused(error, help))?;
    let alphabet = args.settings.alphabet(&graph.scope)?;
    let (stop, runs) = (Stop::at_signals()?, args.points.runs);
    let points = generations.len() * experiment.points.len();
    let mut sweeps = Vec::new();
    args.points.with_bench(runs * points as u64, &stop, |bench| {
        for generations in generations {
            let measured = experiment.measure((&graph, &alphabet), &preset, generations, runs, bench);
            let measured = measured.map_err(|error| refused(error, help))?;
            let fit = measured.iter().map(|one| log_likelihood(one.point.paper, PAPER_RUNS, one.successes, one.runs));
            let log_likelihood = (measured.len() == experiment.points.len()).then(|| fit.sum());
            let points: Vec<Rates> = measured.iter().map(Rates::new).collect();
            sweeps.extend((!points.is_empty()).then_some(Sweep { generations, points, log_likelihood }));
        }
        anyhow::Ok(())
    })?;
    let came: usize = sweeps.iter().map(|sweep| sweep.points.len()).sum();
    let report = Report {
        experiment: experiment.number,
        game: GAME,
        varied: experiment.axis.name(),
        preset: args.settings.preset,
        seed: args.points.search.seed,
        paper_runs: PAPER_RUNS,
        test: "Fisher's exact test, two-sided",
        sweeps,
        remark: REMARKS[experiment.number as usize - 1],
        interrupted: came < points,
        runs,
    };
    if args.csv {
        report.write_csv(out)?;
    } else {
        write(out, json, "trinim.evolve.experiment/1", &report)?;
    }
    Ok(if report.interrupted { stop.code(format_args!("after {came} of {points} points")) } else { 0 })
}

/// Returns the experiment, with the given values of the parameters that it does not vary.
fn chosen(args: &ExperimentArgs) -> anyhow::Result<Experiment> {
    let mut experiment = EXPERIMENTS[args.number as usize - 1];
    let SettingsArgs { population, generations, genes, .. } = &args.settings;
    let given = match experiment.axis {
        Axis::Population => population.is_some(),
        Axis::Generations => generations.is_some(),
        Axis::Genes => genes.is_some(),
    };
    if given {
        let axis = experiment.axis.name();
        let message = format!("experiment {} varies the {axis} itself", experiment.number);
        return Err(refused(message, &format!("leave out --{axis}, or use trinim-evolve run")));
    }
    experiment.population = population.unwrap_or(experiment.population);
    experiment.genes = genes.unwrap_or(experiment.genes);
    Ok(experiment)
}

impl Report {
    /// Writes each point as a line, with the intervals of both rates.
    fn write_csv(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let header = "generations,paper_rate,successes,runs,rate,low,high,p_fisher,paper_low,paper_high";
        writeln!(out, "{},{header}", self.varied)?;
        for sweep in &self.sweeps {
            for Rates { value, paper_rate, paper_wilson_95, successes, runs, rate, wilson_95, p } in &sweep.points {
                let generations = sweep.generations.unwrap_or(*value);
                let ((low, high), (paper_low, paper_high)) = (wilson_95, paper_wilson_95);
                write!(out, "{value},{generations},{paper_rate},{successes},{runs},")?;
                writeln!(out, "{rate:.4},{low:.4},{high:.4},{p:.4},{paper_low:.4},{paper_high:.4}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { experiment, varied, preset, runs, .. } = self;
        let preset = name(preset);
        write!(f, "experiment {experiment}: {varied} varied, {GAME}, preset {preset}, {runs} runs a point ")?;
        writeln!(f, "against the paper's {PAPER_RUNS}")?;
        for sweep in &self.sweeps {
            match sweep.generations {
                Some(generations) => writeln!(f, "\nat {generations} generations")?,
                None => writeln!(f)?,
            }
            writeln!(f, "{varied:>11} {:>8} {:>8}  {:>16}  {:>8}", "paper", "ours", "95 % (Wilson)", "p")?;
            for Rates { value, paper_rate, rate, wilson_95: (low, high), p, .. } in &sweep.points {
                let [paper, ours, low, high] = [*paper_rate, *rate, *low, *high].map(|rate| rate * 100.0);
                let interval = format!("{low:.1} to {high:.1} %");
                writeln!(f, "{value:>11} {paper:>6.0} % {ours:>6.1} %  {interval:>16}  {p:>8.4}")?;
            }
            if let Some(log_likelihood) = sweep.log_likelihood {
                writeln!(f, "log-likelihood of the paper's points at our rates: {log_likelihood:.1}")?;
            }
        }
        writeln!(f, "\np: Fisher's exact test, two-sided, of the paper's runs against ours\n\n{}", self.remark)
    }
}

/// List every claim of the paper with a verdict; exit code 1 if one does not hold
#[derive(Args)]
#[command(after_help = CLAIMS_EXAMPLES)]
pub struct ClaimsArgs {
    #[command(flatten)]
    points: PointArgs,
}

/// The claims of the paper, with verdicts.
#[derive(Serialize)]
struct ClaimsReport<'a> {
    /// The same as `agrees`.
    ok: bool,
    /// The paper.
    paper: &'static str,
    /// Whether no claim is contradicted or misprinted: exit code 0.
    agrees: bool,
    /// Claims by verdict.
    verdicts: BTreeMap<&'static str, usize>,
    /// The claims, in the order of the paper.
    claims: &'a [Claim],
}

/// Runs `claims`.
pub fn claims(args: &ClaimsArgs, json: bool, out: &mut dyn Write) -> anyhow::Result<u8> {
    let (stop, runs) = (Stop::at_signals()?, args.points.runs);
    let found = match args.points.with_bench(claims::runs(runs), &stop, |bench| claims::all(runs, bench)) {
        Ok(found) => found,
        Err(ClaimsError::Stopped) => return Ok(stop.code("before all runs were done: no claim is judged by a part")),
        Err(error) => return Err(refused(error, "use fewer --runs")),
    };
    let agrees = !found.iter().any(Claim::is_refuted);
    let count = |verdict: Verdict| found.iter().filter(|claim| claim.verdict == verdict).count();
    let verdicts = Verdict::ALL.map(|verdict| (verdict.name(), count(verdict)));
    let report = ClaimsReport { ok: agrees, paper: "[Olt21]", agrees, verdicts: verdicts.into(), claims: &found };
    if json {
        write_json(out, "trinim.evolve.claims/1", &report)?;
    } else {
        write!(out, "{report}")?;
    }
    Ok(if agrees { 0 } else { FAILED })
}

impl fmt::Display for ClaimsReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Claim { place, claim, printed, computed, verdict, reason } in self.claims {
            writeln!(f, "{place}: {}", verdict.name())?;
            let rows = [("claim", claim), ("printed", printed), ("computed", computed), ("why", reason)];
            for (label, text) in rows.into_iter().filter(|(_, text)| !text.is_empty()) {
                writeln!(f, "  {label:8}  {text}")?;
            }
            writeln!(f)?;
        }
        let verdicts = Verdict::ALL.map(|verdict| format!("{} {}", self.verdicts[verdict.name()], verdict.name()));
        let claims = counted(self.claims.len() as u64, "claim");
        writeln!(f, "{claims} of {}: {}", self.paper, verdicts.join(", "))
    }
}
