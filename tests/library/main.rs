//! The library, and what its commands make of folders, against the definition of the game.

#[expect(dead_code, reason = "tests/cli uses the rest")]
#[path = "../common/mod.rs"]
mod common;

mod accused;
mod architecture;
mod beside;
mod blocks;
mod board;
mod boards_as_data;
mod book;
mod built_in;
mod check;
mod damage;
mod folders;
mod forged;
mod format;
mod identities;
mod job;
mod keep;
mod layout;
mod listing;
mod numbers;
mod parts;
mod play;
mod repair;
mod seven;
mod solve;
mod surroundings;
mod verify;
mod ways;
mod witness;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_trinim");
