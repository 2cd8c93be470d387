//! The order of the blocks.
//!
//! A finished block must be kept until its last target is finished. The order of evaluation decides
//! how many blocks are kept at the worst moment, and with them how much disk a solve needs.
//!
//! Ours: [`greedy`] takes blocks one after the other by a score, above all for leaving targets
//! untouched as long as possible. The same is done on the reversed graph, from the full block
//! downwards, and the result is read backwards. What a long search found ([`anneal::known`]) is
//! taken as it is. For other layouts a few weights and both directions are tried, then a few steps
//! of a search for better weights ([`anneal`]), and the order with the lowest peak wins; for a
//! graph so large that this would take a second, only what is best for nine layers with 18 bits. It
//! is a heuristic: its peak is measured, not proved. For the largest graphs of eight layers it is 1
//! % above the lowest of all tried, for those of rectangles up to 3 %.
//!
//! The peaks as parts of the canonical blocks, which the test `peaks_are_low` checks:
//!
//! | board, BID bits | numeric order | without long search | this order | no order has less |
//! |---|---|---|---|---|
//! | 8 layers, 12 bits | .605 | .449 | .448 | .218 |
//! | 9 layers, 12 bits | .612 | .402 | .395 | .218 |
//! | 9 layers, 15 bits | .584 | .410 | .392 | .205 |
//! | 9 layers, 18 bits | .588 | .423 | .423 | .191 |
//!
//! The long searches were `trinim layout --order search` with `--effort 20000 --seed 1` for eight
//! layers, `--effort 20000` for 12 and `8000` for 15 bits of nine, `--seed 3`. For eight layers
//! with 9 bits, .481, the long search found nothing better.
//!
//! # Cost
//! All arithmetic is on integers, so the order is the same on every machine. The time grows with
//! the number of edges: for 5,728 canonical blocks some 5 ms for an order of the first kind and 13
//! ms for one step of the search.

mod anneal;
mod graph;
mod greedy;

use super::{Bid, Layout};
use graph::Graph;
use greedy::{Direction, Equals, Scoring};
use pipeline::BlockId;
use std::sync::OnceLock;

/// A way to order the blocks of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockOrder {
    /// By BID.
    Numeric,
    /// By number of pieces on BID cells, then by BID.
    Pieces,
    /// [`Layout::order`] of a layout without a given order.
    Chosen,
    /// The best of the chosen order and `orders` others, which a search with this seed finds.
    Searched {
        /// The number of orders tried.
        orders: u32,
        /// The seed of the random numbers.
        seed: u64,
    },
}

/// The weight of one untouched target.
const TARGET: i64 = 100;

/// What is tried: directions, weights of one piece in hundredths of a target, and which of equals
/// comes first.
const DIRECTIONS: [Direction; 2] = [Direction::Up, Direction::Down];
const PIECE_WEIGHTS: [i64; 3] = [1, 50, 100];
const EQUALS: [Equals; 2] = [Equals::LowestFirst, Equals::HighestFirst];

/// Steps of the search for every layout; fewer if the graph has many pairs, and none if it has more
/// than this, where they would take seconds.
const QUICK_STEPS: usize = 12;
const QUICK_PAIRS: usize = 500_000;

/// Turns an order of the graph's vertices, which are ordinals, into one of blocks.
fn blocks(order: Vec<u32>) -> Vec<BlockId> {
    order.into_iter().map(BlockId).collect()
}

pub(super) fn order(layout: &Layout) -> Vec<BlockId> {
    blocks(chosen(layout, &Graph::of(layout)).0)
}

fn chosen(layout: &Layout, graph: &Graph) -> (Vec<u32>, u32) {
    anneal::known(layout, graph).unwrap_or_else(|| quick(layout, graph))
}

fn quick(layout: &Layout, graph: &Graph) -> (Vec<u32>, u32) {
    let best = greedy_orders(layout, graph);
    if graph.pairs() > QUICK_PAIRS {
        return best;
    }
    let steps = (4 * QUICK_PAIRS / graph.pairs().max(1)).min(QUICK_STEPS) as u32;
    anneal::anneal(layout, graph, best, steps, 0)
}

fn greedy_orders(layout: &Layout, graph: &Graph) -> (Vec<u32>, u32) {
    let mut best: Vec<u32> = (0..layout.canonical.len() as u32).collect();
    let mut lowest_peak = graph.peak_live_blocks(&best);
    let counts: Vec<i64> = layout.canonical.iter().map(|bid| i64::from(bid.pieces())).collect();
    let (directions, weights, equals) = match graph.pairs() <= QUICK_PAIRS {
        true => (&DIRECTIONS[..], &PIECE_WEIGHTS[..], &EQUALS[..]),
        false => (&DIRECTIONS[1..], &PIECE_WEIGHTS[..1], &EQUALS[..1]),
    };
    for &direction in directions {
        for piece_weight in weights {
            let pieces: Vec<i64> = counts.iter().map(|count| count * piece_weight).collect();
            for &equals in equals {
                let scoring = Scoring { direction, target: TARGET, shares: &[], pieces: &pieces, equals };
                let order = greedy::order(graph, &scoring);
                let peak = graph.peak_live_blocks(&order);
                if peak < lowest_peak {
                    (best, lowest_peak) = (order, peak);
                }
            }
        }
    }
    (best, lowest_peak)
}

impl Layout {
    /// Returns the layout with another order of its blocks; no result depends on the order.
    ///
    /// # Errors
    /// Returns an [`OrderError`] unless `order` has every ordinal once, children before their
    /// targets.
    pub fn with_order(self, order: Vec<BlockId>) -> Result<Layout, OrderError> {
        let mut places = vec![None; self.canonical.len()];
        for (place, &ordinal) in order.iter().enumerate() {
            let seen = places.get_mut(ordinal.index()).ok_or(OrderError::Unknown { ordinal })?;
            if seen.replace(place).is_some() {
                return Err(OrderError::Repeated { bid: self.bid(ordinal) });
            }
        }
        if let Some(missing) = places.iter().position(Option::is_none) {
            return Err(OrderError::Missing { bid: self.canonical[missing] });
        }
        for &target in &order {
            for edge in self.edges_into(target) {
                if places[edge.source.index()] > places[target.index()] {
                    let [child, target] = [edge.source, target].map(|ordinal| self.bid(ordinal));
                    return Err(OrderError::NotTopological { child, target });
                }
            }
        }
        Ok(Layout { order: OnceLock::from(order), ..self })
    }

    /// Returns the blocks in an order of this kind, as [`Layout::order`] returns them.
    pub fn ordered(&self, kind: BlockOrder) -> Vec<BlockId> {
        let numeric = || self.ordinals().collect::<Vec<BlockId>>();
        match kind {
            BlockOrder::Numeric => numeric(),
            BlockOrder::Pieces => {
                let mut order = numeric();
                order.sort_by_key(|ordinal| self.bid(*ordinal).pieces());
                order
            }
            BlockOrder::Chosen => order(self),
            BlockOrder::Searched { orders, seed } => {
                let graph = Graph::of(self);
                blocks(anneal::anneal(self, &graph, chosen(self, &graph), orders, seed).0)
            }
        }
    }

    /// Returns the largest number of finished canonical blocks that an unfinished target still
    /// needs at some moment, if the blocks are evaluated in `order`, which must have every ordinal
    /// once.
    pub fn peak_live_blocks(&self, order: &[BlockId]) -> u32 {
        let order: Vec<u32> = order.iter().map(|block| block.0).collect();
        Graph::of(self).peak_live_blocks(&order)
    }

    /// Returns a lower bound on the peak of live blocks of every order.
    ///
    /// Consider the unfinished blocks. Each finished block that differs from one of them by a
    /// single piece is live, so the live ones are at least the neighbours of a set of corners of
    /// the `b`-dimensional cube. By Harper's theorem the fewest neighbours of a set of a given
    /// size, at the worst size, are the sum of `C(m, m/2)` for all `m < b` (Chandran and Kavitha,
    /// The treewidth and pathwidth of hypercubes, 2006). The set shrinks by a whole group at a
    /// time, so it may miss the worst size by one less than the number of symmetries, each costing
    /// at most a neighbour; and a group has at most as many blocks as there are symmetries.
    pub fn peak_at_least(&self) -> u32 {
        let (bits, symmetries) = (u64::from(self.bid_bits()), self.symmetries.len() as u64);
        let middle = |m: u64| (1..=m / 2).fold(1, |product, i| product * (m - m / 2 + i) / i);
        let neighbours: u64 = (0..bits).map(middle).sum();
        neighbours.saturating_sub(symmetries - 1).div_ceil(symmetries) as u32
    }
}

/// A reason why a list of blocks is not an order of a layout's blocks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OrderError {
    /// No canonical block has this ordinal.
    #[error("there is no canonical block number {ordinal}")]
    Unknown {
        /// The ordinal.
        ordinal: BlockId,
    },
    /// A block is listed twice.
    #[error("block {bid} is listed twice")]
    Repeated {
        /// The BID of the block.
        bid: Bid,
    },
    /// A block is missing.
    #[error("block {bid} is missing: expected every canonical block once")]
    Missing {
        /// The BID of the block.
        bid: Bid,
    },
    /// A block comes before one that updates it.
    #[error("block {target} comes before block {child}, which updates it")]
    NotTopological {
        /// The BID of the canonical block that must come first.
        child: Bid,
        /// The BID of the block that must come later.
        target: Bid,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use trinim_game::Board;

    fn suggested(layers: u32, offset_bits_at_most: u32) -> Layout {
        Layout::suggested(&Board::triangle(layers, None).unwrap(), offset_bits_at_most)
    }

    /// Invariant 2 of the layout and the promise of `order`.
    #[test]
    fn children_come_before_their_targets() {
        for (layers, bits) in [(1, 0), (3, 3), (5, 9), (6, 10), (7, 16), (8, 27)] {
            let layout = suggested(layers, bits);
            for order in [layout.order(), layout.ordered(BlockOrder::Numeric)] {
                let mut place = vec![None; order.len()];
                for (at, &ordinal) in order.iter().enumerate() {
                    assert_eq!(place[ordinal.index()].replace(at), None);
                }
                for &target in &order {
                    for edge in layout.edges_into(target) {
                        assert!(place[edge.source.index()] < place[target.index()]);
                    }
                }
            }
        }
    }

    #[test]
    fn peaks_are_low() {
        for (layers, bits, of_numeric, of_chosen) in [(8, 24, 605, 448), (9, 33, 612, 395), (9, 30, 584, 392)] {
            let layout = suggested(layers, bits);
            let blocks = layout.canonical_blocks().len() as u32;
            let permille =
                |order: &[BlockId]| (f64::from(layout.peak_live_blocks(order)) / f64::from(blocks) * 1e3).round();
            assert_eq!(permille(&layout.ordered(BlockOrder::Numeric)), f64::from(of_numeric));
            assert_eq!(permille(&layout.order()), f64::from(of_chosen));
            // What is known is taken without a look at others.
            let graph = Graph::of(&layout);
            assert!(chosen(&layout, &graph).1 < quick(&layout, &graph).1);
        }
        // Twelve orders and two steps of the search found nothing better.
        let layout = suggested(9, 27);
        assert_eq!(layout.peak_live_blocks(&layout.order()), 18_706);
    }
}
