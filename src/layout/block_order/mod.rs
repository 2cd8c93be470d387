//! The order of the blocks.
//!
//! A finished block is kept until its last target is finished. The order decides how many blocks
//! are kept at the peak, and with them how much disk a solve needs.
//!
//! Ours. [`greedy`] makes an order by score, forwards, or backwards on the reversed graph. For the
//! default layouts, [`anneal::known`] has the result of a long search. For other layouts, a few
//! weights and both directions are tried, then a short search for better weights ([`anneal`]), and
//! the lowest peak wins. A graph for which this would take a second gets the best rule for nine
//! layers with 18 bits. The order is a heuristic; its peak is measured, not proved minimal. On
//! large graphs, it is up to 1 % above the best order known for eight layers, and up to 3 % for
//! rectangles.
//!
//! Peaks as shares of the canonical blocks, checked by the test `peaks_are_low`:
//!
//! | board, BID bits | numeric order | without a known rule | this order |
//! |---|---|---|---|
//! | 8 layers, 12 bits | .725 | .448 | .448 |
//! | 9 layers, 12 bits | .725 | .400 | .395 |
//! | 9 layers, 15 bits | .738 | .414 | .392 |
//! | 9 layers, 18 bits | .740 | .423 | .423 |
//!
//! # Cost
//! The time grows with the number of edges. All arithmetic is on integers, so the order is the same
//! on every machine.

mod anneal;
mod graph;
mod greedy;

use super::Layout;
use graph::Graph;
use greedy::{Direction, Equals, Scoring};
use pipeline::BlockId;

/// The weight of one untouched target.
const TARGET: i64 = 100;

/// The variants that are tried: directions, weights of one piece in hundredths of a target, and
/// which of equals comes first.
const DIRECTIONS: [Direction; 2] = [Direction::Up, Direction::Down];
const PIECE_WEIGHTS: [i64; 3] = [1, 50, 100];
const EQUALS: [Equals; 2] = [Equals::HighestFirst, Equals::LowestFirst];

/// Steps of the search for every layout; fewer if the graph has many pairs, and none if it has more
/// than this, where they would take seconds.
const QUICK_STEPS: usize = 12;
const QUICK_PAIRS: usize = 500_000;

pub(super) fn order(layout: &Layout) -> Vec<BlockId> {
    let order: Vec<BlockId> = chosen(layout, &Graph::new(layout)).0.into_iter().map(BlockId).collect();
    debug_assert!(is_topological(layout, &order), "layout, invariant 2: a block comes before its child");
    order
}

/// Whether an order has each block once, after all its children.
fn is_topological(layout: &Layout, order: &[BlockId]) -> bool {
    let mut is_done = vec![false; layout.canonical.len()];
    let fits = |&block: &BlockId| {
        let has_children = layout.edges_into(block).iter().all(|edge| is_done[edge.source.index()]);
        has_children && !std::mem::replace(&mut is_done[block.index()], true)
    };
    order.len() == layout.canonical.len() && order.iter().all(fits)
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
    /// Returns the largest number of finished canonical blocks that an unfinished target still
    /// needs at some moment, if the blocks are evaluated in `order`, which must have every ordinal
    /// once.
    pub fn peak_live_blocks(&self, order: &[BlockId]) -> u32 {
        let order: Vec<u32> = order.iter().map(|block| block.0).collect();
        Graph::new(self).peak_live_blocks(&order)
    }
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
            for order in [layout.order(), layout.ordinals().collect()] {
                assert!(is_topological(&layout, &order));
            }
            let reversed: Vec<BlockId> = layout.ordinals().rev().collect();
            assert_eq!(is_topological(&layout, &reversed), layout.canonical_blocks().len() == 1);
        }
    }

    #[test]
    fn peaks_are_low() {
        for (layers, bits, of_numeric, of_chosen) in [(8, 24, 725, 448), (9, 33, 725, 395), (9, 30, 738, 392)] {
            let layout = suggested(layers, bits);
            let blocks = layout.canonical_blocks().len() as u32;
            let permille =
                |order: &[BlockId]| (f64::from(layout.peak_live_blocks(order)) / f64::from(blocks) * 1e3).round();
            assert_eq!(permille(&layout.ordinals().collect::<Vec<_>>()), f64::from(of_numeric));
            assert_eq!(permille(&layout.order()), f64::from(of_chosen));
            // What is known is taken without a look at others, whatever cells the bits are.
            let graph = Graph::new(&layout);
            let (chosen, quick) = (chosen(&layout, &graph).1, quick(&layout, &graph).1);
            if layers == 8 {
                continue;
            }
            assert!(chosen < quick, "{chosen}, {quick}");
            let mut by_index = layout.bid_cells().to_vec();
            by_index.sort_unstable();
            let by_index = Layout::from_cells(&Board::triangle(layers, None).unwrap(), &by_index).unwrap();
            assert_eq!(by_index.peak_live_blocks(&by_index.order()), chosen);
        }
        // Twelve orders and two steps of the search found nothing better.
        let layout = suggested(9, 27);
        assert_eq!(layout.peak_live_blocks(&layout.order()), 18_715);
    }
}
