//! The blocks of a store, their sources and costs; one by one, or in batches.
//!
//! # Batches
//! Some BID cells are *inner* cells, a set that the symmetries keep. A batch has the canonical
//! blocks with the same pieces on all other BID cells, up to a symmetry. Their edges among each
//! other stay in memory, and a source outside is read once for all of them. A move that touches
//! outer cells takes pieces from them, so batches never depend on each other in a circle.
//!
//! Inner cells are added in the order that makes batches read least. For ten layers these are the
//! six cells next to the corners; batches then read 0.60 of what single blocks read, and with three
//! more cells 0.46.

use pipeline::BlockId;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use trinim::database::{Keep, SolveSpec, Values};
use trinim::layout::{Bid, Layout, LayoutSymmetry};
use trinim::plan::rates;

/// The most blocks that are planned as one task each, unless batches are requested.
pub const ALONE: u32 = 100_000;

/// A block and what it needs, on a line of its own; sources come before their targets.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct BlockRow {
    /// The block.
    pub block: u32,
    /// Length of the longest path to it from a block without sources.
    pub level: u32,
    /// The blocks whose files it reads, ascending.
    pub sources: Vec<u32>,
    /// Number of blocks that read its file.
    pub targets: u32,
    /// Estimated time of one worker in seconds, by the rates of `trinim plan`.
    pub cost: f64,
}

/// A batch of blocks and what it needs, on a line of its own; sources come before their targets.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct BatchRow {
    /// The batch.
    pub batch: u32,
    /// Its blocks, in an order in which they can be computed.
    pub blocks: Vec<u32>,
    /// The batches whose files it reads, ascending.
    pub sources: Vec<u32>,
    /// Number of files that it reads, if it has room for all its blocks.
    pub reads: u32,
    /// Length of the longest path to it from a batch without sources.
    pub level: u32,
    /// Estimated time of one worker in seconds.
    pub cost: f64,
}

/// Returns all blocks in the order of a solve, sources before their targets.
pub fn plan(spec: SolveSpec<'_>) -> Vec<BlockRow> {
    let mut rows: Vec<BlockRow> = Vec::new();
    let cost = cost(spec);
    each_block(spec, |block, sources, [edges, oriented]| {
        for source in sources {
            rows[*source as usize].targets += 1;
        }
        let level = sources.iter().map(|source| rows[*source as usize].level + 1).max().unwrap_or(0);
        let cost = rounded(cost(1.0, edges as f64, oriented as f64, sources.len() as f64));
        rows.push(BlockRow { block, level, sources: sources.to_vec(), targets: 0, cost });
    });
    let places = places(spec);
    rows.sort_by_key(|row| places[row.block as usize]);
    rows
}

/// Returns the place of each block in the order of a solve.
pub(super) fn places(spec: SolveSpec<'_>) -> Vec<u32> {
    let mut places = vec![0; spec.blocks() as usize];
    for (place, block) in (0..).zip(spec.game.layout.order()) {
        places[block.index()] = place;
    }
    places
}

/// Returns all blocks in about `wanted` batches, sources before their targets.
pub fn batches(spec: SolveSpec<'_>, wanted: u32) -> Vec<BatchRow> {
    let keys = keys(&spec.game.layout, wanted);
    // A batch needs only batches with fewer pieces on the outer cells.
    let mut all = keys.clone();
    all.sort_unstable_by_key(|key| (key.count_ones(), *key));
    all.dedup();
    let places: HashMap<u32, u32> = all.iter().copied().zip(0..).collect();
    let batch_of: Vec<u32> = keys.iter().map(|key| places[key]).collect();
    let new = |batch| BatchRow { batch, blocks: Vec::new(), sources: Vec::new(), reads: 0, level: 0, cost: 0.0 };
    let mut batches: Vec<BatchRow> = (0..all.len() as u32).map(new).collect();
    let mut counts = vec![[0_usize; 3]; all.len()];
    each_block(spec, |block, sources, [edges, oriented]| {
        let batch = batch_of[block as usize];
        let row = &mut batches[batch as usize];
        row.blocks.push(block);
        row.sources.extend(sources.iter().filter(|source| batch_of[**source as usize] != batch));
        let sum = &mut counts[batch as usize];
        [edges, oriented, sources.len()].into_iter().zip(sum).for_each(|(more, sum)| *sum += more);
    });
    let cost = cost(spec);
    for batch in 0..batches.len() {
        let mut sources = std::mem::take(&mut batches[batch].sources);
        let distinct = |sources: &mut Vec<u32>| {
            sources.sort_unstable();
            sources.dedup();
            sources.len() as u32
        };
        batches[batch].reads = distinct(&mut sources);
        sources.iter_mut().for_each(|source| *source = batch_of[*source as usize]);
        distinct(&mut sources);
        batches[batch].level = sources.iter().map(|source| batches[*source as usize].level + 1).max().unwrap_or(0);
        batches[batch].sources = sources;
        // A source is decoded, and oriented, once for all blocks.
        let [edges, oriented, loads] = counts[batch].map(|count| count as f64);
        let reads = f64::from(batches[batch].reads);
        let blocks = batches[batch].blocks.len() as f64;
        batches[batch].cost = rounded(cost(blocks, edges, oriented * reads / loads.max(1.0), reads));
    }
    batches
}

/// Returns for each block the BID bits on outer cells that are common to its batch, up to a
/// symmetry. The inner cells are chosen so that there are about `wanted` batches.
fn keys(layout: &Layout, wanted: u32) -> Vec<u32> {
    let wanted = f64::from(wanted.max(1));
    let mut inner = 0;
    let mut best: Option<(f64, Vec<u32>)> = None;
    loop {
        let outer = |symmetry: &LayoutSymmetry, bid: &Bid| symmetry.map_bid(*bid).0 & !inner;
        let key = |bid: &Bid| layout.symmetries().iter().map(|symmetry| outer(symmetry, bid)).min().unwrap_or(0);
        let keys: Vec<u32> = layout.canonical_blocks().iter().map(key).collect();
        let found = keys.iter().collect::<HashSet<_>>().len() as f64;
        // Nearest by ratio; of equals the finer.
        let distance = (found / wanted).max(wanted / found);
        if best.as_ref().is_none_or(|(least, _)| distance < *least) {
            best = Some((distance, keys));
        }
        match more_inner(layout, inner) {
            Some(more) if found > wanted => inner = more,
            _ => return best.map(|(_, keys)| keys).unwrap_or_default(),
        }
    }
}

/// Returns the inner cells and more cells, images of each other, with which batches read least;
/// `None` if all are inner.
fn more_inner(layout: &Layout, inner: u32) -> Option<u32> {
    let images = |bit: u32| layout.symmetries().iter().fold(0, |all, symmetry| all | symmetry.map_bid(Bid(bit)).0);
    let orbits: BTreeSet<u32> = (0..layout.bid_bits()).map(|bit| images(1 << bit)).collect();
    let more = orbits.into_iter().filter(|orbit| orbit & inner == 0).map(|orbit| inner | orbit);
    more.min_by(|one, other| reads(layout, *one).total_cmp(&reads(layout, *other)))
}

/// Returns how many files all batches with these inner cells read if each reads a file once, in
/// pairs of a batch and a block, canonical or not.
///
/// A block without pieces on the cells of a move is read by the batch that the move leads to. With
/// the same outer cells, moves lead to the same batch.
fn reads(layout: &Layout, inner: u32) -> f64 {
    let mut moves: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for part in layout.traces().iter().map(|trace| trace.bid).filter(|part| part & !inner != 0) {
        moves.entry(part & !inner).or_default().insert(part & inner);
    }
    let outer_cells = layout.bid_bits() - inner.count_ones();
    let settings = |moves: &BTreeSet<u32>| match moves.contains(&0) {
        true => 1 << inner.count_ones(),
        false => subsets(inner).filter(|pieces| moves.iter().any(|cells| cells & pieces == 0)).count(),
    };
    let each = |(outer, moves): (u32, &BTreeSet<u32>)| {
        settings(moves) as f64 * f64::from(outer_cells - outer.count_ones()).exp2()
    };
    moves.iter().map(|(outer, moves)| each((*outer, moves))).sum()
}

fn subsets(mask: u32) -> impl Iterator<Item = u32> {
    let next = move |last: &u32| Some(last.wrapping_sub(mask) & mask).filter(|next| *next != 0);
    std::iter::successors(Some(0), next)
}

/// Calls `each` with every block, ascending, which is an order of the block graph; with the blocks
/// that it needs, ascending; and with the number of its edges and of those that orient a stream.
/// The engine asks for the edges of one block at a time ([`Layout::edges_into`]); here millions of
/// blocks are visited, so the canonical blocks are in a table.
fn each_block(spec: SolveSpec<'_>, mut each: impl FnMut(u32, &[u32], [usize; 2])) {
    let layout = &spec.game.layout;
    let ordinals = ordinals_by_bid(layout);
    let parts: Vec<u32> = layout.traces().iter().map(|trace| trace.bid).collect();
    let mut sources = Vec::new();
    for block in layout.ordinals() {
        let Bid(bid) = layout.bid(block);
        sources.clear();
        let mut oriented = 0;
        for child in parts.iter().filter(|part| *part & !bid == 0).map(|part| bid ^ part) {
            let source = ordinals[child as usize];
            oriented += usize::from(layout.bid(BlockId(source)) != Bid(child));
            sources.push(source);
        }
        let edges = sources.len();
        sources.sort_unstable();
        sources.dedup();
        each(block.0, &sources, [edges, oriented]);
    }
}

/// Returns for every BID the number of its canonical block.
fn ordinals_by_bid(layout: &Layout) -> Vec<u32> {
    let mut ordinals = vec![0; 1 << layout.bid_bits()];
    for (ordinal, bid) in (0..).zip(layout.canonical_blocks()) {
        layout.symmetries().iter().for_each(|symmetry| ordinals[symmetry.map_bid(*bid).0 as usize] = ordinal);
    }
    ordinals
}

/// Returns the estimated time of one worker, in seconds, for a number of blocks, edges, oriented
/// streams and read files. The file of a block is written even if it is not kept.
fn cost(spec: SolveSpec<'_>) -> impl Fn(f64, f64, f64, f64) -> f64 {
    let block_bytes = 8 * spec.stream_words() as u64;
    let (layers, offset_bits) = (spec.game.board.size_in_layers(), spec.game.layout.offset_bits());
    let rates = rates::for_blocks(Keep::Database, block_bytes);
    let stored_share = rates::database_bits_per_position(Values::Outcomes, layers, offset_bits);
    move |blocks, edges, oriented, reads| {
        let work = reads * (1.0 / rates.decode_bytes_per_second + stored_share / rates.fetch_bytes_per_second)
            + oriented / rates.orient_bytes_per_second
            + edges / rates.apply_bytes_per_second
            + blocks / rates.settle_bytes_per_second
            + blocks / rates.publish_bytes_per_second;
        block_bytes as f64 * work
    }
}

/// Rounds a time in seconds up to microseconds, which is finer than the estimate.
fn rounded(seconds: f64) -> f64 {
    ((seconds * 1e6 - 1e-3).ceil() / 1e6).max(1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trinim::database::Game;
    use trinim_game::{Board, Rule, Takes};

    #[test]
    fn blocks_need_the_sources_of_their_edges() {
        let boards = [("triangle:4", 3), ("triangle:6", 12), ("rect:4x3", 5), ("hex:2", 3), ("cram:3x3", 9)];
        for (board, bits) in boards.map(|(name, bits)| (Board::named(name, Takes::ANY).unwrap(), bits)) {
            let suggested = Layout::suggested(&board, bits);
            for layout in [suggested.without_symmetries(), suggested] {
                let game = Game { board: board.clone(), rule: Rule::Misere, layout };
                let mut blocks = game.layout.ordinals();
                each_block(SolveSpec::from(&game), |block, sources, counts| {
                    assert_eq!(blocks.next(), Some(BlockId(block)));
                    let edges = game.layout.edges_into(BlockId(block));
                    let mut wanted: Vec<u32> = edges.iter().map(|edge| edge.source.0).collect();
                    wanted.dedup();
                    assert_eq!(sources, wanted, "{} {block}", board.name());
                    let oriented = edges.iter().filter(|edge| edge.symmetry != 0).count();
                    assert_eq!(counts, [edges.len(), oriented]);
                });
                assert_eq!(blocks.next(), None);
            }
        }
    }

    /// A row of the plan has the time of each of its parts, by the rate of its stage: of a single
    /// block, and of a batch, which reads and orients each source outside once.
    #[test]
    fn rows_cost_what_their_parts_cost() {
        for (layers, bits, wanted) in [(5, 9, 4), (6, 12, 30), (6, 12, 1 << 20), (6, 12, 1)] {
            let board = Board::triangle(layers, None).unwrap();
            let game = Game { layout: Layout::suggested(&board, bits), board, rule: Rule::Misere };
            let (layout, spec) = (&game.layout, SolveSpec::from(&game));
            let raw = 8.0 * spec.stream_words() as f64;
            let rates = rates::for_blocks(Keep::Database, raw as u64);
            let bits = rates::database_bits_per_position(Values::Outcomes, layers, layout.offset_bits());
            let time = |reads: f64, edges: f64, oriented: f64, blocks: f64| {
                let read = reads / rates.decode_bytes_per_second + reads * bits / rates.fetch_bytes_per_second;
                let applied = oriented / rates.orient_bytes_per_second + edges / rates.apply_bytes_per_second;
                let made = blocks / rates.settle_bytes_per_second + blocks / rates.publish_bytes_per_second;
                raw * (read + applied + made)
            };
            let close = |found: f64, expected: f64| assert!((found - expected).abs() <= 1.1e-6, "{found} {expected}");
            let edges = |block: u32| layout.edges_into(BlockId(block));
            let oriented = |block: u32| edges(block).iter().filter(|edge| edge.symmetry != 0).count();
            let rows = plan(spec);
            for row in &rows {
                let (all, oriented) = (edges(row.block).len() as f64, oriented(row.block) as f64);
                close(row.cost, time(row.sources.len() as f64, all, oriented, 1.0));
            }
            for batch in batches(spec, wanted) {
                let of_batch = rows.iter().filter(|row| batch.blocks.contains(&row.block));
                let sources = of_batch.clone().flat_map(|row| &row.sources).collect::<Vec<_>>();
                let outside: BTreeSet<_> = sources.iter().filter(|source| !batch.blocks.contains(**source)).collect();
                assert_eq!(batch.reads as usize, outside.len());
                let sum = |count: &dyn Fn(u32) -> usize| batch.blocks.iter().map(|block| count(*block)).sum::<usize>();
                let reads = f64::from(batch.reads);
                let oriented = sum(&oriented) as f64 * reads / sources.len().max(1) as f64;
                close(
                    batch.cost,
                    time(reads, sum(&|block| edges(block).len()) as f64, oriented, batch.blocks.len() as f64),
                );
            }
        }
    }

    /// The formula that chooses inner cells, compared with counting pairs of batches and blocks.
    #[test]
    fn reads_are_counted_without_a_walk() {
        for (layers, bits) in [(4, 4), (5, 9), (6, 12)] {
            let layout = Layout::suggested(&Board::triangle(layers, None).unwrap(), bits).without_symmetries();
            let bids = 1_u32 << layout.bid_bits();
            for inner in [0, 1, 6, bids - 1, bids / 2 + 3] {
                let mut pairs = HashSet::new();
                for (bid, trace) in (0..bids).flat_map(|bid| layout.traces().iter().map(move |trace| (bid, trace))) {
                    let batch = (bid | trace.bid) & !inner;
                    if bid & trace.bid == 0 && batch != bid & !inner {
                        pairs.insert((batch, bid));
                    }
                }
                assert_eq!(reads(&layout, inner), pairs.len() as f64, "{layers} {inner:b}");
            }
        }
    }

    /// The cells that the module page names, and how much batches with them read.
    #[test]
    fn inner_cells_of_ten_layers_are_next_to_the_corners() {
        let board = Board::triangle(10, None).unwrap();
        let layout = Layout::suggested(&board, 31);
        let inner = more_inner(&layout, 0).unwrap();
        let mut named: Vec<String> = (0..layout.bid_bits())
            .filter(|bit| inner >> bit & 1 == 1)
            .map(|bit| board.cell(layout.bid_cells()[bit as usize].into()).to_string())
            .collect();
        named.sort_unstable();
        assert_eq!(named, ["b1", "b2", "i1", "i9", "j2", "j9"]);
        let share = reads(&layout, inner) / reads(&layout, 0);
        assert!((share - 0.5986).abs() < 1e-4, "{share}");
    }

    #[test]
    fn times_are_whole_microseconds_and_never_none() {
        for (seconds, wanted) in [(0.0, 1e-6), (1e-9, 1e-6), (2.5e-6, 3e-6), (3e-6, 3e-6), (1.25, 1.25)] {
            assert_eq!(rounded(seconds), wanted, "{seconds}");
        }
    }
}
