//! Canonical Huffman codes over many symbols: only the number of codes of each length is stored.
//!
//! Codes of one length are consecutive numbers, assigned to the symbols in ascending order; shorter
//! codes come first (Schwartz and Kallick, 1964). A Huffman code of depth `d` needs counts that add
//! up to at least the Fibonacci number `F(d+2)`. Those of a frame add up to at most 2^24, less than
//! `F(37)`, so no code is longer than 34 bits: [`LENGTHS`] leaves room.

/// The largest code length; lengths start at 1.
pub(super) const LENGTHS: usize = 40;

pub(super) use pipeline::codec::huffman::lengths;

/// First code and first symbol of each length.
#[derive(Clone, Debug)]
pub(super) struct Canonical {
    /// By length: the first code of the longer codes, left-aligned in 64 bits; codes of at most
    /// this length are below it.
    limit: [u64; LENGTHS + 1],
    /// By length: first code (right-aligned).
    first_code: [u64; LENGTHS + 1],
    /// By length: index of the first symbol.
    first_symbol: [u32; LENGTHS + 1],
    longest: usize,
}

impl Canonical {
    /// Creates the code with the given number of codes of each length, index 0 for length 1; `None`
    /// if no such prefix code exists.
    pub(super) fn new(counts: &[u32; LENGTHS]) -> Option<Canonical> {
        let mut canonical = Canonical {
            limit: [0; LENGTHS + 1],
            first_code: [0; LENGTHS + 1],
            first_symbol: [0; LENGTHS + 1],
            longest: 0,
        };
        let (mut code, mut symbol) = (0u64, 0u32);
        for (at, count) in counts.iter().enumerate() {
            let length = at + 1;
            code <<= 1;
            canonical.first_code[length] = code;
            canonical.first_symbol[length] = symbol;
            code += u64::from(*count);
            symbol = symbol.checked_add(*count)?;
            if code > 1 << length {
                return None;
            }
            // If the codes of this length use up the space, all windows are below the limit.
            canonical.limit[length] = if code == 1 << length { u64::MAX } else { code << (64 - length) };
            if *count > 0 {
                canonical.longest = length;
            }
        }
        Some(canonical)
    }

    /// Returns the code of the symbol with index `at` among the codes of `length`, right-aligned.
    pub(super) fn code(&self, length: usize, at: u32) -> u64 {
        self.first_code[length] + u64::from(at - self.first_symbol[length])
    }

    /// Returns length and symbol of the code at the top of `window`, whose length is at least
    /// `least` bits; the length is 0 if no code matches.
    pub(super) fn read(&self, window: u64, least: usize) -> (u32, u32) {
        for length in least..=self.longest {
            if window < self.limit[length] || self.limit[length] == u64::MAX {
                let code = window >> (64 - length);
                let Some(rank) = code.checked_sub(self.first_code[length]) else { return (0, 0) };
                return (length as u32, self.first_symbol[length].wrapping_add(rank as u32));
            }
        }
        (0, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_read_back() {
        let cases: [&[u32]; 5] = [&[5], &[1, 1], &[1, 1, 2, 3, 5, 8, 13, 21, 34], &[9; 100], &[1, 1000, 1, 1, 7, 7, 3]];
        for counts in cases {
            let lengths = lengths(counts);
            let mut by_length = [0; LENGTHS];
            for length in &lengths {
                by_length[usize::from(*length) - 1] += 1;
            }
            let canonical = Canonical::new(&by_length).unwrap();
            for (at, count) in by_length.iter().enumerate() {
                for rank in 0..*count {
                    let symbol = canonical.first_symbol[at + 1] + rank;
                    let code = canonical.code(at + 1, symbol);
                    assert_eq!(canonical.read(code << (63 - at), 1), (at as u32 + 1, symbol));
                    assert_eq!(canonical.read(code << (63 - at), at + 1), (at as u32 + 1, symbol));
                    let tail = (1u64 << (63 - at)) - 1;
                    assert_eq!(canonical.read(code << (63 - at) | tail, 1), (at as u32 + 1, symbol));
                }
            }
        }
    }

    #[test]
    fn too_many_codes_are_no_prefix_code() {
        let mut counts = [0; LENGTHS];
        counts[0] = 3;
        assert!(Canonical::new(&counts).is_none());
    }
}
