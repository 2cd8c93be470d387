//! The game: boards and moves, rules, positions and their values, and the reference solver that
//! defines them.

mod board;
pub mod position;
pub mod reference;
mod rule;
mod value;

pub(crate) use board::BitPermutation;
pub use board::{
    Board, BoardError, CELLS_MAX, Cell, Definition, FileError, LAYERS_MAX, MOVES_MAX, Part, SYMMETRIES_MAX, Symmetry,
    Takes,
};
pub use rule::{ParseRuleError, Rule};
pub use value::{Outcome, Value};
