//! Integer arithmetic of formulas, one value or one column of values at a time.
//!
//! The paper leaves width, rounding and division by zero open; here they are those of a C `int`
//! made total. Sum, difference and product wrap at 32 bits; `div` truncates toward zero; `mod` has
//! the sign of the dividend; `and or xor not` work on the bits of the two's complement, so `not 0`
//! is −1. A division by zero has no value, nor does `−2147483648 div −1` or the `mod` of the same
//! pair, which C leaves undefined and processors trap. Both are *faults*, and [`OnFault`] decides
//! their value.
//!
//! Beyond the paper: `min max eq lt if` (comparisons give 1 or 0; `if` takes its second argument
//! where the first is not 0), `phi(x) = ⌊x·φ⌋` with φ the golden ratio, exact for every x, and
//! `isqrt(x) = ⌊√x⌋`, 0 for negative x.
//!
//! # Invariants
//! 1. Nothing here panics or uses floating point.
//! 2. [`Op::fill`] equals [`Op::apply`], the definition, position by position.
//! 3. Without a fault, a value is the value among integers of any size, wrapped.
//!
//! # Cost
//! The loops of [`Op::fill`] compile to vector code: about a nanosecond for ten positions, but one
//! division for each position of `div` and `mod`.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Largest arity of an operation.
pub const ARITY_MAX: usize = 3;

/// Declares the operations: each once, with its name in formulas.
macro_rules! operations {
    ($($(#[$page:meta])* $op:ident $name:literal,)*) => {
        /// A function symbol.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Op {
            $($(#[$page])* $op,)*
        }

        impl Op {
            /// All operations.
            pub const ALL: [Op; 16] = [$(Op::$op),*];

            /// Returns the name in formulas.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Op::$op => $name,)*
                }
            }
        }
    };
}

operations! {
    /// Sum, wrapping.
    Add "+",
    /// Difference, wrapping.
    Sub "-",
    /// Product, wrapping.
    Mul "*",
    /// Quotient, truncated toward zero.
    Div "div",
    /// Remainder with the sign of the dividend.
    Mod "mod",
    /// Bitwise and.
    And "and",
    /// Bitwise or.
    Or "or",
    /// Bitwise exclusive or.
    Xor "xor",
    /// Bitwise complement.
    Not "not",
    /// The smaller one.
    Min "min",
    /// The larger one.
    Max "max",
    /// 1 if equal, otherwise 0.
    Eq "eq",
    /// 1 if the first is smaller, otherwise 0.
    Lt "lt",
    /// The second argument where the first is not 0, otherwise the third.
    If "if",
    /// Floor of the golden ratio times the argument.
    Phi "phi",
    /// Floor of the square root; 0 for negative arguments.
    Isqrt "isqrt",
}

/// Replacement for a quotient that has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFault {
    /// None: evaluation stops and reports the fault.
    #[serde(rename = "error")]
    Stop,
    /// 0.
    #[serde(rename = "0")]
    Zero,
    /// 1.
    #[serde(rename = "1")]
    One,
    /// The numerator.
    Numerator,
}

impl OnFault {
    /// Returns the replacement for a quotient of `numerator`, if there is one.
    fn value(self, numerator: i32) -> Option<i32> {
        match self {
            OnFault::Stop => None,
            OnFault::Zero => Some(0),
            OnFault::One => Some(1),
            OnFault::Numerator => Some(numerator),
        }
    }
}

impl Op {
    /// The functions of the paper.
    pub const PAPER: [Op; 9] = [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Mod, Op::And, Op::Or, Op::Xor, Op::Not];

    /// Returns the number of arguments, 1 to [`ARITY_MAX`].
    pub const fn arity(self) -> usize {
        match self {
            Op::Not | Op::Phi | Op::Isqrt => 1,
            Op::If => 3,
            _ => 2,
        }
    }

    /// Returns whether the operation faults for some arguments.
    pub const fn may_fault(self) -> bool {
        matches!(self, Op::Div | Op::Mod)
    }

    /// Returns whether the arguments can be exchanged.
    pub const fn commutes(self) -> bool {
        matches!(self, Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Min | Op::Max | Op::Eq)
    }

    /// Computes the value; `None` is a fault. Ignores arguments beyond the arity.
    pub fn apply(self, args: [i32; ARITY_MAX]) -> Option<i32> {
        let is_defined = !self.may_fault() || !is_fault(args[0], args[1]);
        let exact = is_defined.then(|| self.exact(args.map(i128::from))).flatten();
        exact.map(|value| value as i32)
    }

    /// Computes the value among integers of any size; `None` if there is none, or it is too large
    /// to compute.
    pub(crate) fn exact(self, [a, b, c]: [i128; ARITY_MAX]) -> Option<i128> {
        Some(match self {
            Op::Add => a.checked_add(b)?,
            Op::Sub => a.checked_sub(b)?,
            Op::Mul => a.checked_mul(b)?,
            Op::Div => a.checked_div(b)?,
            Op::Mod => a.checked_rem(b)?,
            Op::And => a & b,
            Op::Or => a | b,
            Op::Xor => a ^ b,
            Op::Not => !a,
            Op::Min => a.min(b),
            Op::Max => a.max(b),
            Op::Eq => i128::from(a == b),
            Op::Lt => i128::from(a < b),
            Op::If if a == 0 => c,
            Op::If => b,
            Op::Phi => phi(i64::try_from(a).ok().filter(|a| a.unsigned_abs() <= u32::MAX.into())?).into(),
            Op::Isqrt => a.max(0).isqrt(),
        })
    }

    /// Computes [`Op::apply`] with faults replaced according to `on_fault`.
    pub fn apply_with(self, args: [i32; ARITY_MAX], on_fault: OnFault) -> Option<i32> {
        self.apply(args).or_else(|| on_fault.value(args[0]))
    }

    /// Returns whether no pair of the two columns is a fault.
    pub fn is_defined(self, a: &[i32], b: &[i32]) -> bool {
        !self.may_fault() || !a.iter().zip(b).fold(false, |any, (a, b)| any | is_fault(*a, *b))
    }

    /// Computes the column `out` from columns of the same length.
    ///
    /// # Errors
    /// The index of the first fault without a replacement; `out` is then meaningless.
    pub fn fill(self, [a, b, c]: [&[i32]; ARITY_MAX], out: &mut [i32], on_fault: OnFault) -> Result<(), usize> {
        match self {
            Op::Add => two(a, b, out, i32::wrapping_add),
            Op::Sub => two(a, b, out, i32::wrapping_sub),
            Op::Mul => two(a, b, out, i32::wrapping_mul),
            Op::Div | Op::Mod => return self.fill_quotient(a, b, out, on_fault),
            Op::And => two(a, b, out, |a, b| a & b),
            Op::Or => two(a, b, out, |a, b| a | b),
            Op::Xor => two(a, b, out, |a, b| a ^ b),
            Op::Not => one(a, out, |a| !a),
            Op::Min => two(a, b, out, i32::min),
            Op::Max => two(a, b, out, i32::max),
            Op::Eq => two(a, b, out, |a, b| i32::from(a == b)),
            Op::Lt => two(a, b, out, |a, b| i32::from(a < b)),
            Op::If => {
                for (out, ((a, b), c)) in out.iter_mut().zip(a.iter().zip(b).zip(c)) {
                    *out = if *a == 0 { *c } else { *b };
                }
            }
            Op::Phi => one(a, out, |a| phi(a.into()) as i32),
            Op::Isqrt => one(a, out, |a| a.max(0).isqrt()),
        }
        Ok(())
    }

    fn fill_quotient(self, a: &[i32], b: &[i32], out: &mut [i32], on_fault: OnFault) -> Result<(), usize> {
        if !self.is_defined(a, b) {
            for (index, (out, (a, b))) in out.iter_mut().zip(a.iter().zip(b)).enumerate() {
                *out = self.apply_with([*a, *b, 0], on_fault).ok_or(index)?;
            }
            return Ok(());
        }
        // No pair is a fault, so these equal the checked operations.
        if self == Op::Div {
            two(a, b, out, i32::wrapping_div)
        } else {
            two(a, b, out, i32::wrapping_rem)
        }
        Ok(())
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

fn is_fault(a: i32, b: i32) -> bool {
    (b == 0) | ((a == i32::MIN) & (b == -1))
}

#[inline]
fn one(a: &[i32], out: &mut [i32], apply: impl Fn(i32) -> i32) {
    for (out, a) in out.iter_mut().zip(a) {
        *out = apply(*a);
    }
}

#[inline]
fn two(a: &[i32], b: &[i32], out: &mut [i32], apply: impl Fn(i32, i32) -> i32) {
    for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
        *out = apply(*a, *b);
    }
}

/// Returns ⌊n·φ⌋ = ⌊(n + √(5n²)) / 2⌋, with φ the golden ratio.
pub fn golden(n: u32) -> u64 {
    let n = u128::from(n);
    ((n + (5 * n * n).isqrt()) / 2) as u64
}

/// Returns ⌊x·φ⌋ for x below 2^32. For negative x, as x·φ is irrational, ⌊−y⌋ = −⌊y⌋ − 1.
fn phi(x: i64) -> i64 {
    let floor = golden(x.unsigned_abs() as u32) as i64;
    if x < 0 { -floor - 1 } else { floor }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDGES: [i32; 12] = [0, 1, -1, 2, 3, 7, -7, 100, i32::MAX, i32::MIN, i32::MIN + 1, 46_341];

    #[test]
    fn the_semantics_are_as_the_page_says() {
        assert_eq!(Op::Add.apply([i32::MAX, 1, 0]), Some(i32::MIN));
        assert_eq!(Op::Sub.apply([i32::MIN, 1, 0]), Some(i32::MAX));
        assert_eq!(Op::Mul.apply([65_536, 65_536, 0]), Some(0));
        assert_eq!(Op::Div.apply([-7, 2, 0]), Some(-3));
        assert_eq!(Op::Mod.apply([-7, 2, 0]), Some(-1));
        assert_eq!(Op::Mod.apply([7, -2, 0]), Some(1));
        assert_eq!(Op::Not.apply([0, 0, 0]), Some(-1));
        for op in [Op::Div, Op::Mod] {
            assert_eq!(op.apply([5, 0, 0]), None);
            assert_eq!(op.apply([i32::MIN, -1, 0]), None);
            assert_eq!(op.apply_with([5, 0, 0], OnFault::Numerator), Some(5));
        }
        assert_eq!([1, 2, 3, 4, 5, 13].map(phi), [1, 3, 4, 6, 8, 21]);
        assert_eq!([-1, -2, -3].map(phi), [-2, -4, -5]);
        // The product in double precision is one more here, its first error.
        assert_eq!(phi(102_334_155), 165_580_140);
        let isqrt = |a| Op::Isqrt.apply([a, 0, 0]).unwrap();
        assert_eq!([-4, 0, 3, 4, 99, i32::MAX].map(isqrt), [0, 0, 1, 2, 9, 46_340]);
    }

    #[test]
    fn columns_equal_single_values() {
        let triples: Vec<[i32; 3]> =
            EDGES.iter().flat_map(|a| EDGES.iter().flat_map(|b| EDGES.map(|c| [*a, *b, c]))).collect();
        let column = |place: usize| triples.iter().map(|triple| triple[place]).collect::<Vec<i32>>();
        let (a, b, c) = (column(0), column(1), column(2));
        for op in Op::ALL {
            for on_fault in [OnFault::Stop, OnFault::Zero, OnFault::One, OnFault::Numerator] {
                let mut out = vec![0; a.len()];
                let filled = op.fill([&a, &b, &c], &mut out, on_fault);
                let single: Vec<Option<i32>> = triples.iter().map(|args| op.apply_with(*args, on_fault)).collect();
                match single.iter().position(Option::is_none) {
                    Some(first) => assert_eq!(filled, Err(first), "{op}"),
                    None => {
                        assert_eq!(filled, Ok(()));
                        assert!(out.iter().zip(&single).all(|(out, single)| Some(*out) == *single), "{op}");
                    }
                }
            }
        }
    }
}
