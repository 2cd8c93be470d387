//! Word-wise versions of every operation.

/// Bits of a word whose number contains all of `low`'s six bits.
fn holding(low: u64) -> u64 {
    (0..64)
        .filter(|x| x & low == low)
        .fold(0, |mask, x| mask | 1 << x)
}

pub(super) fn apply(operations: &[u64], losses: &[u64], wins: &mut [u64]) {
    for mask in operations {
        let (high, low) = ((mask >> 6) as usize, mask & 63);
        let keep = holding(low);
        for word in 0..losses.len() {
            if word & high == 0 {
                wins[word | high] |= (losses[word] << low) & keep;
            }
        }
    }
}

pub(super) fn settle(moves: &[u64], bitmap: &mut [u64]) {
    let inside = moves.partition_point(|mask| *mask < 64);
    let inside: Vec<(u64, u64)> = moves[..inside].iter().map(|&m| (m, holding(m))).collect();
    let outside: Vec<(usize, u64, u64)> = moves[inside.len()..]
        .iter()
        .map(|m| ((m >> 6) as usize, m & 63, holding(m & 63)))
        .collect();
    for word in 0..bitmap.len() {
        let mut wins = bitmap[word];
        let mut losses = 0;
        for level in 0..=6 {
            let level = (0..64_u64)
                .filter(|x| x.count_ones() == level)
                .fold(0, |mask, x| mask | 1 << x);
            let found = level & !wins;
            losses |= found;
            for &(low, keep) in &inside {
                wins |= (found << low) & keep;
            }
        }
        bitmap[word] = losses;
        for &(high, low, keep) in &outside {
            if word & high == 0 {
                bitmap[word | high] |= (losses << low) & keep;
            }
        }
    }
}

pub(super) fn permute(permutation: &[u8], source: &[u64], target: &mut [u64]) {
    target.fill(0);
    for (word, &bits) in source.iter().enumerate() {
        let mut bits = bits;
        while bits != 0 {
            let x = word << 6 | bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let y = permutation
                .iter()
                .enumerate()
                .fold(0_usize, |y, (i, &to)| y | (x >> i & 1) << to);
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
    let keep = (0..64_u64)
        .filter(|x| x & mask == 0)
        .fold(0, |keep, x| keep | 1 << x);
    for (word, bits) in (0_u64..).zip(bitmap.iter_mut()) {
        *bits &= if word & (mask >> 6) == 0 { keep } else { 0 };
    }
}
