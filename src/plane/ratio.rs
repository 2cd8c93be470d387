//! An approximation of the golden ratio, in place of it in the formulas of the losses.

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

    /// Returns the place of `x` by the equations (45) to (48) of \[Ver10\].
    pub fn place(&self, x: &UBig) -> Place {
        let k = self.first_a(x);
        if self.a(&k) == *x { Place::A(k) } else { Place::B(self.first_b(x)) }
    }
}

fn ceiling(p: UBig, q: &UBig) -> UBig {
    (p + q - 1u8) / q
}
