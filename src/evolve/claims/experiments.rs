//! The paper's three experiments, and its statements about them.

use super::{Bench, ClaimsError, PAPER, game, graph, refused};
use crate::games::{Game, Graph, Ordering};
use crate::language::{Alphabet, Formula, Number, OnFault};
use crate::proof::{HeldOut, Truth};
use crate::search::{EXPERIMENTS, Experiment, GAME, PAPER_RUNS, PointResult, Problem, Settings, Target, fisher};
use trinim_game::Rule;
use trinim_game::claims::Claim;

/// Points measured: ten of each experiment, and those of the first with fewer generations too.
pub(super) const POINTS: u64 = 40;
/// Probability below which two rates differ.
const DIFFERENT: f64 = 0.05;
/// Generations with which experiment 1 was probably run.
const PROBABLE_GENERATIONS: u32 = 50;
pub(super) const OTHER_GAMES: [(&str, &[&str]); 3] =
    [("subtraction:1,2,3:40", &["1", "3"]), ("moore:2:3,3,3", &[]), ("wythoff:10", &["2"])];
pub(super) const OTHER_RUNS: u64 = 10;

/// An experiment as repeated.
pub(super) struct Repetition {
    experiment: Experiment,
    points: Vec<PointResult>,
    /// The same with [`PROBABLE_GENERATIONS`], for the first experiment.
    probable: Vec<PointResult>,
}

/// Repeats the experiments with the preset that follows the paper: the same runs as those of
/// `trinim-evolve experiment`.
pub(super) fn repeat(runs: u64, bench: &Bench<'_>) -> Result<Vec<Repetition>, ClaimsError> {
    let (graph, preset) = (graph(GAME, Settings::paper().ordering)?, Settings::paper());
    let alphabet = alphabet(&graph, &[])?;
    let sweep = |experiment: &Experiment, generations| {
        let measured = experiment.measure((&graph, &alphabet), &preset, generations, runs, bench).map_err(refused)?;
        if measured.len() < experiment.points.len() { Err(ClaimsError::Stopped) } else { Ok(measured) }
    };
    let repeated = |experiment: Experiment| {
        let points = sweep(&experiment, (experiment.number != 2).then_some(experiment.generations))?;
        let probable =
            if experiment.number == 1 { sweep(&experiment, Some(PROBABLE_GENERATIONS))? } else { Vec::new() };
        Ok(Repetition { experiment, points, probable })
    };
    EXPERIMENTS.into_iter().map(repeated).collect()
}

fn alphabet(graph: &Graph, terminals: &[&str]) -> Result<Alphabet, ClaimsError> {
    Alphabet::choose(&graph.scope, Number::Heaps, terminals, &["paper"]).map_err(refused)
}

pub(super) fn claims(repeated: &[Repetition]) -> Result<Vec<Claim>, ClaimsError> {
    let mut claims = Vec::new();
    for one in repeated {
        claims.extend(points(one));
        claims.extend(text(one));
    }
    if let [one, two, _] = repeated {
        claims.push(same_settings(one, two));
    }
    claims.push(is_enough(repeated)?);
    Ok(claims)
}

/// One claim for each point of the figure.
fn points(Repetition { experiment, points, probable }: &Repetition) -> impl Iterator<Item = Claim> {
    let at = |point: &PointResult| format!("{} of {} (p = {:.4})", point.successes, point.runs, point.p());
    points.iter().enumerate().map(move |(index, measured)| {
        let claim = Claim::fact(
            &format!("experiment {}", experiment.number),
            &format!("Successful runs, {} {}", experiment.axis.name(), measured.point.value),
            &format!("{} of {PAPER_RUNS}", measured.point.paper),
            at(measured),
            measured.p() >= DIFFERENT / points.len() as f64,
        );
        match probable.get(index) {
            Some(probable) => claim.because(format!("with {PROBABLE_GENERATIONS} generations: {}", at(probable))),
            None if claim.is_refuted() => claim.because("p is Fisher's exact test of the paper's runs against ours"),
            None => claim,
        }
    })
}

fn best(points: &[PointResult], successes: impl Fn(&PointResult) -> u64) -> String {
    let most = points.iter().map(&successes).max().unwrap_or(0);
    let all = points.iter().filter(|point| successes(point) == most);
    all.map(|point| point.point.value.to_string()).collect::<Vec<_>>().join(" and ")
}

/// The paper's statements about an experiment, compared with its figure and our runs.
fn text(Repetition { experiment, points, .. }: &Repetition) -> Vec<Claim> {
    let place = format!("experiment {}, text", experiment.number);
    let name = experiment.axis.name();
    let at = |value: u32| points.iter().find(|measured| measured.point.value == value);
    let drawn = |value: u32, printed: &str| {
        let claim = format!("Successes of 50 at {name} {value}, by the text and by the figure");
        Claim::value(&place, &claim, printed, at(value).map_or(0, |measured| measured.point.paper))
    };
    let runs = points.first().map_or(0, |measured| measured.runs);
    let highest = |printed: &str| {
        let claim = format!("The {name} with the highest success rate");
        let claim = Claim::value(&place, &claim, printed, best(points, |measured| measured.point.paper));
        let ours = best(points, |measured| measured.successes);
        claim.because(format!("by the paper's own figure; in our {runs} runs each it is best at {ours}"))
    };
    let successes = |measured: Option<&PointResult>| measured.map_or(0, |measured| measured.successes);
    let (first, last) = (successes(points.first()), successes(points.last()));
    let falls = points.windows(2).filter(|pair| pair[1].point.paper < pair[0].point.paper).count();
    match experiment.number {
        1 => vec![
            drawn(20, "6"),
            drawn(140, "37"),
            highest("140"),
            PAPER
                .fact("increases", format!("from {first} to {last} of {runs}"), last > first)
                .because(format!("as a whole; the paper's figure falls {falls} times on the way")),
        ],
        2 => {
            let hits = successes(at(100));
            vec![
                drawn(20, "9").misprint("the figure has whole multiples of 2 %, and 8 of 50 at this point"),
                drawn(100, "41"),
                PAPER.fact("most", format!("{hits} of {runs} with 100 generations"), 2 * hits > runs),
            ]
        }
        _ => vec![drawn(35, "25"), highest("35")],
    }
}

/// Experiments 1 and 2 have one setting in common.
fn same_settings(one: &Repetition, two: &Repetition) -> Claim {
    let at_100 = |one: &Repetition| {
        let point = one.experiment.points.iter().find(|point| point.value == 100);
        point.map_or(0, |point| point.paper)
    };
    let p = fisher((at_100(one), PAPER_RUNS), (at_100(two), PAPER_RUNS));
    let claim = PAPER.fact("same", format!("p = {p:.4} if both were run with the same settings"), p >= DIFFERENT);
    claim.because(format!("experiment 1 fits {PROBABLE_GENERATIONS} generations, the number of experiment 3"))
}

/// Whether formulas that are perfect on the paper's 70 positions are strategies.
fn is_enough(repeated: &[Repetition]) -> Result<Claim, ClaimsError> {
    const HEAP: i32 = 7;
    let larger = game(GAME)?.with_heaps_of(HEAP);
    let truth = |ordering| {
        let graph = larger.graph(Rule::Normal, ordering).map_err(refused)?;
        Ok(Truth::new(graph, Target::Rules))
    };
    let (all, sorted) = (truth(Ordering::All)?, truth(Ordering::Descending)?);
    let is_right = |truth: &Truth, formula: &Formula| truth.counterexample(formula, OnFault::Zero).is_none();
    let points = repeated.iter().flat_map(|one| one.points.iter().chain(&one.probable));
    let formulas: Vec<&Formula> = points.flat_map(|measured| &measured.formulas).collect();
    let wrong: Vec<&&Formula> = formulas.iter().filter(|formula| !is_right(&all, formula)).collect();
    let even_sorted = wrong.iter().filter(|formula| !is_right(&sorted, formula)).count();
    let shortest =
        wrong.iter().map(|formula| formula.text(&all.graph.scope)).min_by_key(|text| (text.len(), text.clone()));
    let (count, all) = (wrong.len(), formulas.len());
    let computed = format!(
        "{count} of {all} formulas without violations are wrong with heaps up to {HEAP}, {even_sorted} of them in the same \
         order too{}",
        shortest.map_or(String::new(), |text| format!("; {text}"))
    );
    let claim = PAPER.fact("enough", computed, wrong.is_empty());
    Ok(claim.because("formulas of all repeated runs; the 70 positions have only one order of the heaps"))
}

/// Section 5: other games through the same engine.
pub(super) fn other_games(bench: &Bench<'_>) -> Result<Claim, ClaimsError> {
    let mut found = Vec::new();
    for (text, terminals) in OTHER_GAMES {
        let (settings, game): (Settings, Game) = (Settings::best(), game(text)?);
        let graph = graph(text, settings.ordering)?;
        let alphabet = alphabet(&graph, terminals)?;
        let runs = bench.run_all(&Problem::new(graph, alphabet, &settings).map_err(refused)?, &settings, 0..OTHER_RUNS);
        if runs.iter().filter(|run| run.finished).count() as u64 != OTHER_RUNS {
            return Err(ClaimsError::Stopped);
        }
        let held = HeldOut::new(&game, Rule::Normal, Target::Rules, settings.ordering, None).map_err(refused)?;
        let formulas = runs.iter().filter(|run| run.success.is_some());
        let good = formulas.clone().filter(|run| held.standing(&run.best.formula, OnFault::Stop).is_strategy()).count();
        found.push(format!("{text} {} and {good}", formulas.count()));
    }
    let found = found.join("; ");
    let known = format!("of {OTHER_RUNS} runs, formulas without violations, and right beyond them: {found}");
    let why = "\"easily\" has no measure; the program runs them with the preset best, and checks the formulas on larger heaps";
    Ok(PAPER.undecided("easily", known, why))
}
