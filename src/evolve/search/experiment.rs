//! The paper's three experiments.
//!
//! Each varies one parameter over ten values, with 50 runs for each value, on Nim with four heaps
//! of 4. The paper's rates are read from its figures, which show exact multiples of 2 %, so they
//! are counts out of 50. Every point has its own random numbers, so points are as independent as
//! the paper's. All 29 different settings with 50 runs each take a few seconds.

use crate::games::Graph;
use crate::language::{Alphabet, Formula};
use crate::search::{Bench, Problem, ProblemError, Settings, fisher};

/// Runs per point in the paper.
pub const PAPER_RUNS: u64 = 50;
/// The game of all experiments.
pub const GAME: &str = "nim:4,4,4,4";

/// The parameter that an experiment varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// The population size.
    Population,
    /// The number of generations.
    Generations,
    /// The genes per chromosome.
    Genes,
}

impl Axis {
    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Axis::Population => "population",
            Axis::Generations => "generations",
            Axis::Genes => "genes",
        }
    }
}

/// A parameter value with the successes out of 50 runs in the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The value of the parameter.
    pub value: u32,
    /// Successes in the paper.
    pub paper: u64,
}

/// A point as measured.
#[derive(Clone, Debug)]
pub struct PointResult {
    /// The point.
    pub point: Point,
    /// Runs.
    pub runs: u64,
    /// Runs that found a formula without violations.
    pub successes: u64,
    /// These formulas.
    pub formulas: Vec<Formula>,
}

impl PointResult {
    /// Returns the probability of a difference at least as large, by Fisher's exact test of the
    /// paper's runs against these.
    pub fn p(&self) -> f64 {
        fisher((self.point.paper, PAPER_RUNS), (self.successes, self.runs))
    }
}

/// An experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Experiment {
    /// Its number in the paper, 1 to 3.
    pub number: u32,
    /// The parameter that varies.
    pub axis: Axis,
    /// The points.
    pub points: [Point; 10],
    /// The population size, unless it varies.
    pub population: usize,
    /// The number of generations, unless it varies.
    pub generations: u32,
    /// The genes per chromosome, unless they vary.
    pub genes: usize,
}

const fn experiment(number: u32, axis: Axis, generations: u32, first: u32, successes: [u64; 10]) -> Experiment {
    let mut points = [Point { value: 0, paper: 0 }; 10];
    let mut index = 0;
    while index < 10 {
        points[index] = Point { value: first * (index as u32 + 1), paper: successes[index] };
        index += 1;
    }
    Experiment { number, axis, points, population: 100, generations, genes: 15 }
}

/// The three experiments.
pub const EXPERIMENTS: [Experiment; 3] = [
    experiment(1, Axis::Population, 100, 20, [6, 10, 9, 14, 25, 23, 37, 28, 31, 37]),
    // The figure shows 8 at 20 generations; the text says 9.
    experiment(2, Axis::Generations, 100, 20, [8, 21, 26, 32, 41, 37, 34, 35, 41, 37]),
    experiment(3, Axis::Genes, 50, 5, [0, 16, 21, 22, 19, 22, 25, 22, 25, 20]),
];

impl Experiment {
    /// Returns the settings of a point, based on those of a preset; `generations` replaces the
    /// paper's number unless generations vary.
    pub fn settings(&self, preset: &Settings, value: u32, generations: Option<u32>) -> Settings {
        let Experiment { population, genes, .. } = *self;
        let generations = generations.unwrap_or(self.generations);
        let mut settings = Settings { population, generations, genes, ..preset.clone() };
        match self.axis {
            Axis::Population => settings.population = value as usize,
            Axis::Generations => settings.generations = value,
            Axis::Genes => settings.genes = value as usize,
        }
        settings
    }

    /// Measures the points in turn, each with this many runs; ends before the first point whose
    /// runs are stopped.
    ///
    /// # Errors
    /// [`ProblemError`] for settings or an alphabet that cannot be run.
    pub fn measure(
        &self,
        (graph, alphabet): (&Graph, &Alphabet),
        preset: &Settings,
        generations: Option<u32>,
        runs: u64,
        bench: &Bench<'_>,
    ) -> Result<Vec<PointResult>, ProblemError> {
        let mut measured = Vec::new();
        for (index, point) in self.points.iter().enumerate() {
            let settings = self.settings(preset, point.value, generations);
            let problem = Problem::new(graph.clone(), alphabet.clone(), &settings)?;
            let first = self.first_run(index, generations);
            let results = bench.run_all(&problem, &settings, first..first + runs);
            // A point with fewer runs would have a different test.
            if results.iter().filter(|run| run.finished).count() as u64 != runs {
                break;
            }
            let found = results.into_iter().filter(|run| run.success.is_some());
            let formulas: Vec<Formula> = found.map(|run| run.best.formula).collect();
            measured.push(PointResult { point: *point, runs, successes: formulas.len() as u64, formulas });
        }
        Ok(measured)
    }

    /// Returns the number of the first run of a point. No two points share random numbers, not even
    /// points of different sweeps.
    pub fn first_run(&self, point: usize, generations: Option<u32>) -> u64 {
        let sweep = u64::from(self.number) << 32 | u64::from(generations.unwrap_or(0));
        // Cannot overflow: generations are below 2^20, points below 2^4, runs below 2^24.
        (sweep << 4 | point as u64) << 24
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_have_random_numbers_of_their_own() {
        let sweeps = EXPERIMENTS.iter().flat_map(|experiment| {
            [None, Some(50), Some(1_000_000)]
                .into_iter()
                .flat_map(move |generations| (0..10).map(move |point| experiment.first_run(point, generations)))
        });
        let mut first: Vec<u64> = sweeps.collect();
        first.sort_unstable();
        assert!(first.windows(2).all(|pair| pair[1] - pair[0] >= 1 << 24));
    }
}
