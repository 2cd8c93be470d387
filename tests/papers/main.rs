//! What readers of the papers come for: published figures, layouts, strategies and reports.

#[expect(dead_code, unused_imports, reason = "tests/library uses the rest")]
#[path = "../common/mod.rs"]
mod common;

mod board;
mod layout;
mod report;
mod strategies;
