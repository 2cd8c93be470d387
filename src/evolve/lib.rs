//! Formulas that distinguish wins from losses, found by Multi Expression Programming and then
//! checked.
//!
//! M. Oltean, *Evolving winning strategies for Nim-like games*, arXiv:2109.13109: a chromosome is a
//! list of genes, each a terminal or a function of earlier genes. The fitness of a formula is the
//! number of positions at which it breaks the rules of a strategy, so the true winners need not be
//! known. Every point that the paper leaves open is a choice in [`search::Settings`].
//!
//! | module | contents; each uses only the modules above it |
//! |---|---|
//! | [`language`] | formulas of integers over the heaps of a game, read, written, simplified and computed |
//! | [`games`] | games by their text, positions and moves as a graph, the period of a heap |
//! | [`search`] | the engine and its settings, the paper's experiments and its game tree |
//! | [`proof`] | checks on larger positions, proofs for all heaps, large heaps to try |
//! | [`claims`], [`export`] | the paper's claims with verdicts; a formula as Python or LaTeX |
//!
//! Integers have 32 bits and wrap ([`language::Op`]). A position is a list of features, mostly
//! heaps ([`language::Scope`]). Value 0 is a loss for the player to move (P), any other value a win
//! (N).
//!
//! ```
//! use trinim_evolve::games::{Game, Ordering};
//! use trinim_evolve::language::{OnFault, parse};
//! use trinim_evolve::proof::{HeldOut, Standing};
//! use trinim_evolve::search::Target;
//! use trinim_game::Rule;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let game = Game::parse("nim:4,4,4,4")?;
//! let graph = game.graph(Rule::Normal, Ordering::Descending)?;
//! assert_eq!(graph.len(), 70);
//! let held = HeldOut::new(&game, Rule::Normal, Target::Rules, Ordering::Descending, Some(7))?;
//! let formula = parse(&graph.scope, "(a1^a2^a3) - a4")?;
//! assert_eq!(held.standing(&formula, OnFault::Stop), Standing::Proved(Ordering::All));
//! # Ok(())
//! # }
//! ```
//!
//! # Invariants
//! 1. A run depends only on game, settings, seed and run number, not on the number of threads.
//! 2. Everything fast has a slow, obvious counterpart that tests compare it with: columns and
//!    single values, counting by parents and by options, offspring judged by their changes and
//!    formulas judged from scratch, proofs bit by bit and whole integers.
//! 3. No text, file or number of a user causes a panic, and the value of a formula uses no floating
//!    point.
//!
//! The program, `main.rs` and `commands`, does the file access and the printing.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![warn(unreachable_pub)]

pub mod claims;
pub mod export;
pub mod games;
pub mod language;
pub mod proof;
pub mod search;
