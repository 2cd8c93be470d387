//! # Symmetries of a board
//!
//! A symmetry is a permutation of the cells that maps moves to moves, so that a position and its image have the same
//! value. The triangle has six: three rotations and three reflections (\[SWLK12\] section 3.2 removes the redundancy
//! they cause).

use super::BitPermutation;

/// A permutation of the cells of a board under which the moves stay the moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symmetry {
    permutation: BitPermutation,
}

impl Symmetry {
    /// The symmetry that takes cell `i` to cell `image[i]`.
    pub(crate) fn new(image: Vec<u8>) -> Symmetry {
        Symmetry { permutation: BitPermutation::new(image) }
    }

    /// Where each cell goes: cell `i` to cell `image()[i]`, as cell indices.
    pub fn image(&self) -> &[u8] {
        self.permutation.image()
    }

    /// The image of a set of cells: of a position, or of a move. Bits outside the board must be clear.
    pub fn apply(&self, mask: u64) -> u64 {
        self.permutation.apply(mask)
    }

    /// The symmetry that takes every cell back.
    pub fn inverse(&self) -> Symmetry {
        Symmetry { permutation: self.permutation.inverse() }
    }

    /// This symmetry after `first`: `a.compose(&b).apply(p) == a.apply(b.apply(p))`.
    pub fn compose(&self, first: &Symmetry) -> Symmetry {
        Symmetry::new(first.image().iter().map(|&cell| self.image()[usize::from(cell)]).collect())
    }

    /// Whether no cell moves.
    pub fn is_identity(&self) -> bool {
        self.image().iter().enumerate().all(|(cell, &image)| cell == usize::from(image))
    }
}
