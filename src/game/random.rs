//! Repeatable randomness: SplitMix64 (Steele, Lea and Flood 2014). The same seed gives the same
//! numbers on every machine and in every version.

use std::collections::HashSet;

/// A generator of pseudorandom numbers, determined by its seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates the generator for a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    /// Returns a number below `limit`, which must not be 0. The bias is negligible for limits far
    /// below 2^64.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.bits() % limit
    }

    /// Returns an index into a list of `length` elements, which must not be 0.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// Returns `count` distinct numbers below `limit`, in no particular order, or all of them if
    /// there are fewer. Every set is equally likely (Floyd's algorithm, Bentley and Floyd 1987).
    pub fn distinct_below(&mut self, limit: u64, count: u64) -> Vec<u64> {
        let count = count.min(limit);
        let (mut drawn, mut seen) = (Vec::with_capacity(count as usize), HashSet::new());
        for last in limit - count..limit {
            let number = self.below(last + 1);
            let number = if seen.insert(number) { number } else { last };
            seen.insert(number);
            drawn.push(number);
        }
        drawn
    }

    /// Shuffles the elements.
    pub fn shuffle<T>(&mut self, elements: &mut [T]) {
        for last in (1..elements.len()).rev() {
            elements.swap(last, self.index(last + 1));
        }
    }
}

/// Mixes the bits of a number: a permutation of all 64-bit numbers.
fn mixed(number: u64) -> u64 {
    let mixed = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// A sample without replacement of distinct numbers, which come in any order and number.
///
/// Each number has a rank, by a permutation of all numbers that the seed selects. The sample is the
/// numbers with the smallest ranks. So it is a function of the set, the size and the seed; order,
/// threads and layout do not matter, and a smaller sample with the same seed is part of a larger
/// one.
#[derive(Clone, Debug)]
pub struct Sample {
    size: usize,
    seed: u64,
    /// Rank and number, at most twice as many as the sample has.
    kept: Vec<(u64, u64)>,
    /// Larger ranks are too large.
    limit: u64,
}

impl Sample {
    /// Creates an empty sample that grows to `size` numbers, at least one.
    pub fn new(size: usize, seed: u64) -> Sample {
        Sample { size: size.max(1), seed: Random::new(seed).bits(), kept: Vec::new(), limit: u64::MAX }
    }

    /// Returns an empty sample that takes only what may still enter this one; for another thread.
    #[must_use]
    pub fn like(&self) -> Sample {
        Sample { kept: Vec::new(), ..*self }
    }

    /// Offers a number that was not offered before.
    pub fn offer(&mut self, number: u64) {
        let rank = mixed(number ^ self.seed);
        if rank <= self.limit {
            self.kept.push((rank, number));
            if self.kept.len() >= self.size * 2 {
                self.shrink();
            }
        }
    }

    /// Offers what another sample of the same seed kept.
    pub fn merge(&mut self, other: Sample) {
        other.kept.into_iter().for_each(|(_, number)| self.offer(number));
    }

    fn shrink(&mut self) {
        if self.kept.len() > self.size {
            let (_, first_out, _) = self.kept.select_nth_unstable(self.size);
            self.limit = first_out.0.saturating_sub(1);
            self.kept.truncate(self.size);
        }
    }

    /// Returns the sample, ascending; all numbers if there were fewer than its size.
    pub fn sorted(mut self) -> Vec<u64> {
        self.shrink();
        let mut numbers: Vec<u64> = self.kept.into_iter().map(|(_, number)| number).collect();
        numbers.sort_unstable();
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_numbers_are_distinct_and_every_one_is_drawn() {
        let mut counts = [0u32; 20];
        for seed in 0..2000 {
            let mut drawn = Random::new(seed).distinct_below(20, 5);
            drawn.iter().for_each(|number| counts[*number as usize] += 1);
            drawn.sort_unstable();
            drawn.dedup();
            assert_eq!(drawn.len(), 5);
        }
        // 500 expected, with a deviation of 19.
        assert!(counts.iter().all(|count| (400..600).contains(count)), "{counts:?}");
        let mut all = Random::new(1).distinct_below(7, 100);
        all.sort_unstable();
        assert_eq!(all, (0..7).collect::<Vec<u64>>());
        assert!(Random::new(1).distinct_below(0, 3).is_empty());
    }

    #[test]
    fn a_sample_is_the_numbers_of_smallest_rank_in_any_order() {
        let numbers: Vec<u64> = (0..5000).map(|number| number * number).collect();
        for (size, seed) in [(1, 1), (7, 1), (100, 2), (4999, 3), (5000, 3), (9000, 3)] {
            let mut ranked: Vec<(u64, u64)> =
                numbers.iter().map(|number| (mixed(number ^ Random::new(seed).bits()), *number)).collect();
            ranked.sort_unstable();
            let mut expected: Vec<u64> = ranked.iter().take(size).map(|(_, number)| *number).collect();
            expected.sort_unstable();
            let mut order = numbers.clone();
            Random::new(9).shuffle(&mut order);
            let mut whole = Sample::new(size, seed);
            for part in order.chunks(700) {
                let mut sample = whole.like();
                part.iter().for_each(|number| sample.offer(*number));
                whole.merge(sample);
            }
            assert_eq!(whole.sorted(), expected, "{size} {seed}");
        }
        let sample = |size, seed| {
            let mut sample = Sample::new(size, seed);
            numbers.iter().for_each(|number| sample.offer(*number));
            sample.sorted()
        };
        assert_ne!(sample(10, 1), sample(10, 2));
        assert!(sample(10, 1).iter().all(|number| sample(50, 1).contains(number)));
    }
}
