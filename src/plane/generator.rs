//! The paper's generator of the points.
//!
//! \[Ver10\] section 6 builds each point from those before it: the next `a` is the smallest number
//! that is in no point yet. `covered` is the paper's `c`, the largest number such that every number
//! up to it is in a point; `passed` is its `j`, how many `b` there are up to `covered`.
//!
//! Only the `a` with indices above `passed` are kept, because the generator never asks for earlier
//! ones: about 0.38 n of them, 8 bytes each. A point costs a few additions.

use super::points::Numbered;
use super::sequence::Place;
use dashu_int::UBig;
use std::collections::VecDeque;

/// The largest number that [`Generator::place`] counts up to: it takes seconds, and half a GiB.
pub const MOST: u64 = 100_000_000;

/// Iterator over the points from `n = 1`.
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

impl Generator {
    /// Returns the index, `a` and `b` of the next point.
    fn advance(&mut self) -> (u64, u64, u64) {
        let found = (self.n, self.a, self.a + self.n);
        self.n += 1;
        self.a = self.covered + 1;
        self.ahead.push_back(self.a);
        // The front of the queue is a with index passed + 1, so this asks whether the number after
        // a is the next b.
        if self.ahead.front().is_some_and(|ahead| self.a < ahead + self.passed) {
            self.covered += 1;
        } else {
            self.covered += 2;
            self.passed += 1;
            self.ahead.pop_front();
        }
        found
    }

    /// Returns the place of `x` in the sequences, found by counting up to it; `None` for numbers
    /// above [`MOST`].
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
