//! The engine and the solver on simulated threads and disks, and with one rule after another left
//! out.

#[path = "../../../../pipeline/tests/engine/mend/mod.rs"]
mod mend;
#[path = "../../../../pipeline/tests/engine/toy/mod.rs"]
mod toy;

mod care;
mod comparisons;
mod controls;
mod damage;
mod protocol;
mod states;
mod tasks;

use simulation::subject::synthetic;
