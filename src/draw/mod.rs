//! Figures and reports of solved boards.
//!
//! Everything here turns what is known into text: pictures ([`svg`], [`chart`], [`board_picture`]), tables ([`table`]) and the report that has the
//! papers' tables and figures ([`report`]). What a chart can show is on the page of [`chart`], with an example.
//!
//! # Invariants
//! 1. The same input gives the same bytes: no clock, path, machine or order of iteration shows in a text.
//! 2. Nothing is written: a caller gets names and contents.
//!
//! # Not here
//! Files and standard output: the command line.

pub mod board_picture;
pub mod chart;
mod scale;
pub mod svg;
pub mod table;
