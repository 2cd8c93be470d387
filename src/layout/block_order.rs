//! # The order of the blocks
//!
//! A finished block must be kept until its last target is finished. The order of evaluation decides how many blocks are
//! kept at the worst moment, and with them how much disk a solve needs.
//!
//! Ours, a *soft greedy* order: of the blocks whose children are all finished, take the one with the largest sum, over
//! its children, of `1 / (unfinished targets of the child)^alpha`, minus a little for its number of pieces. A child with
//! one unfinished target is freed at once and counts most; a child with many hardly counts. The same is done on the
//! reversed graph and the result reversed, for a few parameters, and the best order of all is taken. Complementing blocks
//! reverses the graph but for the labels, so neither direction is the natural one.
//!
//! All arithmetic is on integers, so the order is the same on every machine.

use super::Layout;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The fixed-point value of 1.
const ONE: i64 = 1 << 40;

/// Which blocks need which: canonical blocks only, each pair once.
struct Graph {
    children: Lists,
    targets: Lists,
    pieces: Vec<i64>,
}

/// A list of blocks for each block, one after the other.
struct Lists {
    starts: Vec<u32>,
    blocks: Vec<u32>,
}

impl Lists {
    fn of(&self, block: u32) -> &[u32] {
        let block = block as usize;
        &self.blocks[self.starts[block] as usize..self.starts[block + 1] as usize]
    }

    fn transposed(&self) -> Lists {
        let blocks = self.starts.len() - 1;
        let mut starts = vec![0; blocks + 1];
        for &block in &self.blocks {
            starts[block as usize + 1] += 1;
        }
        for block in 0..blocks {
            starts[block + 1] += starts[block];
        }
        let mut free = starts.clone();
        let mut transposed = vec![0; self.blocks.len()];
        for block in 0..blocks as u32 {
            for &other in self.of(block) {
                transposed[free[other as usize] as usize] = block;
                free[other as usize] += 1;
            }
        }
        Lists {
            starts,
            blocks: transposed,
        }
    }
}

impl Graph {
    fn of(layout: &Layout) -> Graph {
        let mut children = Lists {
            starts: vec![0],
            blocks: Vec::new(),
        };
        for target in 0..layout.canonical.len() as u32 {
            let edges = layout.edges_into(target);
            children.blocks.extend(
                edges
                    .chunk_by(|one, next| one.source == next.source)
                    .map(|same| same[0].source),
            );
            children.starts.push(children.blocks.len() as u32);
        }
        Graph {
            targets: children.transposed(),
            children,
            pieces: layout
                .canonical
                .iter()
                .map(|bid| i64::from(bid.count_ones()))
                .collect(),
        }
    }

    fn reversed(self) -> Graph {
        Graph {
            children: self.targets,
            targets: self.children,
            pieces: self.pieces.iter().map(|pieces| -pieces).collect(),
        }
    }

    fn blocks(&self) -> usize {
        self.pieces.len()
    }

    fn soft_greedy(&self, alpha: u32, piece_weight: i64) -> Vec<u32> {
        let worth = |targets: i64| ONE / targets.pow(alpha);
        let blocks = 0..self.blocks() as u32;
        let mut targets_left: Vec<i64> = blocks
            .clone()
            .map(|block| self.targets.of(block).len() as i64)
            .collect();
        let mut children_left: Vec<usize> = blocks
            .clone()
            .map(|block| self.children.of(block).len())
            .collect();
        let mut scores: Vec<i64> = blocks
            .clone()
            .map(|block| {
                let children = self.children.of(block).iter();
                children
                    .map(|&child| worth(targets_left[child as usize]))
                    .sum::<i64>()
                    - piece_weight * self.pieces[block as usize]
            })
            .collect();
        // A score only grows, so the newest entry of a block is met first; older ones are recognised and dropped.
        let mut available: BinaryHeap<(i64, Reverse<u32>)> = blocks
            .filter(|&block| children_left[block as usize] == 0)
            .map(|block| (scores[block as usize], Reverse(block)))
            .collect();
        let mut finished = vec![false; self.blocks()];
        let mut order = Vec::with_capacity(self.blocks());
        while let Some((_, Reverse(block))) = available.pop() {
            if std::mem::replace(&mut finished[block as usize], true) {
                continue;
            }
            order.push(block);
            for &child in self.children.of(block) {
                let left = &mut targets_left[child as usize];
                *left -= 1;
                if *left == 0 {
                    continue;
                }
                let gain = worth(*left) - worth(*left + 1);
                for &target in self.targets.of(child) {
                    if !finished[target as usize] {
                        scores[target as usize] += gain;
                        if children_left[target as usize] == 0 {
                            available.push((scores[target as usize], Reverse(target)));
                        }
                    }
                }
            }
            for &target in self.targets.of(block) {
                children_left[target as usize] -= 1;
                if children_left[target as usize] == 0 {
                    available.push((scores[target as usize], Reverse(target)));
                }
            }
        }
        order
    }

    fn peak_live_blocks(&self, order: &[u32]) -> u32 {
        let mut targets_left: Vec<usize> = (0..self.blocks() as u32)
            .map(|block| self.targets.of(block).len())
            .collect();
        let (mut live, mut peak) = (0, 0);
        for &block in order {
            live += u32::from(targets_left[block as usize] > 0);
            peak = peak.max(live);
            for &child in self.children.of(block) {
                targets_left[child as usize] -= 1;
                live -= u32::from(targets_left[child as usize] == 0);
            }
        }
        peak
    }
}

/// The powers tried, from a look at all layouts of [`super::search`] for eight and nine layers.
const ALPHAS: [u32; 3] = [2, 3, 4];
/// The weights of a piece tried, in hundredths.
const PIECE_WEIGHTS: [i64; 3] = [3, 6, 10];

pub(super) fn order(layout: &Layout) -> Vec<u32> {
    let forward = Graph::of(layout);
    let mut best = (
        forward.peak_live_blocks(&layout_order(&forward)),
        layout_order(&forward),
    );
    let mut consider = |order: Vec<u32>| {
        let peak = forward.peak_live_blocks(&order);
        if peak < best.0 {
            best = (peak, order);
        }
    };
    for alpha in ALPHAS {
        for weight in PIECE_WEIGHTS {
            consider(forward.soft_greedy(alpha, ONE * weight / 100));
        }
    }
    let reversed = Graph::of(layout).reversed();
    for alpha in ALPHAS {
        for weight in PIECE_WEIGHTS {
            let mut order = reversed.soft_greedy(alpha, ONE * weight / 100);
            order.reverse();
            consider(order);
        }
    }
    best.1
}

fn layout_order(graph: &Graph) -> Vec<u32> {
    (0..graph.blocks() as u32).collect()
}

pub(super) fn peak_live_blocks(layout: &Layout, order: &[u32]) -> u32 {
    Graph::of(layout).peak_live_blocks(order)
}
