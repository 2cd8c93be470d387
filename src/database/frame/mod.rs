//! The frames of a block file: a compression that answers single bits without decoding the rest.
//!
//! # Why
//! A bitmap in sector order is a list of 512-bit *rows*, one for each value of the upper offset
//! bits. Corners with empty borders are games of their own, so few different rows occur, built from
//! even fewer different 64-bit words. A frame therefore stores each distinct row once, as eight
//! Huffman codes of words, and for each row the number of its distinct row. General compressors
//! find the same repeats but allow no access in the middle (measured at 8 layers, misère, in bits a
//! position: zstd 9 in frames of 1 MiB 0.117 on a sample of the blocks, in frames of 16 KiB 0.21;
//! this one 0.115 on all blocks, whole files counted).
//!
//! # Structure
//! The words of a frame, a multiple of eight, form `rows` of eight words. Row `r` has the number of
//! its distinct row, `id(r)`, in order of first occurrence. `FORMAT.md` has the bytes.
//!
//! 1. *Flags*, one bit a row: 0 when `id(r) = id(r-1) + 1` (with `id(-1) = -1`), else 1.
//! 2. *Starts*: `id(r)` of the flagged rows, packed in as many bits as the greatest id needs.
//! 3. *Entries*: bit offset of every [`GROUP`]-th distinct row in the code stream.
//! 4. *Code stream*: canonical Huffman codes, most significant bit first, eight a distinct row.
//! 5. *Words*: the distinct words by (code length, value), as differences, in eight byte planes
//!    under zstd.
//!
//! # Invariants
//! 1. The bytes are a pure function of the words.
//! 2. Any bytes decode to a frame or to an error; no payload makes the decoder panic or allocate
//!    more than a constant times the frame.
//!
//! A lookup costs a few cache lines and at most `8 * GROUP` codes.

mod decode;
mod encode;
mod huffman;

pub use decode::{Frame, FrameError};
pub use encode::encode;

/// Words of a row.
pub const ROW_WORDS: usize = 8;
/// Distinct rows between entries into the code stream.
pub const GROUP: usize = 8;
/// Length of the fixed part of a payload, in bytes: counts and the number of codes of each length.
const FIXED_BYTES: usize = 24 + 4 * huffman::LENGTHS;
/// zstd level of the word planes.
const LEVEL: i32 = 3;

/// Returns the number of bits that hold the numbers below `count`.
fn bits_for(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bitmap() -> impl Strategy<Value = Vec<u64>> {
        let word = prop_oneof![
            6 => Just(0u64),
            1 => Just(u64::MAX),
            2 => any::<u64>(),
            4 => (any::<u64>(), any::<u64>(), any::<u64>()).prop_map(|(a, b, c)| a & b & c),
            2 => (0u32..64).prop_map(|bit| 1u64 << bit),
        ];
        let row = proptest::collection::vec(word, ROW_WORDS);
        let book = proptest::collection::vec(row, 1..40);
        (book, proptest::collection::vec(any::<prop::sample::Index>(), 1..300))
            .prop_map(|(book, rows)| rows.iter().flat_map(|row| row.get(&book).clone()).collect())
    }

    proptest! {
        #[test]
        fn a_frame_decodes_whole_and_bit_by_bit(words in bitmap()) {
            let frame = Frame::parse(encode(&words), words.len()).unwrap();
            let mut back = vec![1; words.len()];
            frame.decode(&mut back).unwrap();
            prop_assert_eq!(&back, &words);
            for (at, word) in words.iter().enumerate() {
                prop_assert_eq!(frame.word(at).unwrap(), *word, "word {}", at);
            }
        }

        #[test]
        fn hostile_payloads_are_refused_or_decoded_but_never_panic(
            words in bitmap(),
            hits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
            cut in any::<prop::sample::Index>(),
        ) {
            let good = encode(&words);
            let mut bad = good.clone();
            for (at, value) in hits {
                *at.get_mut(&mut bad) = value;
            }
            let mut back = vec![0; words.len()];
            for payload in [bad, good[..cut.index(good.len())].to_vec()] {
                if let Ok(frame) = Frame::parse(payload, words.len()) {
                    let _ = frame.decode(&mut back);
                    for at in 0..words.len() {
                        let _ = frame.word(at);
                    }
                }
            }
        }
    }

    #[test]
    fn frames_of_one_word_of_one_row_and_of_all_different_rows() {
        let zeros = vec![0; 8 * 1000];
        assert!(encode(&zeros).len() < 2000, "a frame of zeros takes {} bytes", encode(&zeros).len());
        let different: Vec<u64> = (0..8 * 3000u64).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        for words in [zeros, different, vec![7; 8]] {
            let frame = Frame::parse(encode(&words), words.len()).unwrap();
            let mut back = vec![1; words.len()];
            frame.decode(&mut back).unwrap();
            assert_eq!(back, words);
        }
    }

    #[test]
    fn bits_hold_every_number_below_the_count() {
        for (count, bits) in [(0, 0), (1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (1 << 18, 18), ((1 << 18) + 1, 19)] {
            assert_eq!(bits_for(count), bits, "{count}");
        }
    }
}
