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

/// Moves that are made in one pass over a chunk: their shifts stay in registers.
const TOGETHER: usize = 3;

/// The shift of a move in a word, and the child bits with a parent: those with none of the taken
/// pieces.
type Shift = (u32, u64);

/// Moves that differ only in the lowest six index bits.
struct Family {
    /// The part above a line.
    line: usize,
    /// The part inside a line, as a mask of the word number.
    word: usize,
    shifts: Vec<Shift>,
}

/// Moves grouped by the words of the child they read.
pub(crate) struct Moves(Vec<Family>);

impl Moves {
    /// Groups the moves with these offset masks.
    pub(crate) fn new(masks: &[u64]) -> Moves {
        let mut families: Vec<Family> = Vec::new();
        for mask in masks {
            let (line, word, low) = ((mask >> 9) as usize, (mask >> 6 & 7) as usize, mask & 63);
            let parents = (0..64).filter(|bit| bit & low == 0).fold(0, |parents, bit| parents | 1 << bit);
            let shift = (low as u32, parents);
            match families.iter_mut().find(|family| (family.line, family.word) == (line, word)) {
                Some(family) => family.shifts.push(shift),
                None => families.push(Family { line, word, shifts: vec![shift] }),
            }
        }
        // Families that read the same chunk of the child follow each other.
        families.sort_by_key(|family| family.line & !(CHUNK_LINES - 1));
        Moves(families)
    }

    /// Adds to `losing` every position from which one of the moves leads to a loss; `child` holds
    /// the losses of the block reached.
    pub(crate) fn mark(&self, child: &[[u64; LINE]], losing: &mut [[u64; LINE]]) {
        run_wide(Marking { moves: self, child, losing });
    }
}

/// One call of [`Moves::mark`].
struct Marking<'a> {
    moves: &'a Moves,
    child: &'a [[u64; LINE]],
    losing: &'a mut [[u64; LINE]],
}

impl Work for Marking<'_> {
    #[inline(always)]
    fn run(self) {
        for (number, chunk) in self.losing.chunks_mut(CHUNK_LINES).enumerate() {
            let first = number * CHUNK_LINES;
            for family in &self.moves.0 {
                let far = family.line & !(CHUNK_LINES - 1);
                if first & far == far {
                    family.mark_chunk(&self.child[first ^ far..][..chunk.len()], chunk);
                }
            }
        }
    }
}

impl Family {
    #[inline(always)]
    fn mark_chunk(&self, child: &[[u64; LINE]], chunk: &mut [[u64; LINE]]) {
        for shifts in self.shifts.chunks(TOGETHER) {
            match *shifts {
                [one] => self.mark_by_word([one], child, chunk),
                [one, two] => self.mark_by_word([one, two], child, chunk),
                [one, two, three] => self.mark_by_word([one, two, three], child, chunk),
                _ => unreachable!("a piece of at most {TOGETHER}"),
            }
        }
    }

    #[inline(always)]
    fn mark_by_word<const N: usize>(&self, by: [Shift; N], child: &[[u64; LINE]], chunk: &mut [[u64; LINE]]) {
        match self.word {
            0 => self.mark_lines::<0, N>(by, child, chunk),
            1 => self.mark_lines::<1, N>(by, child, chunk),
            2 => self.mark_lines::<2, N>(by, child, chunk),
            3 => self.mark_lines::<3, N>(by, child, chunk),
            4 => self.mark_lines::<4, N>(by, child, chunk),
            5 => self.mark_lines::<5, N>(by, child, chunk),
            6 => self.mark_lines::<6, N>(by, child, chunk),
            _ => self.mark_lines::<7, N>(by, child, chunk),
        }
    }

    #[inline(always)]
    fn mark_lines<const WORD: usize, const N: usize>(
        &self,
        shifts: [Shift; N],
        child: &[[u64; LINE]],
        chunk: &mut [[u64; LINE]],
    ) {
        let near = self.line & (CHUNK_LINES - 1);
        if near == 0 {
            return mark_run::<WORD, N>(shifts, child, chunk);
        }
        // The lines with these bits set come in runs as long as the lowest of the bits.
        let run = 1 << near.trailing_zeros();
        let mut line = near;
        while line < chunk.len() {
            mark_run::<WORD, N>(shifts, &child[line ^ near..][..run], &mut chunk[line..][..run]);
            line = (line + run) | near;
        }
    }
}

#[inline(always)]
fn mark_run<const WORD: usize, const N: usize>(shifts: [Shift; N], child: &[[u64; LINE]], run: &mut [[u64; LINE]]) {
    // Plain loops over whole lines: the compiler does not inline closures into functions of more
    // instructions, and where words are left out, it makes no vectors.
    for (losses, losing) in child.iter().zip(run) {
        let mut moved = [0; LINE];
        for word in 0..LINE {
            if word & WORD == WORD {
                moved[word] = losses[word ^ WORD];
            }
        }
        let mut found = *losing;
        for (shift, parents) in shifts {
            for word in 0..LINE {
                found[word] |= (moved[word] & parents) << (shift & 63);
            }
        }
        *losing = found;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn marks_are_the_definition(
            bits in 9u32..=18,
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
            Work::run(Marking { moves: &moves, child: &child, losing: &mut plain });
            prop_assert_eq!(plain, expected);
        }
    }
}
