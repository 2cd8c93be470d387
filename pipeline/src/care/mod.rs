//! Care for a run folder: finding damage and repairing it.

pub mod check;
pub mod recompute;
pub mod repair;
