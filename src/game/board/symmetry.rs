//! Symmetries of a board: permutations of the cells that map moves to moves, so that a position and
//! its image have the same value.
//!
//! The triangle has six, three rotations and three reflections; \[SWLK12\] section 3.2 removes the
//! redundancy they cause.

use super::BitPermutation;
use std::collections::BTreeSet;

/// A permutation of the cells of a board that maps moves to moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symmetry {
    permutation: BitPermutation,
}

/// Returns whether these are distinct and closed under composition.
pub(super) fn is_group(symmetries: &[Symmetry]) -> bool {
    let images: BTreeSet<&[u8]> = symmetries.iter().map(Symmetry::image).collect();
    let is_closed = |first: &&[u8]| {
        let after = |image: &&[u8]| first.iter().map(|cell| image[usize::from(*cell)]).collect::<Vec<u8>>();
        images.iter().all(|image| images.contains(&*after(image)))
    };
    images.len() == symmetries.len() && images.iter().all(is_closed)
}

impl Symmetry {
    /// Creates the symmetry that takes cell `i` to cell `image[i]`.
    pub(crate) fn new(image: Vec<u8>) -> Symmetry {
        Symmetry { permutation: BitPermutation::new(image) }
    }

    /// Returns the image of each cell: cell `i` goes to cell `image()[i]`.
    pub fn image(&self) -> &[u8] {
        self.permutation.image()
    }

    /// Returns the image of a position or a move. Bits outside the board must be clear.
    #[inline]
    pub fn apply(&self, mask: u64) -> u64 {
        self.permutation.apply(mask)
    }

    /// Returns the inverse symmetry.
    pub fn inverse(&self) -> Symmetry {
        Symmetry { permutation: self.permutation.inverse() }
    }

    /// Returns this symmetry after `first`: `a.compose(&b).apply(p) == a.apply(b.apply(p))`.
    pub fn compose(&self, first: &Symmetry) -> Symmetry {
        Symmetry::new(first.image().iter().map(|&cell| self.image()[usize::from(cell)]).collect())
    }

    /// Returns whether no cell moves.
    pub fn is_identity(&self) -> bool {
        self.image().iter().enumerate().all(|(cell, &image)| cell == usize::from(image))
    }
}
