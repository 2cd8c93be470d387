//! What readers of the papers come for: published figures, layouts, strategies, reports, formulas
//! and the plane.

#[path = "../common/mod.rs"]
mod common;

mod board;
mod evolve;
mod layout;
mod plane;
mod report;
mod strategies;
