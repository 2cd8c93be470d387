//! Published figures, layouts, strategies, reports and measurements.

#[expect(dead_code, unused_imports, reason = "the tests of trinim use the rest")]
mod common;

mod baselines;
mod bench;
mod layout;
mod layouts;
mod outputs;
mod program;
mod report;
mod solve;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_trinim-papers");
