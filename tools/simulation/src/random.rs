//! Repeatable randomness (SplitMix64, Steele, Lea and Flood 2014).

/// A sequence of random numbers.
#[derive(Clone, Copy, Debug)]
pub struct Random(pub u64);

impl Random {
    /// Draws 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Draws a number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.bits() % bound
    }

    /// Draws one of these.
    pub fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len() as u64) as usize]
    }
}
