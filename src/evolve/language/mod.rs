//! The language of formulas: integers and operations, terminals, text and chromosomes.
//!
//! | file | contents |
//! |---|---|
//! | `int` | the operations on 32-bit integers, one value or a column at a time |
//! | `scope` | the terminals of a game and their values |
//! | `formula` | a formula as a list of terms, and its written form |
//! | `parse`, `listing` | formulas and chromosomes read from text |
//! | `simplify` | shorter formulas with the same values |
//! | `alphabet` | the symbols that genes are drawn from |

mod alphabet;
mod formula;
mod int;
mod listing;
mod parse;
mod scope;
mod simplify;

pub use alphabet::{Alphabet, AlphabetError, GENES_MAX, Gene, Number, SYMBOLS_MAX};
pub(crate) use formula::first;
pub use formula::{Builder, DEPTH_MAX, Fault, Formula, Term, WRITTEN_MAX};
pub use int::{ARITY_MAX, OnFault, Op, golden};
pub use listing::{ListingError, parse_chromosome};
pub use parse::{LENGTH_MAX, PARTS_MAX, ParseError, parse};
pub use scope::{Scope, Terminal};
pub use simplify::simplify;
