//! The engine and the solver on simulated threads and disks, and with one rule after another left
//! out.

#[path = "../../../../tests/common/contract.rs"]
mod contract;
#[path = "../../../../pipeline/tests/engine/mend/mod.rs"]
mod mend;
#[path = "../../../../tests/common/summary_first.rs"]
mod summary_first;

mod care;
mod comparisons;
mod controls;
mod damage;
mod states;
mod tasks;

use simulation::subject::synthetic;
