//! One position at a time, as in the papers: the reference for the other kernels.
//!
//! Each function reads a bitmap bit by bit, and a loss marks its parents one by one ([LWS09]
//! chapter 3). This code is slow and stays simple.

fn bit(bitmap: &[u64], x: u64) -> bool {
    bitmap[(x >> 6) as usize] >> (x & 63) & 1 == 1
}

fn set(bitmap: &mut [u64], x: u64) {
    bitmap[(x >> 6) as usize] |= 1 << (x & 63);
}

fn clear(bitmap: &mut [u64], x: u64) {
    bitmap[(x >> 6) as usize] &= !(1 << (x & 63));
}

fn indices(bitmap: &[u64]) -> std::ops::Range<u64> {
    0..bitmap.len() as u64 * 64
}

/// Marks the parents of every loss as wins in `wins`.
pub(super) fn apply(operations: &[u64], losses: &[u64], wins: &mut [u64]) {
    for x in indices(losses) {
        if bit(losses, x) {
            for mask in operations.iter().filter(|mask| x & **mask == 0) {
                set(wins, x | mask);
            }
        }
    }
}

/// Decides positions upwards: one that no loss has reached is a loss, and makes its parents wins.
/// Wins in, losses out.
pub(super) fn settle(moves: &[u64], bitmap: &mut [u64]) {
    for x in indices(bitmap) {
        if bit(bitmap, x) {
            // Its children and itself are decided, so its bit can change its meaning.
            clear(bitmap, x);
        } else {
            set(bitmap, x);
            for mask in moves.iter().filter(|mask| x & **mask == 0) {
                set(bitmap, x | mask);
            }
        }
    }
}

/// Moves bit `x` of the source to the bit of the target whose index has bit `i` of `x` at
/// `permutation[i]`.
pub(super) fn permute(permutation: &[u8], source: &[u64], target: &mut [u64]) {
    target.fill(0);
    for x in 0..1 << permutation.len() {
        if bit(source, x) {
            set(target, (0..).zip(permutation).fold(0, |y, (i, to)| y | (x >> i & 1) << to));
        }
    }
}

pub(super) fn popcount(bitmap: &[u64]) -> u64 {
    indices(bitmap).filter(|x| bit(bitmap, *x)).count() as u64
}

/// Counts the set bits by the number of set index bits.
pub(super) fn census(index_bits: u32, bitmap: &[u64]) -> Vec<u64> {
    let mut counts = vec![0; index_bits as usize + 1];
    for x in 0..1_u64 << index_bits {
        if bit(bitmap, x) {
            counts[x.count_ones() as usize] += 1;
        }
    }
    counts
}

/// Clears every bit whose index has a bit of `mask`.
pub(super) fn restrict(mask: u64, bitmap: &mut [u64]) {
    for x in indices(bitmap) {
        if x & mask != 0 {
            clear(bitmap, x);
        }
    }
}
