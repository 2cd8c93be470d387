//! The two sequences, exactly, and the points in order.
//!
//! With the golden ratio φ, `a_n = ⌊nφ⌋` and `b_n = ⌊nφ²⌋ = a_n + n`. Every number from 1 is
//! exactly one `a_k` or exactly one `b_i` (Beatty), and the pairs `(a_n, b_n)` are the losses of
//! normal play (Wythoff). Each function takes one root of a number of twice the length, and a few
//! products.
//!
//! [`Points`] goes one step at a time: `a_n` grows by 1 or 2, as φ is between them, and one product
//! decides by which.
//!
//! # Invariants
//! 1. `⌊nφ⌋ = ⌊(n + ⌊n√5⌋) / 2⌋`, and `⌊n√5⌋ = ⌊√(5n²)⌋` is an integer root: nothing is rounded.
//! 2. `x < nφ` exactly if `x² < xn + n²`: φ is the positive root of `x² = x + 1`, and irrational,
//!    so they are never equal for `n > 0`.

use dashu_int::UBig;
use dashu_int::ops::SquareRoot;

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
    let a = (n + root_five(n)) >> 1;
    debug_assert!(
        n.is_zero() || is_below(&a, n) && !is_below(&(&a + 1u8), n),
        "sequence, invariants 1 and 2: a_{n} is not {a}"
    );
    a
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

/// A point of the sequence with its index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// n.
    pub index: UBig,
    /// a_n.
    pub short: UBig,
    /// b_n.
    pub long: UBig,
}

/// Endless iterator over the points `(a_n, b_n)` from some `n`.
#[derive(Clone, Debug)]
pub struct Points {
    index: UBig,
    short: UBig,
}

impl Points {
    /// Starts at the point of index `n`.
    pub fn from(n: &UBig) -> Points {
        Points { index: n.clone(), short: a(n) }
    }
}

impl Iterator for Points {
    type Item = Term;

    fn next(&mut self) -> Option<Term> {
        let Points { index, short } = self;
        let point = Term { index: index.clone(), short: short.clone(), long: &*short + &*index };
        *index += 1u8;
        *short += 2u8;
        if !is_below(short, index) {
            *short -= 1u8;
        }
        Some(point)
    }
}
