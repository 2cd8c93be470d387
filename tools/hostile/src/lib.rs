//! Entry functions for hostile bytes: one for every parser of untrusted files or texts.
//!
//! Each function panics if something is wrong. `tools/fuzz` drives them with libFuzzer; the test
//! beside this library replays the committed corpora and random changes of them with the ordinary
//! toolchain, so that the targets cannot rot.
//!
//! No random change gets past a hash. If a hash guards a parser, the target takes the *body* from
//! the input and seals it as `FORMAT.md` of the package says, by an independent implementation. The
//! first byte of an input often chooses between sealed and raw bytes.
//!
//! # Invariants
//! 1. Any input is parsed or rejected with an error. There is never a panic, and never more memory
//!    than a constant times the input and the declared size, which is bounded.
//! 2. A parsed input can be written and parsed again with the same result.
//!
//! `tests/cli/options.rs` covers the command line, whose parsers belong to the binary.
#![forbid(unsafe_code)]

mod checkpoint;
mod database;
mod formulas;
mod logs;
pub mod long;
mod played;
mod texts;

/// A target: name and function.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 16] = [
    ("entry", logs::entry),
    ("frame", logs::frame),
    ("codec", logs::codec),
    ("format", checkpoint::format),
    ("manifest", checkpoint::manifest),
    ("journal", checkpoint::journal),
    ("block", database::block),
    ("book", database::book),
    ("database-manifest", database::manifest),
    ("sums", database::sums),
    ("position", texts::position),
    ("layout", texts::layout),
    ("formula", formulas::formula),
    ("game", formulas::game),
    ("heap", texts::heap),
    ("played", played::played),
];

/// Returns the target with this name.
pub fn target(name: &str) -> Option<fn(&[u8])> {
    TARGETS.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
}

/// Splits off the first byte; 0 if there is none.
fn choice(bytes: &[u8]) -> (u8, &[u8]) {
    bytes.split_first().map_or((0, bytes), |(first, rest)| (*first, rest))
}

/// Splits off a little-endian number; missing bytes are 0.
fn number<const N: usize>(bytes: &[u8]) -> (u64, &[u8]) {
    let (head, rest) = bytes.split_at(N.min(bytes.len()));
    (head.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)), rest)
}
