//! How exact an approximation of the golden ratio has to be.
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

use super::ratio::Ratio;
use super::sequence;
use dashu_int::UBig;
use dashu_int::ops::BitTest;

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
/// use trinim_plane::{precision, ratio::Ratio};
///
/// assert_eq!(precision::first_failure(&Ratio::newton(1)), 46_368u32.into());
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
    let mut first = 0;
    while first < last {
        let middle = first + (last - first) / 2;
        if lies_between(middle) { last = middle } else { first = middle + 1 }
    }
    fibonacci(number(first)).0
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
    let (mut first, mut last) = (0, 2 * digits + 1);
    while first < last {
        let middle = first + (last - first) / 2;
        if first_failure(&cut(middle)) > power { last = middle } else { first = middle + 1 }
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
