//! `trinim-evolve experiment` and `trinim-evolve claims`: the paper's experiments repeated, with a
//! test for each point, and every claim of the paper, with a verdict.

use super::args::SearchArgs;
use super::output::{FAILED, Stop, counted, name, refused, write_json, write_sorted};
use super::settings::SettingsArgs;
use clap::Args;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{self, Write};
use trinim_evolve::claims::{self, ClaimsError};
use trinim_evolve::games::Game;
use trinim_evolve::search::{
    Axis, EXPERIMENTS, Experiment, GAME, PAPER_RUNS, PointResult, Target, log_likelihood, wilson,
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

#[derive(Args)]
struct PointArgs {
    /// Runs per point of an experiment; the paper has 50
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000), default_value_t = PAPER_RUNS)]
    runs: u64,

    #[command(flatten)]
    search: SearchArgs,
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

/// All points at one number of generations.
struct Sweep {
    /// `None` if they vary.
    generations: Option<u32>,
    points: Vec<PointResult>,
    /// Log-likelihood of the paper's points at our rates, if no point is missing.
    log_likelihood: Option<f64>,
}

/// Returns the paper's success rate and ours, each with Wilson's 95 % interval.
fn rates(measured: &PointResult) -> [(f64, (f64, f64)); 2] {
    [(measured.point.paper, PAPER_RUNS), (measured.successes, measured.runs)]
        .map(|(hits, runs)| (hits as f64 / runs as f64, wilson(hits, runs)))
}

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
    args.points.search.with_bench(runs * points as u64, &stop, |bench| {
        for generations in generations {
            let measured = experiment.measure((&graph, &alphabet), &preset, generations, runs, bench);
            let points = measured.map_err(|error| refused(error, help))?;
            let fit = points.iter().map(|one| log_likelihood(one.point.paper, PAPER_RUNS, one.successes, one.runs));
            let log_likelihood = (points.len() == experiment.points.len()).then(|| fit.sum());
            sweeps.extend((!points.is_empty()).then_some(Sweep { generations, points, log_likelihood }));
        }
        anyhow::Ok(())
    })?;
    let came: usize = sweeps.iter().map(|sweep| sweep.points.len()).sum();
    let (varied, preset) = (experiment.axis.name(), args.settings.preset);
    let remark = REMARKS[experiment.number as usize - 1];
    if args.csv {
        write_csv(varied, &sweeps, out)?;
    } else if json {
        let point = |measured: &PointResult| {
            let [(paper_rate, paper_wilson), (rate, wilson)] = rates(measured);
            json!({
                "value": measured.point.value,
                "paper_rate": paper_rate,
                "paper_wilson_95": paper_wilson,
                "successes": measured.successes,
                "runs": measured.runs,
                "rate": rate,
                "wilson_95": wilson,
                "p": measured.p(),
            })
        };
        let sweep = |Sweep { generations, points, log_likelihood }: &Sweep| {
            let points: Vec<_> = points.iter().map(point).collect();
            json!({ "generations": generations, "points": points, "log_likelihood": log_likelihood })
        };
        let report = json!({
            "experiment": experiment.number,
            "game": GAME,
            "varied": varied,
            "preset": preset,
            "seed": args.points.search.seed,
            "paper_runs": PAPER_RUNS,
            "test": "Fisher's exact test, two-sided",
            "sweeps": sweeps.iter().map(sweep).collect::<Vec<_>>(),
            "remark": remark,
            "interrupted": came < points,
        });
        write_sorted(out, "trinim.evolve.experiment/1", report)?;
    } else {
        write!(out, "experiment {}: {varied} varied, {GAME}, preset {}, ", experiment.number, name(preset))?;
        writeln!(out, "{runs} runs a point against the paper's {PAPER_RUNS}")?;
        write_text(varied, &sweeps, out)?;
        writeln!(out, "\np: Fisher's exact test, two-sided, of the paper's runs against ours\n\n{remark}")?;
    }
    Ok(if came < points { stop.code(format_args!("after {came} of {points} points")) } else { 0 })
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

fn write_csv(varied: &str, sweeps: &[Sweep], out: &mut dyn Write) -> io::Result<()> {
    let header = "generations,paper_rate,successes,runs,rate,low,high,p_fisher,paper_low,paper_high";
    writeln!(out, "{varied},{header}")?;
    for (sweep, measured) in sweeps.iter().flat_map(|sweep| sweep.points.iter().map(move |point| (sweep, point))) {
        let PointResult { point, runs, successes, .. } = measured;
        let (value, generations) = (point.value, sweep.generations.unwrap_or(point.value));
        let [(paper_rate, (paper_low, paper_high)), (rate, (low, high))] = rates(measured);
        write!(out, "{value},{generations},{paper_rate},{successes},{runs},{rate:.4},{low:.4},{high:.4},")?;
        writeln!(out, "{:.4},{paper_low:.4},{paper_high:.4}", measured.p())?;
    }
    Ok(())
}

fn write_text(varied: &str, sweeps: &[Sweep], out: &mut dyn Write) -> io::Result<()> {
    for sweep in sweeps {
        match sweep.generations {
            Some(generations) => writeln!(out, "\nat {generations} generations")?,
            None => writeln!(out)?,
        }
        writeln!(out, "{varied:>11} {:>8} {:>8}  {:>16}  {:>8}", "paper", "ours", "95 % (Wilson)", "p")?;
        for measured in &sweep.points {
            let [(paper, _), (rate, (low, high))] = rates(measured);
            let [paper, ours, low, high] = [paper, rate, low, high].map(|rate| rate * 100.0);
            let (interval, value) = (format!("{low:.1} to {high:.1} %"), measured.point.value);
            writeln!(out, "{value:>11} {paper:>6.0} % {ours:>6.1} %  {interval:>16}  {:>8.4}", measured.p())?;
        }
        if let Some(log_likelihood) = sweep.log_likelihood {
            writeln!(out, "log-likelihood of the paper's points at our rates: {log_likelihood:.1}")?;
        }
    }
    Ok(())
}

/// List every claim of the paper with a verdict; exit code 1 if one does not hold
#[derive(Args)]
#[command(after_help = CLAIMS_EXAMPLES)]
pub struct ClaimsArgs {
    #[command(flatten)]
    points: PointArgs,
}

/// What `claims` prints, with its fields in this order.
#[derive(Serialize)]
struct ClaimsReport<'a> {
    ok: bool,
    paper: &'static str,
    agrees: bool,
    verdicts: BTreeMap<&'static str, usize>,
    claims: &'a [Claim],
}

pub fn claims(args: &ClaimsArgs, json: bool, out: &mut dyn Write) -> anyhow::Result<u8> {
    let (stop, runs) = (Stop::at_signals()?, args.points.runs);
    let found = args.points.search.with_bench(claims::runs(runs), &stop, |bench| claims::all(runs, bench));
    let claims = match found {
        Ok(claims) => claims,
        Err(ClaimsError::Stopped) => {
            return Err(stop.refusal("before all runs were done: claims need all runs").into());
        }
        Err(error) => return Err(refused(error, "use fewer --runs")),
    };
    let (paper, agrees) = ("[Olt21]", !claims.iter().any(Claim::is_refuted));
    let count = |verdict: Verdict| claims.iter().filter(|claim| claim.verdict == verdict).count();
    if json {
        let verdicts = Verdict::ALL.map(|verdict| (verdict.name(), count(verdict))).into();
        let report = ClaimsReport { ok: agrees, paper, agrees, verdicts, claims: &claims };
        write_json(out, "trinim.evolve.claims/1", &report)?;
    } else {
        for Claim { place, claim, printed, computed, verdict, reason } in &claims {
            writeln!(out, "{place}: {}", verdict.name())?;
            let rows = [("claim", claim), ("printed", printed), ("computed", computed), ("why", reason)];
            for (label, text) in rows.into_iter().filter(|(_, text)| !text.is_empty()) {
                writeln!(out, "  {label:8}  {text}")?;
            }
            writeln!(out)?;
        }
        let verdicts = Verdict::ALL.map(|verdict| format!("{} {}", count(verdict), verdict.name()));
        writeln!(out, "{} of {paper}: {}", counted(claims.len(), "claim"), verdicts.join(", "))?;
    }
    Ok(if agrees { 0 } else { FAILED })
}
