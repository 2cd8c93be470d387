//! The engine and the solver on simulated threads and disks, also with one rule after another left
//! out.

#[path = "../../../../src/task/tests/tasks/contract.rs"]
mod contract;
#[path = "../../../../pipeline/tests/engine/mend/mod.rs"]
mod mend;
#[path = "../../../../src/task/tests/tasks/summary_first.rs"]
mod summary_first;

mod comparisons;
mod controls;
mod damage;
mod maintenance;
mod states;
mod tasks;

use simulation::subject::synthetic;
