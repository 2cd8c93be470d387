//! The program `trinim-serve` by its binary: answers, limits, tags, and how it starts and ends.

mod answers;
mod client;
#[expect(dead_code, unused_imports, reason = "the tests of trinim use the rest")]
mod common;
mod limits;
mod oracle;
#[expect(dead_code, reason = "the program readme writes pages with the rest")]
#[path = "../../../../tools/src/bin/readme/json.rs"]
mod page;
mod start;
mod tags;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_trinim-serve");
