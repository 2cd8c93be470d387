//! The work on bitmaps: apply operations, settle a block, reorder its index bits, count.
//!
//! A block of `2^m` positions is a bitmap, one bit a position; an operation is a mask over the `m`
//! index bits, the part of a move inside the block. The kernel has no board, layout, symmetry or
//! thread: any impartial game whose moves remove pieces works.
//!
//! A solve calls [`Kernel::permute_needed`] for the losses of a block that is stored in another
//! orientation, [`Kernel::apply`] for the operations of every edge into the block, then
//! [`Kernel::settle`].
//!
//! # Shape
//! - A bitmap is a `[u64]`, little-endian: index `x` is bit `x % 64` of word `x / 64`. It has
//!   [`bitmap_words`]`(m)` words, at least eight, and needs only the 8-byte alignment of `u64`.
//!   Alignment to 64 bytes makes the kernel a fifth faster.
//! - With `m < 9` the bitmap still has 512 bits. Indices from `2^m` on are *phantoms*.
//!
//! ```text
//! index bit   m-1 ..... 20 19 18 17 16 ..... 9 8 7 6 5 4 3 2 1 0
//!             which chunk               vector  word     bit        apply: chunks of 16 KiB
//!             which chunk     vector            byte          bit   settle: chunks of 128 KiB
//! ```
//!
//! # Invariants
//! 1. Every [`Isa`] gives the same bits; [`Isa::Scalar`], one position at a time, is the reference
//!    for the others.
//! 2. Plans hold no buffer: one plan serves any number of threads at once.
//! 3. Phantoms are never losses: [`mark_phantoms`] marks them as wins before [`Kernel::settle`].
//!
//! # Cost
//! All stages are linear in the block, without branches that depend on positions. Besides the given
//! bitmaps, settling uses 4 KiB of stack a thread and permuting 256 KiB; plans take some 100 KiB.
//! Aligned targets of 8 MiB and more are written past the caches when they are permuted.
#![expect(
    unsafe_code,
    reason = "vectors are read at offsets a plan guarantees, on machines whose instructions were detected"
)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![warn(unreachable_pub)]

// Its macros are known to the files after it.
#[macro_use]
mod isa;

mod apply;
mod count;
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only the vectors of x86 use steps and kinds"))]
mod line;
mod over;
mod permute;
mod scalar;
mod settle;
#[cfg(test)]
mod tests;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

use apply::Operations;
use permute::Tiles;
use settle::Moves;
use vector::Vector;

pub use isa::{Isa, IsaError, Work, run_wide};
pub use over::mark_without_moves;

/// Index bits of the smallest bitmap: 512 bits, one cache line.
const LEAST_BITS: u32 = 9;

/// Returns the words of the bitmap of a block of `index_bits` index bits:
/// `2^max(index_bits, 9) / 64`.
#[must_use]
pub const fn bitmap_words(index_bits: u32) -> usize {
    let bits = if index_bits < LEAST_BITS { LEAST_BITS } else { index_bits };
    1 << (bits - 6)
}

/// Sets the bits of the phantoms, the indices of `2^index_bits` and above. Does nothing from nine
/// index bits.
///
/// # Panics
/// Panics unless the bitmap has [`bitmap_words`]`(index_bits)` words.
pub fn mark_phantoms(index_bits: u32, bitmap: &mut [u64]) {
    check_length(index_bits, bitmap);
    if index_bits < LEAST_BITS {
        bitmap.iter_mut().zip(phantoms(index_bits)).for_each(|(bits, phantoms)| *bits |= phantoms);
    }
}

/// Returns the phantoms of each word of a bitmap of fewer than nine index bits.
fn phantoms(index_bits: u32) -> [u64; 8] {
    let first = 1_u32 << index_bits;
    std::array::from_fn(|word| u64::MAX.checked_shl(first.saturating_sub(64 * word as u32)).unwrap_or(0))
}

/// Checks that all phantoms are set, or none.
#[inline(always)]
fn check_phantoms(index_bits: u32, bitmap: &[u64], are_set: bool) {
    if index_bits < LEAST_BITS {
        let hold = |(bits, phantoms): (&u64, u64)| bits & phantoms == if are_set { phantoms } else { 0 };
        assert!(bitmap.iter().zip(phantoms(index_bits)).all(hold), "kernel, invariant 3: phantoms as losses");
    }
}

fn check_length(index_bits: u32, bitmap: &[u64]) {
    assert_eq!(bitmap.len(), bitmap_words(index_bits), "words of a bitmap of {index_bits} index bits");
}

/// Returns the masks sorted and each once.
fn distinct(index_bits: u32, masks: &[u64]) -> Vec<u64> {
    assert!(index_bits < 58, "{index_bits} index bits do not fit memory");
    for mask in masks {
        assert!(mask >> index_bits == 0, "mask {mask:#x} leaves the {index_bits} index bits");
    }
    let mut masks = masks.to_vec();
    masks.sort_unstable();
    masks.dedup();
    masks
}

/// Operations prepared for [`Kernel::apply`], [`Kernel::apply_first`] and [`Kernel::apply_part`].
#[derive(Clone, Debug)]
pub struct ApplyPlan {
    index_bits: u32,
    masks: Vec<u64>,
    operations: Operations,
    part_bits: u32,
    /// By what an operation adds to the number of a part: the operations inside a part.
    parts: Vec<(usize, Box<[u64]>, Operations)>,
}

impl ApplyPlan {
    /// Prepares the operations, masks over `index_bits` index bits. 0 is an operation like any
    /// other: a parent of the same index in another block. Repeated masks count once.
    ///
    /// # Panics
    /// Panics if a mask has a bit at or above `index_bits`.
    #[must_use]
    pub fn new(index_bits: u32, operations: &[u64]) -> ApplyPlan {
        let masks = distinct(index_bits, operations);
        let operations = Operations::new(index_bits, &masks);
        ApplyPlan { index_bits, masks, operations, part_bits: 0, parts: Vec::new() }
    }

    /// Prepares the operations for parts of `2^part_bits` positions of the losses as well.
    ///
    /// # Panics
    /// Panics unless a part is a bitmap no larger than the whole one.
    #[must_use]
    pub fn in_parts(self, part_bits: u32) -> ApplyPlan {
        let whole_bits = self.index_bits.max(LEAST_BITS);
        assert!((LEAST_BITS..=whole_bits).contains(&part_bits), "parts of {part_bits} in {whole_bits} index bits");
        let inside = |masks: &[u64]| masks.iter().map(|mask| mask & ((1 << part_bits) - 1)).collect();
        let parts = self.masks.chunk_by(|a, b| a >> part_bits == b >> part_bits).map(|same| {
            let masks: Box<[u64]> = inside(same);
            ((same[0] >> part_bits) as usize, masks.clone(), Operations::new(part_bits, &masks))
        });
        ApplyPlan { part_bits, parts: parts.collect(), ..self }
    }
}

/// The moves inside a block prepared for [`Kernel::settle`].
#[derive(Clone, Debug)]
pub struct SettlePlan {
    index_bits: u32,
    masks: Vec<u64>,
    moves: Moves,
}

impl SettlePlan {
    /// Prepares the moves, nonzero masks over `index_bits` index bits. Repeated masks count once.
    ///
    /// # Panics
    /// Panics if a mask is 0 or has a bit at or above `index_bits`.
    #[must_use]
    pub fn new(index_bits: u32, moves: &[u64]) -> SettlePlan {
        let masks = distinct(index_bits, moves);
        assert!(!masks.contains(&0), "a move that removes nothing");
        SettlePlan { index_bits, moves: Moves::new(index_bits, &masks), masks }
    }
}

/// A permutation of the index bits prepared for [`Kernel::permute`].
#[derive(Clone, Debug)]
pub struct PermutePlan {
    permutation: Vec<u8>,
    /// `None` if there are too few index bits for tiles. The second is for instruction sets that
    /// rearrange whole lines.
    tiles: Option<[Tiles; 2]>,
}

impl PermutePlan {
    /// Prepares a permutation: index bit `i` of the source becomes index bit `permutation[i]` of
    /// the target.
    ///
    /// # Panics
    /// Panics unless `permutation` has each of `0..permutation.len()` once.
    #[must_use]
    pub fn new(permutation: &[u8]) -> PermutePlan {
        let mut sorted = permutation.to_vec();
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq((0..=u8::MAX).take(sorted.len())), "{permutation:?} is not a permutation");
        PermutePlan {
            permutation: permutation.to_vec(),
            tiles: (permutation.len() >= permute::LEAST_BITS)
                .then(|| [true, false].map(|direct| Tiles::new(permutation, direct))),
        }
    }

    /// Returns the index bits of this plan's bitmaps.
    fn index_bits(&self) -> u32 {
        self.permutation.len() as u32
    }
}

/// The operations on bitmaps, on one instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    isa: Isa,
}

impl Kernel {
    /// Creates the kernel of an instruction set.
    ///
    /// # Errors
    /// Returns [`IsaError::Unavailable`] if this machine lacks it.
    pub fn new(isa: Isa) -> Result<Kernel, IsaError> {
        if isa.is_available() { Ok(Kernel { isa }) } else { Err(IsaError::Unavailable(isa)) }
    }

    /// Creates the kernel of the widest instruction set of this machine.
    #[must_use]
    pub fn detect() -> Kernel {
        Kernel { isa: Isa::detect() }
    }

    /// Returns the instruction set of this kernel.
    #[must_use]
    pub fn isa(self) -> Isa {
        self.isa
    }

    /// Marks parents in another block: sets bit `x | M` of `wins` for every operation `M` of the
    /// plan and every loss `x` with `x & M == 0`. Other bits of `wins` stay.
    ///
    /// # Panics
    /// Panics if a bitmap has the wrong length for the plan's index bits.
    pub fn apply(self, plan: &ApplyPlan, losses: &[u64], wins: &mut [u64]) {
        check_length(plan.index_bits, losses);
        check_length(plan.index_bits, wins);
        on!(
            self.isa,
            (plan: &ApplyPlan, losses: &[u64], wins: &mut [u64]),
            scalar::apply(&plan.masks, losses, wins),
            // SAFETY: the body is called with the instructions of `V`.
            V => unsafe { plan.operations.apply::<V, false>(losses, wins) }
        );
    }

    /// Does what [`Kernel::apply`] does to a bitmap of zeros, for any contents of `wins`: each
    /// chunk is cleared just before its updates, while it is in the cache.
    ///
    /// # Panics
    /// Panics if a bitmap has the wrong length for the plan's index bits.
    pub fn apply_first(self, plan: &ApplyPlan, losses: &[u64], wins: &mut [u64]) {
        check_length(plan.index_bits, losses);
        check_length(plan.index_bits, wins);
        on!(
            self.isa,
            (plan: &ApplyPlan, losses: &[u64], wins: &mut [u64]),
            {
                wins.fill(0);
                scalar::apply(&plan.masks, losses, wins);
            },
            // SAFETY: the body is called with the instructions of `V`.
            V => unsafe { plan.operations.apply::<V, true>(losses, wins) }
        );
    }

    /// Does what [`Kernel::apply`] does for a part of the losses, the bitmap of part `part` of the
    /// plan. All parts together, in any order, do the whole.
    ///
    /// # Panics
    /// Panics unless the plan has parts and the bitmaps have the lengths of a part and of the
    /// whole.
    pub fn apply_part(self, plan: &ApplyPlan, part: usize, losses: &[u64], wins: &mut [u64]) {
        check_length(plan.part_bits, losses);
        check_length(plan.index_bits, wins);
        let words = losses.len();
        for (high, masks, operations) in plan.parts.iter().filter(|(high, ..)| part & high == 0) {
            let wins = &mut wins[(part | high) * words..][..words];
            on!(
                self.isa,
                (operations: &Operations, losses: &[u64], wins: &mut [u64]),
                scalar::apply(masks, losses, wins),
                // SAFETY: the body is called with the instructions of `V`.
                V => unsafe { operations.apply::<V, false>(losses, wins) }
            );
        }
    }

    /// Decides every position of a block. On entry, bit `x` is set if `x` is a win because of
    /// another block, or a phantom. On return, bit `x` is set if `x` is a loss.
    ///
    /// Positions are decided upwards, as in retrograde analysis: a position that is not yet a win
    /// is a loss, and all `x | M` with `x & M == 0`, `M` a move of the plan, are wins.
    ///
    /// # Panics
    /// Panics if the bitmap has the wrong length for the plan's index bits, or a phantom is not
    /// marked.
    pub fn settle(self, plan: &SettlePlan, bitmap: &mut [u64]) {
        check_length(plan.index_bits, bitmap);
        check_phantoms(plan.index_bits, bitmap, true);
        on!(
            self.isa,
            (plan: &SettlePlan, bitmap: &mut [u64]),
            scalar::settle(&plan.masks, bitmap),
            // SAFETY: the body is called with the instructions of `V`.
            V => unsafe { plan.moves.settle::<V>(bitmap) }
        );
        check_phantoms(plan.index_bits, bitmap, false);
    }

    /// Reorders the index bits: bit `x` of the source becomes bit `y` of the target, where bit `i`
    /// of `x` is bit `permutation[i]` of `y`. The target is overwritten.
    ///
    /// # Panics
    /// Panics if a bitmap has the wrong length for the plan's index bits.
    pub fn permute(self, plan: &PermutePlan, source: &[u64], target: &mut [u64]) {
        self.permute_needed(plan, 0, source, target);
    }

    /// Reorders the index bits like [`Kernel::permute`], but can skip words of the source whose
    /// number has a bit of `unneeded`; their places in the target are then unspecified.
    ///
    /// # Panics
    /// Panics if a bitmap has the wrong length for the plan's index bits.
    pub fn permute_needed(self, plan: &PermutePlan, unneeded: u64, source: &[u64], target: &mut [u64]) {
        check_length(plan.index_bits(), source);
        check_length(plan.index_bits(), target);
        let Some(tiles) = &plan.tiles else {
            return scalar::permute(&plan.permutation, source, target);
        };
        on!(
            self.isa,
            (tiles: &[Tiles; 2], unneeded: u64, source: &[u64], target: &mut [u64]),
            scalar::permute(&plan.permutation, source, target),
            // SAFETY: the body is called with the instructions of `V`.
            V => unsafe { tiles[usize::from(V::REARRANGES)].permute::<V>(unneeded as usize, source, target) }
        );
    }

    /// Counts the set bits of a bitmap, or of any part of one.
    #[must_use]
    pub fn popcount(self, bitmap: &[u64]) -> u64 {
        on!(
            self.isa,
            (bitmap: &[u64]) -> u64,
            scalar::popcount(bitmap),
            V => count::popcount(bitmap)
        )
    }

    /// Counts the set bits by the number of set index bits: element `p` counts the `x` with
    /// `x.count_ones() == p`, for each `p` in `0..=index_bits`. Phantoms must be clear.
    ///
    /// # Panics
    /// Panics if the bitmap has the wrong length for `index_bits`, or a phantom is set.
    #[must_use]
    pub fn census(self, index_bits: u32, bitmap: &[u64]) -> Vec<u64> {
        check_length(index_bits, bitmap);
        check_phantoms(index_bits, bitmap, false);
        let mut counts = on!(
            self.isa,
            (bitmap: &[u64]) -> Vec<u64>,
            scalar::census(index_bits, bitmap),
            // SAFETY: the body is called with the instructions of `V`.
            V => unsafe { count::census::<V>(bitmap) }
        );
        counts.truncate(index_bits as usize + 1);
        counts
    }

    /// Clears every bit `x` with `x & mask != 0`: drops the losses that no operation within `mask`
    /// can use.
    ///
    /// # Panics
    /// Panics unless the length of the bitmap is a power of two of at least eight words.
    pub fn restrict(self, mask: u64, bitmap: &mut [u64]) {
        assert!(
            bitmap.len().is_power_of_two() && bitmap.len() >= bitmap_words(0),
            "{} words are not a bitmap",
            bitmap.len()
        );
        on!(
            self.isa,
            (mask: u64, bitmap: &mut [u64]),
            scalar::restrict(mask, bitmap),
            V => count::restrict(mask, bitmap)
        );
    }
}

/// The example of the README, which is not part of the documentation.
#[cfg(doctest)]
#[doc = include_str!("README.md")]
struct Readme;
