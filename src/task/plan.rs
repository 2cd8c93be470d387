//! The blocks of a store, what each needs, and what it costs; alone, or in batches of neighbours.
//!
//! # Batches
//! A batch has the canonical blocks that differ in the lowest BID bits only: a subcube, whose inner
//! edges stay in memory. Every edge leads from a smaller BID to a larger one
//! ([`Layout`](crate::layout::Layout)), so the rest of the bits never decreases along an edge, and
//! no batches need each other in a circle.

use crate::database::{Keep, Task, Values};
use crate::layout::Edge;
use crate::plan::rates;
use pipeline::BlockId;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A block and what it needs, on a line of its own; sources come before their targets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockRow {
    /// The block.
    pub block: u32,
    /// Length of the longest way to it from a block without sources.
    pub level: u32,
    /// The blocks whose files it reads, ascending.
    pub sources: Vec<u32>,
    /// Number of blocks that read its file.
    pub targets: u32,
    /// Estimated time of one worker in seconds, by the rates of `trinim plan`.
    pub cost: f64,
}

/// A batch of blocks and what it needs, on a line of its own; sources come before their targets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BatchRow {
    /// The batch.
    pub batch: u32,
    /// Its blocks, in an order in which they can be computed.
    pub blocks: Vec<u32>,
    /// The batches whose files it reads, ascending.
    pub sources: Vec<u32>,
    /// Length of the longest way to it from a batch without sources.
    pub level: u32,
    /// Estimated time of one worker in seconds.
    pub cost: f64,
}

/// Returns all blocks, sources before their targets.
pub fn plan(task: Task<'_>) -> Vec<BlockRow> {
    let mut rows = rows(task);
    let mut places = vec![0; rows.len()];
    for (place, block) in task.game.layout.order().into_iter().enumerate() {
        places[block.index()] = place;
    }
    rows.sort_by_key(|row| places[row.block as usize]);
    rows
}

/// Returns all blocks in about `wanted` batches, sources before their targets.
pub fn batches(task: Task<'_>, wanted: u32) -> Vec<BatchRow> {
    let rows = rows(task);
    let key = |block: u32, bits: u32| task.game.layout.bid(BlockId(block)).0 >> bits;
    let count = |bits: u32| rows.iter().map(|row| key(row.block, bits)).collect::<BTreeSet<u32>>().len() as u32;
    // Nearest by ratio; of equals the finer.
    let distance = |bits: &u32| {
        let (found, wanted) = (f64::from(count(*bits)), f64::from(wanted.max(1)));
        (found / wanted).max(wanted / found)
    };
    let all = 0..=task.game.layout.bid_bits();
    let bits = all.min_by(|one, other| distance(one).total_cmp(&distance(other))).unwrap_or(0);
    let numbers: BTreeMap<u32, u32> =
        rows.iter().map(|row| key(row.block, bits)).collect::<BTreeSet<u32>>().into_iter().zip(0..).collect();
    let batch_of = |block: u32| numbers[&key(block, bits)];
    let new = |batch| BatchRow { batch, blocks: Vec::new(), sources: Vec::new(), level: 0, cost: 0.0 };
    let mut batches: Vec<BatchRow> = (0..numbers.len() as u32).map(new).collect();
    for row in &rows {
        let batch = &mut batches[batch_of(row.block) as usize];
        batch.blocks.push(row.block);
        batch.sources.extend(row.sources.iter().map(|source| batch_of(*source)));
        batch.cost += row.cost;
    }
    for batch in 0..batches.len() {
        let mut sources = std::mem::take(&mut batches[batch].sources);
        sources.sort_unstable();
        sources.dedup();
        sources.retain(|source| *source as usize != batch);
        batches[batch].level = sources.iter().map(|source| batches[*source as usize].level + 1).max().unwrap_or(0);
        batches[batch].sources = sources;
        batches[batch].cost = rounded(batches[batch].cost);
    }
    batches
}

/// Returns all blocks, ascending, which is an order of the block graph.
fn rows(task: Task<'_>) -> Vec<BlockRow> {
    let layout = &task.game.layout;
    let mut rows: Vec<BlockRow> = Vec::new();
    for target in layout.ordinals() {
        let edges = layout.edges_into(target);
        let sources: BTreeSet<u32> = edges.iter().map(|edge| edge.source.0).collect();
        let level = sources.iter().map(|source| rows[*source as usize].level + 1).max().unwrap_or(0);
        for source in &sources {
            rows[*source as usize].targets += 1;
        }
        let cost = cost(task, &edges, sources.len());
        let sources = sources.into_iter().collect();
        rows.push(BlockRow { block: target.0, level, sources, targets: 0, cost });
    }
    rows
}

/// Estimates the time of one worker for a block, in seconds. Whatever is kept in the end, its file
/// is written.
fn cost(task: Task<'_>, edges: &[Edge], sources: usize) -> f64 {
    let block_bytes = 8 * task.stream_words() as u64;
    let (layers, offset_bits) = (task.game.board.size_in_layers(), task.game.layout.offset_bits());
    let rates = rates::of(Keep::Database, block_bytes);
    let stored_share = rates::database_bits_per_position(Values::Outcomes, layers, offset_bits);
    let turned = edges.iter().filter(|edge| edge.symmetry != 0).count() as f64;
    let work = sources as f64 * (1.0 / rates.decode_bytes_per_second + stored_share / rates.fetch_bytes_per_second)
        + turned / rates.orient_bytes_per_second
        + edges.len() as f64 / rates.apply_bytes_per_second
        + 1.0 / rates.settle_bytes_per_second
        + 1.0 / rates.publish_bytes_per_second;
    rounded(block_bytes as f64 * work)
}

/// Rounds a time in seconds up to microseconds, which is more than an estimate knows.
fn rounded(seconds: f64) -> f64 {
    ((seconds * 1e6 - 1e-3).ceil() / 1e6).max(1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_whole_microseconds_and_never_none() {
        for (seconds, wanted) in [(0.0, 1e-6), (1e-9, 1e-6), (2.5e-6, 3e-6), (3e-6, 3e-6), (1.25, 1.25)] {
            assert_eq!(rounded(seconds), wanted, "{seconds}");
        }
    }
}
