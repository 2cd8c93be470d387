//! A solve in tasks leaves the bytes of a solve, whoever computes which block, how often, in which
//! order, and whatever is killed meanwhile; and a store that is not this solve's is refused and
//! left as it is.

#[expect(dead_code, unused_imports, reason = "the tests of trinim use the rest")]
mod common;

mod bucket;
mod command;
mod contract;
mod faults;
mod program;
mod refusals;
mod reports;
mod shares;
mod summary_first;
mod surroundings;
mod sweep;
mod whole;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_trinim-task");
