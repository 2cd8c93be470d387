//! A gene: a terminal, or a function with the places of its arguments.

use crate::int::ARITY_MAX;

/// A gene. It keeps arguments that its symbol does not need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gene {
    /// Number of the symbol in the [`Alphabet`](crate::alphabet::Alphabet), terminals first.
    pub symbol: u16,
    /// Places of the arguments.
    pub args: [u16; ARITY_MAX],
}
