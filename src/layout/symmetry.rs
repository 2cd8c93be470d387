//! Block numbers, and the symmetries of a layout.
//!
//! A symmetry of the board that keeps the set of BID cells maps whole blocks to whole blocks: it
//! permutes the BID bits and the offset bits separately.

use serde::{Deserialize, Serialize};
use std::fmt;
use trinim_game::{BitPermutation, Symmetry};

/// The BID bits of a block; bit `i` is cell [`Layout::bid_cells`](super::Layout::bid_cells)`[i]`.
///
/// Every block has one, canonical or not. The engine numbers only the canonical blocks:
/// [`Layout::bid`](super::Layout::bid) and [`Layout::canonical`](super::Layout::canonical) lead
/// from one number to the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Bid(pub u32);

impl Bid {
    /// Returns the number of pieces on BID cells.
    pub fn pieces(self) -> u32 {
        self.0.count_ones()
    }
}

impl fmt::Display for Bid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A symmetry of the board that keeps the set of BID cells, as one permutation of BID bits and one
/// of offset bits.
#[derive(Clone, Debug)]
pub struct LayoutSymmetry {
    board: Symmetry,
    bid: BitPermutation,
    offset: BitPermutation,
    inverse: usize,
}

impl LayoutSymmetry {
    /// Returns those of `symmetries` that keep the set `bid_cells`, in the same order.
    pub(super) fn all(symmetries: &[Symmetry], bid_cells: &[u8], offset_cells: &[u8]) -> Vec<LayoutSymmetry> {
        let mask = |cells: &[u8]| cells.iter().fold(0u64, |mask, &cell| mask | 1 << cell);
        let bid_mask = mask(bid_cells);
        let kept: Vec<&Symmetry> = symmetries.iter().filter(|symmetry| symmetry.apply(bid_mask) == bid_mask).collect();
        let on_bits = |symmetry: &Symmetry, cells: &[u8]| {
            let bit_of = |cell| cells.iter().position(|&other| other == cell).expect("the cells are kept") as u8;
            BitPermutation::new(cells.iter().map(|&cell| bit_of(symmetry.image()[usize::from(cell)])).collect())
        };
        let inverse = |symmetry: &Symmetry| kept.iter().position(|other| other.compose(symmetry).is_identity());
        let on_layout = |symmetry: &Symmetry| LayoutSymmetry {
            board: symmetry.clone(),
            bid: on_bits(symmetry, bid_cells),
            offset: on_bits(symmetry, offset_cells),
            inverse: inverse(symmetry).expect("the symmetries that keep a set are a group"),
        };
        kept.iter().copied().map(on_layout).collect()
    }

    /// Returns the symmetry as a permutation of the cells.
    pub fn board(&self) -> &Symmetry {
        &self.board
    }

    /// Returns the block to which this symmetry takes the block `bid`.
    #[inline]
    pub fn map_bid(&self, bid: Bid) -> Bid {
        Bid(self.bid.apply(u64::from(bid.0)) as u32)
    }

    /// Returns the offset to which this symmetry takes `offset`, in any block.
    #[inline]
    pub fn map_offset(&self, offset: u64) -> u64 {
        self.offset.apply(offset)
    }

    /// Returns the permutation of the offset bits: bit `i` of the source becomes bit
    /// `offset_permutation()[i]` of its image.
    pub fn offset_permutation(&self) -> &[u8] {
        self.offset.image()
    }

    /// Returns the place of the inverse in [`Layout::symmetries`](super::Layout::symmetries).
    pub fn inverse(&self) -> usize {
        self.inverse
    }
}
