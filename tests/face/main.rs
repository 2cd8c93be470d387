//! The program as its users meet it: options, outputs, refusals, signals, limits, pages, server.

#[expect(dead_code, unused_imports, reason = "tests/library uses the rest")]
#[path = "../common/mod.rs"]
mod common;

mod batch;
mod bench;
mod board;
mod boards;
mod cli;
mod documented;
mod export;
mod figures;
mod hints;
mod json;
mod kept;
mod layout;
mod limits;
mod manual;
mod options;
mod outputs;
#[path = "../../tools/src/bin/readme/json.rs"]
mod page;
mod pages;
mod play;
mod probe;
mod programs;
mod progress;
mod repeatable;
mod serve;
mod serve_limits;
mod serve_tags;
mod server;
mod signals;
mod streams;
mod surroundings;
mod watch;
