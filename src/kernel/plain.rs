//! Word-wise versions of every operation.

pub(super) fn permute(permutation: &[u8], source: &[u64], target: &mut [u64]) {
    target.fill(0);
    for (word, &bits) in source.iter().enumerate() {
        let mut bits = bits;
        while bits != 0 {
            let x = word << 6 | bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let y = permutation.iter().enumerate().fold(0_usize, |y, (i, &to)| y | (x >> i & 1) << to);
            if x >> permutation.len() == 0 {
                target[y >> 6] |= 1 << (y & 63);
            }
        }
    }
}

pub(super) fn census(index_bits: u32, bitmap: &[u64]) -> Vec<u64> {
    let mut counts = vec![0; index_bits as usize + 1];
    for (word, &bits) in bitmap.iter().enumerate() {
        let mut bits = bits;
        while bits != 0 {
            let pieces = word.count_ones() + bits.trailing_zeros().count_ones();
            counts[pieces as usize] += 1;
            bits &= bits - 1;
        }
    }
    counts
}

pub(super) fn restrict(mask: u64, bitmap: &mut [u64]) {
    let keep = (0..64_u64).filter(|x| x & mask == 0).fold(0, |keep, x| keep | 1 << x);
    for (word, bits) in (0_u64..).zip(bitmap.iter_mut()) {
        *bits &= if word & (mask >> 6) == 0 { keep } else { 0 };
    }
}
