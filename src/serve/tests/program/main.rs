//! The program `trinim-serve` by its binary: answers, limits, tags, and how it starts and ends.

mod answers;
mod client;
mod limits;
#[expect(dead_code, reason = "the program readme writes pages with the rest")]
#[path = "../../../../tools/src/bin/readme/json.rs"]
mod page;
mod program;
#[path = "../../../../tests/common/schemas.rs"]
mod schemas;
#[path = "../../../../tests/common/scratch.rs"]
mod scratch;
mod start;
mod tags;
