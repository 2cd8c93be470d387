//! What readers of the papers come for: published figures, layouts, strategies, reports and
//! measurements.

#[expect(dead_code, unused_imports, reason = "the tests of trinim use the rest")]
mod common;

mod baselines;
mod bench;
mod layout;
mod layouts;
#[expect(dead_code, reason = "the generator uses the rest")]
#[path = "../../../../tools/src/bin/readme/json.rs"]
mod page;
mod program;
mod report;
#[path = "../../../../tests/common/reports.rs"]
mod reports;
#[path = "../../../../tests/common/schemas.rs"]
mod schemas;
mod solve;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_trinim-papers");
