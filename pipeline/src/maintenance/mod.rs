//! Checks and repairs a run folder.

pub mod check;
pub mod recompute;
pub mod repair;
