//! The helpers that these tests share with those of trinim.

#[path = "../../../../tests/common/breaks.rs"]
pub mod breaks;
#[path = "../../../../tests/common/layouts.rs"]
pub mod layouts;
#[path = "../../../../tests/common/outputs.rs"]
pub mod outputs;
#[path = "../../../../tests/common/program.rs"]
pub mod program;
#[path = "../../../../tests/common/reports.rs"]
pub mod reports;
#[path = "../../../../tests/common/schemas.rs"]
pub mod schemas;
#[path = "../../../../tests/common/scratch.rs"]
mod scratch;
#[path = "../../../../tests/common/solving.rs"]
mod solving;
#[path = "../../../../tests/common/tree.rs"]
mod tree;

pub use scratch::scratch;
pub use solving::{Bitmaps, Solving, Way, assert_same_files, database_files, layout_with};
pub use tree::{copy, tree};
