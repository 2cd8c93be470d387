//! The positions after a first move. Their values are always kept.
//!
//! # Invariants
//! 1. The part of a block depends only on the game: its positions in ascending order of the offset,
//!    each once, one bit for each in words from the lowest bit up, 1 for a loss.

use super::Game;
use pipeline::BlockId;
use std::collections::{BTreeMap, BTreeSet};

/// Where the positions after each first move are.
#[derive(Clone, Debug)]
pub struct FirstMoves {
    /// By canonical block: the offsets of the positions after a first move.
    offsets: BTreeMap<BlockId, BTreeSet<u64>>,
    /// The first moves, ascending, with the block and the offset of the position after each.
    moves: Vec<(u64, BlockId, u64)>,
}

impl FirstMoves {
    /// Locates the positions after all moves of the full board.
    pub fn new(game: &Game) -> FirstMoves {
        let locate = |taken: &u64| {
            let (block, offset) = game.layout.locate(game.board.full() ^ taken);
            (*taken, block, offset)
        };
        let moves: Vec<_> = game.board.moves().iter().map(locate).collect();
        let mut offsets: BTreeMap<BlockId, BTreeSet<u64>> = BTreeMap::new();
        for (_, block, offset) in &moves {
            offsets.entry(*block).or_default().insert(*offset);
        }
        FirstMoves { offsets, moves }
    }

    /// Returns the values of a block's positions after a first move; most blocks have none.
    pub fn values(&self, block: BlockId, stream: &[u64]) -> Vec<u64> {
        let offsets = self.offsets.get(&block).into_iter().flatten();
        let mut values = vec![0; self.words(block)];
        for (place, offset) in offsets.enumerate() {
            values[place / 64] |= (stream[(offset / 64) as usize] >> (offset % 64) & 1) << (place % 64);
        }
        values
    }

    /// Returns the words of a block's values.
    pub fn words(&self, block: BlockId) -> usize {
        self.offsets.get(&block).map_or(0, |offsets| offsets.len().div_ceil(64))
    }

    /// Returns the winning first moves, ascending, from the values of all blocks that have some.
    /// `None` if one is missing.
    pub fn winning(&self, values: &BTreeMap<BlockId, Vec<u64>>) -> Option<Vec<u64>> {
        let is_loss = |block: &BlockId, offset: &u64| {
            let place = self.offsets.get(block)?.range(..offset).count();
            let word = values.get(block)?.get(place / 64)?;
            Some(word >> (place % 64) & 1 == 1)
        };
        let mut winning = Vec::new();
        for (taken, block, offset) in &self.moves {
            if is_loss(block, offset)? {
                winning.push(*taken);
            }
        }
        Some(winning)
    }
}
