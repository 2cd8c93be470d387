//! The points in order, one step at a time.
//!
//! `a_n` grows by 1 or 2. The sign of `e = a² - an - n²` decides which: it is never above 0 for
//! `a = a_n` and above 0 for anything larger. Additions alone keep `e` up to date. Up to
//! `n = 2^120` the numbers are machine integers: `e` and all terms of the sums are below
//! `4 (a + n)`.

use super::sequence;
use dashu_int::{IBig, UBig};

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
        let a = IBig::from(sequence::a(n));
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
                assert_eq!(numbered.short, sequence::a(&numbered.index));
                assert_eq!(numbered.long, sequence::b(&numbered.index));
            }
        }
    }
}
