//! The positions that a book lists.

use crate::database::book::order::orbit_size;
use crate::database::{Book, DatabaseError};
use std::ops::RangeInclusive;

/// Returns the canonical losses of a frame, with the sizes of their classes.
pub(super) fn canonical_losses(
    book: &Book,
    frame: usize,
    pieces: &RangeInclusive<u32>,
) -> Result<Vec<(u64, u32)>, DatabaseError> {
    let positions = book.canonical_losses_of(frame)?.into_iter();
    let listed = positions.filter(|position| pieces.contains(&position.count_ones()));
    Ok(listed.map(|position| (position, orbit_size(book.board(), position) as u32)).collect())
}

/// Returns the losses of a frame, all images of each.
pub(super) fn losses(book: &Book, frame: usize, pieces: &RangeInclusive<u32>) -> Result<Vec<u64>, DatabaseError> {
    let (mut losses, mut images) = (Vec::new(), Vec::new());
    for (position, _) in canonical_losses(book, frame, pieces)? {
        images.clear();
        images.extend(book.board().symmetries().iter().map(|symmetry| symmetry.apply(position)));
        images.sort_unstable();
        images.dedup();
        losses.extend_from_slice(&images);
    }
    Ok(losses)
}
