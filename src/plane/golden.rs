//! Fractions in place of the golden ratio, and their necessary precision.
//!
//! \[Ver10\] (38) is Newton's iteration: `x_0 = 1.618`, `x_{r+1} = (x_r² + 1) / (2 x_r - 1)`. Each
//! step doubles the right digits; `⌊n x_r⌋` is `a_n` as long as `n` is below the [first
//! failure](first_failure) of `x_r`. `x_r` is an exact fraction, so a finding about the paper's
//! rules is not an effect of rounding.
//!
//! For a fraction `y` in place of φ, `⌊ny⌋` differs from `⌊nφ⌋` exactly if some `h/n` is between
//! them: in `(φ, y]` or in `(y, φ)`. The smallest such `n` is the denominator of the first fraction
//! of the Stern-Brocot tree in that interval. The path down the tree to φ turns right and left
//! alternately, so its fractions are the quotients of Fibonacci numbers, on both sides of φ in turn
//! and ever closer. The first failure is therefore a Fibonacci number, and bisection finds it.
//!
//! # Invariants
//! 1. [`first_failure`] is exact: every `n` below it gives the right `a_n`, and it does not.
//!
//! # Cost
//! Bisection computes about log d Fibonacci numbers of up to d digits, for a failure of d digits.

use super::heaps::length;
use super::sequence::{self, Place};
use dashu_int::UBig;
use dashu_int::ops::BitTest;

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
        Ratio::newton(steps_needed(length(largest)))
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

/// The steps of \[Ver10\] table 2 for `n = 10^k`, with the first and the last `k`.
pub const TABLE_2: [(u32, u32, u32); 4] = [(0, 0, 3), (1, 4, 6), (2, 7, 12), (3, 13, 24)];

/// Returns the smallest number of Newton steps that is right for all `n` up to `10^digits`.
pub fn steps_needed(digits: usize) -> u32 {
    let power = UBig::from(10u8).pow(digits);
    (0..).find(|steps| first_failure(&Ratio::newton(*steps)) > power).unwrap_or(u32::MAX)
}

/// Returns the steps of the paper's rule (43) for numbers `m` with `t = ⌈log10 m⌉`:
/// `⌈log2(t / 3)⌉`, or 0 if that is negative. [`TABLE_2`] follows it.
pub fn paper_steps(t: usize) -> u32 {
    (0..).find(|steps| 3 << steps >= t).unwrap_or(u32::MAX)
}

/// Returns `F_j` and `F_{j+1}`.
fn fibonacci(j: u64) -> (UBig, UBig) {
    let (mut this, mut next) = (UBig::ZERO, UBig::ONE);
    for bit in (0..u64::BITS - j.leading_zeros()).rev() {
        // F_2j = F_j (2 F_{j+1} - F_j), F_{2j+1} = F_j² + F_{j+1}²
        let even = &this * ((&next << 1) - &this);
        let odd = this.sqr() + next.sqr();
        (this, next) = if j >> bit & 1 == 0 { (even, odd) } else { (odd.clone(), even + odd) };
    }
    (this, next)
}

/// Returns the smallest `n` for which `⌊ny⌋` is not `a_n`.
///
/// ```
/// use trinim_plane::golden::{Ratio, first_failure};
///
/// assert_eq!(first_failure(&Ratio::newton(1)), 46_368u32.into());
/// ```
pub fn first_failure(ratio: &Ratio) -> UBig {
    let Ratio { numerator: p, denominator: q } = ratio;
    let above = !sequence::is_below(p, q);
    // F_{j+1} / F_j is above φ for even j and below it for odd j.
    let number = |i: u64| if above { 2 * i + 2 } else { 2 * i + 1 };
    let lies_between = |i: u64| {
        let (n, h) = fibonacci(number(i));
        let (left, right) = (h * q, p * n);
        if above { left <= right } else { left > right }
    };
    // |y - φ| is at least about 1 / (√5 q²), so a failure has at most about twice the digits of q;
    // the search starts at half of that bound.
    let mut last = (q.bit_len() as u64).max(1);
    while !lies_between(last) {
        last *= 2;
    }
    let failure = fibonacci(number(least(last, lies_between))).0;
    debug_assert_ne!(ratio.a(&failure), sequence::a(&failure), "golden, invariant 1: {failure} does not fail");
    failure
}

/// Returns φ truncated to this many decimals.
pub fn cut(decimals: usize) -> Ratio {
    let denominator = UBig::from(10u8).pow(decimals);
    Ratio { numerator: sequence::a(&denominator), denominator }
}

/// Returns the fewest decimals of φ that are right for all `n` up to `10^digits`. They are at most
/// `2 digits + 1`, as the distance of `nφ` from any whole number is at least about `1 / (√5 n)`.
pub fn decimals_needed(digits: usize) -> usize {
    let power = UBig::from(10u8).pow(digits);
    least(2 * digits as u64 + 1, |decimals| first_failure(&cut(decimals as usize)) > power) as usize
}

/// Returns the least number up to `last` that a test accepts; it must accept all larger ones.
fn least(mut last: u64, accepts: impl Fn(u64) -> bool) -> u64 {
    let mut first = 0;
    while first < last {
        let middle = first + (last - first) / 2;
        if accepts(middle) { last = middle } else { first = middle + 1 }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goes down the tree by mediants, as the module page describes.
    fn first_failure_by_mediants(ratio: &Ratio) -> UBig {
        let (p, q) = (&ratio.numerator, &ratio.denominator);
        let above = !sequence::is_below(p, q);
        let (mut low, mut high) = ((UBig::ZERO, UBig::ONE), (UBig::ONE, UBig::ZERO));
        loop {
            let (h, n) = (&low.0 + &high.0, &low.1 + &high.1);
            let below_phi = sequence::is_below(&h, &n);
            let inside = if above { !below_phi && &h * q <= p * &n } else { below_phi && &h * q > p * &n };
            if inside {
                return n;
            }
            if below_phi { low = (h, n) } else { high = (h, n) }
        }
    }

    fn first_failure_by_counting(ratio: &Ratio) -> u64 {
        (1u64..).find(|n| ratio.a(&UBig::from(*n)) != sequence::a(&UBig::from(*n))).unwrap()
    }

    #[test]
    fn three_ways_to_the_first_failure() {
        for (p, q) in
            [(1u32, 1u32), (2, 1), (3, 2), (5, 3), (7, 4), (8, 5), (17, 10), (1, 3), (9, 2), (161, 100), (162, 100)]
        {
            let ratio = Ratio { numerator: p.into(), denominator: q.into() };
            assert_eq!(first_failure(&ratio), first_failure_by_mediants(&ratio), "{p}/{q}");
            assert_eq!(first_failure(&ratio), UBig::from(first_failure_by_counting(&ratio)), "{p}/{q}");
        }
        for steps in 0..6 {
            let ratio = Ratio::newton(steps);
            assert_eq!(first_failure(&ratio), first_failure_by_mediants(&ratio), "{steps} steps");
        }
        for decimals in 0..60 {
            assert_eq!(first_failure(&cut(decimals)), first_failure_by_mediants(&cut(decimals)), "{decimals} decimals");
        }
    }

    #[test]
    fn fibonacci_numbers_are_sums() {
        let mut pair = (UBig::ZERO, UBig::ONE);
        for j in 0..200 {
            assert_eq!(fibonacci(j), pair);
            pair = (pair.1.clone(), pair.0 + pair.1);
        }
    }
}
