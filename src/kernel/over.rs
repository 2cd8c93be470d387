//! Indices without a move: those that contain none of the given masks.
//!
//! On most boards every piece can be taken alone, and the game ends when none is left. Where a move
//! takes two pieces or more, a position with pieces can also be final. In normal play it is a loss,
//! and settling finds it. In misère play it is a win without a losing child, so it must be marked
//! before the block is settled.
//!
//! A position has a move if its pieces contain one, so the positions with a move are the supersets
//! of the moves. They are found chunk by chunk: the high index bits, fixed in a chunk, decide which
//! moves are possible; the low bits of these moves are marked and spread to all supersets, one
//! index bit after the other.

use super::vector::BELOW;

/// Index bits of a chunk: 4 KiB of bitmap.
const CHUNK_BITS: u32 = 15;

const WORD_BITS: u32 = 6;

/// Marks the indices that contain none of these moves, masks over the index bits. If a bitmap has
/// fewer bits than a word, its meaningless indices are marked too.
pub fn mark_without_moves(moves: &[u64], bitmap: &mut [u64]) {
    if moves.contains(&0) {
        return;
    }
    let words = 1 << (CHUNK_BITS - WORD_BITS);
    let mut movable = vec![0_u64; words.min(bitmap.len())];
    for (number, chunk) in (0_u64..).zip(bitmap.chunks_mut(words)) {
        let high = number << CHUNK_BITS;
        movable.fill(0);
        for cells in moves.iter().filter(|cells| (high & *cells) == *cells >> CHUNK_BITS << CHUNK_BITS) {
            let low = cells & ((1 << CHUNK_BITS) - 1);
            // A chunk shorter than the usual one has fewer index bits, and so have the moves.
            movable[(low >> WORD_BITS) as usize] |= 1 << (low % 64);
        }
        spread(&mut movable);
        chunk.iter_mut().zip(&movable).for_each(|(word, movable)| *word |= !movable);
    }
}

/// Marks all supersets of the marked indices.
fn spread(words: &mut [u64]) {
    for word in words.iter_mut() {
        for (bit, clear) in BELOW.iter().enumerate() {
            *word |= (*word & clear) << (1 << bit);
        }
    }
    let mut distance = 1;
    while distance < words.len() {
        for pair in words.chunks_mut(2 * distance) {
            let (without, with) = pair.split_at_mut(distance);
            with.iter_mut().zip(without).for_each(|(with, without)| *with |= *without);
        }
        distance *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn positions_without_a_move_are_marked(
            bits in 6u32..=18,
            masks in proptest::collection::vec(any::<(u64, u64)>(), 0..12),
        ) {
            let moves: Vec<u64> = masks.iter().map(|(one, other)| one & other & ((1 << bits) - 1)).collect();
            let mut bitmap = vec![0; 1 << (bits - WORD_BITS)];
            mark_without_moves(&moves, &mut bitmap);
            for index in 0..1_u64 << bits {
                let is_over = !moves.iter().any(|cells| index & cells == *cells);
                let is_marked = bitmap[(index / 64) as usize] >> (index % 64) & 1 == 1;
                prop_assert_eq!(is_marked, is_over, "{:#x} of {:?}", index, moves);
            }
        }
    }
}
