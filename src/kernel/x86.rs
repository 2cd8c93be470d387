//! The vectors of AVX2 and AVX-512.
//!
//! Methods are inlined into the entry points of their instruction set, where the intrinsics are
//! compiled.

use std::arch::x86_64::*;

use super::line::{Rearrangement, Step, Swap, SwapKind};
use super::vector::{BELOW, ByteShift, ByteTable, Shift, Vector};

/// Two halves of 256 bits.
#[derive(Clone, Copy)]
pub(super) struct Avx2(__m256i, __m256i);

impl Avx2 {
    #[inline(always)]
    fn settle_half(wins: __m256i, lower: __m256i, upper: __m256i) -> __m256i {
        // SAFETY: the vector's existence proves AVX2.
        unsafe {
            let nibble = _mm256_set1_epi8(0x0f);
            let first = _mm256_shuffle_epi8(lower, _mm256_and_si256(wins, nibble));
            let rest = _mm256_srli_epi64::<4>(_mm256_or_si256(wins, first));
            let second = _mm256_shuffle_epi8(upper, _mm256_and_si256(rest, nibble));
            _mm256_or_si256(_mm256_and_si256(first, nibble), second)
        }
    }

    #[inline(always)]
    fn swap(self, swap: &Swap) -> Self {
        // SAFETY: the vector's existence proves AVX2.
        unsafe {
            let y = match swap.kind {
                SwapKind::Bits => self,
                SwapKind::BitAndWord(4) => Avx2(self.1, self.0),
                SwapKind::BitAndWord(2) => {
                    Avx2(_mm256_permute4x64_epi64::<0x4e>(self.0), _mm256_permute4x64_epi64::<0x4e>(self.1))
                }
                SwapKind::BitAndWord(_) => {
                    Avx2(_mm256_permute4x64_epi64::<0xb1>(self.0), _mm256_permute4x64_epi64::<0xb1>(self.1))
                }
                SwapKind::Words(0, 1) => {
                    return Avx2(_mm256_permute4x64_epi64::<0xd8>(self.0), _mm256_permute4x64_epi64::<0xd8>(self.1));
                }
                SwapKind::Words(0, _) => {
                    return Avx2(_mm256_unpacklo_epi64(self.0, self.1), _mm256_unpackhi_epi64(self.0, self.1));
                }
                SwapKind::Words(..) => {
                    return Avx2(
                        _mm256_permute2x128_si256::<0x20>(self.0, self.1),
                        _mm256_permute2x128_si256::<0x31>(self.0, self.1),
                    );
                }
            };
            let count = _mm_cvtsi32_si128(swap.count as i32);
            Avx2(Avx2::swap_half(self.0, y.0, swap, 0, count), Avx2::swap_half(self.1, y.1, swap, 4, count))
        }
    }

    #[inline(always)]
    fn swap_half(x: __m256i, y: __m256i, swap: &Swap, at: usize, count: __m128i) -> __m256i {
        // SAFETY: the vector's existence proves AVX2; the loads stay inside `swap`.
        unsafe {
            let stay = _mm256_load_si256(swap.stay.as_ptr().add(at).cast());
            let up = _mm256_load_si256(swap.up.as_ptr().add(at).cast());
            let down = _mm256_load_si256(swap.down.as_ptr().add(at).cast());
            let up = _mm256_and_si256(_mm256_sll_epi64(y, count), up);
            let down = _mm256_and_si256(_mm256_srl_epi64(y, count), down);
            _mm256_or_si256(_mm256_and_si256(x, stay), _mm256_or_si256(up, down))
        }
    }
}

impl Vector for Avx2 {
    #[inline(always)]
    unsafe fn load(from: *const u64) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let from = from.cast::<__m256i>();
            Avx2(_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1)))
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: the caller's promise.
        unsafe {
            let to = to.cast::<__m256i>();
            _mm256_storeu_si256(to, self.0);
            _mm256_storeu_si256(to.add(1), self.1);
        }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u64) {
        // SAFETY: the caller's promise.
        unsafe {
            let to = to.cast::<__m256i>();
            _mm256_stream_si256(to, self.0);
            _mm256_stream_si256(to.add(1), self.1);
        }
    }

    #[inline(always)]
    unsafe fn splat(word: u64) -> Self {
        // SAFETY: the caller's promise.
        let half = unsafe { _mm256_set1_epi64x(word as i64) };
        Avx2(half, half)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: the vector's existence proves AVX2.
        unsafe { Avx2(_mm256_or_si256(self.0, other.0), _mm256_or_si256(self.1, other.1)) }
    }

    #[inline(always)]
    fn or_shifted(self, source: Self, shift: &Shift) -> Self {
        // SAFETY: the vector's existence proves AVX2; the loads stay inside `shift`.
        unsafe {
            let order = _mm256_load_si256(shift.doublewords.as_ptr().cast());
            let keep = shift.keep.as_ptr().cast::<__m256i>();
            let count = _mm_cvtsi32_si128(shift.count as i32);
            let (a, b) = if shift.lane & 4 == 0 { (source.0, source.1) } else { (source.1, source.0) };
            let a = _mm256_sll_epi64(_mm256_permutevar8x32_epi32(a, order), count);
            let b = _mm256_sll_epi64(_mm256_permutevar8x32_epi32(b, order), count);
            let a = _mm256_and_si256(a, _mm256_load_si256(keep));
            let b = _mm256_and_si256(b, _mm256_load_si256(keep.add(1)));
            self.or(Avx2(a, b))
        }
    }

    #[inline(always)]
    fn or_byte_shifted(self, source: Self, shift: &ByteShift) -> Self {
        // SAFETY: the vector's existence proves AVX2.
        unsafe {
            let keep = _mm256_set1_epi64x(shift.keep as i64);
            let count = _mm_cvtsi32_si128(shift.count as i32);
            let a = _mm256_and_si256(_mm256_sll_epi64(source.0, count), keep);
            let b = _mm256_and_si256(_mm256_sll_epi64(source.1, count), keep);
            self.or(Avx2(a, b))
        }
    }

    #[inline(always)]
    fn settle_bytes(self, table: &ByteTable) -> Self {
        // SAFETY: the vector's existence proves AVX2; the loads stay inside `table`.
        unsafe {
            let lower = _mm256_broadcastsi128_si256(_mm_load_si128(table.lower.as_ptr().cast()));
            let upper = _mm256_broadcastsi128_si256(_mm_load_si128(table.upper.as_ptr().cast()));
            Avx2(Avx2::settle_half(self.0, lower, upper), Avx2::settle_half(self.1, lower, upper))
        }
    }

    #[inline(always)]
    fn zip(self, other: Self) -> (Self, Self) {
        // SAFETY: the vector's existence proves AVX2.
        unsafe {
            (
                Avx2(_mm256_unpacklo_epi8(self.0, other.0), _mm256_unpacklo_epi8(self.1, other.1)),
                Avx2(_mm256_unpackhi_epi8(self.0, other.0), _mm256_unpackhi_epi8(self.1, other.1)),
            )
        }
    }

    #[inline(always)]
    fn deal(self, other: Self) -> (Self, Self) {
        // SAFETY: the vector's existence proves AVX2.
        unsafe {
            (
                Avx2(
                    _mm256_permute2x128_si256::<0x20>(self.0, self.1),
                    _mm256_permute2x128_si256::<0x20>(other.0, other.1),
                ),
                Avx2(
                    _mm256_permute2x128_si256::<0x31>(self.0, self.1),
                    _mm256_permute2x128_si256::<0x31>(other.0, other.1),
                ),
            )
        }
    }

    #[inline(always)]
    fn exchange_words<const BIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: the vector's existence proves AVX2.
        unsafe {
            match BIT {
                1 => (
                    Avx2(_mm256_unpacklo_epi64(self.0, other.0), _mm256_unpacklo_epi64(self.1, other.1)),
                    Avx2(_mm256_unpackhi_epi64(self.0, other.0), _mm256_unpackhi_epi64(self.1, other.1)),
                ),
                2 => (
                    Avx2(
                        _mm256_permute2x128_si256::<0x20>(self.0, other.0),
                        _mm256_permute2x128_si256::<0x20>(self.1, other.1),
                    ),
                    Avx2(
                        _mm256_permute2x128_si256::<0x31>(self.0, other.0),
                        _mm256_permute2x128_si256::<0x31>(self.1, other.1),
                    ),
                ),
                _ => (Avx2(self.0, other.0), Avx2(self.1, other.1)),
            }
        }
    }

    #[inline(always)]
    fn exchange_bits(self, other: Self, bit: usize) -> (Self, Self) {
        // SAFETY: the vector's existence proves AVX2.
        unsafe {
            let mask = _mm256_set1_epi64x(BELOW[bit % 6] as i64);
            let count = _mm_cvtsi32_si128(1 << bit);
            let first = _mm256_and_si256(_mm256_xor_si256(_mm256_srl_epi64(self.0, count), other.0), mask);
            let second = _mm256_and_si256(_mm256_xor_si256(_mm256_srl_epi64(self.1, count), other.1), mask);
            (
                Avx2(
                    _mm256_xor_si256(self.0, _mm256_sll_epi64(first, count)),
                    _mm256_xor_si256(self.1, _mm256_sll_epi64(second, count)),
                ),
                Avx2(_mm256_xor_si256(other.0, first), _mm256_xor_si256(other.1, second)),
            )
        }
    }

    #[inline(always)]
    fn rearrange(mut vectors: [Self; 8], how: &Rearrangement) -> [Self; 8] {
        for swap in &how.swaps {
            for vector in &mut vectors {
                *vector = vector.swap(swap);
            }
        }
        vectors
    }

    #[inline(always)]
    fn half_add(self, carry: Self) -> (Self, Self) {
        // SAFETY: the vector's existence proves AVX2.
        unsafe {
            (
                Avx2(_mm256_xor_si256(self.0, carry.0), _mm256_xor_si256(self.1, carry.1)),
                Avx2(_mm256_and_si256(self.0, carry.0), _mm256_and_si256(self.1, carry.1)),
            )
        }
    }
}

/// One register of 512 bits.
#[derive(Clone, Copy)]
pub(super) struct Avx512(__m512i);

impl Vector for Avx512 {
    const REARRANGES: bool = true;

    #[inline(always)]
    unsafe fn load(from: *const u64) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Avx512(_mm512_loadu_si512(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: the caller's promise.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u64) {
        // SAFETY: the caller's promise.
        unsafe { _mm512_stream_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn splat(word: u64) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Avx512(_mm512_set1_epi64(word as i64)) }
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: the vector's existence proves AVX-512.
        unsafe { Avx512(_mm512_or_si512(self.0, other.0)) }
    }

    #[inline(always)]
    fn or_shifted(self, source: Self, shift: &Shift) -> Self {
        // SAFETY: the vector's existence proves AVX-512 with VBMI and GFNI; the loads stay inside
        // `shift`.
        unsafe {
            let order = _mm512_load_si512(shift.bytes.as_ptr().cast());
            let keep = _mm512_load_si512(shift.keep.as_ptr().cast());
            let matrix = _mm512_set1_epi64(shift.matrix as i64);
            let moved = _mm512_permutexvar_epi8(order, source.0);
            let moved = _mm512_gf2p8affine_epi64_epi8::<0>(moved, matrix);
            Avx512(_mm512_ternarylogic_epi64::<0xf8>(self.0, moved, keep))
        }
    }

    #[inline(always)]
    fn or_byte_shifted(self, source: Self, shift: &ByteShift) -> Self {
        // SAFETY: the vector's existence proves AVX-512 and GFNI.
        unsafe {
            let matrix = _mm512_set1_epi64(shift.matrix as i64);
            let moved = _mm512_gf2p8affine_epi64_epi8::<0>(source.0, matrix);
            Avx512(_mm512_or_si512(self.0, moved))
        }
    }

    #[inline(always)]
    fn settle_bytes(self, table: &ByteTable) -> Self {
        // SAFETY: the vector's existence proves AVX-512 BW; the loads stay inside `table`.
        unsafe {
            let lower = _mm512_broadcast_i32x4(_mm_load_si128(table.lower.as_ptr().cast()));
            let upper = _mm512_broadcast_i32x4(_mm_load_si128(table.upper.as_ptr().cast()));
            let nibble = _mm512_set1_epi8(0x0f);
            let first = _mm512_shuffle_epi8(lower, _mm512_and_si512(self.0, nibble));
            // (wins | first) & 0xf0
            let rest = _mm512_ternarylogic_epi64::<0x54>(self.0, first, nibble);
            let second = _mm512_shuffle_epi8(upper, _mm512_srli_epi64::<4>(rest));
            // (first & 0x0f) | second
            Avx512(_mm512_ternarylogic_epi64::<0xf8>(second, nibble, first))
        }
    }

    #[inline(always)]
    fn zip(self, other: Self) -> (Self, Self) {
        // SAFETY: the vector's existence proves AVX-512 BW.
        unsafe { (Avx512(_mm512_unpacklo_epi8(self.0, other.0)), Avx512(_mm512_unpackhi_epi8(self.0, other.0))) }
    }

    #[inline(always)]
    fn deal(self, other: Self) -> (Self, Self) {
        // SAFETY: the vector's existence proves AVX-512.
        unsafe {
            (
                Avx512(_mm512_shuffle_i64x2::<0x88>(self.0, other.0)),
                Avx512(_mm512_shuffle_i64x2::<0xdd>(self.0, other.0)),
            )
        }
    }

    #[inline(always)]
    fn exchange_words<const BIT: usize>(self, other: Self) -> (Self, Self) {
        let (a, b) = (self.0, other.0);
        // SAFETY: the vector's existence proves AVX-512.
        unsafe {
            match BIT {
                1 => (Avx512(_mm512_unpacklo_epi64(a, b)), Avx512(_mm512_unpackhi_epi64(a, b))),
                2 => {
                    let lower = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
                    let upper = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
                    (Avx512(_mm512_permutex2var_epi64(a, lower, b)), Avx512(_mm512_permutex2var_epi64(a, upper, b)))
                }
                _ => (Avx512(_mm512_shuffle_i64x2::<0x44>(a, b)), Avx512(_mm512_shuffle_i64x2::<0xee>(a, b))),
            }
        }
    }

    #[inline(always)]
    fn exchange_bits(self, other: Self, bit: usize) -> (Self, Self) {
        // SAFETY: the vector's existence proves AVX-512.
        unsafe {
            let mask = _mm512_set1_epi64(BELOW[bit % 6] as i64);
            let count = _mm_cvtsi32_si128(1 << bit);
            let (up, down) = (_mm512_sll_epi64(other.0, count), _mm512_srl_epi64(self.0, count));
            (
                Avx512(_mm512_ternarylogic_epi64::<0xe4>(self.0, up, mask)),
                Avx512(_mm512_ternarylogic_epi64::<0xe4>(down, other.0, mask)),
            )
        }
    }

    #[inline(always)]
    fn rearrange(mut vectors: [Self; 8], how: &Rearrangement) -> [Self; 8] {
        for step in &how.steps {
            // SAFETY: the vector's existence proves AVX-512 with VBMI and GFNI; the load stays
            // inside the step.
            unsafe {
                match step {
                    Step::Bytes(order) => {
                        let order = _mm512_load_si512(order.0.as_ptr().cast());
                        for vector in &mut vectors {
                            vector.0 = _mm512_permutexvar_epi8(order, vector.0);
                        }
                    }
                    Step::Turn => {
                        let unit = _mm512_set1_epi64(0x8040_2010_0804_0201_u64 as i64);
                        for vector in &mut vectors {
                            vector.0 = _mm512_gf2p8affine_epi64_epi8::<0>(unit, vector.0);
                        }
                    }
                    Step::Bits(matrix) => {
                        let matrix = _mm512_set1_epi64(*matrix as i64);
                        for vector in &mut vectors {
                            vector.0 = _mm512_gf2p8affine_epi64_epi8::<0>(vector.0, matrix);
                        }
                    }
                }
            }
        }
        vectors
    }

    #[inline(always)]
    fn half_add(self, carry: Self) -> (Self, Self) {
        // SAFETY: the vector's existence proves AVX-512.
        unsafe { (Avx512(_mm512_xor_si512(self.0, carry.0)), Avx512(_mm512_and_si512(self.0, carry.0))) }
    }

    #[inline(always)]
    fn full_add(self, other: Self, carry: Self) -> (Self, Self) {
        // SAFETY: the vector's existence proves AVX-512.
        unsafe {
            (
                Avx512(_mm512_ternarylogic_epi64::<0x96>(self.0, other.0, carry.0)),
                Avx512(_mm512_ternarylogic_epi64::<0xe8>(self.0, other.0, carry.0)),
            )
        }
    }
}
