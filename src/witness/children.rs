//! Forward checking: finds the positions of a block that have a loss among the children reached by
//! given moves.
//!
//! A position `x` has the move `m` iff `x & m == m`, and then the child `x ^ m`. The code works on
//! whole words: the bits of `m` above a line select a line of the child, the next three bits a word
//! in it, and the lowest six bits become a shift of that word. The target is processed in chunks
//! that stay in the first-level cache while all moves read their lines of the child.

use super::orient::LINE;
use trinim_kernel::{Work, run_wide};

/// Lines of a chunk of the target: 16 KiB.
const CHUNK_LINES: usize = 256;

/// Moves with these offset masks, divided into the parts that address a child.
pub(crate) struct Moves(Vec<Move>);

struct Move {
    /// The part above a line.
    line: usize,
    /// The part inside a line, as a mask of the word number.
    word: usize,
    /// The part inside a word, which is the shift of the word.
    shift: u32,
    /// The bits of a child's word that have a parent: those with none of the taken pieces.
    parents: u64,
}

impl Moves {
    pub(crate) fn new(masks: &[u64]) -> Moves {
        let divide = |mask: &u64| {
            let low = mask & 63;
            let parents = (0..64).filter(|bit| bit & low == 0).fold(0, |parents, bit| parents | 1 << bit);
            Move { line: (mask >> 9) as usize, word: (mask >> 6 & 7) as usize, shift: low as u32, parents }
        };
        let mut moves: Vec<Move> = masks.iter().map(divide).collect();
        // Moves that read the same chunk of the child follow each other.
        moves.sort_by_key(|made| made.line & !(CHUNK_LINES - 1));
        Moves(moves)
    }

    /// Adds to `losing` every position from which one of the moves leads to a loss; `child` holds
    /// the losses of the block reached.
    pub(crate) fn mark(&self, child: &[[u64; LINE]], losing: &mut [[u64; LINE]]) {
        let taken = self.0.iter().fold(0, |taken, made| taken | made.line);
        let mut chunks: Vec<usize> = (0..losing.len()).step_by(CHUNK_LINES).collect();
        // Chunks that differ in what the moves take read the same chunks of the child: they follow
        // each other, so that those are in the second-level cache.
        chunks.sort_by_key(|first| first & !taken);
        run_wide(Marking { moves: self, chunks: &chunks, child, losing });
    }
}

/// One call of [`Moves::mark`].
struct Marking<'a> {
    moves: &'a Moves,
    /// The first line of each chunk of the target.
    chunks: &'a [usize],
    child: &'a [[u64; LINE]],
    losing: &'a mut [[u64; LINE]],
}

impl Work for Marking<'_> {
    #[inline(always)]
    fn run(self) {
        for &first in self.chunks {
            let lines = CHUNK_LINES.min(self.losing.len());
            let chunk = &mut self.losing[first..][..lines];
            for made in &self.moves.0 {
                let far = made.line & !(CHUNK_LINES - 1);
                if first & far == far {
                    made.mark_chunk(&self.child[first ^ far..][..chunk.len()], chunk);
                }
            }
        }
    }
}

impl Move {
    #[inline(always)]
    fn mark_chunk(&self, child: &[[u64; LINE]], chunk: &mut [[u64; LINE]]) {
        match self.word {
            0 => self.mark_lines::<0>(child, chunk),
            1 => self.mark_lines::<1>(child, chunk),
            2 => self.mark_lines::<2>(child, chunk),
            3 => self.mark_lines::<3>(child, chunk),
            4 => self.mark_lines::<4>(child, chunk),
            5 => self.mark_lines::<5>(child, chunk),
            6 => self.mark_lines::<6>(child, chunk),
            _ => self.mark_lines::<7>(child, chunk),
        }
    }

    #[inline(always)]
    fn mark_lines<const WORD: usize>(&self, child: &[[u64; LINE]], chunk: &mut [[u64; LINE]]) {
        let near = self.line & (CHUNK_LINES - 1);
        if near == 0 {
            return self.mark_run::<WORD>(child, chunk);
        }
        // The lines with these bits set come in runs as long as the lowest of the bits.
        let run = 1 << near.trailing_zeros();
        let mut line = near;
        while line < chunk.len() {
            self.mark_run::<WORD>(&child[line ^ near..][..run], &mut chunk[line..][..run]);
            line = (line + run) | near;
        }
    }

    #[inline(always)]
    fn mark_run<const WORD: usize>(&self, child: &[[u64; LINE]], run: &mut [[u64; LINE]]) {
        // By index and over whole lines: the compiler inlines neither closures nor iterators into
        // functions of more instructions, and where words are left out, it makes no vectors.
        for line in 0..run.len() {
            let (losses, mut moved) = (&child[line], [0; LINE]);
            for word in 0..LINE {
                if word & WORD == WORD {
                    moved[word] = losses[word ^ WORD];
                }
            }
            for word in 0..LINE {
                run[line][word] |= (moved[word] & self.parents) << (self.shift & 63);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn marks_are_the_definition(
            bits in 9u32..=20,
            picks in proptest::collection::vec(any::<u64>(), 1..100),
            masks in proptest::collection::vec((any::<u64>(), any::<u64>()), 1..20),
        ) {
            let all = (1 << bits) - 1;
            let masks: Vec<u64> = masks.into_iter().map(|(one, other)| one & other & all).collect();
            let mut child = vec![[0; LINE]; 1 << (bits - 9)];
            let mut expected = child.clone();
            for pick in picks {
                let pick = pick & all;
                child.as_flattened_mut()[pick as usize >> 6] |= 1 << (pick & 63);
                for parent in masks.iter().filter(|mask| *mask & pick == 0).map(|mask| pick | mask) {
                    expected.as_flattened_mut()[parent as usize >> 6] |= 1 << (parent & 63);
                }
            }
            let moves = Moves::new(&masks);
            let (mut wide, mut plain) = (vec![[0; LINE]; 1 << (bits - 9)], vec![[0; LINE]; 1 << (bits - 9)]);
            moves.mark(&child, &mut wide);
            prop_assert_eq!(&wide, &expected);
            let chunks: Vec<usize> = (0..plain.len()).step_by(CHUNK_LINES).collect();
            Work::run(Marking { moves: &moves, chunks: &chunks, child: &child, losing: &mut plain });
            prop_assert_eq!(plain, expected);
        }
    }
}
