//! A sweep of an experiment: the paper's points and ours, and their picture.

use schemars::JsonSchema;
use serde::Serialize;
use trinim::report::draw::chart::{Axis, Chart, Line, Point};
use trinim_evolve::experiment::Experiment;

/// A point of a sweep.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Rates {
    /// Value of the varied parameter.
    pub value: u32,
    /// The paper's success rate.
    pub paper_rate: f64,
    /// Wilson's 95 % interval of it.
    pub paper_wilson_95: [f64; 2],
    /// Our successes.
    pub successes: u64,
    /// Our runs.
    pub runs: u64,
    /// Our success rate.
    pub rate: f64,
    /// Wilson's 95 % interval of it.
    pub wilson_95: [f64; 2],
    /// Probability of a difference at least as large, by the test.
    pub p: f64,
}

/// All points at one number of generations.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Sweep {
    /// Generations; null if they vary.
    pub generations: Option<u32>,
    /// The points.
    pub points: Vec<Rates>,
    /// Log-likelihood of the paper's points at our rates; null if points are missing.
    pub log_likelihood: Option<f64>,
}

/// Draws the rates of an experiment as an SVG file.
pub fn picture(experiment: &Experiment, sweeps: &[Sweep]) -> String {
    let percent = |rate: f64| rate * 100.0;
    let title = format!("Experiment {}: success rate by {}", experiment.number, experiment.axis.name());
    let y = Axis::linear("success rate, %").including(0.0).including(100.0);
    let mut chart = Chart::new(title, Axis::linear(experiment.axis.name()).whole(), y);
    let mut description = String::new();
    if let Some(first) = sweeps.first() {
        let point = |row: &Rates| {
            let [low, high] = row.paper_wilson_95.map(percent);
            Point::new(row.value.into(), percent(row.paper_rate)).between(low, high)
        };
        chart = chart.line(Line::marked("paper, 50 runs", first.points.iter().map(point)));
    }
    for sweep in sweeps {
        let runs = sweep.points.first().map_or(0, |row| row.runs);
        let name = match sweep.generations {
            Some(generations) => format!("trinim, {runs} runs, {generations} generations"),
            None => format!("trinim, {runs} runs"),
        };
        if let Some(log_likelihood) = sweep.log_likelihood {
            description.push_str(&format!(
                "Log-likelihood of the paper's points at the rates of {name}: {log_likelihood:.1}. "
            ));
        }
        let point = |row: &Rates| {
            let [low, high] = row.wilson_95.map(percent);
            Point::new(row.value.into(), percent(row.rate)).between(low, high)
        };
        chart = chart.line(Line::marked(name, sweep.points.iter().map(point)));
    }
    let note = "Error bars: 95 % intervals by Wilson.";
    chart.describe(description.trim_end()).note(note).note(description.trim_end()).draw().file()
}
