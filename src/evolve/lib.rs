//! Formulas that tell wins from losses, found by Multi Expression Programming and then checked.
//!
//! M. Oltean, *Evolving winning strategies for Nim-like games*, arXiv:2109.13109: a chromosome is a
//! list of genes, each a terminal or a function of earlier genes. The fitness of a formula is the
//! number of positions at which it breaks the rules of a strategy, so the true winners need not be
//! known.
//!
//! The paper leaves much open. Every open point is a choice in [`settings`]; one preset reproduces
//! the paper's experiments, others do better. The paper does not check formulas beyond the
//! positions they were found on, nor prove them; here [`check`] and [`prove`] do.
//!
//! | room | what it knows, from the rooms above it only |
//! |---|---|
//! | language | [`formula`]s of [`int`]egers over a [`scope`]; [`parse`], [`listing`] and [`simplify`]; the [`alphabet`] of chromosomes |
//! | games | [`games`] by their text, positions and moves as a [`graph`], the [`period`] of a heap |
//! | search | one run in [`engine`], by [`chromosome`], [`chance`], [`score`] and [`settings`]; many in [`runs`]; the paper's [`experiment`]s and [`tree`], [`stats`] |
//! | proof | [`check`] on larger positions, then [`prove`] bit by bit or [`settle`] by a [`law`], else [`probe`] large heaps; [`truth`] |
//! | [`claims`], [`export`] | the paper's claims with verdicts; a formula as Python or LaTeX |
//!
//! Integers have 32 bits and wrap; division truncates, `mod` has the sign of the dividend, and a
//! quotient by zero, or of −2^31 by −1, has no value: [`int`]. A position is a list of features,
//! mostly heaps: [`scope`]. Value 0 is a loss for the player to move (P), any other value a win
//! (N).
//!
//! ```
//! use trinim_evolve::check::{HeldOut, Standing};
//! use trinim_evolve::{games::Game, graph::Ordering, int::OnFault, parse::parse, score::Target};
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
//! 1. A run is a function of game, settings, seed and run number; the number of threads changes
//!    nothing.
//! 2. Everything fast has a slow, obvious counterpart that tests compare it with: columns and
//!    single values, counting by parents and by options, offspring judged by their changes and
//!    formulas judged from scratch, proofs bit by bit and whole integers.
//! 3. No text, file or number of a user causes a panic, and no floating point takes part in the
//!    value of a formula.
//!
//! A run of the paper's size takes about 4 ms, one of the best preset 20 ms. Files, printing and
//! pictures are left to the command line.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![warn(unreachable_pub)]

pub mod claims;
pub mod export;
pub mod games;

mod language {
    pub mod alphabet;
    pub mod formula;
    pub mod int;
    pub mod listing;
    pub mod parse;
    pub mod scope;
    pub mod simplify;
}

mod proof {
    pub mod check;
    pub mod law;
    pub mod probe;
    pub mod prove;
    mod residues;
    pub mod settle;
    pub mod truth;
}

mod search {
    pub mod chance;
    pub mod chromosome;
    pub mod engine;
    pub mod experiment;
    pub mod runs;
    pub mod score;
    pub mod settings;
    pub mod stats;
    pub mod tree;
}

pub use games::{graph, period};
pub use language::{alphabet, formula, int, listing, parse, scope, simplify};
pub use proof::{check, law, probe, prove, settle, truth};
pub use search::{chance, chromosome, engine, experiment, runs, score, settings, stats, tree};
