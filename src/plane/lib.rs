//! Nim on the plane (Wythoff's game), with heaps of any length.
//!
//! \[Ver10\] B. S. Verkhovsky: Winning Strategies and Complexity of Nim-Type Computer Game on
//! Plane. Int. J. Communications, Network and System Sciences 3, 2010.
//!
//! A [`point`] is two heaps; a move takes from one of them, or the same number from both. The
//! player who reaches (0, 0) wins (*normal*) or loses (*attrition*, the misère play of
//! [`Rule`](trinim_game::Rule)). A formula gives the losses, so the heaps alone decide a point,
//! without a database.
//!
//! | question | module |
//! |---|---|
//! | which numbers make the losses? | [`sequence`], exactly; [`points`] in order, [`generator`] as the paper builds them, [`newton`] as the paper approximates them by a [`ratio`] |
//! | how exact must an approximation be? | [`precision`] |
//! | who wins, and by which moves? | [`winning`] |
//! | what if the goal changes? | [`flips`], for money [`bank`]; the paper's names of the goals: [`goal`] |
//! | which claims of the paper hold? | [`claims`] |
//! | what is true by definition? | [`retrograde`]; [`claim`] compares the formulas with it |
//! | what does the paper's program do? | [`paper`], [`start`], [`order`] |
//! | a game with its transcript | [`game`] |
//!
//! # Invariants
//! 1. Whole numbers decide everything; no code here uses floating point.
//! 2. Where the paper is wrong, the code has both: what the paper says, named as the paper's, and
//!    what is true.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![warn(unreachable_pub)]

pub mod bank;
pub mod claim;
pub mod claims;
pub mod flips;
pub mod game;
pub mod generator;
pub mod goal;
pub mod newton;
pub mod number;
pub mod order;
pub mod paper;
pub mod point;
pub mod points;
pub mod precision;
pub mod ratio;
pub mod retrograde;
pub mod sequence;
pub mod start;
pub mod winning;

/// Heaps of any length.
pub use dashu_int::UBig;
