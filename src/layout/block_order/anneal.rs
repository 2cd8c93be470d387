//! A search for the weights of the greedy order.
//!
//! The score of [`super::greedy`] has weights, and good ones depend on the graph. Threshold
//! accepting (Dueck and Scheuer 1990) finds them: change a few at random, and keep the change if
//! the peak grows by no more than a threshold that sinks to zero. Several short rounds start in
//! turn from the initial weights and from the best weights found. One step costs one greedy order.
//! Varying the rule instead of the finished order is ours.

use super::graph::Graph;
use super::greedy::{self, Direction, Equals, Scoring};
use crate::layout::{Bid, Layout};
use std::collections::BTreeSet;
use trinim_game::random::Random;

/// The share of a child that waits only for its last target.
const WHOLE_SHARE: f64 = 1e6;
/// The most remaining targets at which a child has a share.
const SHARES: usize = 48;
const ROUND: u32 = 400;
/// The initial threshold: the peak may grow by one block in this many.
const THRESHOLD_PART: u64 = 400;
/// The largest change of a weight in one step.
const CELL_STEP: usize = 150_000;
const TARGET_STEP: usize = 45_000;
const TARGET_MAX: i64 = 1_000_000;
/// The exponents of the shares, in quarters.
const EXPONENTS: std::ops::RangeInclusive<i64> = 1..=32;

#[derive(Clone, Debug)]
struct Rule {
    /// A child with `l` remaining targets has a share of `l` to the power of minus a quarter of
    /// this.
    quarters: i64,
    target: i64,
    cells: Vec<i64>,
}

impl Rule {
    /// Returns the order of this rule; `images` are those of every block.
    fn order(&self, graph: &Graph, images: &[Vec<u32>]) -> Vec<u32> {
        // Square roots and products are exact to the last bit on every machine; powers may not be.
        let share = |left: usize| {
            let quarter = (left as f64).sqrt().sqrt();
            (WHOLE_SHARE / (0..self.quarters).fold(1.0, |product, _| product * quarter)) as i64
        };
        let shares: Vec<i64> = (0..SHARES).map(|left| if left == 0 { 0 } else { share(left) }).collect();
        let weight = |bid: u32| {
            let cells = self.cells.iter().enumerate().filter(|(bit, _)| bid >> bit & 1 == 1);
            cells.map(|(_, weight)| weight).sum::<i64>()
        };
        let pieces: Vec<i64> =
            images.iter().map(|images| images.iter().map(|&bid| weight(bid)).min().unwrap_or(0)).collect();
        let (direction, equals) = (Direction::Up, Equals::LowestFirst);
        greedy::order(graph, &Scoring { direction, target: self.target, shares: &shares, pieces: &pieces, equals })
    }

    fn change(&mut self, random: &mut Random) {
        for _ in 0..=random.below(3) {
            // The sum of two random numbers makes small steps frequent.
            let mut step = |most: usize| (random.index(most) + random.index(most)) as i64 - most as i64;
            let (exponent, target, cell) = (step(4), step(TARGET_STEP), step(CELL_STEP));
            match random.index(self.cells.len() + 2) {
                0 => self.quarters = (self.quarters + exponent).clamp(*EXPONENTS.start(), *EXPONENTS.end()),
                1 => self.target = (self.target + target).clamp(0, TARGET_MAX),
                bit => self.cells[bit - 2] += cell,
            }
        }
    }
}

/// Returns the images of every canonical block, its own BID among them.
fn images(layout: &Layout) -> Vec<Vec<u32>> {
    let images = |bid: Bid| layout.symmetries.iter().map(move |symmetry| symmetry.map_bid(bid).0);
    let distinct = |bid: &Bid| images(*bid).collect::<BTreeSet<u32>>().into_iter().collect();
    layout.canonical.iter().map(distinct).collect()
}

/// Returns the best of `orders` orders, or `best` with its peak if none has a lower one.
pub(super) fn anneal(layout: &Layout, graph: &Graph, best: (Vec<u32>, u32), orders: u32, seed: u64) -> (Vec<u32>, u32) {
    let mut best = best;
    let images = images(layout);
    let mut random = Random::new(seed);
    let first = Rule { quarters: 8, target: 60_000, cells: vec![50_000; layout.bid_cells.len()] };
    let (mut best_rule, mut best_rule_peak) = (first.clone(), u32::MAX);
    let mut left = orders;
    for round in 0.. {
        let steps = left.min(ROUND);
        if steps == 0 {
            break;
        }
        left -= steps;
        let mut rule = if round % 2 == 0 { first.clone() } else { best_rule.clone() };
        let mut accepted = u32::MAX;
        for step in 0..steps {
            let mut changed = rule.clone();
            if step > 0 || round > 0 {
                changed.change(&mut random);
            }
            let order = changed.order(graph, &images);
            let peak = graph.peak_live_blocks(&order);
            if peak < best_rule_peak {
                (best_rule, best_rule_peak) = (changed.clone(), peak);
            }
            if peak < best.1 {
                best = (order, peak);
            }
            let threshold = graph.blocks() as u64 * u64::from(steps - step) / (u64::from(steps) * THRESHOLD_PART);
            if u64::from(peak) <= u64::from(accepted) + threshold {
                (rule, accepted) = (changed, peak);
            }
        }
    }
    best
}

/// A rule that a search of 8,000 to 20,000 orders found for a layout that solves take by default.
/// Its peak is in the table of the [page](super).
struct KnownRule {
    layers: u32,
    /// The cells, by index, in any bit order.
    bid_cells: &'static [u8],
    quarters: i64,
    target: i64,
    /// The weights of these cells.
    cells: &'static [i64],
}

const KNOWN: [KnownRule; 2] = [
    KnownRule {
        layers: 9,
        bid_cells: &[4, 6, 9, 12, 15, 20, 23, 25, 29, 34, 39, 41],
        quarters: 9,
        target: 75_070,
        cells: &[50_000, 141_603, 43_298, 50_000, 80_918, 50_000, 22_297, 201_595, 15_568, 50_000, 58_376, 50_000],
    },
    KnownRule {
        layers: 9,
        bid_cells: &[0, 4, 6, 9, 12, 15, 20, 23, 25, 29, 34, 36, 39, 41, 44],
        quarters: 10,
        target: 44_188,
        cells: &[
            -85_135, 154_422, 4280, -8091, -56_866, 55_052, 30_238, 762_635, 124_258, -44_136, 104_753, 130_879,
            27_984, 122_364, 56_506,
        ],
    },
];

/// Returns the order and its peak, if a rule is known for the layout.
pub(super) fn known(layout: &Layout, graph: &Graph) -> Option<(Vec<u32>, u32)> {
    let (layers, bits) = (layout.layers()?, layout.bid_cells());
    let known = KNOWN.iter().find(|known| known.layers == layers && known.bid_cells.len() == bits.len())?;
    let weight = |cell: &u8| Some(known.cells[known.bid_cells.binary_search(cell).ok()?]);
    let cells = bits.iter().map(weight).collect::<Option<Vec<_>>>()?;
    let rule = Rule { quarters: known.quarters, target: known.target, cells };
    let order = rule.order(graph, &images(layout));
    let peak = graph.peak_live_blocks(&order);
    Some((order, peak))
}
