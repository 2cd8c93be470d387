//! Block counts under symmetry, without enumeration.
//!
//! Two classic counting arguments answer for `2^b` blocks in as many steps as there are symmetries,
//! cells and traces.
//!
//! **Groups** (Burnside's lemma, and the same for each subgroup). A block that a symmetry fixes is
//! a union of its cycles in the BID cells, so a symmetry with `c` cycles fixes `2^c` blocks, and
//! the whole group fixes `2^o` if the cells fall into `o` orbits. Blocks fixed by a subgroup but by
//! no larger one make isomorphic groups of the subgroup's index.
//!
//! **Updates** (ours). The pairs of a target block and a trace in it fall into orbits under the
//! symmetries, and the number of canonical updates is the number of pairs with a canonical target.
//! The sum over the targets of one group, weighted by their stabiliser, gives
//!
//! ```text
//! updates = 1/|G| * sum over symmetries g, over traces D,
//!           of the number of blocks J with g(J) = J and D inside J
//! ```
//!
//! because a canonical block represents `|G| / |stabiliser|` blocks with equally many traces each,
//! so that counting each block once for each symmetry that fixes it counts every group `|G|` times.
//! A block that `g` fixes is a union of cycles of `g`; if it contains `D`, it contains the cycles
//! that `D` meets, and the others are free: `2^(cycles - cycles met)` blocks.

use trinim_game::{Board, Symmetry};

/// The symmetries that keep a set of cells, as their cycles in it.
pub(super) struct Action {
    cells: u32,
    symmetries: Vec<Cycles>,
}

/// A symmetry as its cycles in a set that it keeps.
struct Cycles {
    kind: Kind,
    masks: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Identity,
    Rotation,
    Reflection,
}

impl Action {
    /// Returns all symmetries of the board that keep `set`.
    pub(super) fn on(board: &Board, set: u64) -> Action {
        Action::new(board.symmetries().iter().filter(|symmetry| symmetry.apply(set) == set), set)
    }

    /// Returns the action of these symmetries, a group that keeps `set`.
    pub(super) fn new<'a>(symmetries: impl Iterator<Item = &'a Symmetry>, set: u64) -> Action {
        let symmetries = symmetries.map(|symmetry| Cycles { kind: kind(symmetry), masks: cycles(symmetry, set) });
        Action { cells: set.count_ones(), symmetries: symmetries.collect() }
    }

    pub(super) fn order(&self) -> usize {
        self.symmetries.len()
    }

    /// Returns the numbers of isomorphic groups of 1, 2, 3 and 6 blocks, for symmetries of a
    /// triangle.
    pub(super) fn groups(&self) -> [u128; 4] {
        let all = 1u128 << self.cells;
        let fixed = |kind| {
            let of_kind = self.symmetries.iter().filter(move |symmetry| symmetry.kind == kind);
            of_kind.map(|symmetry| 1u128 << symmetry.masks.len())
        };
        let turned = fixed(Kind::Rotation).next();
        let mirrored: u128 = fixed(Kind::Reflection).sum();
        match (turned, fixed(Kind::Reflection).count()) {
            (None, 0) => [all, 0, 0, 0],
            (None, _) => [mirrored, (all - mirrored) / 2, 0, 0],
            (Some(turned), 0) => [turned, 0, (all - turned) / 3, 0],
            (Some(turned), reflections) => {
                let by_all = 1u128 << self.orbits();
                let (turned, mirrored) = (turned - by_all, mirrored - reflections as u128 * by_all);
                [by_all, turned / 2, mirrored / 3, (all - by_all - turned - mirrored) / 6]
            }
        }
    }

    /// Returns the number of isomorphic groups of blocks, of any size, for any symmetries.
    pub(super) fn blocks(&self) -> u128 {
        let fixed = self.symmetries.iter().map(|symmetry| 1u128 << symmetry.masks.len());
        fixed.sum::<u128>() / self.order() as u128
    }

    /// Returns the number of orbits of cells under all symmetries together.
    fn orbits(&self) -> usize {
        let mut orbits: Vec<u64> = Vec::new();
        for &cycle in self.symmetries.iter().flat_map(|symmetry| &symmetry.masks) {
            let (met, apart): (Vec<u64>, Vec<u64>) = orbits.iter().partition(|&orbit| orbit & cycle != 0);
            orbits = apart;
            orbits.push(met.into_iter().fold(cycle, |all, orbit| all | orbit));
        }
        orbits.len()
    }

    /// Returns the number of updates of canonical targets, for these distinct traces in the set.
    pub(super) fn updates(&self, traces: &[u64]) -> u128 {
        let of_symmetry = |symmetry: &Cycles| {
            let free = |trace| symmetry.masks.iter().filter(|&cycle| cycle & trace == 0).count();
            traces.iter().map(|&trace| 1u128 << free(trace)).sum::<u128>()
        };
        self.symmetries.iter().map(of_symmetry).sum::<u128>() / self.order() as u128
    }
}

/// Returns the number of updates over all blocks.
pub(super) fn all_updates(cells: u32, traces: &[u64]) -> u128 {
    traces.iter().map(|trace| 1u128 << (cells - trace.count_ones())).sum()
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

/// Returns the kind of a symmetry. A triangle has no others: turns by a third are not their own
/// inverse, reflections are.
fn kind(symmetry: &Symmetry) -> Kind {
    match symmetry {
        symmetry if symmetry.is_identity() => Kind::Identity,
        symmetry if symmetry.compose(symmetry).is_identity() => Kind::Reflection,
        _ => Kind::Rotation,
    }
}
