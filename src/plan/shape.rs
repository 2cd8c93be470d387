//! The figures of a layout that every estimate rests on.

use super::rates;
use crate::game::Board;
use crate::layout::{Layout, search};
use pipeline::Placement;
use std::collections::{BTreeSet, VecDeque};

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
    /// The walk, block by block; empty if the graph was not walked.
    #[serde(skip)]
    pub(super) steps: Vec<Step>,
}

/// What one block adds and makes superfluous, for [shared, dedicated] logs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Step {
    /// Work of the block, in edges.
    work: f64,
    /// Streams that it writes.
    sent: [u32; 2],
    /// Streams that nothing needs after it.
    retired: [u32; 2],
    /// Its sources, by their places in the walk.
    sources: Vec<u32>,
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
            steps: Vec::new(),
        };
        let restrictions: Vec<u64> = layout
            .traces()
            .iter()
            .map(|trace| trace.operations.iter().fold(u64::MAX, |common, mask| common & mask))
            .collect();
        let mut waiting = 0;
        let mut last_use = vec![None; order.len()];
        let mut places = vec![0; order.len()];
        (0..).zip(&order).for_each(|(place, block)| places[block.index()] = place);
        for (place, block) in order.iter().enumerate() {
            layout.edges_into(*block).iter().for_each(|edge| last_use[edge.source.index()] = Some(place));
        }
        shape.steps = vec![Step::default(); order.len()];
        last_use.iter().flatten().for_each(|place: &usize| shape.steps[*place].retired[0] += 1);
        for (place, block) in order.into_iter().enumerate() {
            let (into, from) = (layout.edges_into(block), layout.edges_from(block));
            shape.edges += into.len() as u64;
            shape.loads += into.chunk_by(|one, next| one.source == next.source).count() as u64;
            shape.turned_edges += into.iter().filter(|edge| edge.symmetry != 0).count() as u64;
            let turns: BTreeSet<(u8, u64)> =
                from.iter().map(|edge| (edge.symmetry, restrictions[edge.trace.0 as usize])).collect();
            shape.orientations += turns.len() as u64;
            // A block deletes its own logs only after its streams are written.
            waiting += from.len() as u64;
            let Step { work, sent, retired, sources } = &mut shape.steps[place];
            *sources = into.iter().map(|edge| places[edge.source.index()]).collect();
            sources.dedup();
            *work = into.len() as f64 + rates::block_weight(&rates::MEASURED);
            *sent = [u32::from(!from.is_empty()), from.len() as u32];
            retired[1] = into.len() as u32;
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
            steps: Vec::new(),
        }
    }

    /// Returns the most bytes of logs, and of logs and database together, at any time of the walk.
    /// A stream takes `stream_bytes`, a published block `block_bytes`, and a stream that nothing
    /// needs is deleted once a further share `delay` of all work is done. `None` if the graph was
    /// not walked.
    pub(super) fn peaks(&self, placement: Placement, sizes: [f64; 2], delay: f64) -> Option<[f64; 2]> {
        let [stream_bytes, block_bytes] = sizes;
        let logs = usize::from(placement == Placement::Dedicated);
        let all: f64 = self.steps.iter().map(|step| step.work).sum();
        let (mut sent, mut retired, mut now) = (0.0, 0.0, 0.0);
        let mut late = self.steps.iter();
        let mut late_until = late.as_slice().first()?.work;
        let mut peaks = [0.0_f64; 2];
        for (place, step) in self.steps.iter().enumerate() {
            now += step.work;
            sent += f64::from(step.sent[logs]);
            while late_until <= now - delay * all
                && let Some(step) = late.next()
            {
                retired += f64::from(step.retired[logs]);
                late_until += late.as_slice().first().map_or(f64::INFINITY, |next| next.work);
            }
            let log_bytes = stream_bytes * (sent - retired);
            let both = log_bytes + block_bytes * (place + 1) as f64;
            peaks = [peaks[0].max(log_bytes), peaks[1].max(both)];
        }
        Some(peaks)
    }

    /// Returns how many of the [`loads`](Shape::loads) find their stream in memory if `most`
    /// streams are held, as the engine holds them: the stream whose next use is furthest away makes
    /// room. 0 if the graph was not walked.
    pub fn loads_from_memory(&self, most: u64) -> u64 {
        let mut uses: Vec<VecDeque<u32>> = vec![VecDeque::new(); self.steps.len()];
        for (place, step) in (0..).zip(&self.steps) {
            step.sources.iter().for_each(|source| uses[*source as usize].push_back(place));
        }
        // Of each held stream its next use, and itself.
        let mut held: BTreeSet<(u32, u32)> = BTreeSet::new();
        let mut found = 0;
        for (place, step) in (0..).zip(&self.steps) {
            for source in step.sources.iter().chain([&place]) {
                let uses = &mut uses[*source as usize];
                if *source != place {
                    found += u64::from(held.remove(&(place, *source)));
                    uses.pop_front();
                }
                held.extend(uses.front().map(|next| (*next, *source)));
                if held.len() as u64 > most {
                    held.pop_last();
                }
            }
        }
        found
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

    /// Without delay the walk finds the largest number of streams that are needed at a time; with a
    /// delay as long as the solve, nothing is deleted.
    #[test]
    fn the_peak_lies_between_what_is_needed_and_what_is_written() {
        for (layers, bits) in [(5, 9), (6, 12), (7, 18), (8, 27)] {
            let board = Board::triangle(layers, None).unwrap();
            let shape = Shape::of(&Layout::suggested(&board, bits));
            let streams = |placement, delay| shape.peaks(placement, [1.0, 0.0], delay).unwrap()[0] as u64;
            let sources = shape.steps.iter().filter(|step| step.sent[1] > 0).count() as u64;
            assert_eq!(streams(Placement::Shared, 2.0), sources);
            assert_eq!(streams(Placement::Dedicated, 2.0), shape.edges);
            assert!(streams(Placement::Shared, 0.0) <= shape.peak_shared_streams, "{layers}");
            assert!(streams(Placement::Dedicated, 0.0) <= shape.peak_dedicated_streams, "{layers}");
            let half = streams(Placement::Shared, 0.5);
            assert!((streams(Placement::Shared, 0.0)..=sources).contains(&half), "{layers}");
            let both = shape.peaks(Placement::Shared, [0.0, 1.0], 0.0).unwrap()[1];
            assert_eq!(both as u64, shape.canonical_blocks);
        }
    }

    /// With room for all that are needed at a time, every stream is found in memory; with room for
    /// none, none; and in between what a search through all streams finds.
    #[test]
    fn streams_in_memory_are_those_used_soonest() {
        for (layers, bits) in [(5, 9), (6, 12), (7, 18), (8, 27)] {
            let board = Board::triangle(layers, None).unwrap();
            let shape = Shape::of(&Layout::suggested(&board, bits));
            let loads: usize = shape.steps.iter().map(|step| step.sources.len()).sum();
            assert_eq!(loads as u64, shape.loads);
            assert_eq!(shape.loads_from_memory(0), 0);
            assert_eq!(shape.loads_from_memory(shape.peak_shared_streams + 1), shape.loads);
            for most in [1, 3, 10] {
                let next = |source: u32, after: usize| {
                    let later = shape.steps.iter().enumerate().skip(after);
                    later.filter(|(_, step)| step.sources.contains(&source)).map(|(place, _)| place).next()
                };
                let (mut held, mut found) = (Vec::new(), 0);
                for (place, step) in shape.steps.iter().enumerate() {
                    for (at, source) in step.sources.iter().copied().chain([place as u32]).enumerate() {
                        found += u64::from(held.contains(&source));
                        held.retain(|other| *other != source);
                        held.extend(next(source, place + 1).map(|_| source));
                        // The sources of this block that are still to come are used next of all.
                        let is_to_come = |other: u32| step.sources.iter().skip(at + 1).any(|to_come| *to_come == other);
                        let use_of =
                            |other: &u32| if is_to_come(*other) { Some(place) } else { next(*other, place + 1) };
                        if held.len() > most {
                            let last = (0..held.len()).max_by_key(|at| (use_of(&held[*at]), held[*at])).unwrap();
                            held.remove(last);
                        }
                    }
                }
                assert_eq!(shape.loads_from_memory(most as u64), found, "{layers} layers, {most}");
            }
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
