//! Newton's iteration for the golden ratio.
//!
//! \[Ver10\] (38): `x_0 = 1.618`, `x_{r+1} = (x_r² + 1) / (2 x_r - 1)`. Each step doubles the right
//! digits; `⌊n x_r⌋` is `a_n` as long as `n` is below the [first failure](super::precision) of
//! `x_r`.
//!
//! `x_r` is kept as an exact fraction. Nothing is rounded, so a finding about the paper's rules is
//! a property of the rules.

use super::number;
use super::precision;
use super::sequence::Place;
use dashu_int::UBig;

/// A positive fraction near the golden ratio.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ratio {
    /// The numerator.
    pub numerator: UBig,
    /// The denominator, not 0.
    pub denominator: UBig,
}

impl Ratio {
    /// Returns `x_r` after `steps` steps.
    pub fn newton(steps: u32) -> Ratio {
        let (mut p, mut q) = (UBig::from(809u16), UBig::from(500u16));
        for _ in 0..steps {
            let numerator = p.sqr() + q.sqr();
            let denominator = &q * ((&p << 1) - &q);
            (p, q) = (numerator, denominator);
        }
        Ratio { numerator: p, denominator: q }
    }

    /// Returns an `x_r` that is right for all `n` up to `largest`.
    pub fn up_to(largest: &UBig) -> Ratio {
        Ratio::newton(precision::steps_needed(number::length(largest)))
    }

    /// Returns `⌊n x⌋`.
    pub fn a(&self, n: &UBig) -> UBig {
        n * &self.numerator / &self.denominator
    }

    /// Returns `⌈s / x⌉`.
    pub fn first_a(&self, s: &UBig) -> UBig {
        ceiling(s * &self.denominator, &self.numerator)
    }

    /// Returns `⌈s / (1 + x)⌉`.
    pub fn first_b(&self, s: &UBig) -> UBig {
        ceiling(s * &self.denominator, &(&self.numerator + &self.denominator))
    }

    /// Returns the place of `x` by the paper's equations (45) to (48).
    pub fn place(&self, x: &UBig) -> Place {
        let k = self.first_a(x);
        if self.a(&k) == *x { Place::A(k) } else { Place::B(self.first_b(x)) }
    }
}

fn ceiling(p: UBig, q: &UBig) -> UBig {
    (p + q - 1u8) / q
}
