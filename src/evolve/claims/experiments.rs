//! The paper's three experiments, and what the text says of them.

use super::{Bench, ClaimsError, game, graph, refused};
use crate::alphabet::{Alphabet, Number};
use crate::check::HeldOut;
use crate::engine::Problem;
use crate::experiment::{EXPERIMENTS, Experiment, GAME, PAPER_RUNS};
use crate::formula::Formula;
use crate::games::Game;
use crate::graph::{Graph, Ordering};
use crate::int::OnFault;
use crate::score::Target;
use crate::settings::Settings;
use crate::stats::fisher;
use crate::truth::Truth;
use trinim_game::Rule;
use trinim_game::claims::Claim;

/// Points measured: ten of each experiment, and those of the first with fewer generations too.
pub(super) const POINTS: u64 = 40;
/// Probability below which two rates differ.
const DIFFERENT: f64 = 0.05;
/// Generations with which experiment 1 was probably run.
const PROBABLE_GENERATIONS: u32 = 50;
/// Games of section 5, with their terminals.
pub(super) const OTHER_GAMES: [(&str, &[&str]); 3] =
    [("subtraction:1,2,3:40", &["1", "3"]), ("moore:2:3,3,3", &[]), ("wythoff:10", &["2"])];
/// Runs for each of them.
pub(super) const OTHER_RUNS: u64 = 10;

/// The successes of an experiment's points, and the formulas without violations.
pub(super) struct Measured {
    experiment: Experiment,
    runs: u64,
    successes: Vec<u64>,
    /// Successes with [`PROBABLE_GENERATIONS`], for the first experiment.
    probable: Vec<u64>,
    formulas: Vec<Formula>,
}

/// Repeats the experiments with the preset that follows the paper.
pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Measured>, ClaimsError> {
    let mut measured = Vec::new();
    for experiment in EXPERIMENTS {
        let mut formulas = Vec::new();
        let mut sweep = |generations: Option<u32>| -> Result<Vec<u64>, ClaimsError> {
            let mut successes = Vec::new();
            for (index, point) in experiment.points.iter().enumerate() {
                let settings = experiment.settings(&Settings::paper(), point.value, generations);
                let problem = problem(&graph(GAME, settings.ordering)?, &[], &settings)?;
                let first = experiment.first_run(index, generations);
                let found = bench.runs(&problem, &settings, first, bench.effort.runs)?;
                successes.push(found.iter().filter(|run| run.success.is_some()).count() as u64);
                formulas.extend(found.into_iter().filter(|run| run.success.is_some()).map(|run| run.best.formula));
            }
            Ok(successes)
        };
        // The same runs as those of `evolve experiment`.
        let successes = sweep((experiment.number != 2).then_some(experiment.generations))?;
        let probable = if experiment.number == 1 { sweep(Some(PROBABLE_GENERATIONS))? } else { Vec::new() };
        measured.push(Measured { experiment, runs: bench.effort.runs, successes, probable, formulas });
    }
    Ok(measured)
}

fn problem(graph: &Graph, terminals: &[&str], settings: &Settings) -> Result<Problem, ClaimsError> {
    let alphabet = Alphabet::choose(&graph.scope, Number::Heaps, terminals, &["paper"]).map_err(refused)?;
    Problem::new(graph.clone(), alphabet, settings).map_err(refused)
}

/// Returns the claims of section 4 on its experiments.
pub(super) fn claims(measured: &[Measured]) -> Result<Vec<Claim>, ClaimsError> {
    let mut claims = Vec::new();
    for one in measured {
        claims.extend(points(one));
        claims.extend(text(one));
    }
    if let [one, two, _] = measured {
        claims.push(same_settings(one, two));
    }
    claims.push(is_enough(measured)?);
    Ok(claims)
}

/// One claim for each point of the figure.
fn points(measured: &Measured) -> Vec<Claim> {
    let Measured { experiment, runs, successes, probable, .. } = measured;
    let each = experiment.points.iter().zip(successes).enumerate();
    each.map(|(index, (point, successes))| {
        let p = |successes: u64| fisher((point.paper, PAPER_RUNS), (successes, *runs));
        let at = |successes: u64| format!("{successes} of {runs} (p = {:.4})", p(successes));
        let claim = Claim::fact(
            &format!("experiment {}", experiment.number),
            &format!("Successful runs, {} {}", experiment.axis.name(), point.value),
            &format!("{} of {PAPER_RUNS}", point.paper),
            at(*successes),
            p(*successes) >= DIFFERENT / experiment.points.len() as f64,
        );
        match probable.get(index) {
            Some(probable) => claim.because(format!("with {PROBABLE_GENERATIONS} generations: {}", at(*probable))),
            None if claim.is_refuted() => claim.because("p is Fisher's exact test of the paper's runs against ours"),
            None => claim,
        }
    })
    .collect()
}

/// Returns the values at which a list of successes is highest.
fn best(experiment: &Experiment, successes: &[u64]) -> String {
    let most = successes.iter().max().copied().unwrap_or(0);
    let all = experiment.points.iter().zip(successes).filter(|(_, successes)| **successes == most);
    let values: Vec<String> = all.map(|(point, _)| point.value.to_string()).collect();
    values.join(" and ")
}

/// What the text says of an experiment, compared with its figure and our runs.
fn text(measured: &Measured) -> Vec<Claim> {
    let Measured { experiment, runs, successes, .. } = measured;
    let place = format!("experiment {}, text", experiment.number);
    let figure: Vec<u64> = experiment.points.iter().map(|point| point.paper).collect();
    let at = |value: u32| {
        let point = experiment.points.iter().find(|point| point.value == value);
        point.map_or(0, |point| point.paper)
    };
    let ours = format!("in our {runs} runs each it is best at {}", best(experiment, successes));
    let name = experiment.axis.name();
    let drawn = |value: u32, printed: &str| {
        let claim = format!("Successes of 50 at {name} {value}, by the text and by the figure");
        Claim::value(&place, &claim, printed, at(value))
    };
    let highest = |printed: &str| {
        let claim = format!("The {name} with the highest success rate");
        let claim = Claim::value(&place, &claim, printed, best(experiment, &figure));
        claim.because(format!("by the paper's own figure; {ours}"))
    };
    let (first, last) = (successes.first().copied().unwrap_or(0), successes.last().copied().unwrap_or(0));
    let falls = figure.windows(2).filter(|pair| pair[1] < pair[0]).count();
    match experiment.number {
        1 => vec![
            drawn(20, "6"),
            drawn(140, "37"),
            highest("140"),
            Claim::fact(
                &place,
                "The success rate increases with the population.",
                "increases",
                format!("from {first} to {last} of {runs}"),
                last > first,
            )
            .because(format!("as a whole; the paper's figure falls {falls} times on the way")),
        ],
        2 => {
            let hits = experiment.points.iter().zip(successes).find(|(point, _)| point.value == 100);
            let hits = hits.map_or(0, |(_, successes)| *successes);
            vec![
                drawn(20, "9").misprint("the figure has whole multiples of 2 %, and 8 of 50 at this point"),
                drawn(100, "41"),
                Claim::fact(
                    &place,
                    "Most runs find a winning strategy.",
                    "most of the runs",
                    format!("{hits} of {runs} with 100 generations"),
                    2 * hits > *runs,
                ),
            ]
        }
        _ => vec![drawn(35, "25"), highest("35")],
    }
}

/// Experiments 1 and 2 have one setting in common.
fn same_settings(one: &Measured, two: &Measured) -> Claim {
    let at_100 = |measured: &Measured| {
        let point = measured.experiment.points.iter().find(|point| point.value == 100);
        point.map_or(0, |point| point.paper)
    };
    let (first, second) = (at_100(one), at_100(two));
    let p = fisher((first, PAPER_RUNS), (second, PAPER_RUNS));
    Claim::fact(
        "experiments 1 and 2",
        "Both have population 100, 100 generations and 15 genes.",
        &format!("{first} of {PAPER_RUNS} and {second} of {PAPER_RUNS}"),
        format!("p = {p:.4} if both were run with the same settings"),
        p >= DIFFERENT,
    )
    .because(format!("experiment 1 fits {PROBABLE_GENERATIONS} generations, the number of experiment 3"))
}

/// Whether formulas that are perfect on the paper's 70 positions are strategies.
fn is_enough(measured: &[Measured]) -> Result<Claim, ClaimsError> {
    const HEAP: i32 = 7;
    let larger = game(GAME)?.with_heaps_of(HEAP);
    let truth = |ordering| {
        let graph = larger.graph(Rule::Normal, ordering).map_err(refused)?;
        Ok(Truth::new(graph, Target::Rules))
    };
    let (all, sorted) = (truth(Ordering::All)?, truth(Ordering::Descending)?);
    let is_right = |truth: &Truth, formula: &Formula| truth.counterexample(formula, OnFault::Zero).is_none();
    let formulas: Vec<&Formula> = measured.iter().flat_map(|one| &one.formulas).collect();
    let wrong: Vec<&&Formula> = formulas.iter().filter(|formula| !is_right(&all, formula)).collect();
    let even_sorted = wrong.iter().filter(|formula| !is_right(&sorted, formula)).count();
    let shortest =
        wrong.iter().map(|formula| formula.text(&all.graph.scope)).min_by_key(|text| (text.len(), text.clone()));
    Ok(Claim::fact(
        "section 4",
        "The configuration (4,4,4,4) is enough to evolve a winning strategy.",
        "enough",
        format!(
            "{} of {} formulas without violations are wrong with heaps up to {HEAP}, {even_sorted} of them in the same \
             order too{}",
            wrong.len(),
            formulas.len(),
            shortest.map_or(String::new(), |text| format!("; {text}"))
        ),
        wrong.is_empty(),
    )
    .because("formulas of all repeated runs; the 70 positions have only one order of the heaps"))
}

/// Section 5: other games through the same engine.
pub(super) fn other_games(bench: &Bench<'_>) -> Result<Claim, ClaimsError> {
    let mut found = Vec::new();
    for (text, terminals) in OTHER_GAMES {
        let (settings, game): (Settings, Game) = (Settings::best(), game(text)?);
        let problem = problem(&graph(text, settings.ordering)?, terminals, &settings)?;
        let runs = bench.runs(&problem, &settings, 0, OTHER_RUNS)?;
        let held = HeldOut::new(&game, Rule::Normal, Target::Rules, settings.ordering, None).map_err(refused)?;
        let formulas = runs.iter().filter(|run| run.success.is_some());
        let good = formulas.clone().filter(|run| held.standing(&run.best.formula, OnFault::Stop).is_strategy()).count();
        found.push(format!("{text} {} and {good}", formulas.count()));
    }
    Ok(Claim::undecided(
        "section 5",
        "The method can be easily applied to other games with P- and N-positions.",
        "easily applied",
        format!("of {OTHER_RUNS} runs, formulas without violations, and right beyond them: {}", found.join("; ")),
        "\"easily\" has no measure; the program runs them with the preset best, and checks the formulas on larger heaps",
    ))
}
