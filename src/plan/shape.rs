//! The figures of a layout that every estimate rests on.

use crate::game::Board;
use crate::layout::{Layout, search};
use std::collections::BTreeSet;

/// Above this many BID bits, counting arguments give the figures instead of a walk of the block
/// graph.
const WALKED_BID_BITS_MAX: u32 = 20;

/// Largest share of all blocks alive at a time, and of all dedicated copies waiting at a time, for
/// graphs that are too large to walk: the values found at nine layers with 15 to 18 BID bits.
const LIVE_SHARE: f64 = 0.42;
const WAITING_SHARE: f64 = 0.29;

/// The cut of a board, and the work that follows from it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Shape {
    /// Cells of the BID bits.
    pub bid_cells: Vec<u8>,
    /// Number of BID bits.
    pub bid_bits: u32,
    /// Number of offset bits.
    pub offset_bits: u32,
    /// All blocks.
    pub blocks: u64,
    /// Blocks that are evaluated.
    pub canonical_blocks: u64,
    /// Edges: inter-block updates with redundancy removed, the paper's number.
    pub edges: u64,
    /// Pairs of a target and a canonical source: the decoded streams with shared logs.
    pub loads: u64,
    /// Edges that need their source turned.
    pub turned_edges: u64,
    /// Distinct (source, orientation, restriction): the encoded streams with dedicated logs.
    pub orientations: u64,
    /// Most streams kept at a time with shared logs.
    pub peak_shared_streams: u64,
    /// Most copies kept at a time with dedicated logs.
    pub peak_dedicated_streams: u64,
    /// Whether the last four are estimates, because the block graph is too large to walk.
    pub estimated: bool,
}

impl Shape {
    /// Walks the block graph of a layout.
    pub fn of(layout: &Layout) -> Shape {
        let order = layout.order();
        let mut shape = Shape {
            bid_cells: layout.bid_cells().to_vec(),
            bid_bits: layout.bid_bits(),
            offset_bits: layout.offset_bits(),
            blocks: layout.blocks(),
            canonical_blocks: order.len() as u64,
            edges: 0,
            loads: 0,
            turned_edges: 0,
            orientations: 0,
            peak_shared_streams: u64::from(layout.peak_live_blocks(&order)),
            peak_dedicated_streams: 0,
            estimated: false,
        };
        let restrictions: Vec<u64> = layout
            .traces()
            .iter()
            .map(|trace| trace.operations.iter().fold(u64::MAX, |common, mask| common & mask))
            .collect();
        let mut waiting = 0;
        for block in order {
            let (into, from) = (layout.edges_into(block), layout.edges_from(block));
            shape.edges += into.len() as u64;
            shape.loads += into.chunk_by(|one, next| one.source == next.source).count() as u64;
            shape.turned_edges += into.iter().filter(|edge| edge.symmetry != 0).count() as u64;
            let turns: BTreeSet<(u8, u64)> =
                from.iter().map(|edge| (edge.symmetry, restrictions[edge.trace.0 as usize])).collect();
            shape.orientations += turns.len() as u64;
            // A block deletes its own logs only after its streams are written.
            waiting += from.len() as u64;
            shape.peak_dedicated_streams = shape.peak_dedicated_streams.max(waiting);
            waiting -= into.len() as u64;
        }
        shape
    }

    /// Returns the figures of the best closed BID set of at most `bid_bits` cells without making a
    /// layout: blocks and edges by Burnside's lemma, the rest by the shares of smaller boards.
    pub fn outline(board: &Board, bid_bits: u32) -> Shape {
        let bid_cells = (0..=bid_bits).rev().find_map(|bits| search::best_closed(board, bits)).unwrap_or_default();
        let edges = search::canonical_updates(board, &bid_cells) as u64;
        let canonical_blocks = search::canonical_blocks(board, &bid_cells) as u64;
        let bid_bits = bid_cells.len() as u32;
        Shape {
            bid_cells: bid_cells.iter().map(|cell| cell.index() as u8).collect(),
            bid_bits,
            offset_bits: board.cells() - bid_bits,
            blocks: 1 << bid_bits,
            canonical_blocks,
            edges,
            loads: edges,
            turned_edges: edges * 5 / 6,
            orientations: canonical_blocks * board.symmetries().len() as u64,
            peak_shared_streams: (canonical_blocks as f64 * LIVE_SHARE) as u64,
            peak_dedicated_streams: (edges as f64 * WAITING_SHARE) as u64,
            estimated: true,
        }
    }

    /// Returns whether a layout of this many BID bits is walked rather than outlined.
    pub fn is_walked(bid_bits: u32) -> bool {
        bid_bits <= WALKED_BID_BITS_MAX
    }

    /// Returns the edges into a block, on average.
    pub fn edges_per_block(&self) -> f64 {
        self.edges as f64 / self.canonical_blocks as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outline_and_walk_agree_where_both_count() {
        for (layers, bits) in [(5, 6), (7, 7), (8, 9), (9, 12)] {
            let board = Board::triangle(layers, None).unwrap();
            let outlined = Shape::outline(&board, bits);
            let walked = Shape::of(&Layout::suggested(&board, board.cells() - outlined.bid_bits));
            assert_eq!(outlined.bid_cells, walked.bid_cells);
            assert_eq!(outlined.canonical_blocks, walked.canonical_blocks);
            assert_eq!(outlined.edges, walked.edges);
        }
    }

    #[test]
    fn the_shares_for_large_graphs_are_those_of_nine_layers() {
        let board = Board::triangle(9, None).unwrap();
        let shape = Shape::of(&Layout::suggested(&board, 30));
        let live = shape.peak_shared_streams as f64 / shape.canonical_blocks as f64;
        let waiting = shape.peak_dedicated_streams as f64 / shape.edges as f64;
        assert!((live - LIVE_SHARE).abs() < 0.03, "{live}");
        assert!((waiting - WAITING_SHARE).abs() < 0.05, "{waiting}");
    }
}
