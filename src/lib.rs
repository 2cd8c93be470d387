//! Strongly solves impartial removal games, first of all Triangular Nim, on disk-sized state spaces.
#![deny(unsafe_code)]

pub mod board;
pub mod census;
pub mod database;
pub mod kernel;
pub mod layout;
pub mod outcome;
pub mod plan;
pub mod position;
pub mod reference;
pub mod rule;
pub mod solve;
pub mod verify;
