//! The geometry of the check, rebuilt from cell masks: moves, blocks, and the canonical block of
//! each child.
//!
//! The module verifies its inputs. It generates the moves of a triangle from pairs of ends and
//! compares them with those of the board; the moves of other boards come from the database. It
//! accepts a symmetry only if it maps these moves to themselves. It fills the table of blocks from
//! the canonical ones and requires it to be complete and free of conflicts. From the layout it uses
//! only the two lists of cells, which define the bits of a database, and the list of canonical
//! blocks.

use crate::layout::Layout;
use std::collections::{BTreeMap, BTreeSet};
use trinim_game::{Board, Cell};

/// Index bits of the smallest bitmap of a database: 512 bits.
const LEAST_BITS: u32 = 9;

/// A symmetry of the game that keeps the set of BID cells.
pub(crate) struct Orientation {
    /// Offset bit `i` goes to bit `offset[i]`.
    pub offset: Vec<u8>,
    /// BID bit `i` goes to bit `bid[i]`.
    bid: Vec<u8>,
}

/// The moves with one trace in the BID cells.
struct Trace {
    bid: u32,
    offsets: Vec<u64>,
}

/// A child block of a canonical block.
pub(crate) struct Child<'a> {
    /// Ordinal of its canonical block.
    pub ordinal: u32,
    /// The orientation that takes the canonical block to the child, an index into
    /// [`Geometry::orientations`].
    pub orientation: usize,
    /// Offset masks of the moves that lead to the child.
    pub moves: &'a [u64],
}

/// An entry of the block table that no canonical block has claimed.
const NOBODY: (u32, u8) = (u32::MAX, 0);

/// Moves, blocks and symmetries in the bits of a layout.
pub(crate) struct Geometry {
    offset_cells: Vec<u8>,
    bid_cells: Vec<u8>,
    canonical: Vec<u32>,
    moves: Vec<u64>,
    /// The symmetries, the identity first.
    pub(crate) orientations: Vec<Orientation>,
    /// For each BID the ordinal of its canonical block and the orientation that takes the canonical
    /// block to it.
    blocks: Vec<(u32, u8)>,
    /// The offset masks of the moves inside a block.
    pub(crate) inner: Vec<u64>,
    traces: Vec<Trace>,
    last_row: u64,
}

impl Geometry {
    /// Builds the geometry of a layout, or describes the error in the layout.
    pub(crate) fn new(board: &Board, layout: &Layout) -> Result<Geometry, String> {
        let moves = moves(board);
        if moves.iter().ne(board.moves()) {
            return Err("the moves of the board are not the runs of neighbouring cells of its lines".into());
        }
        let (offset_cells, bid_cells) = (layout.offset_cells().to_vec(), layout.bid_cells().to_vec());
        let cells: BTreeSet<u8> = offset_cells.iter().chain(&bid_cells).copied().collect();
        if offset_cells.len() + bid_cells.len() != cells.len() || !cells.into_iter().eq(0..board.cells() as u8) {
            return Err("the layout does not name every cell of the board once".into());
        }
        let known: BTreeSet<u64> = moves.iter().copied().collect();
        let images = board.symmetries().iter().map(|symmetry| symmetry.image());
        let kept = images.filter(|image| {
            let places: BTreeSet<u8> = image.iter().copied().collect();
            places.into_iter().eq(0..board.cells() as u8)
                && moves.iter().all(|cells| known.contains(&spread(image, *cells)))
        });
        let along_both = |image: &[u8]| Some((along(image, &offset_cells)?, along(image, &bid_cells)?));
        let orientations = kept.filter_map(along_both).map(|(offset, bid)| Orientation { offset, bid });
        let orientations: Vec<Orientation> = orientations.collect();
        let stays = |places: &[u8]| places.iter().copied().eq(0..places.len() as u8);
        if !orientations.first().is_some_and(|orientation| stays(&orientation.offset) && stays(&orientation.bid)) {
            return Err("the identity is not the first symmetry".into());
        }
        let mut inner = Vec::new();
        let mut traces: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for &cells in &moves {
            match gather(&bid_cells, cells) {
                0 => inner.push(gather(&offset_cells, cells)),
                bid => traces.entry(bid as u32).or_default().push(gather(&offset_cells, cells)),
            }
        }
        let mut geometry = Geometry {
            canonical: layout.canonical_blocks().iter().map(|bid| bid.0).collect(),
            last_row: board.layers().map_or(0, |layers| {
                let row = layers as u8 - 1;
                (0..=row).fold(0, |cells, col| cells | Cell::new(row, col).mask())
            }),
            blocks: vec![NOBODY; 1 << bid_cells.len()],
            traces: traces.into_iter().map(|(bid, offsets)| Trace { bid, offsets }).collect(),
            offset_cells,
            bid_cells,
            moves,
            orientations,
            inner,
        };
        geometry.claim_blocks()?;
        Ok(geometry)
    }

    /// Fills the table of blocks from the canonical ones.
    fn claim_blocks(&mut self) -> Result<(), String> {
        if !self.canonical.is_sorted() {
            return Err("the canonical blocks are not in ascending order".into());
        }
        for (ordinal, &bid) in (0..).zip(&self.canonical) {
            for (orientation, symmetry) in (0..).zip(&self.orientations) {
                let image = spread(&symmetry.bid, bid.into());
                if image < u64::from(bid) {
                    return Err(format!("canonical block {ordinal} is not the smallest of its images"));
                }
                let block = &mut self.blocks[image as usize];
                if *block == NOBODY {
                    *block = (ordinal, orientation);
                } else if block.0 != ordinal {
                    return Err(format!("canonical blocks {} and {ordinal} are images of each other", block.0));
                }
            }
        }
        match self.blocks.iter().position(|block| *block == NOBODY) {
            Some(bid) => Err(format!("no canonical block represents block {bid}")),
            None => Ok(()),
        }
    }

    pub(crate) fn canonical_blocks(&self) -> u32 {
        self.canonical.len() as u32
    }

    /// Returns the offset masks of every move that a canonical block allows.
    pub(crate) fn moves_in(&self, ordinal: u32) -> Vec<u64> {
        let bid = self.bid(ordinal);
        let traces = self.traces.iter().filter(|trace| bid & trace.bid == trace.bid);
        traces.flat_map(|trace| &trace.offsets).chain(&self.inner).copied().collect()
    }

    pub(crate) fn bid(&self, ordinal: u32) -> u32 {
        self.canonical[ordinal as usize]
    }

    pub(crate) fn offset_bits(&self) -> u32 {
        self.offset_cells.len() as u32
    }

    /// Returns the number of index bits of a bitmap: the offset bits, but at least nine.
    pub(crate) fn index_bits(&self) -> u32 {
        self.offset_bits().max(LEAST_BITS)
    }

    /// Returns every child of a canonical block, by ordinal. All have smaller ordinals than the
    /// block itself: a child is a subset of its target, and a canonical block is the smallest of
    /// its images.
    pub(crate) fn children(&self, ordinal: u32) -> Vec<Child<'_>> {
        let bid = self.bid(ordinal);
        let traces = self.traces.iter().filter(|trace| bid & trace.bid == trace.bid);
        let children = traces.map(|trace| {
            let (ordinal, orientation) = self.blocks[(bid ^ trace.bid) as usize];
            Child { ordinal, orientation: orientation.into(), moves: &trace.offsets[..] }
        });
        let mut children: Vec<Child<'_>> = children.collect();
        children.sort_by_key(|child| (child.ordinal, child.orientation));
        children
    }

    /// Returns one orientation to each block of the isomorphic group, the canonical block included.
    fn images(&self, ordinal: u32) -> impl Iterator<Item = &Orientation> {
        let bid = u64::from(self.bid(ordinal));
        let block = move |orientation: &Orientation| self.blocks[spread(&orientation.bid, bid) as usize];
        let orientations = (0..).zip(&self.orientations);
        orientations.filter(move |(index, to)| block(to) == (ordinal, *index)).map(|(_, to)| to)
    }

    /// Returns the number of blocks in the isomorphic group.
    pub(crate) fn weight(&self, ordinal: u32) -> u64 {
        self.images(ordinal).count() as u64
    }

    /// Returns a mask for each block of the isomorphic group in which the last row of the board can
    /// be empty: the offset cells of the canonical block that are then empty.
    pub(crate) fn last_row_masks(&self, ordinal: u32) -> Vec<u64> {
        let bid = u64::from(self.bid(ordinal));
        let (row_bid, row_offset) = (gather(&self.bid_cells, self.last_row), gather(&self.offset_cells, self.last_row));
        let disjoint = self.images(ordinal).filter(|orientation| spread(&orientation.bid, bid) & row_bid == 0);
        disjoint.map(|orientation| gather(&orientation.offset, row_offset)).collect()
    }

    /// Returns the position at an offset of a canonical block.
    pub(crate) fn position(&self, ordinal: u32, offset: u64) -> u64 {
        spread(&self.offset_cells, offset) | spread(&self.bid_cells, self.bid(ordinal).into())
    }

    pub(crate) fn children_of(&self, position: u64) -> impl Iterator<Item = u64> {
        self.moves.iter().filter(move |cells| position & *cells == **cells).map(move |cells| position ^ cells)
    }
}

/// Returns every run of cells from one end to another on a row, a column or a diagonal, no longer
/// than the board allows; sorted.
fn moves(board: &Board) -> Vec<u64> {
    if board.layers().is_none() {
        return board.moves().to_vec();
    }
    let cells: Vec<Cell> = (0..board.cells()).map(Cell::from_index).collect();
    let mut moves = BTreeSet::new();
    for first in &cells {
        for last in &cells {
            let (down, right) = (last.row as i32 - first.row as i32, last.col as i32 - first.col as i32);
            let steps = down.max(right);
            let straight = [(0, steps), (steps, 0), (steps, steps)].contains(&(down, right));
            if straight && steps >= 0 && board.max_take().is_none_or(|most| (steps as u32) < most) {
                let place = |from: u8, by: i32, step: i32| (i32::from(from) + step * by.signum()) as u8;
                let cell = |step: i32| Cell::new(place(first.row, down, step), place(first.col, right, step));
                moves.insert((0..=steps).fold(0, |run, step| run | cell(step).mask()));
            }
        }
    }
    moves.into_iter().collect()
}

/// Restricts a permutation of all cells to the bits of some of them; `None` if it moves one out of
/// these cells.
fn along(image: &[u8], cells: &[u8]) -> Option<Vec<u8>> {
    let bit_of = |cell: &u8| cells.iter().position(|other| *other == image[usize::from(*cell)]).map(|bit| bit as u8);
    cells.iter().map(bit_of).collect()
}

/// Moves bit `i` of a word to bit `places[i]`.
pub(crate) fn spread(places: &[u8], word: u64) -> u64 {
    (0..).zip(places).fold(0, |out, (bit, place)| out | (word >> bit & 1) << place)
}

/// Moves bit `places[i]` of a word to bit `i`.
fn gather(places: &[u8], word: u64) -> u64 {
    (0..).zip(places).fold(0, |out, (bit, place)| out | (word >> place & 1) << bit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Bid;
    use pipeline::BlockId;

    #[test]
    fn runs_between_two_ends_are_the_moves_of_the_board() {
        for layers in 1..=10 {
            for max_take in [None, Some(1), Some(2), Some(3), Some(99)] {
                let board = Board::triangle(layers, max_take).unwrap();
                assert_eq!(moves(&board), board.moves());
            }
        }
    }

    #[test]
    fn the_table_of_blocks_agrees_with_the_layout() {
        let board = Board::triangle(5, None).unwrap();
        for cells in [vec![], vec![1, 2, 6, 9, 11, 13], vec![0], vec![3, 4]] {
            let cells: Vec<Cell> = cells.into_iter().map(Cell::from_index).collect();
            let layout = Layout::new(&board, &cells).unwrap();
            let geometry = Geometry::new(&board, &layout).unwrap();
            for (bid, &(ordinal, orientation)) in (0..).zip(&geometry.blocks) {
                assert_eq!(BlockId(ordinal), layout.canonical(Bid(bid)).0);
                let from = u64::from(geometry.bid(ordinal));
                assert_eq!(spread(&geometry.orientations[usize::from(orientation)].bid, from), u64::from(bid));
            }
            for ordinal in 0..geometry.canonical_blocks() {
                assert_eq!(geometry.weight(ordinal), u64::from(layout.orbit_size(BlockId(ordinal))));
                assert_eq!(geometry.children(ordinal).len(), layout.edges_into(BlockId(ordinal)).len());
            }
        }
    }

    /// The list of canonical blocks is that of the layout, and is not believed.
    #[test]
    fn wrong_canonical_blocks_are_refused() {
        let board = Board::triangle(5, None).unwrap();
        let cells: Vec<Cell> = [1, 2, 6, 9, 11, 13].into_iter().map(Cell::from_index).collect();
        let sound = || Geometry::new(&board, &Layout::new(&board, &cells).unwrap()).unwrap();
        let geometry = sound();
        let largest = |bid: u32| {
            geometry.orientations.iter().map(|orientation| spread(&orientation.bid, bid.into()) as u32).max()
        };
        let moved = (0..)
            .zip(&geometry.canonical)
            .find_map(|(ordinal, bid)| Some((ordinal, largest(*bid)?)).filter(|(_, image)| image != bid));
        let (ordinal, image): (usize, u32) = moved.expect("a block with another image");
        type Change<'a> = &'a dyn Fn(&mut Vec<u32>);
        let cases: [(&str, Change<'_>); 4] = [
            ("not in ascending order", &|blocks| blocks.swap(0, 1)),
            ("is not the smallest of its images", &|blocks| {
                blocks[ordinal] = image;
                blocks.sort_unstable();
            }),
            ("canonical blocks 0 and 1 are images of each other", &|blocks| blocks.insert(1, blocks[0])),
            ("no canonical block represents block", &|blocks| blocks.truncate(blocks.len() - 1)),
        ];
        for (wanted, change) in cases {
            let mut geometry = sound();
            change(&mut geometry.canonical);
            geometry.blocks.fill(NOBODY);
            let refused = geometry.claim_blocks().unwrap_err();
            assert!(refused.contains(wanted), "{refused}, not: {wanted}");
        }
    }
}
