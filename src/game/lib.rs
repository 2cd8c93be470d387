//! The game: boards, moves, rules, positions, values, and the reference solver that defines them.
//! Also random numbers and claims of papers, which all packages share.
//!
//! ```
//! use trinim_game::{Board, Rule, Value, position, reference};
//!
//! let board = Board::triangle(3, None)?;
//! let values = reference::values(board.cells(), board.moves(), Rule::Misere);
//! assert_eq!(values.iter().filter(|value| **value == Value::Loss).count(), 14);
//! let corner = position::parse(&board, "1/00/000")?;
//! assert_eq!(values[corner as usize], Value::Loss); // taking the last piece loses
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![warn(unreachable_pub)]

pub mod amount;
mod board;
pub mod claims;
pub mod position;
pub mod published;
pub mod random;
pub mod reference;
mod rule;
pub mod text;
mod value;

pub use board::{
    BitPermutation, Board, BoardError, CELLS_MAX, Cell, Definition, FileError, LAYERS_MAX, MOVES_MAX, ParseCellError,
    Part, SYMMETRIES_MAX, Symmetry, Takes,
};
pub use rule::{ParseRuleError, Rule};
pub use value::{Outcome, Value};

/// The example of the README, which is not part of the documentation.
#[cfg(doctest)]
#[doc = include_str!("README.md")]
struct Readme;
