//! Layouts: which cells become the high bits.
//!
//! A solve works on blocks. The *BID cells* become the high bits of a position and name its block;
//! the other cells become the *offset* inside the block. If a symmetry of the board keeps the set
//! of BID cells, whole blocks are images of each other. Only the smallest block of such an
//! *isomorphic group*, the *canonical block*, is evaluated (\[SWLK12\] sections 3.1 and 3.2).
//!
//! # Shape
//!
//! ```text
//! position:  one bit a cell, row by row                      moved by Layout::split / Layout::join
//!
//!            | b BID bits       | m offset bits              |
//!            | orbit by orbit,  | sector or corner order,    |
//!            | see `bid_order`  | see `offset_order`         |
//! ```
//!
//! Block `i` updates block `j` if the BID part of some move, its *trace*, is `j ^ i` and a part of
//! `j`. An [`Edge`] is such a pair with a canonical `j`. It has the canonical block that represents
//! `i`, the symmetry that turns it into `i`, and the trace. The trace has the *operations*: the
//! offset parts of all moves with that trace.
//!
//! # Invariants
//! 1. The set of BID cells decides everything except the order of their bits. [`Layout::new`]
//!    orders them by the rule of `bid_order`; [`Layout::from_cells`] keeps the given order, which
//!    may come from an earlier version.
//! 2. Every edge leads from a smaller canonical block to a larger one, so numeric order is
//!    topological: a child is a subset of its target, and a canonical block is the smallest of its
//!    group.
//! 3. If several symmetries take a canonical block to the same block, the first one is used
//!    everywhere, so a canonical block is needed in at most [`Layout::orbit_size`] orientations.
//! 4. Operations are written in the bits of the *target*: the child is `target ^ trace` in its own
//!    orientation, after the symmetry of the edge was applied to the canonical source.
//!
//! # Cost
//! A layout with `b` BID bits lists its canonical blocks in `2^b` steps and stores nothing else of
//! that size. Edges are not stored: a query finds those of one block in one step per trace. The
//! order of the blocks is computed once and stored, 4 bytes a canonical block.

pub(crate) mod bid_order;
mod block_order;
mod burnside;
mod edges;
mod offset_order;
pub mod search;
mod symmetry;

pub use edges::{Edge, Trace, TraceId};
pub use symmetry::{Bid, LayoutSymmetry};

use pipeline::BlockId;
use std::sync::OnceLock;
use trinim_game::{BitPermutation, Board, Cell};

/// The most cells of a board that is solved: ten layers. Positions are counted in 64 bits, which
/// would leave room for 63 cells, but the rates of plans end at ten layers.
pub const CELLS_MAX: u32 = 55;
/// The most BID cells of a layout: 16 million blocks.
pub const BID_BITS_MAX: u32 = 24;
/// Most canonical blocks of a database or a solve in tasks: the manifest, which names each, is read
/// as a whole. Ten layers have 2,804,480.
pub const CANONICAL_BLOCKS_MAX: u64 = 1 << 22;

/// The division of a board's positions into blocks.
///
/// ```
/// use trinim::game::{Board, Cell};
/// use trinim::layout::Layout;
///
/// // \[SWLK12\] figure 3(f): the six cells next to the corners.
/// let board = Board::triangle(8, None)?;
/// let cells = [(1, 0), (1, 1), (6, 0), (6, 6), (7, 1), (7, 6)];
/// let layout = Layout::new(&board, &cells.map(|(row, col)| Cell::new(row, col)))?;
/// assert_eq!(layout.blocks(), 64);
/// assert_eq!(layout.canonical_blocks().len(), 16);
/// let edges: usize = layout.ordinals().map(|ordinal| layout.edges_into(ordinal).len()).sum();
/// assert_eq!(edges, 87);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Layout {
    board: String,
    layers: Option<u32>,
    bid_cells: Vec<u8>,
    offset_cells: Vec<u8>,
    /// Moves the cells of a position to its BID bits above its offset bits, and back.
    to_bits: BitPermutation,
    to_cells: BitPermutation,
    symmetries: Vec<LayoutSymmetry>,
    canonical: Vec<Bid>,
    traces: Vec<Trace>,
    inner_moves: Vec<u64>,
    /// The order of the blocks, once computed.
    order: OnceLock<Vec<BlockId>>,
}

impl Layout {
    /// Creates the layout of `board` with these BID cells, listed in any order. Bits are assigned
    /// so that few edges need another orientation.
    ///
    /// # Errors
    /// Returns [`LayoutError::Outside`] for a cell that is not on the board,
    /// [`LayoutError::Repeated`] for one listed twice, and [`LayoutError::TooMany`] for more than
    /// [`BID_BITS_MAX`] cells.
    pub fn new(board: &Board, bid_cells: &[Cell]) -> Result<Layout, LayoutError> {
        let index = |cell: &Cell| {
            let outside = || LayoutError::Outside { cell: *cell, board: board.name().to_owned() };
            board.index(*cell).map(|index| index as u8).ok_or_else(outside)
        };
        let cells = bid_cells.iter().map(index).collect::<Result<Vec<_>, _>>()?;
        let given = Layout::mask(board, &cells)?;
        Ok(Layout::of_bits(board, bid_order::bid_cells(board, given)))
    }

    /// Creates the layout of `board` whose BID bit `i` is the cell of index `bid_cells[i]`.
    ///
    /// # Errors
    /// Those of [`Layout::new`]; [`LayoutError::Index`] for an index that is not on the board.
    pub fn from_cells(board: &Board, bid_cells: &[u8]) -> Result<Layout, LayoutError> {
        Layout::mask(board, bid_cells)?;
        Ok(Layout::of_bits(board, bid_cells.to_vec()))
    }

    /// Returns the set of these cells, if a layout can have it.
    fn mask(board: &Board, bid_cells: &[u8]) -> Result<u64, LayoutError> {
        let mut bid_mask = 0u64;
        for &index in bid_cells {
            if u32::from(index) >= board.cells() {
                return Err(LayoutError::Index { index, cells: board.cells() });
            }
            if bid_mask >> index & 1 == 1 {
                return Err(LayoutError::Repeated { cell: board.cell(index.into()) });
            }
            bid_mask |= 1 << index;
        }
        if bid_cells.len() > BID_BITS_MAX as usize {
            return Err(LayoutError::TooMany { found: bid_cells.len() });
        }
        Ok(bid_mask)
    }

    /// Creates the best known layout whose blocks have at most `2^offset_bits_at_most` positions.
    ///
    /// It has the smallest sufficient number of BID cells, or the next larger one with a set closed
    /// under all symmetries, if its blocks have at most `2^8` times fewer positions than allowed.
    /// If the symmetries of a board leave no such set, it gets a set that a single symmetry keeps.
    /// Boards of at most `offset_bits_at_most` cells become one block. If more than
    /// [`BID_BITS_MAX`] BID cells would be needed, the blocks are larger than requested.
    pub fn suggested(board: &Board, offset_bits_at_most: u32) -> Layout {
        let bid_mask = search::suggested_mask(board, offset_bits_at_most);
        Layout::of_bits(board, bid_order::bid_cells(board, bid_mask))
    }

    fn of_bits(board: &Board, bid_cells: Vec<u8>) -> Layout {
        let bid_mask = bid_cells.iter().fold(0u64, |mask, cell| mask | 1 << cell);
        let offset_cells = offset_order::offset_cells(board, bid_mask);
        let to_cells = BitPermutation::new([offset_cells.as_slice(), &bid_cells].concat());
        let to_bits = to_cells.inverse();
        let symmetries = LayoutSymmetry::all(board.symmetries(), &bid_cells, &offset_cells);
        let is_smallest = |bid: &Bid| symmetries.iter().all(|symmetry| symmetry.map_bid(*bid) >= *bid);
        let canonical = (0..1 << bid_cells.len()).map(Bid).filter(is_smallest).collect();
        let (traces, inner_moves) = edges::traces(board.moves(), &to_bits, offset_cells.len() as u32);
        Layout {
            board: board.name().to_owned(),
            layers: board.layers(),
            bid_cells,
            offset_cells,
            to_bits,
            to_cells,
            symmetries,
            canonical,
            traces,
            inner_moves,
            order: OnceLock::new(),
        }
    }

    /// Returns the same division with every block evaluated separately: the identity is the only
    /// symmetry, and every block is canonical and its own ordinal. This is \[SWLK12\] section 3.1,
    /// before redundancy is removed.
    #[must_use]
    pub fn without_symmetries(&self) -> Layout {
        let (symmetries, canonical) = (self.symmetries[..1].to_vec(), (0..1 << self.bid_bits()).map(Bid).collect());
        // An order belongs to the blocks of one layout.
        Layout { symmetries, canonical, order: OnceLock::new(), ..self.clone() }
    }

    /// Returns the name of the board.
    pub fn board(&self) -> &str {
        &self.board
    }

    /// Returns the number of layers of the board, if it is a triangle.
    pub fn layers(&self) -> Option<u32> {
        self.layers
    }

    /// Returns the number of BID cells, the `b` of the paper and of these pages.
    pub fn bid_bits(&self) -> u32 {
        self.bid_cells.len() as u32
    }

    /// Returns the number of the other cells, `m`: a block has `2^m` positions.
    pub fn offset_bits(&self) -> u32 {
        self.offset_cells.len() as u32
    }

    /// Returns the cell index of each BID bit, bit 0 first.
    pub fn bid_cells(&self) -> &[u8] {
        &self.bid_cells
    }

    /// Returns the cell index of each offset bit, bit 0 first.
    pub fn offset_cells(&self) -> &[u8] {
        &self.offset_cells
    }

    /// Returns whether both layouts have the same BID cells, in any bit order.
    pub fn has_cells_of(&self, other: &Layout) -> bool {
        self.board == other.board && self.offset_cells == other.offset_cells
    }

    /// Returns the number of blocks, `2^b`.
    pub fn blocks(&self) -> u64 {
        1 << self.bid_bits()
    }

    /// Returns the BIDs of the canonical blocks in ascending order. The index of a block in this
    /// list is its *ordinal*, its number in the engine and in the files of a database.
    pub fn canonical_blocks(&self) -> &[Bid] {
        &self.canonical
    }

    /// Returns the ordinals of the canonical blocks, ascending.
    pub fn ordinals(&self) -> impl DoubleEndedIterator<Item = BlockId> + ExactSizeIterator + use<> {
        BlockId::all(self.canonical.len() as u32)
    }

    /// Returns the BID of a canonical block.
    pub fn bid(&self, ordinal: BlockId) -> Bid {
        self.canonical[ordinal.index()]
    }

    /// Returns the block of a position, canonical or not, and the offset in it.
    pub fn split(&self, position: u64) -> (Bid, u64) {
        let bits = self.to_bits.apply(position);
        (Bid((bits >> self.offset_bits()) as u32), bits & ((1 << self.offset_bits()) - 1))
    }

    /// Returns the position at `offset` in block `bid`, the inverse of [`Layout::split`].
    pub fn join(&self, bid: Bid, offset: u64) -> u64 {
        self.to_cells.apply(u64::from(bid.0) << self.offset_bits() | offset)
    }

    /// Returns the symmetries that keep the set of BID cells, the identity first.
    pub fn symmetries(&self) -> &[LayoutSymmetry] {
        &self.symmetries
    }

    /// Returns the ordinal of the canonical block that represents block `bid`, and the place in
    /// [`Layout::symmetries`] of the first symmetry that takes the canonical block to `bid`.
    pub fn canonical(&self, bid: Bid) -> (BlockId, usize) {
        let images = self.symmetries.iter().map(|symmetry| (symmetry.map_bid(bid), symmetry.inverse()));
        let (smallest, symmetry) = images.min().expect("the identity is a symmetry");
        debug_assert!(
            self.symmetries[..symmetry].iter().all(|earlier| earlier.map_bid(smallest) != bid),
            "layout, invariant 3: an earlier symmetry takes the canonical block to {bid}"
        );
        (self.ordinal(smallest), symmetry)
    }

    /// Returns the place where the value of a position is stored: the ordinal of a canonical block
    /// and the offset in it.
    ///
    /// The place is the same for all images of a position under [`Layout::symmetries`]: if a
    /// canonical block is an image of itself, the smallest of the offsets is chosen.
    pub fn locate(&self, position: u64) -> (BlockId, u64) {
        let (bid, offset) = self.split(position);
        let canonical = self.canonical_bid(bid);
        // Few symmetries lead to the canonical block, most often one.
        let there = self.symmetries.iter().filter(|symmetry| symmetry.map_bid(bid) == canonical);
        let offset = there.map(|symmetry| symmetry.map_offset(offset)).min().expect("one leads there");
        (self.ordinal(canonical), offset)
    }

    fn ordinal(&self, canonical_bid: Bid) -> BlockId {
        let place = self.canonical.binary_search(&canonical_bid);
        BlockId(place.expect("the smallest block of a group is canonical") as u32)
    }

    fn is_canonical(&self, bid: Bid) -> bool {
        self.symmetries.iter().all(|symmetry| symmetry.map_bid(bid) >= bid)
    }

    /// Returns the BID of the canonical block that represents block `bid`.
    fn canonical_bid(&self, bid: Bid) -> Bid {
        self.symmetries.iter().map(|symmetry| symmetry.map_bid(bid)).min().expect("the identity is a symmetry")
    }

    /// Returns the number of blocks that the canonical block `ordinal` represents, itself included:
    /// 1, 2, 3 or 6 on a triangle.
    pub fn orbit_size(&self, ordinal: BlockId) -> u32 {
        let bid = self.bid(ordinal);
        let fixing = self.symmetries.iter().filter(|symmetry| symmetry.map_bid(bid) == bid).count();
        (self.symmetries.len() / fixing) as u32
    }

    /// Returns the offset masks of the moves inside a block, sorted.
    pub fn inner_moves(&self) -> &[u64] {
        &self.inner_moves
    }

    /// Returns every ordinal once, children before their targets (invariant 2), in an order that
    /// keeps few finished blocks waiting. The same layout always gives the same order.
    pub fn order(&self) -> Vec<BlockId> {
        self.order.get_or_init(|| block_order::order(self)).clone()
    }
}

/// A reason why cells do not make a layout.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// A BID cell is not on the board.
    #[error("BID cell {cell} is not on the board {board}: expected the letter of a row and a number in it")]
    Outside {
        /// The cell.
        cell: Cell,
        /// The name of the board.
        board: String,
    },
    /// The index of a BID cell is not on the board.
    #[error("BID cell {index} is not on a board of {cells} cells: expected 0 to {}", cells - 1)]
    Index {
        /// The index.
        index: u8,
        /// The cells of the board.
        cells: u32,
    },
    /// A BID cell is listed twice.
    #[error("BID cell {cell} is listed twice")]
    Repeated {
        /// The cell.
        cell: Cell,
    },
    /// There are more blocks than ordinals.
    #[error("too many BID cells: {found}, expected at most {BID_BITS_MAX}")]
    TooMany {
        /// The number of cells listed.
        found: usize,
    },
}
