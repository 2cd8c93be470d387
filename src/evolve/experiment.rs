//! The paper's three experiments.
//!
//! # What and why
//! Each varies one parameter over ten values, 50 runs each, on Nim with four heaps of 4. The paper's rates are read from its figures, which show
//! exact multiples of 2 %, so they are counts out of 50. Repeating them says which reading of the paper is the right one, and where the paper
//! contradicts itself.
//!
//! # Shape
//! [`Experiment`] lists the points, [`Experiment::settings`] those of one point.
//!
//! # Invariants
//! 1. Every point has random numbers of its own, so that points are as independent as the paper's.
//!
//! # Cost
//! All 29 different settings with 50 runs each take a few seconds.
//!
//! # Not here
//! Running: `runs`. Tests: `stats`.

use super::settings::Settings;

/// Runs of each point in the paper.
pub const PAPER_RUNS: u64 = 50;
/// The game of all experiments.
pub const GAME: &str = "nim:4,4,4,4";

/// What is varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// The population.
    Population,
    /// The generations.
    Generations,
    /// The genes of a chromosome.
    Genes,
}

impl Axis {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Axis::Population => "population",
            Axis::Generations => "generations",
            Axis::Genes => "genes",
        }
    }
}

/// A value of the parameter and the successes of 50 in the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The value.
    pub value: u32,
    /// Successes in the paper.
    pub paper: u64,
}

/// An experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Experiment {
    /// 1, 2 or 3.
    pub number: u32,
    /// What is varied.
    pub axis: Axis,
    /// The points.
    pub points: [Point; 10],
    /// The population, where it is not varied.
    pub population: usize,
    /// The generations, where they are not varied.
    pub generations: u32,
    /// The genes, where they are not varied.
    pub genes: usize,
}

const fn points(first: u32, successes: [u64; 10]) -> [Point; 10] {
    let mut points = [Point { value: 0, paper: 0 }; 10];
    let mut index = 0;
    while index < 10 {
        points[index] = Point { value: first * (index as u32 + 1), paper: successes[index] };
        index += 1;
    }
    points
}

/// The three experiments.
pub const EXPERIMENTS: [Experiment; 3] = [
    Experiment {
        number: 1,
        axis: Axis::Population,
        points: points(20, [6, 10, 9, 14, 25, 23, 37, 28, 31, 37]),
        population: 100,
        generations: 100,
        genes: 15,
    },
    Experiment {
        number: 2,
        axis: Axis::Generations,
        // The figure shows 8 at 20 generations; the text says 9.
        points: points(20, [8, 21, 26, 32, 41, 37, 34, 35, 41, 37]),
        population: 100,
        generations: 100,
        genes: 15,
    },
    Experiment {
        number: 3,
        axis: Axis::Genes,
        points: points(5, [0, 16, 21, 22, 19, 22, 25, 22, 25, 20]),
        population: 100,
        generations: 50,
        genes: 15,
    },
];

impl Experiment {
    /// The settings of a point, from those of a preset; `generations` replaces the paper's where they are not varied.
    pub fn settings(&self, preset: &Settings, value: u32, generations: Option<u32>) -> Settings {
        let mut settings = preset.clone();
        settings.population = self.population;
        settings.generations = generations.unwrap_or(self.generations);
        settings.genes = self.genes;
        match self.axis {
            Axis::Population => settings.population = value as usize,
            Axis::Generations => settings.generations = value,
            Axis::Genes => settings.genes = value as usize,
        }
        settings
    }

    /// The number of the first run of a point: no two points share random numbers, not even of different sweeps.
    pub fn first_run(&self, point: usize, generations: Option<u32>) -> u64 {
        let sweep = u64::from(self.number) << 32 | u64::from(generations.unwrap_or(0));
        // Fits: generations are below 2^20, points below 2^4, runs below 2^24.
        (sweep << 4 | point as u64) << 24
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn there_are_29_settings() {
        let all = EXPERIMENTS.iter().flat_map(|experiment| {
            experiment.points.iter().map(|point| {
                let settings = experiment.settings(&Settings::paper(), point.value, None);
                (settings.population, settings.generations, settings.genes)
            })
        });
        assert_eq!(all.collect::<HashSet<_>>().len(), 29);
    }

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
