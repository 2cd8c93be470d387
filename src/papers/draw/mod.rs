//! Pictures as SVG.

pub mod board_picture;
pub mod chart;
pub mod svg;
