//! Multi Expression Programming: formulas evolved from random chromosomes.
//!
//! | file | what it has |
//! |---|---|
//! | `engine` | one run |
//! | `chance`, `chromosome` | its random numbers, and how chromosomes are drawn, crossed and mutated |
//! | `score` | where a formula breaks the rules of a strategy |
//! | `settings` | every choice that the paper leaves open, and presets |
//! | `runs` | many runs on several threads |
//! | `experiment`, `stats` | the paper's experiments, and tests of success rates |
//! | `tree` | the game tree of the paper's figure 1 |

mod chance;
mod chromosome;
mod engine;
mod experiment;
mod runs;
mod score;
mod settings;
mod stats;
mod tree;

use chance::{Chance, Probability};
use chromosome::{Variation, any_terminal};
pub use engine::{COLUMN_BYTES_MAX, Candidate, Problem, ProblemError, Run, WORST, run};
pub use experiment::{Axis, EXPERIMENTS, Experiment, GAME, PAPER_RUNS, Point, PointResult};
pub use runs::Bench;
pub use score::{Breach, BrokenPosition, Count, Judge, Target, Violations, broken, explain, violations, wrong};
pub use settings::{
    Crossover, GENERATIONS_MAX, Mutation, POPULATION_MAX, Replacement, Representative, Settings, SettingsError, Steps,
    TOURNAMENT_MAX, Zero,
};
pub use stats::{fisher, log_likelihood, wilson};
pub use tree::{BRANCHES_MAX, Branch, Tree, tree_size, tree_violations};
