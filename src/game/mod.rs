//! The game: boards and moves, the rule, positions and their values, and what is true by definition.

mod board;
pub mod position;
pub mod reference;
mod rule;
mod value;

pub(crate) use board::BitPermutation;
pub use board::{Board, BoardError, Cell, LAYERS_MAX, Symmetry};
pub use rule::{ParseRuleError, Rule};
pub use value::{Outcome, Value};
