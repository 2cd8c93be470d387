//! What is too small to be worth a plan.

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
