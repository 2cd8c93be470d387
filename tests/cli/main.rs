//! The program as its users meet it: options, outputs, refusals, signals, limits, pages.

#[expect(dead_code, unused_imports, reason = "tests/library uses the rest")]
#[path = "../common/mod.rs"]
mod common;

mod batch;
mod board;
mod cli;
mod documented;
mod environment;
mod export;
mod figures;
mod flags;
mod hints;
mod json;
mod kept;
mod limits;
mod manual;
mod options;
mod outputs;
mod pages;
mod play;
mod probe;
mod programs;
mod progress;
mod repeatable;
mod signals;
mod streams;
mod surroundings;
mod timeline;
mod watch;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_trinim");
