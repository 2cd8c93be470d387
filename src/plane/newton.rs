//! Newton's iteration for the golden ratio.
//!
//! \[Ver10\] (38): `x_0 = 1.618`, `x_{r+1} = (x_r² + 1) / (2 x_r - 1)`. Each step doubles the right
//! digits; `⌊n x_r⌋` is `a_n` as long as `n` is below the [first failure](super::precision) of
//! `x_r`.
//!
//! `x_r` is kept as an exact fraction. Nothing is rounded, so a finding about the paper's rules is
//! a property of the rules.

use super::number;
use super::precision::first_failure;
use super::ratio::Ratio;
use dashu_int::UBig;

/// The steps of \[Ver10\] table 2 for `n = 10^k`, with the first and the last `k`.
pub const TABLE_2: [(u32, u32, u32); 4] = [(0, 0, 3), (1, 4, 6), (2, 7, 12), (3, 13, 24)];

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
        Ratio::newton(steps_needed(number::length(largest)))
    }
}

/// Returns the smallest number of Newton steps that is right for all `n` up to `10^digits`.
pub fn steps_needed(digits: usize) -> u32 {
    let power = UBig::from(10u8).pow(digits);
    (0..).find(|steps| first_failure(&Ratio::newton(*steps)) > power).unwrap_or(u32::MAX)
}

/// Returns the steps of the paper's rule (43) for numbers `m` with `t = ⌈log10 m⌉`:
/// `⌈log2(t / 3)⌉`, or 0 if that is negative.
pub fn paper_steps(t: usize) -> u32 {
    let mut steps = 0;
    let mut enough = 3;
    while enough < t {
        enough *= 2;
        steps += 1;
    }
    steps
}

/// Returns the steps of the paper's table 2 for `n = 10^k`; `None` beyond its end.
pub fn table_steps(k: u32) -> Option<u32> {
    TABLE_2.iter().find(|(_, first, last)| (*first..=*last).contains(&k)).map(|(steps, _, _)| *steps)
}
