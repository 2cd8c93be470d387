//! The vector of 512 bits: its trait, the constants of a shift, and the portable version.

use super::line::{Rearrangement, WORDS};

/// Returns the six-bit numbers that contain all of `low`, as a mask.
fn holding(low: u64) -> u64 {
    (0..64).filter(|x| x & low == low).fold(0, |mask, x| mask | 1 << x)
}

/// The six-bit numbers that lack a bit, as masks.
pub(super) const BELOW: [u64; 6] = [
    0x5555_5555_5555_5555,
    0x3333_3333_3333_3333,
    0x0f0f_0f0f_0f0f_0f0f,
    0x00ff_00ff_00ff_00ff,
    0x0000_ffff_0000_ffff,
    0x0000_0000_ffff_ffff,
];

/// The parent operation inside a vector: index `x` (nine bits) goes to `x | low`, if
/// `x & low == 0`.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Shift {
    /// Targets: those `x` that contain `low`. They correct moves of whole bytes and words that wrap
    /// around.
    pub keep: [u64; WORDS],
    /// The source of each target byte.
    pub bytes: [u8; 64],
    /// The source of each target quarter of a word, inside its half of the vector.
    pub doublewords: [u32; 8],
    /// Shift inside a byte as a matrix of GF2P8AFFINEQB.
    pub matrix: u64,
    /// Shift inside a word, in bits.
    pub count: u32,
    /// Shift in words.
    pub lane: usize,
}

impl Shift {
    pub(super) fn new(low: u64) -> Shift {
        let lane = (low >> 6) as usize;
        let keep = std::array::from_fn(|word| if word & lane == lane { holding(low & 63) } else { 0 });
        let doublewords = std::array::from_fn(|i| (i ^ (lane & 3) << 1) as u32);
        Shift {
            keep,
            bytes: std::array::from_fn(|byte| byte as u8 ^ (low >> 3) as u8),
            doublewords,
            matrix: shift_matrix(low & 7),
            count: (low & 63) as u32,
            lane,
        }
    }
}

/// Returns the GF2P8AFFINEQB matrix that moves bit `x` to `x | low` where `x & low == 0`, and drops
/// the others.
fn shift_matrix(low: u64) -> u64 {
    (0..8).filter(|to| to & low == low).fold(0, |matrix, to| matrix | (1 << (to ^ low)) << (8 * (7 - to)))
}

/// The parent operation inside every byte: bit `x` (three bits) goes to `x | low`, if
/// `x & low == 0`.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByteShift {
    /// Targets, the same in every byte.
    pub keep: u64,
    /// GF2P8AFFINEQB matrix.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "an instruction of x86"))]
    pub matrix: u64,
    /// Distance of the shift, in bits.
    pub count: u32,
}

impl ByteShift {
    pub(super) fn new(low: u64) -> ByteShift {
        ByteShift { keep: holding(low), matrix: shift_matrix(low), count: low as u32 }
    }
}

/// A table that settles the eight positions of a byte.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct ByteTable {
    /// Losses by wins.
    pub whole: [u8; 256],
    /// By the wins among positions 0 to 3: their losses, and in the upper half the resulting wins
    /// among 4 to 7.
    pub lower: [u8; 16],
    /// By the wins among positions 4 to 7: their losses, in the upper half.
    pub upper: [u8; 16],
}

impl ByteTable {
    /// Creates the table for moves over three index bits.
    pub(super) fn new(moves: &[u64]) -> ByteTable {
        let settle = |wins: u8, from: u32, to: u32| {
            let (mut wins, mut losses) = (wins, 0_u8);
            for x in from..to {
                if wins >> x & 1 == 0 {
                    losses |= 1 << x;
                    for mask in moves.iter().filter(|mask| u64::from(x) & *mask == 0) {
                        wins |= 1 << (u64::from(x) | mask);
                    }
                }
            }
            (losses, wins)
        };
        ByteTable {
            whole: std::array::from_fn(|wins| settle(wins as u8, 0, 8).0),
            lower: std::array::from_fn(|wins| {
                let (losses, wins) = settle(wins as u8, 0, 4);
                losses | (wins & 0xf0)
            }),
            upper: std::array::from_fn(|wins| settle((wins << 4) as u8, 4, 8).0),
        }
    }
}

/// A vector of 512 bits.
///
/// Values come only from [`Vector::load`] and [`Vector::splat`], which are unsafe. A value
/// therefore proves that the machine has the instructions of its methods.
pub(super) trait Vector: Copy {
    /// Whether [`Vector::rearrange`] takes few instructions, so that it pays to gather lines first
    /// and rearrange them afterwards.
    const REARRANGES: bool = false;

    /// Reads 64 bytes of any alignment.
    ///
    /// # Safety
    /// They must be readable, and the machine must have the instructions of this type.
    unsafe fn load(from: *const u64) -> Self;

    /// Writes 64 bytes of any alignment.
    ///
    /// # Safety
    /// They must be writable.
    unsafe fn store(self, to: *mut u64);

    /// Writes 64 bytes past the caches, if the instruction set can: a whole line need not be read
    /// first. [`Vector::fence`] orders these writes.
    ///
    /// # Safety
    /// They must be writable and begin at a multiple of 64.
    #[inline(always)]
    unsafe fn stream(self, to: *mut u64) {
        // SAFETY: the caller's promise.
        unsafe { self.store(to) }
    }

    /// Orders the writes of [`Vector::stream`] before all later ones.
    #[inline(always)]
    fn fence() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every machine of the target has the instruction.
        unsafe {
            std::arch::x86_64::_mm_sfence();
        }
    }

    /// Returns the same word eight times.
    ///
    /// # Safety
    /// The machine must have the instructions of this type.
    unsafe fn splat(word: u64) -> Self;

    /// Prefetches the line at an address, which need not be readable.
    #[inline(always)]
    fn prefetch(_address: *const u64) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every machine of the target has the instruction, and it never faults.
        unsafe {
            std::arch::x86_64::_mm_prefetch::<2>(_address.cast());
        }
    }

    /// Returns the bitwise or.
    fn or(self, other: Self) -> Self;

    /// Returns the bitwise or of `self` and the shifted `source`.
    fn or_shifted(self, source: Self, shift: &Shift) -> Self;

    /// Returns the bitwise or of `self` and `source` shifted inside bytes.
    fn or_byte_shifted(self, source: Self, shift: &ByteShift) -> Self;

    /// Turns wins into losses, in each byte separately.
    fn settle_bytes(self, table: &ByteTable) -> Self;

    /// Interleaves the bytes of two vectors, in each 16 bytes separately: first the lower eight of
    /// both, then the upper eight of both.
    fn zip(self, other: Self) -> (Self, Self);

    /// Returns quarters 0 and 2 of both vectors, and quarters 1 and 3 of both.
    fn deal(self, other: Self) -> (Self, Self);

    /// Exchanges the words of odd `number / BIT` of `self` with the words `BIT` below of `other`;
    /// `BIT` is 1, 2 or 4.
    fn exchange_words<const BIT: usize>(self, other: Self) -> (Self, Self);

    /// Exchanges the bits at odd `place >> bit` of every word of `self` with those `1 << bit` lower
    /// of `other`; `bit < 6`.
    fn exchange_bits(self, other: Self, bit: usize) -> (Self, Self);

    /// Permutes the index bits inside each of the vectors.
    fn rearrange(vectors: [Self; 8], how: &Rearrangement) -> [Self; 8];

    /// Adds bit by bit: sum and carry.
    fn half_add(self, carry: Self) -> (Self, Self);

    /// Adds three bits by bit: sum and carry.
    #[inline(always)]
    fn full_add(self, other: Self, carry: Self) -> (Self, Self) {
        let (sum, both) = self.half_add(other);
        let (sum, with_carry) = sum.half_add(carry);
        (sum, both.or(with_carry))
    }
}

impl Vector for [u64; WORDS] {
    #[inline(always)]
    unsafe fn load(from: *const u64) -> Self {
        // SAFETY: the caller's promise.
        unsafe { from.cast::<[u64; WORDS]>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: the caller's promise.
        unsafe { to.cast::<[u64; WORDS]>().write_unaligned(self) }
    }

    #[inline(always)]
    unsafe fn splat(word: u64) -> Self {
        [word; WORDS]
    }

    #[inline(always)]
    fn or(mut self, other: Self) -> Self {
        for word in 0..WORDS {
            self[word] |= other[word];
        }
        self
    }

    #[inline(always)]
    fn or_shifted(mut self, source: Self, shift: &Shift) -> Self {
        for word in 0..WORDS {
            self[word] |= (source[(word ^ shift.lane) % WORDS] << (shift.count & 63)) & shift.keep[word];
        }
        self
    }

    #[inline(always)]
    fn or_byte_shifted(mut self, source: Self, shift: &ByteShift) -> Self {
        for word in 0..WORDS {
            self[word] |= (source[word] << (shift.count & 63)) & shift.keep;
        }
        self
    }

    #[inline(always)]
    fn settle_bytes(self, table: &ByteTable) -> Self {
        words(bytes(self).map(|wins| table.whole[usize::from(wins)]))
    }

    #[inline(always)]
    fn zip(self, other: Self) -> (Self, Self) {
        let (a, b) = (bytes(self), bytes(other));
        let (mut lower, mut upper) = ([0; 64], [0; 64]);
        for i in 0..64 {
            let from = i / 16 * 16 + i % 16 / 2;
            lower[i] = if i % 2 == 0 { a[from] } else { b[from] };
            upper[i] = if i % 2 == 0 { a[from + 8] } else { b[from + 8] };
        }
        (words(lower), words(upper))
    }

    #[inline(always)]
    fn deal(self, other: Self) -> (Self, Self) {
        let (a, b) = (self, other);
        ([a[0], a[1], a[4], a[5], b[0], b[1], b[4], b[5]], [a[2], a[3], a[6], a[7], b[2], b[3], b[6], b[7]])
    }

    #[inline(always)]
    fn exchange_words<const BIT: usize>(mut self, mut other: Self) -> (Self, Self) {
        for word in 0..WORDS {
            if word & BIT == 0 {
                std::mem::swap(&mut self[word | BIT], &mut other[word]);
            }
        }
        (self, other)
    }

    #[inline(always)]
    fn exchange_bits(mut self, mut other: Self, bit: usize) -> (Self, Self) {
        for word in 0..WORDS {
            let differing = (self[word] >> (1 << bit) ^ other[word]) & BELOW[bit % 6];
            other[word] ^= differing;
            self[word] ^= differing << (1 << bit);
        }
        (self, other)
    }

    #[inline(always)]
    fn rearrange(mut vectors: [Self; 8], how: &Rearrangement) -> [Self; 8] {
        for swap in &how.swaps {
            for vector in &mut vectors {
                let x = *vector;
                for word in 0..WORDS {
                    let y = x[swap.words[word] as usize % WORDS];
                    vector[word] = x[word] & swap.stay[word]
                        | y << (swap.count & 63) & swap.up[word]
                        | y >> (swap.count & 63) & swap.down[word];
                }
            }
        }
        vectors
    }

    #[inline(always)]
    fn half_add(self, carry: Self) -> (Self, Self) {
        let (mut sum, mut both) = (self, carry);
        for word in 0..WORDS {
            sum[word] ^= carry[word];
            both[word] &= self[word];
        }
        (sum, both)
    }
}

#[inline(always)]
fn bytes(vector: [u64; WORDS]) -> [u8; 64] {
    let mut bytes = [0; 64];
    for (to, word) in bytes.chunks_exact_mut(8).zip(vector) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

#[inline(always)]
fn words(vector: [u8; 64]) -> [u64; WORDS] {
    std::array::from_fn(|word| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&vector[8 * word..8 * word + 8]);
        u64::from_le_bytes(bytes)
    })
}
