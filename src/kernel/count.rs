//! Counting and clearing: written for the compiler to vectorise, compiled for every instruction
//! set.

use super::apply::VECTOR_BITS;
use super::line::WORDS;
use super::vector::{PLANES, Vector, holding};

/// The most index bits of the number of a vector inside a chunk of the census.
const CHUNK_BITS: u32 = 8;
/// The possible counts of set bits in the place of a position inside its vector: 0 to 9.
const LEVELS: usize = VECTOR_BITS as usize + 1;

type Bits = [u64; WORDS];

/// Counts the set bits.
#[inline(always)]
pub(super) fn popcount(bitmap: &[u64]) -> u64 {
    bitmap.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// Counts the set bits by the number of set index bits, 0 to at least nine.
///
/// Vectors of a chunk whose numbers have equally many set bits are added up position by position,
/// in counters of bit planes (one vector for each binary digit). The planes are then counted under
/// the ten masks of the positions with equally many set bits. Ours; the planes are the carry-save
/// adders of Harley and Seal without the tree.
///
/// # Safety
/// The machine must have the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn census<V: Vector>(bitmap: &[u64]) -> Vec<u64> {
    let vectors = bitmap.len() / WORDS;
    let vector_bits = vectors.ilog2();
    let chunk_bits = vector_bits.min(CHUNK_BITS);
    let mut classes = vec![Vec::new(); chunk_bits as usize + 1];
    for vector in 0..1_usize << chunk_bits {
        classes[vector.count_ones() as usize].push(vector * WORDS);
    }
    let levels: [Bits; LEVELS] = std::array::from_fn(level_mask);
    let mut counts = vec![0; vector_bits as usize + LEVELS];
    for (number, chunk) in bitmap.chunks_exact(WORDS << chunk_bits).enumerate() {
        let pieces = number.count_ones() as usize;
        for (class, members) in classes.iter().enumerate() {
            // SAFETY: the caller's promise; members are vectors of the chunk.
            let planes = unsafe {
                let mut planes = [V::splat(0); PLANES];
                for &at in members {
                    let mut carry = V::load(chunk.as_ptr().add(at));
                    for plane in &mut planes {
                        (*plane, carry) = plane.half_add(carry);
                    }
                }
                planes
            };
            for (level, mask) in levels.iter().enumerate() {
                counts[pieces + class + level] += V::total(&planes, mask);
            }
        }
    }
    counts
}

/// Returns the positions inside a vector with `level` set bits.
fn level_mask(level: usize) -> Bits {
    std::array::from_fn(|word| {
        (0..64)
            .filter(|bit: &u64| (word.count_ones() + bit.count_ones()) as usize == level)
            .fold(0, |mask, bit| mask | 1 << bit)
    })
}

/// Clears every bit whose index has a bit of `mask`.
#[inline(always)]
pub(super) fn restrict(mask: u64, bitmap: &mut [u64]) {
    let missing = !holding_any(mask & 63);
    let keep: Bits = std::array::from_fn(|word| if word as u64 & mask >> 6 == 0 { missing } else { 0 });
    let high = (mask >> VECTOR_BITS) as usize;
    for (number, vector) in bitmap.chunks_exact_mut(WORDS).enumerate() {
        if number & high != 0 {
            vector.fill(0);
        } else {
            for (bits, keep) in vector.iter_mut().zip(keep) {
                *bits &= keep;
            }
        }
    }
}

/// Returns the six-bit numbers that have a bit of `low`, as a mask.
fn holding_any(low: u64) -> u64 {
    (0..6).filter(|bit| low >> bit & 1 == 1).fold(0, |mask, bit| mask | holding(1 << bit))
}
