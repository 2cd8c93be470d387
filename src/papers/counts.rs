//! Figures of a layout, by which \[SWLK12\] (figures 3, 9 and 10) compares them.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use trinim::layout::Layout;

/// The possible sizes of an isomorphic group of a triangle's blocks.
pub const GROUP_SIZES: [u32; 4] = [1, 2, 3, 6];

/// The work that a layout makes. All updates are between blocks; one update reads or streams one
/// block once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Counts {
    /// All blocks.
    pub blocks: u64,
    /// Blocks that are evaluated, one for each isomorphic group.
    pub canonical_blocks: u64,
    /// The numbers of isomorphic groups by size; of a triangle, of 1, 2, 3 and 6 blocks.
    pub groups: BTreeMap<u32, u64>,
    /// Pairs of a target block and one of its child blocks, over all blocks.
    pub updates: u64,
    /// The same over canonical targets only: the paper's updates with redundancy removed.
    pub canonical_updates: u64,
    /// Pairs of a canonical target and a *canonical* source: the loads, if one load serves several
    /// orientations.
    pub canonical_loads: u64,
}

impl Counts {
    /// Counts the edges of a layout. Takes a second for 21 BID bits closed under all symmetries.
    pub fn of(layout: &Layout) -> Counts {
        let trace_bits = layout.traces().iter().map(|trace| trace.bid.count_ones());
        let mut counts = Counts {
            blocks: layout.blocks(),
            canonical_blocks: layout.canonical_blocks().len() as u64,
            groups: layout.layers().into_iter().flat_map(|_| GROUP_SIZES.map(|size| (size, 0))).collect(),
            // The bits outside the trace are free.
            updates: trace_bits.map(|bits| 1 << (layout.bid_bits() - bits)).sum(),
            canonical_updates: 0,
            canonical_loads: 0,
        };
        if layout.symmetries().len() == 1 {
            counts.groups.insert(1, counts.blocks);
            return Counts { canonical_updates: counts.updates, canonical_loads: counts.updates, ..counts };
        }
        for target in layout.ordinals() {
            *counts.groups.entry(layout.orbit_size(target)).or_default() += 1;
            let mut sources: Vec<_> = layout.edges_into(target).into_iter().map(|edge| edge.source).collect();
            counts.canonical_updates += sources.len() as u64;
            sources.sort_unstable();
            sources.dedup();
            counts.canonical_loads += sources.len() as u64;
        }
        counts
    }
}
