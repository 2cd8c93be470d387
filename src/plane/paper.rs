//! The paper's program: the algorithm V, the first point of a game, the generator of the points,
//! and the order of the equations.
//!
//! V is \[Ver10\] section 17, step by step, with the paper's number of Newton steps. Where these
//! are too few, V takes a wrong point for a loss and throws a won game away; the smallest case is
//! (378, 611). Two things are added. [`choose`] has no move at (0, 0), where V would call itself
//! the winner. At (1, 2), where V has no move, it takes one from the longer heap.
//!
//! The first point must satisfy (49), `L ≥ (e - 1) S ≥ Q` with a level Q. As e - 1 is above φ, the
//! first player wins such a point, except at the small losses (1, 2) and (4, 7), which also satisfy
//! it. Therefore `Q > 4 (e - 1)`, and for whole levels `Q ≥ 7`.
//!
//! The [`Generator`] (section 6) builds each point from those before it: the next `a` is the
//! smallest number that is in no point yet. `covered` is the paper's `c`, the largest number such
//! that every number up to it is in a point; `passed` is its `j`, the number of `b` up to
//! `covered`. Only the `a` with indices above `passed` are stored, because the earlier ones are not
//! needed again: about 0.38 n of them, 8 bytes each. A point costs a few additions.
//!
//! To place a number, section 17 tries the equation of `a`, then that of `b`; section 18 proposes
//! to start with either at random, in proportion to the numbers of each sequence. Starting with `a`
//! is best, and one equation is enough: it also gives the answer of the other.

use super::golden::{Ratio, paper_steps};
use super::heaps::{self, Kind, Move, Point};
use super::sequence::{self, Place};
use dashu_int::UBig;
use std::collections::VecDeque;
use trinim_game::random::Random;

/// Returns `⌈log10 m⌉`, for `m` from 1.
pub(super) fn logarithm(m: &UBig) -> usize {
    if m.is_one() { 0 } else { heaps::length(&(m - 1u8)) }
}

/// Returns the Newton steps that V takes at a point.
pub fn steps(point: &Point) -> u32 {
    let m = point.difference();
    // At equal heaps V needs no ratio.
    if m.is_zero() { 0 } else { paper_steps(logarithm(&m)) }
}

/// Returns whether V considers the player to move lost.
pub fn gives_up(point: &Point) -> bool {
    let m = point.difference();
    !m.is_zero() && Ratio::newton(steps(point)).a(&m) == *point.short()
}

/// Returns the move of V in normal play, `None` only at the end. V tosses a coin at points that it
/// considers lost.
///
/// ```
/// use trinim_game::random::Random;
/// use trinim_plane::{heaps::{Kind, Move, Point}, paper};
///
/// let taken = paper::choose(&Point::new(378u32, 611u32), &mut Random::new(0));
/// assert_eq!(taken, Some(Move::new(Kind::Both, 2u32))); // the right one is both 1
/// ```
pub fn choose(point: &Point, random: &mut Random) -> Option<Move> {
    choose_with(point, steps(point), random)
}

/// Returns the move of V with another number of Newton steps.
pub fn choose_with(point: &Point, steps: u32, random: &mut Random) -> Option<Move> {
    if point.is_end() {
        return None;
    }
    let (short, long, m) = (point.short(), point.long(), point.difference());
    if m.is_zero() {
        return Some(Move::new(Kind::Both, short.clone()));
    }
    let ratio = Ratio::newton(steps);
    let a = ratio.a(&m);
    if a == *short {
        let most = if *long > UBig::from(3u8) { 2 } else { 1 };
        return Some(Move::new(Kind::Long, random.below(most) + 1));
    }
    if a < *short {
        return Some(Move::new(Kind::Both, short - a));
    }
    let k = ratio.first_a(short);
    if ratio.a(&k) == *short {
        // a_m is above S = a_k, so k is below m.
        return Some(Move::new(Kind::Long, m - k));
    }
    let i = ratio.first_b(short);
    Some(Move::new(Kind::Long, long - ratio.a(&i)))
}

/// The smallest level: the next whole number above `4 (e - 1) = 6.87..`.
pub const LEVEL_MIN: u64 = 7;

/// Returns `⌈(e - 1) s⌉`, from sums of `1 / k!` that continue until the rest cannot matter.
fn stretched(s: &UBig) -> UBig {
    // sum / factorial is 1/1! + .. + 1/k!; the rest of e - 1 is less than 1 / (k k!), and e is
    // irrational.
    let (mut sum, mut factorial) = (UBig::ONE, UBig::ONE);
    for k in 2u32.. {
        sum = sum * k + 1u8;
        factorial *= k;
        let low = (&sum * s) / &factorial;
        let high = (&sum * s + s) / &factorial;
        if low == high {
            return if s.is_zero() { low } else { low + 1u8 };
        }
    }
    UBig::ZERO
}

/// Returns whether a game of this level can start at a point.
pub fn is_allowed(point: &Point, level: u64) -> bool {
    let stretched = stretched(point.short());
    // (e - 1) S is irrational unless S is 0, so it is at least Q exactly if its ceiling is more
    // than Q.
    *point.long() >= stretched && stretched > UBig::from(level)
}

/// Returns a random first point of a level from 1 to 2^60.
pub fn first_point(level: u64, random: &mut Random) -> Point {
    let mut short = UBig::from(level / 5 * 3 + random.below(level));
    // 3/5 (e - 1) is above 1, so only the rounding of small levels needs this.
    while stretched(&short) <= UBig::from(level) {
        short += 1u8;
    }
    let long = stretched(&short) + random.below(2 * level);
    Point::new(short, long)
}

/// The largest number that [`Generator::place`] counts up to: it takes seconds, and half a GiB.
pub const MOST: u64 = 100_000_000;

/// Iterator over the points from `n = 1`: the index, `a` and `b` of each.
#[derive(Clone, Debug)]
pub struct Generator {
    n: u64,
    a: u64,
    covered: u64,
    passed: u64,
    /// `a` with the indices `passed + 1 ..= n`.
    ahead: VecDeque<u64>,
}

impl Default for Generator {
    fn default() -> Generator {
        Generator { n: 1, a: 1, covered: 2, passed: 1, ahead: VecDeque::new() }
    }
}

impl Iterator for Generator {
    type Item = (u64, u64, u64);

    fn next(&mut self) -> Option<(u64, u64, u64)> {
        let point = (self.n, self.a, self.a + self.n);
        self.n += 1;
        self.a = self.covered + 1;
        self.ahead.push_back(self.a);
        // The front of the queue is a with index passed + 1, so this tests whether the number after
        // a is the next b.
        if self.ahead.front().is_some_and(|ahead| self.a < ahead + self.passed) {
            self.covered += 1;
        } else {
            self.covered += 2;
            self.passed += 1;
            self.ahead.pop_front();
        }
        Some(point)
    }
}

impl Generator {
    /// Returns the place of `x` in the sequences, found by counting up to it; `None` for numbers
    /// above [`MOST`].
    pub fn place(x: &UBig) -> Option<Place> {
        let x = u64::try_from(x).ok().filter(|x| *x <= MOST)?;
        if x == 0 {
            return Some(Place::A(UBig::ZERO));
        }
        let (n, a, _) = Generator::default().find(|(_, a, b)| *a == x || *b == x)?;
        Some(if a == x { Place::A(n.into()) } else { Place::B(n.into()) })
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stretch_is_that_of_e() {
        // e - 1 = 1.71828182845904523536...
        for (s, expected) in
            [(0u64, 0u64), (1, 2), (4, 7), (7, 13), (1000, 1719), (1_000_000_000_000, 1_718_281_828_460)]
        {
            assert_eq!(stretched(&s.into()), expected.into(), "{s}");
        }
        let large = UBig::from(10u8).pow(40);
        assert!(stretched(&large).to_string().starts_with("171828182845904523536028747135266249775"));
    }

    #[test]
    fn first_points_keep_to_the_level() {
        let mut random = Random::new(5);
        for level in [7, 8, 14, 1000, 1 << 48] {
            for _ in 0..200 {
                assert!(is_allowed(&first_point(level, &mut random), level));
            }
        }
        assert!(is_allowed(&Point::new(4u8, 7u8), 6) && !is_allowed(&Point::new(4u8, 7u8), 7));
    }
}
