//! Helpers that the tests of engine, library and programs share.

pub mod books;
pub mod breaks;
pub mod foreign;
pub mod layouts;
pub mod outputs;
pub mod program;
pub mod reports;
pub mod schemas;
mod scratch;
mod solving;
mod stopping;
mod sweep;
mod tree;
mod upkeep;

pub use scratch::scratch;
pub use solving::{Bitmaps, Solving, Way, assert_same_files, database_files, layout_with};
pub use stopping::Stopping;
pub use sweep::Sweep;
pub use tree::{copy, tree};
pub use upkeep::{check, repair};

/// Layers of the largest boards that are solved in many ways.
pub const LARGEST: u32 = 6;
