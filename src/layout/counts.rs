//! Figures of a layout.
//!
//! \[SWLK12\] (figures 3, 9 and 10) and the search compare layouts by these numbers. Counting
//! arguments ([`super::burnside`]) give all but the loads. The loads need a walk over the canonical
//! blocks and their children, one block at a time and nothing kept: a second for 21 BID bits closed
//! under all symmetries. Without symmetry they equal the updates, and there is no walk.

use super::burnside::{self, Action};
use super::{Bid, Layout};
use serde::Serialize;
use std::collections::BTreeMap;

/// The possible sizes of an isomorphic group of a triangle's blocks.
pub const GROUP_SIZES: [u32; 4] = [1, 2, 3, 6];

/// The work that a layout makes. All updates are between blocks; one update reads or streams one
/// block once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    pub(super) fn new(layout: &Layout) -> Counts {
        let cells = layout.bid_bits();
        let cells_of = |bid: u32| layout.join(Bid(bid), 0);
        let traces: Vec<u64> = layout.traces.iter().map(|trace| cells_of(trace.bid)).collect();
        let symmetries = layout.symmetries.iter().map(|symmetry| symmetry.board());
        let action = Action::new(symmetries, cells_of((layout.blocks() - 1) as u32));
        // There are at most 2^24 blocks with at most some dozens of updates each.
        let groups = match layout.layers {
            Some(_) => GROUP_SIZES.into_iter().zip(action.groups().map(|groups| groups as u64)).collect(),
            None => by_size(layout),
        };
        let updates = burnside::all_updates(cells, &traces) as u64;
        Counts {
            blocks: layout.blocks(),
            canonical_blocks: groups.values().sum(),
            groups,
            updates,
            canonical_updates: action.updates(&traces) as u64,
            canonical_loads: if action.order() == 1 { updates } else { canonical_loads(layout) },
        }
    }
}

fn by_size(layout: &Layout) -> BTreeMap<u32, u64> {
    let mut groups = BTreeMap::new();
    for ordinal in layout.ordinals() {
        *groups.entry(layout.orbit_size(ordinal)).or_default() += 1;
    }
    groups
}

fn canonical_loads(layout: &Layout) -> u64 {
    let mut sources = Vec::new();
    let mut loads = 0;
    for &Bid(target) in &layout.canonical {
        sources.clear();
        let inside = layout.traces.iter().map(|trace| trace.bid).filter(|part| part & !target == 0);
        sources.extend(inside.map(|part| layout.canonical_bid(Bid(target ^ part))));
        sources.sort_unstable();
        sources.dedup();
        loads += sources.len() as u64;
    }
    loads
}
