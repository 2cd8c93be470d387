//! Repeatable randomness: SplitMix64 (Steele, Lea and Flood 2014), which yields the same numbers
//! for the same seed on every machine and in every version.

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
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
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

    /// Shuffles the elements.
    pub fn shuffle<T>(&mut self, elements: &mut [T]) {
        for last in (1..elements.len()).rev() {
            elements.swap(last, self.index(last + 1));
        }
    }
}
