//! Block counts under symmetry, without enumeration.
//!
//! Both counts cover `2^b` blocks in as many steps as there are symmetries, cells and traces.
//!
//! **Groups** (Burnside's lemma). A block that a symmetry fixes is a union of its cycles in the BID
//! cells, so a symmetry with `c` cycles fixes `2^c` blocks. The mean over the symmetries is the
//! number of isomorphic groups.
//!
//! **Updates** (ours). The number of canonical updates is the number of pairs of a canonical target
//! block and a trace in it:
//!
//! ```text
//! updates = 1/|G| * sum over symmetries g, over traces D,
//!           of the number of blocks J with g(J) = J and D inside J
//! ```
//!
//! A canonical block represents `|G| / |stabiliser|` blocks, each with as many traces. Counting
//! every block once for each symmetry that fixes it therefore counts every group `|G|` times. A
//! block that `g` fixes and that contains `D` contains the cycles that `D` meets; the other cycles
//! are free, so there are `2^(cycles - cycles met)` of them.

use trinim_game::{Board, Symmetry};

/// The symmetries that keep a set of cells, as the cycles of each in it.
pub(super) struct Action(Vec<Vec<u64>>);

impl Action {
    /// Returns all symmetries of the board that keep `set`.
    pub(super) fn on(board: &Board, set: u64) -> Action {
        let kept = board.symmetries().iter().filter(|symmetry| symmetry.apply(set) == set);
        Action(kept.map(|symmetry| cycles(symmetry, set)).collect())
    }

    /// Returns the number of isomorphic groups of blocks.
    pub(super) fn blocks(&self) -> u128 {
        self.0.iter().map(|cycles| 1u128 << cycles.len()).sum::<u128>() / self.0.len() as u128
    }

    /// Returns the number of updates of canonical targets, for these distinct traces in the set.
    pub(super) fn updates(&self, traces: &[u64]) -> u128 {
        let of_symmetry = |cycles: &Vec<u64>| {
            let free = |trace| cycles.iter().filter(|&cycle| cycle & trace == 0).count();
            traces.iter().map(|&trace| 1u128 << free(trace)).sum::<u128>()
        };
        self.0.iter().map(of_symmetry).sum::<u128>() / self.0.len() as u128
    }
}

/// Returns the distinct traces of the moves in a set of cells.
pub(super) fn traces(moves: &[u64], set: u64) -> Vec<u64> {
    let mut traces: Vec<u64> = moves.iter().map(|cells| cells & set).filter(|&trace| trace != 0).collect();
    traces.sort_unstable();
    traces.dedup();
    traces
}

/// Returns the cycles of a symmetry in a set that it keeps, as masks of cells.
pub(super) fn cycles(symmetry: &Symmetry, set: u64) -> Vec<u64> {
    let mut cycles = Vec::new();
    let mut left = set;
    while left != 0 {
        let mut cell = left.trailing_zeros();
        let mut cycle = 0;
        while cycle >> cell & 1 == 0 {
            cycle |= 1 << cell;
            cell = u32::from(symmetry.image()[cell as usize]);
        }
        left &= !cycle;
        cycles.push(cycle);
    }
    cycles
}
