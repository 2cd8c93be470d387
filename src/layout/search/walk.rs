//! All unions of orbits.
//!
//! The walk takes or leaves one orbit after the other and keeps the sums of weights up to date:
//! taking an orbit changes only the lines of its cells.

use super::score::Scores;
use crate::layout::burnside;
use std::collections::BTreeSet;
use trinim_game::{Board, Symmetry};

/// The orbits of cells under a group of symmetries, prepared for sums.
pub(super) struct Orbits<'a> {
    pub(super) orbits: Vec<Orbit>,
    scores: &'a Scores,
    /// For each symmetry, the weights of all patterns.
    weights: Vec<Vec<u32>>,
    /// The cost of a set on a board without known lines.
    moves: Option<Moves<'a>>,
}

/// The moves of a board and the cycles of a group of symmetries, for sets that are scored one by
/// one.
struct Moves<'a> {
    moves: &'a [u64],
    cycles: Vec<Vec<u64>>,
}

impl Moves<'_> {
    /// Returns the updates of a set that the group keeps: see [`burnside`].
    fn updates(&self, set: u64) -> u128 {
        let traces = burnside::traces(self.moves, set);
        let of_symmetry = |cycles: &Vec<u64>| {
            let inside: Vec<u64> = cycles.iter().copied().filter(|cycle| cycle & set != 0).collect();
            let free = |trace: u64| inside.iter().filter(|cycle| *cycle & trace == 0).count();
            traces.iter().map(|trace| 1u128 << free(*trace)).sum::<u128>()
        };
        self.cycles.iter().map(of_symmetry).sum::<u128>() / self.cycles.len() as u128
    }
}

/// Cells that are taken or left together.
pub(super) struct Orbit {
    pub(super) mask: u64,
    pub(super) cells: u32,
    /// The lines that the orbit meets, and its bits in their patterns.
    places: Vec<(usize, usize)>,
    /// For each symmetry of the group, the number of its cycles in the orbit.
    cycles: Vec<u32>,
}

/// A union of orbits with the sums that its score needs.
#[derive(Clone)]
pub(super) struct Union {
    pub(super) set: u64,
    patterns: Vec<usize>,
    /// For each symmetry of the group, cycles and weights.
    sums: Vec<(u32, u64)>,
}

impl<'a> Orbits<'a> {
    pub(super) fn new(board: &'a Board, scores: &'a Scores, group: &[&Symmetry]) -> Orbits<'a> {
        let moves = board.layers().is_none().then(|| Moves {
            moves: board.moves(),
            cycles: group.iter().map(|symmetry| burnside::cycles(symmetry, board.full())).collect(),
        });
        let orbit_of = |cell: u32| group.iter().fold(0, |orbit, symmetry| orbit | symmetry.apply(1 << cell));
        let masks: BTreeSet<u64> = (0..board.cells()).map(orbit_of).collect();
        let orbit = |mask: u64| {
            let mut places: Vec<(usize, usize)> = Vec::new();
            for cell in (0..board.cells() as usize).filter(|cell| mask >> cell & 1 == 1) {
                for &(line, bit) in &scores.places[cell] {
                    match places.iter_mut().find(|place| place.0 == line) {
                        Some(place) => place.1 |= bit,
                        None => places.push((line, bit)),
                    }
                }
            }
            let cycles = group.iter().map(|symmetry| burnside::cycles(symmetry, mask).len() as u32).collect();
            Orbit { mask, cells: mask.count_ones(), places, cycles }
        };
        Orbits {
            orbits: masks.into_iter().map(orbit).collect(),
            scores,
            weights: group.iter().map(|symmetry| scores.weights(symmetry)).collect(),
            moves,
        }
    }

    /// Returns the number of unions of `bits` cells.
    pub(super) fn unions(&self, bits: u32) -> u128 {
        let mut unions = vec![0u128; bits as usize + 1];
        unions[0] = 1;
        for orbit in &self.orbits {
            for cells in (orbit.cells as usize..unions.len()).rev() {
                unions[cells] += unions[cells - orbit.cells as usize];
            }
        }
        unions[bits as usize]
    }

    pub(super) fn empty(&self) -> Union {
        Union { set: 0, patterns: vec![0; self.scores.lines.len()], sums: vec![(0, 0); self.weights.len()] }
    }

    /// Takes an orbit that is not in the union, or removes one that is.
    pub(super) fn toggle(&self, union: &mut Union, orbit: &Orbit) {
        let taken = union.set & orbit.mask == 0;
        union.set ^= orbit.mask;
        for (sum, cycles) in union.sums.iter_mut().zip(&orbit.cycles) {
            sum.0 = if taken { sum.0 + cycles } else { sum.0 - cycles };
        }
        for &(line, bits) in &orbit.places {
            let (start, before) = (self.scores.starts[line], union.patterns[line]);
            union.patterns[line] ^= bits;
            for (sum, weights) in union.sums.iter_mut().zip(&self.weights) {
                let (old, new) = (weights[start + before], weights[start + union.patterns[line]]);
                sum.1 = sum.1 + u64::from(new) - u64::from(old);
            }
        }
    }

    pub(super) fn updates(&self, union: &Union) -> u128 {
        match &self.moves {
            Some(moves) => moves.updates(union.set),
            None => Scores::updates(union.set.count_ones(), union.sums.iter().copied()),
        }
    }
}

/// Offers every union of `bits` cells with its updates.
pub(super) fn all(orbits: &Orbits<'_>, bits: u32, offer: &mut impl FnMut(u64, u128)) {
    // The cells remaining from each orbit on, to cut a walk that cannot become large enough.
    let cells = |orbits: &[Orbit]| orbits.iter().map(|orbit| orbit.cells).sum::<u32>();
    let left: Vec<u32> = (0..=orbits.orbits.len()).map(|index| cells(&orbits.orbits[index..])).collect();
    from(orbits, &left, 0, bits, &mut orbits.empty(), offer);
}

fn from(
    orbits: &Orbits<'_>,
    left: &[u32],
    next: usize,
    bits: u32,
    union: &mut Union,
    offer: &mut impl FnMut(u64, u128),
) {
    if bits == 0 {
        return offer(union.set, orbits.updates(union));
    }
    for (index, orbit) in orbits.orbits.iter().enumerate().skip(next) {
        if left[index] < bits {
            return;
        }
        if orbit.cells <= bits {
            orbits.toggle(union, orbit);
            from(orbits, left, index + 1, bits - orbit.cells, union, offer);
            orbits.toggle(union, orbit);
        }
    }
}
