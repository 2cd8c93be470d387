//! Bit permutations by table, for symmetries and layouts. Each look-up moves eight bits, so a
//! permutation of `n` bits costs `n / 8` look-ups, and no branch depends on the word.

/// A permutation of the lowest bits of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitPermutation {
    /// Bit `i` of the argument moves to bit `image[i]`.
    image: Vec<u8>,
    /// For each byte of the argument, the images of its 256 values.
    tables: Vec<[u64; 256]>,
}

impl BitPermutation {
    /// Creates the permutation that moves bit `i` to bit `image[i]`; `image` contains each of
    /// `0..image.len()` once.
    pub fn new(image: Vec<u8>) -> BitPermutation {
        let seen = image.iter().fold(0u64, |seen, &bit| seen | 1 << bit);
        assert_eq!(seen.count_ones() as usize, image.len(), "not a permutation");
        assert!(image.iter().all(|&bit| usize::from(bit) < image.len()), "not a permutation");
        let tables = image
            .chunks(8)
            .map(|chunk| {
                let mut table = [0; 256];
                for byte in 1..table.len() {
                    let lowest = byte.trailing_zeros() as usize;
                    // A byte with bits beyond the last chunk's length never occurs in a valid
                    // argument.
                    let bit = chunk.get(lowest).map_or(0, |&bit| 1u64 << bit);
                    table[byte] = table[byte & (byte - 1)] | bit;
                }
                table
            })
            .collect();
        BitPermutation { image, tables }
    }

    /// Returns the image of each bit.
    pub fn image(&self) -> &[u8] {
        &self.image
    }

    /// Returns the word with its bits moved. Bits at or above `image().len()` must be clear.
    #[inline]
    pub fn apply(&self, word: u64) -> u64 {
        let bytes = word.to_le_bytes();
        self.tables.iter().zip(bytes).fold(0, |moved, (table, byte)| moved | table[usize::from(byte)])
    }

    /// Returns the inverse permutation.
    pub fn inverse(&self) -> BitPermutation {
        let mut inverse = vec![0; self.image.len()];
        for (bit, &image) in self.image.iter().enumerate() {
            inverse[usize::from(image)] = bit as u8;
        }
        BitPermutation::new(inverse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn permutations() -> impl Strategy<Value = Vec<u8>> {
        (0u8..=55).prop_flat_map(|length| Just((0..length).collect::<Vec<u8>>()).prop_shuffle())
    }

    proptest! {
        #[test]
        fn tables_equal_the_definition(image in permutations(), word: u64) {
            let word = if image.is_empty() { 0 } else { word >> (64 - image.len()) };
            let permutation = BitPermutation::new(image.clone());
            let naive = image
                .iter()
                .enumerate()
                .fold(0, |moved, (bit, &to)| moved | (word >> bit & 1) << to);
            prop_assert_eq!(permutation.apply(word), naive);
            prop_assert_eq!(permutation.inverse().apply(naive), word);
        }
    }
}
