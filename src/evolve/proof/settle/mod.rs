//! Proofs by theorems about a game, where formulas cannot be decided bit by bit.
//!
//! Wythoff's theorem is compared with the formula itself, by `golden`. Where the values of heaps
//! repeat, `residues` shows that the formula repeats as well and compares one period of both.
//! Both are exact for heaps up to 2^31 − 1 and integers of 32 bits that wrap.

mod golden;
mod residues;

use crate::formula::Formula;
use crate::graph::Ordering;
use crate::int::OnFault;
use crate::law::Law;
use crate::scope::Scope;
use trinim_game::Rule;

/// The outcome of an attempted proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The formula is right for all heaps from 0 to 2^31 − 1 in this ordering, by this argument.
    Right(String),
    /// The formula is wrong for these heaps.
    Wrong(Vec<i32>),
    /// The question is undecided, for this reason.
    Open(String),
}

/// Decides whether a formula is right for all heaps of a game whose law is not decided bit by bit.
pub fn settle(law: &Law, formula: &Formula, scope: &Scope, ordering: Ordering, on_fault: OnFault) -> Settled {
    match law {
        Law::Bits(_) => Settled::Open("the game is decided bit by bit".to_owned()),
        Law::Wythoff(Rule::Normal) => golden::settle(formula, scope, ordering),
        Law::Wythoff(Rule::Misere) => {
            Settled::Open("no formula of misère play is compared with Wythoff's theorem".to_owned())
        }
        Law::Repeats { period, .. } => residues::settle(law, period, formula, scope, ordering, on_fault),
    }
}
