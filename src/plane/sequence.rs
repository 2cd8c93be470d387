//! The two sequences, exactly, and the points in order.
//!
//! With the golden ratio φ, `a_n = ⌊nφ⌋` and `b_n = ⌊nφ²⌋ = a_n + n`. Every number from 1 is
//! exactly one `a_k` or exactly one `b_i` (Beatty), and the pairs `(a_n, b_n)` are the losses of
//! normal play (Wythoff). Each function takes one root of a number of twice the length, and a few
//! products.
//!
//! [`Points`] goes one step at a time. `a_n` grows by 1 or 2. The sign of `e = a² - an - n²`
//! decides which: it is never above 0 for `a = a_n` and above 0 for anything larger. Additions
//! alone keep `e` up to date. Up to `n = 2^120` the numbers are machine integers: `e` and all terms
//! of the sums are below `4 (a + n)`.
//!
//! # Invariants
//! 1. `⌊nφ⌋ = ⌊(n + ⌊n√5⌋) / 2⌋`, and `⌊n√5⌋ = ⌊√(5n²)⌋` is an integer root: nothing is rounded.
//! 2. `x < nφ` exactly if `x² < xn + n²`: φ is the positive root of `x² = x + 1`, and irrational,
//!    so they are never equal for `n > 0`.

use dashu_int::ops::SquareRoot;
use dashu_int::{IBig, UBig};

/// The place of a number in the two sequences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// `a_k`.
    A(UBig),
    /// `b_i`.
    B(UBig),
}

/// Returns `⌊n√5⌋`.
fn root_five(n: &UBig) -> UBig {
    (n.sqr() * 5u8).sqrt()
}

/// Returns `a_n`; `a_0` is 0.
///
/// ```
/// use trinim_plane::sequence::a;
///
/// assert_eq!(a(&423_311u32.into()), 684_931u32.into());
/// ```
pub fn a(n: &UBig) -> UBig {
    (n + root_five(n)) >> 1
}

/// Returns `b_n`; `b_0` is 0.
pub fn b(n: &UBig) -> UBig {
    a(n) + n
}

/// Returns whether `x < nφ`, for `n` or `x` above 0.
pub fn is_below(x: &UBig, n: &UBig) -> bool {
    // x² < xn + n² without the longest products: x (x - n) < n².
    x < n || x * (x - n) < n.sqr()
}

/// Returns the place of a number; 0 is both `a_0` and `b_0` and counts as `a_0`.
pub fn place(x: &UBig) -> Place {
    if x.is_zero() {
        return Place::A(UBig::ZERO);
    }
    // The smallest k with kφ > x is ⌊x/φ⌋ + 1, and 1/φ = (√5 - 1)/2.
    let k = ((root_five(x) - x) >> 1) + 1u8;
    // So kφ > x, and x is a_k exactly if kφ < x + 1. Otherwise the smallest i with iφ² > x has b_i
    // = x, and as x/φ + x/φ² = x, it is x + 1 - k.
    if is_below(&(x + 1u8), &k) { Place::B(x + 1u8 - k) } else { Place::A(k) }
}

/// Returns the number paired with `x`: `b_k` for `a_k`, `a_i` for `b_i`.
pub fn partner(x: &UBig) -> UBig {
    match place(x) {
        Place::A(k) => x + k,
        Place::B(i) => x - i,
    }
}

/// From this index on, points are computed with integers of any length.
const SMALL: i128 = 1 << 120;

/// A point of the sequence with its index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered {
    /// n.
    pub index: UBig,
    /// a_n.
    pub short: UBig,
    /// b_n.
    pub long: UBig,
}

/// Endless iterator over the points `(a_n, b_n)` from some `n`.
#[derive(Clone, Debug)]
pub struct Points(Width);

/// `n`, `a_n` and `e`.
#[derive(Clone, Debug)]
enum Width {
    Small(i128, i128, i128),
    Large(IBig, IBig, IBig),
}

/// The same three numbers for the next point.
macro_rules! next {
    ($n:expr, $a:expr, $excess:expr) => {{
        // e with n + 1 for n and a + 2 for a.
        let further = $excess + $a * 3i128 - $n * 4i128 + 1i128;
        // A test of the sign without a zero of either type: e is 0 only at (0, 0).
        if further < 1i128.into() {
            ($n + 1i128, $a + 2i128, further)
        } else {
            ($n + 1i128, $a + 1i128, $excess + $a - $n * 3i128 - 1i128)
        }
    }};
}

impl Points {
    /// Starts at the point of index `n`.
    pub fn from(n: &UBig) -> Points {
        let a = IBig::from(a(n));
        let n = IBig::from(n.clone());
        let excess = &a * &a - &a * &n - &n * &n;
        let small = |number: &IBig| i128::try_from(number).ok();
        match (small(&n), small(&a), small(&excess)) {
            (Some(small_n), Some(small_a), Some(small_excess)) if small_n < SMALL => {
                Points(Width::Small(small_n, small_a, small_excess))
            }
            _ => Points(Width::Large(n, a, excess)),
        }
    }
}

impl Iterator for Points {
    type Item = Numbered;

    fn next(&mut self) -> Option<Numbered> {
        let (numbered, next) = match &self.0 {
            Width::Small(n, a, excess) => {
                let (n, a, excess) = (*n, *a, *excess);
                let unsigned = |number: i128| UBig::from(number.unsigned_abs());
                let numbered = Numbered { index: unsigned(n), short: unsigned(a), long: unsigned(a + n) };
                let next = match next!(n, a, excess) {
                    (n, a, excess) if n < SMALL => Width::Small(n, a, excess),
                    (n, a, excess) => Width::Large(n.into(), a.into(), excess.into()),
                };
                (numbered, next)
            }
            Width::Large(n, a, excess) => {
                let unsigned = |number: IBig| number.into_parts().1;
                let numbered =
                    Numbered { index: unsigned(n.clone()), short: unsigned(a.clone()), long: unsigned(a + n) };
                let (n, a, excess) = next!(n, a, excess);
                (numbered, Width::Large(n, a, excess))
            }
        };
        self.0 = next;
        Some(numbered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_agree_with_the_formula_on_both_sides_of_the_limit() {
        let limit = UBig::from(SMALL.unsigned_abs());
        for (start, count) in [(UBig::ZERO, 5000), (&limit - 1000u16, 2000), (UBig::from(10u8).pow(60), 500)] {
            for (ahead, numbered) in Points::from(&start).take(count).enumerate() {
                assert_eq!(numbered.index, &start + ahead);
                assert_eq!(numbered.short, a(&numbered.index));
                assert_eq!(numbered.long, b(&numbered.index));
            }
        }
    }
}
