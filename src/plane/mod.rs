//! # Nim on the plane (Wythoff's game), with heaps of any length
//!
//! \[Ver10\] B. S. Verkhovsky: Winning Strategies and Complexity of Nim-Type Computer Game on Plane. Int. J. Communications, Network and System Sciences 3, 2010.
//! Two heaps, a [`point`]; a move takes from one of them, or the same number from both. Who reaches (0, 0) wins (*normal*) or loses (*attrition*, the misère
//! play of [`Rule`](crate::game::Rule)). The losses are known by formula, so that a point is decided by its heaps alone, without a database.
//!
//! # Shape
//! | question | module |
//! |---|---|
//! | which numbers make the losses? | [`sequence`], exactly; [`points`] in order, [`generator`] as the paper builds them, [`newton`] as the paper approximates them |
//! | how exact has an approximation to be? | [`precision`] |
//! | who wins, by which moves? | [`winning`] |
//! | what if the goal changes? | [`flips`]; the paper's names of the goals: [`goal`] |
//! | what is true by definition? | [`retrograde`], and beside the formulas [`claim`] |
//! | what does the paper's program do? | [`paper`], [`start`], [`order`] |
//! | a game with its transcript | [`game`] |
//!
//! # Invariants
//! 1. Whole numbers decide everything; nothing here is a floating-point number.
//! 2. Where the paper is wrong both are here: what it says, named as the paper's, and what is true.
//!
//! # Not here
//! Printing and asking: the command line.

pub mod claim;
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
pub mod retrograde;
pub mod sequence;
pub mod start;
pub mod winning;
