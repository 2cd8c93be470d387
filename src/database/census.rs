//! The census of a solved board: losses by number of pieces, and totals.
//!
//! # Invariants
//! 1. The positions of all rows add up to `2^cells`; row `p` is a binomial coefficient.
//! 2. A canonical block represents the `orbit_size` blocks of its isomorphic group, which have the
//!    same counts (\[SWLK12\] section 3.2); together they are all blocks.

use crate::layout::Layout;
use serde::{Deserialize, Serialize};
use trinim_game::Value;

/// Positions and losses with a given number of pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PieceCount {
    /// Number of pieces on the board.
    pub pieces: u32,
    /// Positions with that many pieces.
    pub positions: u64,
    /// Losses (P-positions) among them.
    pub losses: u64,
}

/// The losses of a whole board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Census {
    /// One row for each number of pieces, from 0 to the number of cells.
    pub by_pieces: Vec<PieceCount>,
}

impl Census {
    /// Returns the census of a board with a layout before any loss is counted.
    pub fn new(layout: &Layout) -> Census {
        let cells = layout.bid_bits() + layout.offset_bits();
        let row = |pieces| PieceCount { pieces, positions: binomial(cells, pieces), losses: 0 };
        let by_pieces: Vec<PieceCount> = (0..=cells).map(row).collect();
        let all: u128 = by_pieces.iter().map(|row| u128::from(row.positions)).sum();
        assert_eq!(all, 1 << cells, "census, invariant 1: the rows add up to all positions");
        Census { by_pieces }
    }

    /// Adds the losses of a block with `in_bid` pieces on BID cells, by number of pieces on offset
    /// cells, once for each of the `weight` blocks that it represents.
    pub(super) fn add(&mut self, in_bid: u32, weight: u64, losses_by_pieces: &[u64]) {
        let rows = self.by_pieces.iter_mut().skip(in_bid as usize);
        assert!(losses_by_pieces.len() <= rows.len(), "census, invariant 1: a row for each number of pieces");
        rows.zip(losses_by_pieces).for_each(|(row, losses)| row.losses += weight * losses);
    }

    /// Returns the number of positions: `2^cells`.
    pub fn positions(&self) -> u64 {
        self.by_pieces.iter().map(|row| row.positions).sum()
    }

    /// Returns the number of losses (P-positions).
    pub fn losses(&self) -> u64 {
        self.by_pieces.iter().map(|row| row.losses).sum()
    }

    /// Returns the number of wins (N-positions).
    pub fn wins(&self) -> u64 {
        self.positions() - self.losses()
    }

    /// Returns the losses as a share of all positions, 0 to 1.
    pub fn loss_rate(&self) -> f64 {
        self.losses() as f64 / self.positions() as f64
    }

    /// Returns the value of the full board for the player to move.
    pub fn start(&self) -> Value {
        match self.by_pieces.last() {
            Some(row) if row.losses > 0 => Value::Loss,
            _ => Value::Win,
        }
    }
}

fn binomial(n: u32, k: u32) -> u64 {
    (0..u64::from(k.min(n - k))).fold(1, |product, i| product * (u64::from(n) - i) / (i + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomials_add_up_to_a_power_of_two() {
        for n in [0u32, 1, 28, 36, 45, 55] {
            assert_eq!((0..=n).map(|k| binomial(n, k)).sum::<u64>(), 1 << n);
        }
        assert_eq!(binomial(36, 18), 9_075_135_300);
    }
}
