//! Random numbers of a run.
//!
//! # What and why
//! A run is a function of (seed, number of the run) and nothing else: ChaCha with 8 rounds, one stream a run. How words become choices is fixed
//! here, so that a result does not change with a version of some library.
//!
//! # Shape
//! A choice among `count` takes one 32-bit word: `word · count >> 32`. The bias is below `count / 2^32`.
//!
//! # Invariants
//! 1. The same seed, run and calls give the same choices on every machine and for any number of threads.
//!
//! # Cost
//! A few nanoseconds a word.
//!
//! # Not here
//! The system's randomness.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A probability in units of 2^-32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub struct Probability(u64);

impl Probability {
    /// From a number; what is outside 0 to 1 is cut off.
    pub fn new(value: f64) -> Probability {
        Probability((value.clamp(0.0, 1.0) * (1u64 << 32) as f64).round() as u64)
    }
}

/// The random numbers of one run.
pub struct Chance(ChaCha8Rng);

impl Chance {
    /// The stream of run `run`.
    pub fn new(seed: u64, run: u64) -> Chance {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(run);
        Chance(rng)
    }

    /// One of `0..count`; 0 if there are none.
    pub fn below(&mut self, count: usize) -> usize {
        ((u64::from(self.0.next_u32()) * count as u64) >> 32) as usize
    }

    /// Yes, with this probability.
    pub fn happens(&mut self, probability: Probability) -> bool {
        u64::from(self.0.next_u32()) < probability.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_fixed_and_different() {
        let words = |seed, run| {
            let mut chance = Chance::new(seed, run);
            [(); 8].map(|()| chance.below(1000))
        };
        assert_eq!(words(1, 0), words(1, 0));
        assert_ne!(words(1, 0), words(1, 1));
        assert_ne!(words(1, 0), words(2, 0));
        // The results of every seed stand or fall with these.
        assert_eq!(words(1, 0), [549, 402, 984, 80, 211, 596, 386, 219]);
    }

    #[test]
    fn choices_are_even() {
        let mut chance = Chance::new(7, 3);
        let mut counts = [0; 5];
        (0..10_000).for_each(|_| counts[chance.below(5)] += 1);
        assert!(counts.iter().all(|count| (1_850..2_150).contains(count)), "{counts:?}");
        let yes = (0..10_000).filter(|_| chance.happens(Probability::new(0.9))).count();
        assert!((8_900..9_100).contains(&yes), "{yes}");
        assert!(!chance.happens(Probability::new(0.0)) && chance.happens(Probability::new(1.0)));
    }
}
