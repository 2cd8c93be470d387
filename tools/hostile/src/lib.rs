//! Entry functions for hostile bytes: every parser of a file or a text, fed with what it must not trust.
//!
//! Each function panics if something is wrong, and else does nothing. `tools/fuzz` drives them with libFuzzer; the test beside this library replays
//! the committed corpora and random changes of them with the ordinary toolchain, so that the targets cannot rot.
//!
//! # Shape
//! Hashes would keep a fuzzer out: no random change gets past one. Where a hash stands before a parser, the target takes the *body* from the input and
//! seals it as `FORMAT.md` of the package says, by an implementation of its own. The first byte of an input often chooses: sealed, or raw bytes.
//!
//! # Invariants
//! 1. Any input is refused with an error or read; never a panic, never more memory than a constant times the input and the declared size, which is bounded.
//! 2. What is read can be written and read again with the same result.
//!
//! # Not here
//! Arguments of the command line: their parsers belong to the binary; the part `arguments` of the fault harness has them.
#![forbid(unsafe_code)]

mod checkpoint;
mod database;
mod formulas;
mod logs;
mod texts;

/// A target: its name, and the function.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 15] = [
    ("entry", logs::entry),
    ("frame", logs::frame),
    ("codec", logs::codec),
    ("format", checkpoint::format),
    ("manifest", checkpoint::manifest),
    ("journal", checkpoint::journal),
    ("block", database::block),
    ("database-manifest", database::manifest),
    ("sums", database::sums),
    ("position", texts::position),
    ("layout", texts::layout),
    ("formula", formulas::formula),
    ("game", formulas::game),
    ("dag", formulas::dag),
    ("transcript", texts::transcript),
];

/// The target with this name.
pub fn target(name: &str) -> Option<fn(&[u8])> {
    TARGETS.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
}

/// Splits off the first byte; 0 when there is none.
fn choice(bytes: &[u8]) -> (u8, &[u8]) {
    bytes.split_first().map_or((0, bytes), |(first, rest)| (*first, rest))
}

/// A little-endian number from the front; missing bytes are 0.
fn number<const N: usize>(bytes: &[u8]) -> (u64, &[u8]) {
    let (head, rest) = bytes.split_at(N.min(bytes.len()));
    (head.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)), rest)
}
