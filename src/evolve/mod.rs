//! Formulas that tell wins from losses, found by Multi Expression Programming and checked.
//!
//! # What and why
//! M. Oltean, *Evolving winning strategies for Nim-like games*, arXiv:2109.13109: a chromosome is a list of genes, each a terminal or a function of
//! earlier genes; a formula is worth the number of positions at which it breaks the rules of a strategy, so that nobody has to know who wins where.
//! The paper leaves much open; here every open point is a choice ([`settings`]), the choices that reproduce its experiments are a preset, and so are
//! better ones. What the paper does not do: check a formula beyond the positions it was found on ([`check`]), and prove it where that can be decided
//! ([`prove`]).
//!
//! # Shape
//! ```text
//! games ─► graph ──► engine ──► runs ──► check ──► prove
//!          positions  one run    many     larger    all heaps
//!          and moves     │                positions
//!                        └── chromosome, alphabet, chance, score, int
//! formula: what a chromosome says; parse, simplify, export
//! ```
//! Integers have 32 bits and wrap; division truncates, `mod` has the sign of the dividend, and a quotient by zero, or of −2^31 by −1, has no value:
//! [`int`]. A position is a list of features, mostly heaps: [`scope`]. Value 0 is a loss for the player to move (P), anything else a win (N).
//!
//! ```
//! use trinim::evolve::{check::{HeldOut, Standing}, games::Game, graph::Ordering, int::OnFault, parse::parse, score::Target};
//! use trinim::game::Rule;
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
//! 1. A run is a function of game, settings, seed and its number; threads change nothing.
//! 2. Everything fast has a slow and obvious counterpart that tests compare it with: columns and single values, counting by parents and by options,
//!    offspring judged by what changed and formulas judged from scratch, proofs bit by bit and whole integers.
//! 3. No text, file or number of a user makes it panic, and no floating point takes part in the value of a formula.
//!
//! # Cost
//! A run of the paper's size takes about 4 ms, one of the best preset 20 ms.
//!
//! # Not here
//! Files, printing, pictures: the command line.

pub mod alphabet;
pub mod chance;
pub mod check;
pub mod chromosome;
pub mod engine;
pub mod experiment;
pub mod export;
pub mod formula;
pub mod games;
pub mod graph;
pub mod int;
pub mod parse;
pub mod prove;
pub mod runs;
pub mod scope;
pub mod score;
pub mod settings;
pub mod simplify;
pub mod stats;
pub mod tree;
