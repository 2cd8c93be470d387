//! The order in which to try the paper's equations.
//!
//! To place a number, \[Ver10\] section 17 tries the equation of `a`, then that of `b`; section 18
//! proposes to start with either at random, in proportion to how many numbers each sequence has.
//! Starting with `a` is best, and one equation is enough anyway: it also gives the answer of the
//! other.

use super::sequence::{self, Place};
use dashu_int::UBig;
use trinim_game::random::Random;

/// Returns how many of the numbers 1 to `most` are an `a`, and how many are a `b`.
pub fn counts(most: &UBig) -> (UBig, UBig) {
    // There are as many a up to M as n with nφ < M + 1.
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
    /// With `a` always first.
    pub a_first: u64,
    /// With `a` first with probability 0.618, else `b` first.
    pub random: u64,
    /// With `b` always first.
    pub b_first: u64,
}

/// Places random numbers from 1 to `most`, which must not be 0, and counts equations.
pub fn sample(most: u64, numbers: u64, seed: u64) -> Tried {
    let mut random = Random::new(seed);
    let mut tried = Tried { numbers, ..Tried::default() };
    for _ in 0..numbers {
        let number = 1 + random.below(most);
        let is_a = matches!(sequence::place(&number.into()), Place::A(_));
        let begins_with_a = random.below(1000) < 618;
        tried.a_first += if is_a { 1 } else { 2 };
        tried.b_first += if is_a { 2 } else { 1 };
        tried.random += if is_a == begins_with_a { 1 } else { 2 };
    }
    tried
}
