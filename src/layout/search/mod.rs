//! Search for good BID sets.
//!
//! The best set of a given size is the one with the fewest updates after redundancy removal, as in
//! \[SWLK12\] section 4. Symmetry is worth more than anything else, so the search goes by the
//! symmetries that sets keep: a set that a group of symmetries keeps is a union of the group's
//! orbits of cells, and there are few unions.
//!
//! | kept | unions of a given size, nine layers | examined |
//! |---|---|---|
//! | all six ([`SymmetryClass::All`]) | some hundreds at most | all |
//! | a mirror at least ([`SymmetryClass::Mirror`]) | up to 3 million | all, as long as the limit allows |
//! | any, or none ([`SymmetryClass::Any`]) | up to 4 * 10^12 | see below |
//!
//! [`SymmetryClass::Any`] examines the unions for all symmetries, for a mirror and for the
//! rotations alone. The remaining sets keep no symmetry. Nothing divides their updates: there are
//! `2^b * b / 2` and more, because cells share lines. That bound (`score.rs`) nearly always exceeds
//! what sets with a mirror reach, and then no such set needs to be examined. Otherwise all are, or
//! a local search takes a sample.
//!
//! Boards that are not triangles have no lines that the search knows. Their sets are scored one by
//! one from the traces of the moves, microseconds each, and the unions for all symmetries and those
//! for none are examined.
//!
//! # Invariants
//! 1. [`Found::exhaustive`] says that no requested set has fewer updates than those found: each was
//!    examined, or excluded by the bound.
//! 2. The same request gives the same answer on every machine.
//! 3. Of sets that are images of each other only one is returned.
//!
//! # Cost
//! An exhaustive search costs some ten nanoseconds a set, because it keeps sums for each line, and
//! a step from set to set touches a few lines.

mod sample;
mod score;
mod walk;

use super::BID_BITS_MAX;
use super::burnside::{self, Action};
use score::Scores;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use trinim_game::{Board, Cell, Symmetry, position};

/// The most sets examined for the layout of a board that is not a triangle, whose sets are scored
/// one by one: some milliseconds.
const QUICK_SETS: u64 = 4000;

/// The symmetries that the sets must keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SymmetryClass {
    /// All symmetries of the board.
    #[serde(rename = "d3")]
    All,
    /// The mirror with the vertical axis, and possibly more.
    Mirror,
    /// Any symmetries, or none.
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
    /// The most sets of one kind to examine. If there are more, a local search examines this many.
    pub sets_at_most: u64,
    /// The seed of the local search's random numbers.
    pub seed: u64,
}

/// A BID set and its score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The sets, best first. Among equals, the set that leaves the corners whole to the greatest
    /// depth comes first, because corners in the offset compress well; then the one with the first
    /// cells in row order.
    pub sets: Vec<ScoredLayout>,
    /// The number of sets examined.
    pub looked_at: u64,
    /// Whether no other set can be better than those found.
    pub exhaustive: bool,
    /// A lower bound on the updates of sets without symmetry, if the search used it.
    pub asymmetric_at_least: Option<u128>,
}

/// Returns the best sets for a request.
///
/// # Errors
/// Returns a [`SearchError`] if there are more bits than the board or a layout has cells.
pub fn search(board: &Board, request: &Request) -> Result<Found, SearchError> {
    let most = board.cells().min(BID_BITS_MAX);
    if request.bits > most {
        return Err(SearchError::Bits { bits: request.bits, most });
    }
    let all: Vec<&Symmetry> = board.symmetries().iter().collect();
    let scores = Scores::new(board);
    let mut best = Best::new(board, request);
    best.unions(&scores, &all);
    if board.layers().is_none() {
        // Of the groups between all symmetries and none, only a triangle's are known.
        match request.kept {
            SymmetryClass::All => {}
            SymmetryClass::Mirror => return Err(SearchError::Mirror),
            SymmetryClass::Any if all.len() > 1 => best.unions(&scores, &all[..1]),
            SymmetryClass::Any => {}
        }
        return Ok(best.into_found());
    }
    // Single cells have the identity only; others the order of `Board::symmetries`.
    let (rotations, mirror) = match all[..] {
        [identity, once, twice, vertical, ..] => (vec![identity, once, twice], vec![identity, vertical]),
        _ => (all.clone(), all.clone()),
    };
    if request.kept != SymmetryClass::All {
        best.unions(&scores, &mirror);
    }
    if request.kept == SymmetryClass::Any {
        best.unions(&scores, &rotations);
        let bound = scores.asymmetric_at_least(request.bits);
        best.found.asymmetric_at_least = Some(bound);
        if best.worst().is_none_or(|worst| worst > bound) {
            best.unions(&scores, &all[..1]);
        }
    }
    Ok(best.into_found())
}

/// Returns the set of `bits` cells, closed under all symmetries of the board, with the fewest
/// updates after redundancy removal; among equals the first as in [`Found::sets`]. `None` if no
/// closed set has that size.
pub fn best_closed(board: &Board, bits: u32) -> Option<Vec<Cell>> {
    Some(position::cells(best_closed_mask(board, bits)?).into_iter().map(|index| board.cell(index)).collect())
}

pub(crate) fn best_closed_mask(board: &Board, bits: u32) -> Option<u64> {
    let sets_at_most = if board.layers().is_some() { u64::MAX } else { QUICK_SETS };
    let request = Request { bits, kept: SymmetryClass::All, top: 1, sets_at_most, seed: 0 };
    let mut best = Best::new(board, &request);
    best.unions(&Scores::new(board), &board.symmetries().iter().collect::<Vec<_>>());
    best.sets.into_values().next()
}

/// Returns the number of updates after redundancy removal,
/// [`Counts::canonical_updates`](super::Counts::canonical_updates).
pub fn canonical_updates(board: &Board, bid_cells: &[Cell]) -> u128 {
    let set = mask(board, bid_cells);
    Action::on(board, set).updates(&burnside::traces(board.moves(), set))
}

/// Returns the number of isomorphic groups of blocks,
/// [`Counts::canonical_blocks`](super::Counts::canonical_blocks).
pub fn canonical_blocks(board: &Board, bid_cells: &[Cell]) -> u128 {
    Action::on(board, mask(board, bid_cells)).blocks()
}

/// Returns the mask of the cells that are on the board.
fn mask(board: &Board, cells: &[Cell]) -> u64 {
    cells.iter().filter_map(|cell| board.index(*cell)).fold(0, |set, index| set | 1 << index)
}

/// The order of sets: updates, whole corners, first cells.
type Rank = (u128, Reverse<Vec<u8>>, Reverse<u64>);

struct Best<'a> {
    board: &'a Board,
    request: &'a Request,
    sets: BTreeMap<Rank, u64>,
    found: Found,
}

impl<'a> Best<'a> {
    fn new(board: &'a Board, request: &'a Request) -> Best<'a> {
        Best {
            board,
            request,
            sets: BTreeMap::new(),
            found: Found { sets: Vec::new(), looked_at: 0, exhaustive: true, asymmetric_at_least: None },
        }
    }

    /// Examines the unions of the orbits of `group`, all or a sample.
    fn unions(&mut self, scores: &Scores, group: &[&Symmetry]) {
        let orbits = walk::Orbits::new(self.board, scores, group);
        let unions = orbits.unions(self.request.bits);
        if unions <= u128::from(self.request.sets_at_most) {
            walk::all(&orbits, self.request.bits, &mut |set, updates| self.offer(set, updates, group));
        } else {
            self.found.exhaustive = false;
            let (bits, sets) = (self.request.bits, self.request.sets_at_most);
            sample::some(&orbits, bits, sets, self.request.seed, &mut |set, updates| self.offer(set, updates, group));
        }
    }

    /// Returns the updates of the last set that would be returned, if there are enough already.
    fn worst(&self) -> Option<u128> {
        let full = self.sets.len() >= self.request.top;
        self.sets.last_key_value().filter(|_| full).map(|(rank, _)| rank.0)
    }

    /// Records a set that `group` keeps, with its updates if it keeps nothing else.
    fn offer(&mut self, set: u64, updates: u128, group: &[&Symmetry]) {
        self.found.looked_at += 1;
        if self.worst().is_some_and(|worst| updates > worst) {
            return;
        }
        // The larger group has already examined sets that keep more, and they count less there.
        let images = self.board.symmetries().iter().map(|symmetry| symmetry.apply(set));
        let kept = images.clone().filter(|&image| image == set).count();
        if kept != group.len() {
            return;
        }
        // The images of a set with this mirror have other mirrors; elsewhere one of the images is
        // chosen.
        let with_image = group.len() == 1 || group.len() == 3;
        if with_image && images.max_by_key(|image| image.reverse_bits()) != Some(set) {
            return;
        }
        // Reversing the bits turns "has the earlier cell" into "is larger".
        let rank = (updates, Reverse(corner_distances(self.board, set)), Reverse(set.reverse_bits()));
        self.sets.insert(rank, set);
        if self.sets.len() > self.request.top {
            self.sets.pop_last();
        }
    }

    fn into_found(self) -> Found {
        let scored = |(rank, set): (Rank, u64)| {
            let action = Action::on(self.board, set);
            ScoredLayout {
                cells: position::cells(set),
                canonical_updates: rank.0,
                canonical_blocks: action.blocks(),
                symmetries: action.order(),
            }
        };
        Found { sets: self.sets.into_iter().map(scored).collect(), ..self.found }
    }
}

/// Returns, for each cell of a set on a triangle, the number of rows between it and its nearest
/// corner, in ascending order; nothing for other boards.
fn corner_distances(board: &Board, set: u64) -> Vec<u8> {
    if board.layers().is_none() {
        return Vec::new();
    }
    let cells = (0..board.cells() as usize).filter(|cell| set >> cell & 1 == 1);
    let rows = |cell: usize| {
        board.symmetries().iter().map(move |symmetry| Cell::from_index(symmetry.image()[cell].into()).row)
    };
    let mut distances: Vec<u8> = cells.filter_map(|cell| rows(cell).min()).collect();
    distances.sort_unstable();
    distances
}

/// A request that cannot be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// Too many BID cells.
    #[error("{bits} BID cells are too many: expected at most {most}")]
    Bits {
        /// The requested number.
        bits: u32,
        /// The most BID cells of this board.
        most: u32,
    },
    /// A mirror of a board that is not a triangle.
    #[error("only triangles are searched for sets with a mirror: expected d3 or any")]
    Mirror,
}
