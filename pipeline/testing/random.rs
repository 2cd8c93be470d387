//! Repeatable randomness: SplitMix64 (Steele, Lea and Flood 2014), which yields the same numbers
//! for the same seed on every machine and in every version.
//!
//! `trinim` has the same generator, but the engine cannot import it, and needs randomness only in
//! tests.

/// A generator of pseudorandom numbers, determined by its seed.
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates the generator for a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Returns a number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.bits() % limit
    }

    /// Returns an index into a list of `length` elements, which must not be 0.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// Returns one of the choices.
    pub fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.index(choices.len())]
    }

    /// Tosses a coin.
    pub fn coin(&mut self) -> bool {
        self.bits() & 1 == 1
    }
}
