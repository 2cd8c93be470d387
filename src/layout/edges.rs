//! Traces and edges: which block updates which.
//!
//! The trace of a move and its operations depend only on the BID cells. A layout has some dozens of
//! traces and stores each once; an edge refers to a trace by number.

use super::{Bid, Layout};
use pipeline::BlockId;
use std::collections::BTreeMap;
use trinim_game::BitPermutation;

/// The place of a trace in [`Layout::traces`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceId(pub u32);

/// The common BID part of some moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The BID bits that the moves empty; not 0.
    pub bid: u32,
    /// The offset bits that each of the moves empties, sorted, without duplicates; 0 for a move on
    /// BID cells only.
    pub operations: Vec<u64>,
}

/// One update between blocks: the losses of a child block make positions of the target block wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// The ordinal of the canonical block that represents the child block.
    pub source: BlockId,
    /// The ordinal of the updated block.
    pub target: BlockId,
    /// The place in [`Layout::symmetries`] of the symmetry that takes the source to the child
    /// block.
    pub symmetry: u8,
    /// The BID part of the moves from the target to the child, with their operations.
    pub trace: TraceId,
}

/// Returns the traces of the moves sorted by BID bits, and the offset masks of the moves without
/// one.
pub(super) fn traces(moves: &[u64], to_bits: &BitPermutation, offset_bits: u32) -> (Vec<Trace>, Vec<u64>) {
    let mut operations: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for &cells in moves {
        let bits = to_bits.apply(cells);
        let offset = bits & ((1 << offset_bits) - 1);
        operations.entry((bits >> offset_bits) as u32).or_default().push(offset);
    }
    for offsets in operations.values_mut() {
        offsets.sort_unstable();
    }
    let inner_moves = operations.remove(&0).unwrap_or_default();
    let traces = operations.into_iter().map(|(bid, operations)| Trace { bid, operations }).collect();
    (traces, inner_moves)
}

impl Layout {
    /// Returns the traces, sorted by their BID bits.
    pub fn traces(&self) -> &[Trace] {
        &self.traces
    }

    /// Returns the operations of a trace: offset masks `m` such that a loss at offset `x` of the
    /// child, `x & m == 0`, makes `x | m` of the target a win.
    pub fn operations(&self, trace: TraceId) -> &[u64] {
        &self.traces[trace.0 as usize].operations
    }

    /// Returns the restriction of a trace: the offset bits that each of its operations fills. A
    /// loss of the child that occupies one of these cells makes no position of the target a win.
    pub fn restriction(&self, trace: TraceId) -> u64 {
        self.operations(trace).iter().fold(u64::MAX, |common, mask| common & mask)
    }

    /// Returns the offset bits of a source that the symmetry of this number takes to bits of a
    /// restriction.
    pub fn restricted(&self, symmetry: u8, restriction: u64) -> u64 {
        let places = (0u32..).zip(self.symmetries[usize::from(symmetry)].offset_permutation());
        let bits = places.filter(|(_, place)| restriction >> **place & 1 == 1);
        bits.fold(0, |mask, (bit, _)| mask | 1 << bit)
    }

    /// Returns the offset masks of all moves that a block allows: their BID cells hold pieces.
    pub fn moves_in(&self, bid: Bid) -> Vec<u64> {
        let traces = self.traces.iter().filter(|trace| trace.bid & !bid.0 == 0);
        traces.flat_map(|trace| &trace.operations).chain(&self.inner_moves).copied().collect()
    }

    fn trace_ids(&self) -> impl Iterator<Item = (TraceId, u32)> {
        self.traces.iter().enumerate().map(|(index, trace)| (TraceId(index as u32), trace.bid))
    }

    /// Returns the updates of the canonical block `target`, one for each of its child blocks,
    /// sorted by source, then by symmetry. Several can have the same source. Their sum over all
    /// canonical targets is the paper's number of inter-block updates with redundancy removed.
    pub fn edges_into(&self, target: BlockId) -> Vec<Edge> {
        let Bid(bid) = self.bid(target);
        let parts = self.trace_ids().filter(|&(_, part)| part & !bid == 0);
        let edge = |(trace, part): (TraceId, u32)| {
            let (source, symmetry) = self.canonical(Bid(bid ^ part));
            debug_assert!(source < target, "layout, invariant 2: block {target} waits for a later block {source}");
            Edge { source, target, symmetry: symmetry as u8, trace }
        };
        let mut edges: Vec<Edge> = parts.map(edge).collect();
        edges.sort_unstable_by_key(|edge| (edge.source, edge.symmetry, edge.trace));
        edges
    }

    /// Returns the updates that read the canonical block `source`, sorted by target, then by
    /// symmetry: the edges of [`Layout::edges_into`], seen from the other end.
    pub fn edges_from(&self, source: BlockId) -> Vec<Edge> {
        let bid = self.bid(source);
        let mut children: Vec<Bid> = Vec::new();
        let mut edges = Vec::new();
        for (index, symmetry) in self.symmetries.iter().enumerate() {
            let child = symmetry.map_bid(bid);
            // The edges of a block name the first symmetry that leads to it.
            if children.contains(&child) {
                continue;
            }
            debug_assert_eq!(self.canonical(child).1, index, "layout, invariant 3: a block has one symmetry");
            children.push(child);
            for (trace, part) in self.trace_ids() {
                let parent = Bid(child.0 | part);
                if part & child.0 == 0 && self.is_canonical(parent) {
                    edges.push(Edge { source, target: self.ordinal(parent), symmetry: index as u8, trace });
                }
            }
        }
        edges.sort_unstable_by_key(|edge| (edge.target, edge.symmetry, edge.trace));
        edges
    }
}
