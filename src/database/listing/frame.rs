//! The positions of one frame of a stored block, in all images of the block.

use super::image::{Image, symmetries};
use crate::database::{Database, DatabaseError};
use crate::layout::{Bid, Layout};
use pipeline::BlockId;
use trinim_game::{Board, Value};

/// Positions of a frame with their values, by image, then by offset.
pub(super) struct FrameWalk<'a> {
    layout: &'a Layout,
    bid: Bid,
    /// The number of the first word in the bitmap of the block.
    first_word: u64,
    words: Vec<u64>,
    /// The bits of a word that are positions.
    valid: u64,
    losses_only: bool,
    /// The symmetries of the images that follow, last one first.
    left: Vec<usize>,
    image: Image<'a>,
    /// The next word, from the beginning of the frame.
    next_word: usize,
    /// The part of its positions that the current word determines, and its remaining bits.
    base: u64,
    bits: u64,
}

impl<'a> FrameWalk<'a> {
    pub(super) fn new(database: &'a Database, block: BlockId, frame: usize) -> Result<FrameWalk<'a>, DatabaseError> {
        let layout = database.layout();
        let bid = layout.bid(block);
        let (first_word, mut words) = database.frame_words(block, frame)?;
        // A short bitmap is filled up to a row with bits that are no positions, and with nimbers
        // other planes follow.
        let positions = 1u64 << layout.offset_bits();
        words.truncate(positions.div_ceil(64).saturating_sub(first_word).min(words.len() as u64) as usize);
        let valid = if positions < 64 { (1 << positions) - 1 } else { u64::MAX };
        let mut left = symmetries(layout, bid);
        assert_eq!(left.len() as u32, layout.orbit_size(block), "listing, invariant 1: the blocks of a group");
        left.reverse();
        let image = Image::new(layout, bid, left.pop().unwrap_or(0));
        Ok(FrameWalk {
            layout,
            bid,
            first_word,
            words,
            valid,
            losses_only: false,
            left,
            image,
            next_word: 0,
            base: 0,
            bits: 0,
        })
    }

    /// Leaves out the wins.
    pub(super) fn losses(self) -> FrameWalk<'a> {
        FrameWalk { losses_only: true, ..self }
    }

    /// Leaves out all images but the stored block itself.
    pub(super) fn stored(self) -> FrameWalk<'a> {
        assert_eq!(self.image.bid(), self.bid, "listing, invariant 1: the stored block comes first");
        FrameWalk { left: Vec::new(), ..self }
    }

    /// Continues with the next word that has positions; `false` at the end.
    fn advance(&mut self) -> bool {
        loop {
            let Some(&word) = self.words.get(self.next_word) else {
                let Some(symmetry) = self.left.pop() else { return false };
                self.image = Image::new(self.layout, self.bid, symmetry);
                self.next_word = 0;
                continue;
            };
            self.bits = self.valid & if self.losses_only { word } else { u64::MAX };
            self.next_word += 1;
            if self.bits != 0 {
                self.base = self.image.base(self.first_word + self.next_word as u64 - 1);
                return true;
            }
        }
    }
}

impl Iterator for FrameWalk<'_> {
    type Item = (u64, Value);

    #[inline]
    fn next(&mut self) -> Option<(u64, Value)> {
        if self.bits == 0 && !self.advance() {
            return None;
        }
        let bit = self.bits.trailing_zeros();
        self.bits &= self.bits - 1;
        let is_loss = self.losses_only || self.words[self.next_word - 1] >> bit & 1 == 1;
        Some((self.base | self.image.low(bit), Value::from_loss(is_loss)))
    }
}

/// The classes of images that a stored block represents.
pub(super) struct Classes<'a> {
    board: &'a Board,
    layout: &'a Layout,
    block: BlockId,
    /// Whether every stored position has a class of its own.
    apart: bool,
}

impl<'a> Classes<'a> {
    pub(super) fn new(database: &'a Database, block: BlockId) -> Classes<'a> {
        let (board, layout) = (database.board(), database.layout());
        let all = board.symmetries().len();
        let apart = layout.symmetries().len() == all && layout.orbit_size(block) as usize == all;
        Classes { board, layout, block, apart }
    }

    /// Returns the canonical image of a stored position and the size of its class, if this stored
    /// position is the one that represents the class.
    pub(super) fn represent(&self, position: u64) -> Option<(u64, u32)> {
        let (mut canonical, mut fixing) = (position, 0);
        for symmetry in self.board.symmetries() {
            let image = symmetry.apply(position);
            canonical = canonical.max(image);
            fixing += u32::from(image == position);
        }
        debug_assert!(fixing > 0, "board, invariant 2: the identity is a symmetry");
        let stands = self.apart || self.layout.locate(canonical) == (self.block, self.layout.split(position).1);
        stands.then(|| (canonical, self.board.symmetries().len() as u32 / fixing))
    }
}
