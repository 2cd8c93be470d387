//! The helpers that the tests of the library share, without the program.

#[path = "../../../../tests/common/books.rs"]
pub mod books;
#[path = "../../../../tests/common/breaks.rs"]
pub mod breaks;
#[path = "../../../../tests/common/scratch.rs"]
mod scratch;
#[path = "../../../../tests/common/solving.rs"]
mod solving;
#[path = "../../../../tests/common/stopping.rs"]
mod stopping;
#[path = "../../../../tests/common/sweep.rs"]
mod sweep;
#[path = "../../../../tests/common/tree.rs"]
mod tree;
#[path = "../../../../tests/common/upkeep.rs"]
mod upkeep;

pub use scratch::scratch;
pub use solving::{Bitmaps, Solving, Way, assert_same_files, database_files, layout_with};
pub use stopping::Stopping;
pub use sweep::Sweep;
pub use tree::{copy, tree};
pub use upkeep::{check, repair};

/// Layers of the largest boards that are solved in many ways. Small constants make each solve slow,
/// and smaller boards reach the same branches.
pub const LARGEST: u32 = 5;
