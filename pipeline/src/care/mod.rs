//! Care for a run folder: what is wrong with it, and making it right again.

pub mod check;
pub mod repair;
