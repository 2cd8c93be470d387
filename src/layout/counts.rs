//! # Figures of a layout
//!
//! The numbers by which \[SWLK12\] (figures 3, 9 and 10) and the search compare layouts.

use super::Layout;

/// The possible sizes of an isomorphic group, in the order of [`Counts::groups`].
pub const GROUP_SIZES: [u32; 4] = [1, 2, 3, 6];

/// How much work a layout makes. All updates are between blocks; one update reads or streams one block once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// All blocks.
    pub blocks: u64,
    /// The blocks that are evaluated, one for each isomorphic group.
    pub canonical_blocks: u64,
    /// How many isomorphic groups have 1, 2, 3 and 6 blocks.
    pub groups: [u64; 4],
    /// Pairs of a target block and one of its child blocks, over all blocks.
    pub updates: u64,
    /// The same over canonical targets only: the paper's updates with redundancy removed.
    pub canonical_updates: u64,
    /// Pairs of a canonical target and a *canonical* source: what is left if one load serves several orientations.
    pub canonical_loads: u64,
}

impl Counts {
    /// Counts by going over all canonical blocks.
    pub(super) fn of(layout: &Layout) -> Counts {
        let mut counts = Counts {
            blocks: layout.blocks(),
            canonical_blocks: layout.canonical.len() as u64,
            groups: [0; 4],
            updates: 0,
            canonical_updates: 0,
            canonical_loads: 0,
        };
        for ordinal in 0..layout.canonical.len() as u32 {
            let orbit_size = layout.orbit_size(ordinal);
            let group = GROUP_SIZES.iter().position(|&size| size == orbit_size);
            counts.groups[group.expect("the size of a group divides six")] += 1;
            let edges = layout.edges_into(ordinal);
            // The blocks of a group have equally many children.
            counts.updates += u64::from(orbit_size) * edges.len() as u64;
            counts.canonical_updates += edges.len() as u64;
            counts.canonical_loads += edges.chunk_by(|one, next| one.source == next.source).count() as u64;
        }
        counts
    }
}
