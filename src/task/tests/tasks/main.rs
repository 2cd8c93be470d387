//! A solve in tasks leaves the bytes of a solve, for any division of the blocks among processes, in
//! any order, with repetitions and kills; and the store of another solve is refused and left
//! unchanged.

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
