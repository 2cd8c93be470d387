//! Multi Expression Programming: formulas evolved from random chromosomes.
//!
//! | file | contents |
//! |---|---|
//! | `engine` | one run |
//! | `chromosome` | its random numbers, and how chromosomes are drawn, crossed and mutated |
//! | `score` | where a formula breaks the rules of a strategy |
//! | `settings` | every choice that the paper leaves open, and presets |
//! | `runs` | many runs on several threads |
//! | `experiment`, `stats` | the paper's experiments, and tests of success rates |
//! | `tree` | the game tree of the paper's figure 1 |

mod chromosome;
mod engine;
mod experiment;
mod runs;
mod score;
mod settings;
mod stats;
mod tree;

use chromosome::{Chance, Variation, any_terminal, is_well_formed};
pub use engine::{Candidate, Problem, Run, WORST, run};
pub use experiment::{Axis, EXPERIMENTS, Experiment, GAME, PAPER_RUNS, Point, PointResult};
pub use runs::Bench;
pub use score::{Breach, BrokenPosition, Count, Judge, Target, Violations, broken, explain, violations, wrong};
pub use settings::{Crossover, Mutation, ProblemError, Replacement, Representative, Settings, Steps, Zero};
pub use stats::{fisher, log_likelihood, wilson};
pub use tree::{BRANCHES_MAX, Branch, Tree, tree_size, tree_violations};
