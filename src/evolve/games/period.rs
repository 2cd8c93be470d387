//! Games on one heap that repeat: subtraction games.
//!
//! The value of a heap depends on the heaps that one move leaves, all of them at most `window`
//! smaller. So if two runs of `window` consecutive heaps have the same values, everything after
//! them is the same too, for ever: the values repeat from the first run on, with the distance of
//! the two as their period. In normal play the value is the Grundy value, and a sum of heaps is
//! lost exactly if the xor of its values is 0 (Sprague 1935, Grundy 1939). In misère play it is 0
//! for a loss and 1 for a win, and determines nothing about sums.
//!
//! # Invariants
//! 1. [`Period::value`] is exact for every heap: it was computed for all heaps before the repeat,
//!    and the repeat is a repeat of the whole window.

use crate::games::mex;
use trinim_game::Rule;

const HEAPS_MAX: usize = 1 << 16;

/// The values of all heaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Period {
    values: Vec<i32>,
    /// The first heap of the part that repeats.
    pub start: usize,
    /// The period.
    pub length: usize,
    /// Consecutive heaps that were found twice.
    pub window: usize,
}

impl Period {
    /// Computes the values where a move takes one of `numbers`; `None` if they do not repeat among
    /// 2^16 heaps.
    pub fn find(numbers: &[i32], rule: Rule) -> Option<Period> {
        let window = numbers.iter().copied().max().unwrap_or(1) as usize;
        if window > HEAPS_MAX / 4 {
            return None;
        }
        let values = values(numbers, rule);
        // Runs are compared from heap 1 on: the first heap after them is beyond the window.
        let run = |heap: usize| values.get(heap..heap + window);
        // Brent's algorithm finds the period, then the first run that repeats.
        let (mut slow, mut fast, mut power, mut length) = (1, 2, 1, 1);
        while run(slow) != Some(run(fast)?) {
            if power == length {
                (slow, power, length) = (fast, 2 * power, 0);
            }
            fast += 1;
            length += 1;
        }
        let mut start = (1..=fast).find(|heap| run(*heap) == run(heap + length))?;
        while start > 0 && values[start - 1] == values[start - 1 + length] {
            start -= 1;
        }
        Some(Period { values: values[..start + length].to_vec(), start, length, window })
    }

    /// Returns the value of a heap.
    pub fn value(&self, heap: i32) -> i32 {
        let heap = usize::try_from(heap).unwrap_or(0);
        let beyond = heap.saturating_sub(self.start);
        self.values[if heap < self.values.len() { heap } else { self.start + beyond % self.length }]
    }

    /// Returns the values of the heaps until they repeat.
    pub fn values(&self) -> &[i32] {
        &self.values
    }
}

/// Returns the values of the first heaps, by the definition.
fn values(numbers: &[i32], rule: Rule) -> Vec<i32> {
    let mut values: Vec<i32> = Vec::with_capacity(HEAPS_MAX);
    let (mut reached, mut seen) = (Vec::new(), Vec::new());
    for heap in 0..HEAPS_MAX {
        reached.clear();
        reached.extend(numbers.iter().filter_map(|take| heap.checked_sub(*take as usize)).map(|left| values[left]));
        values.push(match rule {
            Rule::Normal => mex(reached.iter().copied(), &mut seen),
            Rule::Misere => i32::from(reached.is_empty() || reached.contains(&0)),
        });
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_periods() {
        for (numbers, length) in [(&[1, 2, 3][..], 4), (&[1, 4], 5), (&[2, 5, 7], 22), (&[2], 4), (&[1, 5, 7], 2)] {
            let period = Period::find(numbers, Rule::Normal).unwrap();
            assert_eq!((period.start, period.length), (0, length), "{numbers:?}");
        }
        let misere = Period::find(&[1, 2, 3], Rule::Misere).unwrap();
        assert_eq!(misere.values(), [1, 0, 1, 1]);
        assert_eq!(Period::find(&[1, 1 << 15], Rule::Normal), None);
    }
}
