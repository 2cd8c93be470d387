//! The helpers that these tests share with those of trinim.

#[path = "../../../../tests/common/program.rs"]
pub mod program;
#[path = "../../../../tests/common/schemas.rs"]
pub mod schemas;
#[path = "../../../../tests/common/scratch.rs"]
mod scratch;
#[path = "../../../../tests/common/tree.rs"]
mod tree;

pub use scratch::scratch;
pub use tree::{copy, tree};
