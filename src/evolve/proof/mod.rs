//! Checks and proofs of formulas beyond the positions they were found on.
//!
//! | file | contents |
//! |---|---|
//! | `check` | the check on larger positions, and the standing of a formula |
//! | `truth` | a graph with its true outcomes, and where a formula is wrong on it |
//! | `law` | theorems about all heaps of a game |
//! | `prove` | proofs bit column by bit column, for Nim and Moore's Nim |
//! | `settle`, `residues` | proofs by Wythoff's theorem, and by the period of a subtraction game |
//! | `probe` | large heaps to try where there is no proof |

mod check;
mod law;
mod probe;
mod prove;
mod residues;
mod settle;
mod truth;

pub use check::{HeldOut, Standing, Theorems};
pub use law::Law;
use law::{Answer, Case};
use probe::{Probes, shrink};
use prove::is_loss;
pub use prove::{Domain, PATHS_MAX, Proof, Question, Theorem, WORD_BITS, WORK_MAX};
use settle::settle;
use truth::first_wrong;
pub use truth::{Counterexample, FoundBy, TrueValue, Truth};
