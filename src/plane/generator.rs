//! # The paper's generator
//!
//! \[Ver10\] section 6 builds the points one from the other: the next `a` is the smallest number that is in no point yet. `covered` is the paper's `c`, the largest
//! number up to which everything is in a point, and `passed` its `j`, the number of `b` up to there.
//!
//! # Shape
//! Of the `a` only those with numbers above `passed` are kept, since those with smaller ones are never asked for again: about 0.38 n of them.
//!
//! # Cost
//! A few additions a point, 8 bytes for each one kept.

use super::points::Numbered;
use super::sequence::Place;
use dashu_int::UBig;
use std::collections::VecDeque;

/// The largest number that is counted up to: seconds, and half a GiB.
pub const MOST: u64 = 100_000_000;

/// The points from `n = 1` on.
#[derive(Clone, Debug)]
pub struct Generator {
    n: u64,
    a: u64,
    covered: u64,
    passed: u64,
    /// `a` with the numbers `passed + 1 ..= n`.
    ahead: VecDeque<u64>,
}

impl Default for Generator {
    fn default() -> Generator {
        Generator { n: 1, a: 1, covered: 2, passed: 1, ahead: VecDeque::new() }
    }
}

impl Generator {
    /// The number, `a` and `b` of the next point.
    fn advance(&mut self) -> (u64, u64, u64) {
        let found = (self.n, self.a, self.a + self.n);
        self.n += 1;
        self.a = self.covered + 1;
        self.ahead.push_back(self.a);
        // The first of those kept is a with number passed + 1, so this asks whether the number behind a is the next b.
        if self.ahead.front().is_some_and(|ahead| self.a < ahead + self.passed) {
            self.covered += 1;
        } else {
            self.covered += 2;
            self.passed += 1;
            self.ahead.pop_front();
        }
        found
    }

    /// Where `x` stands, found by counting up to it; `None` for numbers above [`MOST`].
    pub fn place(x: &UBig) -> Option<Place> {
        let x = u64::try_from(x).ok().filter(|x| *x <= MOST)?;
        if x == 0 {
            return Some(Place::A(UBig::ZERO));
        }
        let mut generator = Generator::default();
        loop {
            match generator.advance() {
                (n, a, _) if a == x => return Some(Place::A(n.into())),
                (n, _, b) if b == x => return Some(Place::B(n.into())),
                _ => {}
            }
        }
    }
}

impl Iterator for Generator {
    type Item = Numbered;

    fn next(&mut self) -> Option<Numbered> {
        let (n, a, b) = self.advance();
        Some(Numbered { index: n.into(), short: a.into(), long: b.into() })
    }
}
