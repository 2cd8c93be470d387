//! # Which equation first
//!
//! To place a number, \[Ver10\] section 17 tries the equation of `a` and then that of `b`; section 18 proposes to begin with either at random, in proportion to
//! how many numbers each sequence has. Trying `a` first is best, and one equation is enough anyway, since the other then has the answer.

use super::sequence::{self, Place};
use crate::random::Random;
use dashu_int::UBig;

/// Of the numbers 1 to `most`: how many are some `a`, and how many some `b`.
pub fn counts(most: &UBig) -> (UBig, UBig) {
    // The a up to M are as many as the n with nφ < M + 1.
    let within = match sequence::place(&(most + 1u8)) {
        Place::A(k) => k - 1u8,
        Place::B(i) => most + 1u8 - i,
    };
    let others = most - &within;
    (within, others)
}

/// Equations tried for some numbers, in each of three orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    /// Numbers placed.
    pub numbers: u64,
    /// Always `a` first.
    pub a_first: u64,
    /// `a` first with probability 0.618, else `b` first.
    pub random: u64,
    /// Always `b` first.
    pub b_first: u64,
}

/// Places random numbers from 1 to `most`, which is not 0, and counts equations.
pub fn sample(most: u64, numbers: u64, seed: u64) -> Tried {
    let mut random = Random::new(seed);
    let mut tried = Tried { numbers, ..Tried::default() };
    for _ in 0..numbers {
        let number = 1 + random.below(usize::try_from(most).unwrap_or(usize::MAX)) as u64;
        let is_a = matches!(sequence::place(&number.into()), Place::A(_));
        let begins_with_a = random.below(1000) < 618;
        tried.a_first += if is_a { 1 } else { 2 };
        tried.b_first += if is_a { 2 } else { 1 };
        tried.random += if is_a == begins_with_a { 1 } else { 2 };
    }
    tried
}
