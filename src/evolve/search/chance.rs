//! Random numbers of a run: ChaCha with 8 rounds, one stream for each run of a seed.
//!
//! A run is a function of seed and run number on every machine and for any number of threads. The
//! step from words to choices is fixed here, so that no library version can change a result: a
//! choice among `count` takes one 32-bit word, `word · count >> 32`. The bias is below
//! `count/2^32`.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A probability in units of 2^-32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(super) struct Probability(u64);

impl Probability {
    /// Converts a number, clamped to 0..=1.
    pub(super) fn new(value: f64) -> Probability {
        Probability((value.clamp(0.0, 1.0) * (1u64 << 32) as f64).round() as u64)
    }
}

/// The random numbers of one run.
pub(super) struct Chance(ChaCha8Rng);

impl Chance {
    /// Starts the stream of run `run`.
    pub(super) fn new(seed: u64, run: u64) -> Chance {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(run);
        Chance(rng)
    }

    /// Draws one of `0..count`; 0 if `count` is 0.
    pub(super) fn below(&mut self, count: usize) -> usize {
        ((u64::from(self.0.next_u32()) * count as u64) >> 32) as usize
    }

    /// Returns true with this probability.
    pub(super) fn happens(&mut self, probability: Probability) -> bool {
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
        // The results of every seed depend on these.
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
