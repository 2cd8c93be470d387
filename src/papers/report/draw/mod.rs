//! Drawing: results as pictures ([`svg`], [`chart`], [`board_picture`]) and tables ([`table`]).
//!
//! # Invariants
//! 1. The same input gives the same bytes: no clock, path, machine or iteration order shows in a
//!    text.
//! 2. Nothing here writes files; callers get names and contents.

pub mod board_picture;
pub mod chart;
pub(crate) mod scale;
pub mod svg;
pub mod table;
