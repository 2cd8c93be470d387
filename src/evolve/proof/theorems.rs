//! The two theorems that can hold for a formula: as words that wrap, and as integers of any size.
//!
//! The program computes with words of 32 bits, and a mathematician reads the same text as integers.
//! `(a1 xor a2) and 2147483647` is right for words and wrong for integers from 2^31 on;
//! `4 * (a1 xor a2)` is wrong for words, as it loses the two highest bits, and right for integers.

use crate::formula::Formula;
use crate::graph::Ordering;
use crate::law::Law;
use crate::prove::{Domain, Proof, Question, WORD_BITS};
use crate::scope::Scope;

/// Whether a formula is right for all heaps, in both readings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theorems {
    /// The orderings of the heaps asked about.
    pub ordering: Ordering,
    /// With words of 32 bits that wrap, for all heaps below 2^31.
    pub words: Proof,
    /// With integers of any size, for all heaps.
    pub integers: Proof,
}

impl Theorems {
    /// Decides both; `None` for a law that cannot be read bit by bit.
    pub fn decide(formula: &Formula, scope: &Scope, law: &Law, ordering: Ordering) -> Option<Theorems> {
        let Law::Bits(theorem) = *law else { return None };
        let prove = |domain| Question { formula, scope, theorem, ordering, domain }.prove();
        Some(Theorems { ordering, words: prove(Domain::Words(WORD_BITS)), integers: prove(Domain::Integers) })
    }

    /// Returns both with the integers they are about, in words.
    pub fn in_words(&self) -> [(&'static str, &Proof); 2] {
        [("32-bit words that wrap, heaps below 2^31", &self.words), ("integers of any size", &self.integers)]
    }
}
