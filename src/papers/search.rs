//! Search for good BID sets.
//!
//! The best set of a given size is the one with the fewest updates after redundancy removal, as in
//! \[SWLK12\] section 4. The search is organised by the symmetries that sets keep; [`unions`]
//! explains this.
//!
//! [`SymmetryClass::Any`] examines the unions for all symmetries, for a mirror and for the
//! rotations. The remaining sets keep no symmetry. Nothing divides their updates: there are at
//! least `2^b * b / 2`, and more because cells share lines. That bound nearly always exceeds the
//! best sets with a mirror, and then these sets need not be examined. Otherwise all are, or a local
//! search takes a sample. For boards that are not triangles, the unions for all symmetries and
//! those for none are examined; a set among the latter that keeps some symmetries is scored again
//! with them.
//!
//! # Invariants
//! 1. [`Found::exhaustive`] says that no requested set has fewer updates than those found: each was
//!    examined, or excluded by the bound.
//! 2. The same request gives the same answer on every machine.
//! 3. Of sets that are images of each other only one is returned.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use trinim::layout::BID_BITS_MAX;
use trinim::layout::search::{Limit, Rank, canonical_blocks, canonical_updates, rank, unions};
use trinim_game::{Board, Cell, Symmetry, position};

/// The symmetries that the sets must keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum SymmetryClass {
    /// All symmetries of the board
    #[serde(rename = "d3")]
    #[value(name = "d3")]
    All,
    /// At least one mirror
    Mirror,
    /// Any or none
    Any,
}

/// The parameters of a search.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The number of BID cells, at most [`BID_BITS_MAX`] and at most the board's cells.
    pub bits: u32,
    /// The symmetries kept.
    pub kept: SymmetryClass,
    /// The number of best sets to return.
    pub top: usize,
    /// The most sets of one kind to examine, and the seed of the sample if there are more.
    pub limit: Limit,
}

/// A BID set and its score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScoredLayout {
    /// The cells, by index.
    #[serde(rename = "bid_cells")]
    pub cells: Vec<u32>,
    /// Updates with redundancy removed.
    pub canonical_updates: u128,
    /// Blocks that are evaluated.
    pub canonical_blocks: u128,
    /// The number of symmetries that the set keeps.
    pub symmetries: usize,
}

/// The answer to a [`Request`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Found {
    /// Whether all sets of the kind were examined.
    pub exhaustive: bool,
    /// Sets examined; a sample can examine a set several times.
    #[serde(rename = "sets")]
    pub looked_at: u64,
    /// Lower bound of the updates of sets without symmetry; only where one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asymmetric_at_least: Option<u128>,
    /// The best sets, best first.
    // Among equals as `rank` orders them.
    #[serde(rename = "layouts")]
    pub sets: Vec<ScoredLayout>,
}

/// Returns the best sets for a request.
///
/// # Errors
/// Returns the reason if there are more bits than the board or a layout has cells, or if a mirror
/// is required of a board without layers.
pub fn search(board: &Board, request: &Request) -> Result<Found, String> {
    let most = board.cells().min(BID_BITS_MAX);
    if request.bits > most {
        return Err(format!("too many BID cells: {}, expected at most {most}", request.bits));
    }
    let all: Vec<&Symmetry> = board.symmetries().iter().collect();
    let found = Found { sets: Vec::new(), looked_at: 0, exhaustive: true, asymmetric_at_least: None };
    let mut best = Best { board, request, sets: BTreeMap::new(), found };
    best.unions(&all, 0);
    let closed = best.found.looked_at;
    if board.layers().is_none() {
        // Of the groups between all symmetries and none, only a triangle's are known.
        match request.kept {
            SymmetryClass::Mirror => {
                return Err("mirror sets require a triangle without --min-take: expected d3 or any".to_owned());
            }
            SymmetryClass::Any if all.len() > 1 => best.unions(&all[..1], closed),
            SymmetryClass::All | SymmetryClass::Any => {}
        }
        return Ok(best.into_found());
    }
    // Single cells have only the identity; others the order of `Board::symmetries`.
    let (rotations, mirror) = match all[..] {
        [identity, once, twice, vertical, ..] => (vec![identity, once, twice], vec![identity, vertical]),
        _ => (all.clone(), all.clone()),
    };
    if request.kept != SymmetryClass::All {
        best.unions(&mirror, closed);
    }
    if request.kept == SymmetryClass::Any {
        best.unions(&rotations, closed);
        let bound = asymmetric_at_least(board, request.bits);
        best.found.asymmetric_at_least = Some(bound);
        if best.worst().is_none_or(|worst| worst > bound) {
            best.unions(&all[..1], best.found.looked_at);
        }
    }
    Ok(best.into_found())
}

/// Returns a lower bound on the updates of sets of `bits` cells of a triangle that keep no
/// symmetry.
///
/// A run `D` of BID cells in a line is a trace in `2^(bits - |D|)` blocks, and a single cell is
/// counted once. The cells of such a set are on the lines of each direction. A line with `m` of
/// them has a sum that grows with `m`, and by more for each further cell, so the sum is least when
/// every cell in turn goes where it adds least. A limit on the pieces of a move makes the sum
/// depend on more than `m`; then only single cells count.
fn asymmetric_at_least(board: &Board, bits: u32) -> u128 {
    /// Sums are in units of `2^-UNIT_BITS` of all blocks: a line has at most ten cells.
    const UNIT_BITS: u32 = 10;
    let longest = board.layers().unwrap_or(0);
    let of_line = |cells: u32| (2..=cells).map(|run| u128::from(cells - run + 1) << (UNIT_BITS - run)).sum::<u128>();
    let mut runs = 0;
    if board.max_take().is_none_or(|most| most >= longest) {
        // A direction has one line of each length.
        let added = |cells: u32| of_line(cells) - of_line(cells - 1);
        let mut steps: Vec<u128> = (1..=longest).flat_map(|length| (1..=length).map(added)).collect();
        steps.sort_unstable();
        runs = 3 * steps.iter().take(bits as usize).sum::<u128>();
    }
    let singles = u128::from(bits) << (UNIT_BITS - 1);
    (singles + runs) << bits >> UNIT_BITS
}

struct Best<'a> {
    board: &'a Board,
    request: &'a Request,
    sets: BTreeMap<Rank, u64>,
    found: Found,
}

impl Best<'_> {
    /// Examines a sample of the unions of the orbits of `group`, or all. An earlier group has then
    /// examined `counted` of them, which count once.
    fn unions(&mut self, group: &[&Symmetry], counted: u64) {
        let Request { bits, limit, .. } = *self.request;
        let is_whole = unions(self.board, group, bits, limit, &mut |set, updates| self.offer(set, updates, group));
        self.found.looked_at -= if is_whole { counted } else { 0 };
        self.found.exhaustive &= is_whole;
    }

    /// Returns the updates of the last set that would be returned, if there are enough already.
    fn worst(&self) -> Option<u128> {
        let full = self.sets.len() >= self.request.top;
        self.sets.last_key_value().filter(|_| full).map(|(rank, _)| rank.0)
    }

    /// Records a set that `group` keeps, with its updates if it keeps nothing else.
    fn offer(&mut self, set: u64, updates: u128, group: &[&Symmetry]) {
        self.found.looked_at += 1;
        let (worst, is_triangle) = (self.worst(), self.board.layers().is_some());
        let is_worse = |updates| worst.is_some_and(|worst| updates > worst);
        if is_triangle && is_worse(updates) {
            return;
        }
        let images = self.board.symmetries().iter().map(|symmetry| symmetry.apply(set));
        let updates = match images.clone().filter(|&image| image == set).count() {
            kept if kept == group.len() => updates,
            // The larger group has already examined the sets that keep more.
            kept if is_triangle || kept == self.board.symmetries().len() => return,
            _ => canonical_updates(self.board, &self.named(set)),
        };
        if is_worse(updates) {
            return;
        }
        // The images of a set with this mirror have other mirrors; for other groups, one of the
        // images is chosen.
        let with_image = group.len() == 1 || group.len() == 3;
        let set = images.filter(|_| with_image).max_by_key(|image| image.reverse_bits()).unwrap_or(set);
        self.sets.insert(rank(self.board, set, updates), set);
        if self.sets.len() > self.request.top {
            self.sets.pop_last();
        }
    }

    fn named(&self, set: u64) -> Vec<Cell> {
        position::cells(set).into_iter().map(|index| self.board.cell(index)).collect()
    }

    fn into_found(self) -> Found {
        let scored = |(rank, set): (&Rank, &u64)| ScoredLayout {
            cells: position::cells(*set),
            canonical_updates: rank.0,
            canonical_blocks: canonical_blocks(self.board, &self.named(*set)),
            symmetries: self.board.symmetries().iter().filter(|symmetry| symmetry.apply(*set) == *set).count(),
        };
        let sets = self.sets.iter().map(scored).collect();
        Found { sets, ..self.found }
    }
}
