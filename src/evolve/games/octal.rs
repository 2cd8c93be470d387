//! Octal games: how many pieces a move may take, and how many heaps it may leave of the heap it
//! takes from.
//!
//! In the code `d0.d1 d2 d3 ..` the digit `d_k`, a sum of some of 1, 2 and 4, says what a move that
//! takes `k` pieces may leave of the heap: nothing (1), one heap (2), two heaps (4). `0.77` is
//! Kayles, `0.137` Dawson's Chess, `0.07` Dawson's Kayles; `d0 = 4` lets a heap be split without
//! taking.
//!
//! A position has a place for each heap there can ever be; unused places are 0. When a heap splits,
//! one part keeps the place and the other gets the first free one.
//!
//! # Invariants
//! 1. A move lowers the sum, or leaves it and raises the number of heaps.

use crate::period::Take;
use std::fmt;

/// The rules of an octal game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Octal {
    /// The digit `digits[k]` is for moves that take `k`.
    digits: Vec<u8>,
}

impl Octal {
    /// Parses a code like `0.137`.
    pub fn parse(text: &str) -> Option<Octal> {
        let (first, rest) = text.split_once('.')?;
        let digit = |c: char| c.to_digit(8).map(|digit| digit as u8);
        let mut digits = vec![match first {
            "" | "0" => 0,
            "4" => 4,
            _ => return None,
        }];
        digits.extend(rest.chars().map(digit).collect::<Option<Vec<u8>>>()?);
        ((2..=17).contains(&digits.len())).then_some(Octal { digits })
    }

    /// Returns whether a move can leave two heaps.
    pub fn splits(&self) -> bool {
        self.digits.iter().any(|digit| digit & 4 != 0)
    }

    /// Returns what a move may take from a heap, if no move leaves two heaps.
    pub fn takes(&self) -> Option<Vec<Take>> {
        let take = |(pieces, digit): (usize, &u8)| Take { pieces, empties: digit & 1 != 0, leaves: digit & 2 != 0 };
        (!self.splits()).then(|| self.digits.iter().enumerate().skip(1).map(take).collect())
    }

    /// Returns the most heaps there can ever be.
    pub fn heaps_max(&self, heaps: &[i32]) -> usize {
        if !self.splits() {
            return heaps.len();
        }
        // A heap that can no longer split has fewer than two pieces above the least that a split
        // takes.
        let least = self.digits.iter().position(|digit| digit & 4 != 0).unwrap_or(0) as i32;
        heaps.iter().map(|heap| parts(*heap, least).max(1) as usize).sum()
    }

    /// Calls `found` with every position one move away.
    pub fn options(&self, position: &[i32], found: &mut dyn FnMut(&[i32])) {
        let mut option = position.to_vec();
        let free = position.iter().position(|heap| *heap == 0);
        for (index, &heap) in position.iter().enumerate() {
            for (take, digit) in (0..=heap).zip(&self.digits) {
                let left = heap - take;
                if left == 0 && take > 0 && digit & 1 != 0 || left > 0 && take > 0 && digit & 2 != 0 {
                    option[index] = left;
                    found(&option);
                }
                if let Some(free) = free.filter(|_| digit & 4 != 0) {
                    for part in 1..=left / 2 {
                        (option[index], option[free]) = (left - part, part);
                        found(&option);
                    }
                    option[free] = 0;
                }
            }
            option[index] = heap;
        }
    }
}

/// Returns the most heaps that a heap can become when a split takes `least`: each split makes one
/// heap more and takes `least`, and every heap has a piece.
fn parts(heap: i32, least: i32) -> i32 {
    // With s splits: s + 1 heaps of at least 1 piece out of heap − s·least.
    if heap < 1 { 0 } else { (heap - 1) / (least + 1) + 1 }
}

impl fmt::Display for Octal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.", self.digits[0])?;
        self.digits[1..].iter().try_for_each(|digit| write!(f, "{digit}"))
    }
}
