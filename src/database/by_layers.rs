//! Losses of the smaller boards inside a board.
//!
//! A position whose rows from row `j` on are empty is a position of the board of `j` layers, with
//! the same moves and value. So the census of a board contains that of every smaller one, and the
//! counts of two independent solves can be compared.
//!
//! # Invariants
//! 1. The images of the empty rows are a whole orbit under the symmetries of the board. So the sum
//!    over them is the same for all blocks of an isomorphic group, and one canonical block
//!    represents its group.

use super::Game;
use crate::layout::Bid;
use serde::{Deserialize, Serialize};

/// Losses of the board of some layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayerCount {
    /// Layers of the smaller board, from the apex.
    pub layers: u32,
    /// Its positions.
    pub positions: u64,
    /// Losses (P-positions) among them.
    pub losses: u64,
}

/// The smaller boards inside a board, one for each number of layers from 1, without the whole.
#[derive(Clone, Debug)]
pub struct SmallerBoards {
    /// By layers: the empty cells, as each symmetry maps them, in BID and offset bits.
    empty: Vec<Vec<(Bid, u64)>>,
}

impl SmallerBoards {
    /// Finds the smaller boards of a game.
    pub fn new(game: &Game) -> SmallerBoards {
        let (board, layout) = (&game.board, &game.layout);
        let images = |layers: u32| {
            let below = board.full() & !((1 << (layers * (layers + 1) / 2)) - 1);
            let mut images: Vec<u64> = board.symmetries().iter().map(|symmetry| symmetry.apply(below)).collect();
            images.sort_unstable();
            images.dedup();
            let is_orbit = board.symmetries().len().is_multiple_of(images.len());
            assert!(is_orbit, "losses by layers, invariant 1: the images are a whole orbit");
            images.into_iter().map(|cells| layout.split(cells)).collect()
        };
        SmallerBoards { empty: (1..board.layers().unwrap_or(1)).map(images).collect() }
    }

    /// Returns the number of smaller boards.
    pub fn count(&self) -> usize {
        self.empty.len()
    }

    /// Returns the losses of a block on each smaller board, added up over its images.
    pub fn losses(&self, bid: Bid, stream: &[u64]) -> Vec<u64> {
        debug_assert!(stream.len().is_power_of_two(), "a bitmap has a bit for each offset");
        let images = |images: &Vec<(Bid, u64)>| {
            let inside = images.iter().filter(|(empty, _)| bid.0 & empty.0 == 0);
            inside.map(|(_, empty)| losses_without(*empty, stream)).sum()
        };
        self.empty.iter().map(images).collect()
    }

    /// Returns the rows of the boards from the losses on each, every block counted once per block
    /// that it represents; the last row is the whole board.
    pub fn rows(&self, sums: &[u64], whole: u64) -> Vec<LayerCount> {
        assert_eq!(sums.len(), self.count(), "losses by layers, invariant 1: a sum for each smaller board");
        let inner = sums.iter().zip(&self.empty).map(|(sum, images)| sum / images.len() as u64);
        let row =
            |(layers, losses): (u32, u64)| LayerCount { layers, positions: 1 << (layers * (layers + 1) / 2), losses };
        (1..).zip(inner.chain([whole])).map(row).collect()
    }
}

/// Counts the bits of a bitmap whose numbers have no bit of `empty`.
fn losses_without(empty: u64, stream: &[u64]) -> u64 {
    let low = (0..64).filter(|bit: &u64| bit & empty == 0).fold(0, |mask, bit| mask | 1 << bit);
    let free = (stream.len() - 1) & !(empty >> 6) as usize;
    let mut word = 0_usize;
    let mut losses = 0;
    loop {
        losses += u64::from((stream[word] & low).count_ones());
        word = word.wrapping_sub(free) & free;
        if word == 0 {
            return losses;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trinim_game::random::Random;

    #[test]
    fn bits_without_a_mask_are_counted() {
        let mut random = Random::new(5);
        for words in [1, 2, 8, 64] {
            let stream: Vec<u64> = (0..words).map(|_| random.bits() & random.bits()).collect();
            for _ in 0..20 {
                let empty = random.bits() & random.bits() & (words * 64 - 1);
                let is_loss = |x: &u64| stream[(x / 64) as usize] >> (x % 64) & 1 == 1;
                let slow = (0..words * 64).filter(|x| x & empty == 0 && is_loss(x)).count();
                assert_eq!(losses_without(empty, &stream), slow as u64);
            }
        }
    }
}
