//! Positions of one image of a stored block, found by tables.
//!
//! A symmetry and a layout both permute bits, so the position at an offset is the OR of the images
//! of its groups of bits: the lowest six by one table, the next ten by another, and the rest, which
//! changes once in 65,536 offsets, by the permutations themselves.

use crate::layout::{Bid, Layout};

/// Bits of an offset inside a word of the bitmap.
const LOW_BITS: u32 = 6;
/// Bits of the number of a word that have a table.
const MIDDLE_BITS: u32 = 10;

pub(super) struct Image<'a> {
    layout: &'a Layout,
    /// Place of the symmetry that makes it, in [`Layout::symmetries`].
    symmetry: usize,
    bid: Bid,
    low: Box<[u64; 1 << LOW_BITS]>,
    middle: Vec<u64>,
    /// The rest of the word's number, and the cells that it and the block give.
    top: (u64, u64),
}

/// Returns the symmetries that take a block to all its images, each image once; the identity first.
pub(super) fn symmetries(layout: &Layout, bid: Bid) -> Vec<usize> {
    let (mut seen, mut first) = (Vec::new(), Vec::new());
    for (place, symmetry) in layout.symmetries().iter().enumerate() {
        let image = symmetry.map_bid(bid);
        if !seen.contains(&image) {
            seen.push(image);
            first.push(place);
        }
    }
    first
}

impl<'a> Image<'a> {
    /// Prepares the image of block `bid` under a symmetry of the layout.
    pub(super) fn new(layout: &'a Layout, bid: Bid, symmetry: usize) -> Image<'a> {
        let bits = layout.offset_bits();
        let mut image =
            Image { layout, symmetry, bid, low: Box::new([0; 1 << LOW_BITS]), middle: Vec::new(), top: (u64::MAX, 0) };
        for offset in 0..1u64 << bits.min(LOW_BITS) {
            image.low[offset as usize] = image.apply(layout.join(Bid(0), offset));
        }
        let middle = 0..1u64 << bits.saturating_sub(LOW_BITS).min(MIDDLE_BITS);
        image.middle = middle.map(|word| image.apply(layout.join(Bid(0), word << LOW_BITS))).collect();
        image
    }

    /// Returns the block that the image is.
    pub(super) fn bid(&self) -> Bid {
        self.layout.symmetries()[self.symmetry].map_bid(self.bid)
    }

    fn apply(&self, position: u64) -> u64 {
        self.layout.symmetries()[self.symmetry].board().apply(position)
    }

    /// Returns the cells that the number of a word gives to its positions.
    pub(super) fn base(&mut self, word: u64) -> u64 {
        let (rest, middle) = (word >> MIDDLE_BITS, word % (1 << MIDDLE_BITS));
        if self.top.0 != rest {
            let position = self.layout.join(self.bid, rest << (LOW_BITS + MIDDLE_BITS));
            self.top = (rest, self.apply(position));
        }
        self.top.1 | self.middle[middle as usize]
    }

    /// Returns the cells that a bit inside a word gives.
    #[inline(always)]
    pub(super) fn low(&self, bit: u32) -> u64 {
        self.low[bit as usize % (1 << LOW_BITS)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trinim_game::{Board, Cell};

    #[test]
    fn tables_equal_the_permutations() {
        let board = Board::triangle(6, None).unwrap();
        for cells in [&[(0, 0), (5, 0), (5, 5)][..], &[(2, 1)], &[(1, 0), (1, 1)], &[]] {
            let cells: Vec<Cell> = cells.iter().map(|(row, col)| Cell::new(*row, *col)).collect();
            let layout = Layout::new(&board, &cells).unwrap();
            for &bid in layout.canonical_blocks() {
                for symmetry in symmetries(&layout, bid) {
                    let mut image = Image::new(&layout, bid, symmetry);
                    let step = 977;
                    for offset in (0..1u64 << layout.offset_bits()).step_by(step) {
                        let expected = layout.symmetries()[symmetry].board().apply(layout.join(bid, offset));
                        assert_eq!(image.base(offset / 64) | image.low((offset % 64) as u32), expected);
                    }
                }
            }
        }
    }
}
