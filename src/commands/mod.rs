//! The commands, one file or folder each.

pub mod check;
pub mod export;
pub mod plan;
pub mod play;
pub mod probe;
pub mod repair;
pub mod schema;
pub mod solve;
pub mod stats;
pub mod status;
pub mod verify;
