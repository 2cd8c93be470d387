//! Counting and clearing: written for the compiler to vectorise, compiled for every instruction
//! set.

use super::apply::VECTOR_BITS;
use super::line::WORDS;
use super::vector::Vector;

/// The most index bits of the number of a vector inside a chunk of the census.
const CHUNK_BITS: u32 = 8;
/// Digits of the counters of a chunk: no class of it has more than 70 vectors.
const PLANES: usize = 7;
/// Vectors that are added at a time.
const TOGETHER: usize = 8;
/// The possible counts of set bits in the place of a position inside its vector: 0 to 9.
const LEVELS: usize = VECTOR_BITS as usize + 1;

type Bits = [u64; WORDS];

#[inline(always)]
pub(super) fn popcount(bitmap: &[u64]) -> u64 {
    bitmap.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// Counts the set bits by the number of set index bits, 0 to at least nine.
///
/// Vectors whose numbers have equally many set bits are added up position by position, in counters
/// of bit planes (one vector for each binary digit): first those of a chunk, by the carry-save
/// adders of Harley and Seal, then the sums of the chunks. In the end, the planes are counted under
/// the ten masks of the positions with equally many set bits. Ours.
///
/// # Safety
/// The machine must have the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn census<V: Vector>(bitmap: &[u64]) -> Vec<u64> {
    let vector_bits = (bitmap.len() / WORDS).ilog2();
    let chunk_bits = vector_bits.min(CHUNK_BITS);
    let mut classes = vec![Vec::new(); chunk_bits as usize + 1];
    for vector in 0..1_usize << chunk_bits {
        classes[vector.count_ones() as usize].push(vector * WORDS);
    }
    // SAFETY: the caller's promise.
    let zero = unsafe { V::splat(0) };
    let digits = vector_bits as usize + 1;
    let mut sums = vec![zero; digits * digits];
    for (number, chunk) in bitmap.chunks_exact(WORDS << chunk_bits).enumerate() {
        let pieces = number.count_ones() as usize;
        for (members, sum) in classes.iter().zip(sums.chunks_exact_mut(digits).skip(pieces)) {
            // SAFETY: the caller's promise; members are vectors of the chunk.
            let planes = unsafe { add_up::<V>(chunk, members, zero) };
            let mut carry = zero;
            for (digit, sum) in sum.iter_mut().enumerate() {
                (*sum, carry) = match planes.get(digit) {
                    Some(plane) => sum.full_add(*plane, carry),
                    None => sum.half_add(carry),
                };
            }
        }
    }
    let levels: [Bits; LEVELS] = std::array::from_fn(level_mask);
    let mut counts = vec![0; digits + VECTOR_BITS as usize];
    for (pieces, sum) in sums.chunks_exact(digits).enumerate() {
        for (level, mask) in levels.iter().enumerate() {
            counts[pieces + level] += total(sum, mask);
        }
    }
    counts
}

/// Adds up some vectors of a chunk.
///
/// # Safety
/// `members` must be vectors of the chunk, and the machine must have the instructions of `V`.
#[inline(always)]
unsafe fn add_up<V: Vector>(chunk: &[u64], members: &[usize], zero: V) -> [V; PLANES] {
    let mut planes = [zero; PLANES];
    let (groups, rest) = members.as_chunks::<TOGETHER>();
    for group in groups {
        let mut loaded = [zero; TOGETHER];
        for (vector, at) in loaded.iter_mut().zip(group) {
            // SAFETY: the caller's promise.
            *vector = unsafe { load(chunk, *at) };
        }
        let [a, b, c, d, e, f, g, h] = loaded;
        let [ones, twos, fours, ..] = planes;
        let (ones, two) = ones.full_add(a, b);
        let (ones, other) = ones.full_add(c, d);
        let (twos, four) = twos.full_add(two, other);
        let (ones, two) = ones.full_add(e, f);
        let (ones, other) = ones.full_add(g, h);
        let (twos, fourth) = twos.full_add(two, other);
        let (fours, mut carry) = fours.full_add(four, fourth);
        [planes[0], planes[1], planes[2]] = [ones, twos, fours];
        for plane in &mut planes[3..] {
            (*plane, carry) = plane.half_add(carry);
        }
    }
    for at in rest {
        // SAFETY: the caller's promise.
        let mut carry = unsafe { load(chunk, *at) };
        for plane in &mut planes {
            (*plane, carry) = plane.half_add(carry);
        }
    }
    planes
}

/// Loads a vector, and prefetches the same vector of the next chunk, which need not exist.
///
/// # Safety
/// The vector must be in the chunk, and the machine must have the instructions of `V`.
#[inline(always)]
unsafe fn load<V: Vector>(chunk: &[u64], at: usize) -> V {
    V::prefetch(chunk.as_ptr_range().end.wrapping_add(at));
    // SAFETY: the caller's promise.
    unsafe { V::load(chunk.as_ptr().add(at)) }
}

/// Returns the sum of the counters at the positions of the mask.
#[inline(always)]
fn total<V: Vector>(planes: &[V], mask: &Bits) -> u64 {
    let mut sum = 0;
    for (digit, plane) in planes.iter().enumerate() {
        let mut words = [0; WORDS];
        // SAFETY: the array has the size of a vector.
        unsafe { plane.store(words.as_mut_ptr()) };
        for (word, mask) in words.into_iter().zip(mask) {
            sum += u64::from((word & mask).count_ones()) << digit;
        }
    }
    sum
}

/// Returns the positions inside a vector with `level` set bits.
fn level_mask(level: usize) -> Bits {
    let is_on = |word: usize, bit: &u64| (word.count_ones() + bit.count_ones()) as usize == level;
    std::array::from_fn(|word| (0..64).filter(|bit| is_on(word, bit)).fold(0, |mask, bit| mask | 1 << bit))
}

/// Clears every bit whose index has a bit of `mask`.
#[inline(always)]
pub(super) fn restrict(mask: u64, bitmap: &mut [u64]) {
    let missing = (0..64).filter(|place| place & mask == 0).fold(0, |missing, place| missing | 1_u64 << place);
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
