//! A solve in tasks leaves the bytes of a solve, whoever computes which block, how often, in which
//! order, and whatever is killed meanwhile; and a store that is not this solve's is refused and
//! left as it is.

mod command;
mod faults;
mod refusals;
mod shares;
mod sweep;
mod whole;

pub use whole::{any_order_and_any_threads, never, options};
