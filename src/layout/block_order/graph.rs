//! The block graph without orientations: each pair of blocks once.

use crate::layout::Layout;

/// The dependencies among canonical blocks, each pair once.
pub(super) struct Graph {
    pub(super) children: Lists,
    pub(super) targets: Lists,
}

/// One list of blocks for each block, end to end.
pub(super) struct Lists {
    starts: Vec<u32>,
    blocks: Vec<u32>,
}

impl Lists {
    pub(super) fn list(&self, block: u32) -> &[u32] {
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
            for &other in self.list(block) {
                transposed[free[other as usize] as usize] = block;
                free[other as usize] += 1;
            }
        }
        Lists { starts, blocks: transposed }
    }
}

impl Graph {
    pub(super) fn new(layout: &Layout) -> Graph {
        Graph::from_children(layout.ordinals().map(|target| {
            let edges = layout.edges_into(target);
            edges.chunk_by(|one, next| one.source == next.source).map(|same| same[0].source.0).collect()
        }))
    }

    /// Returns the graph of blocks with these children each.
    pub(super) fn from_children(all: impl Iterator<Item = Vec<u32>>) -> Graph {
        let mut children = Lists { starts: vec![0], blocks: Vec::new() };
        for mut of_block in all {
            children.blocks.append(&mut of_block);
            children.starts.push(children.blocks.len() as u32);
        }
        Graph { targets: children.transposed(), children }
    }

    pub(super) fn blocks(&self) -> usize {
        self.children.starts.len() - 1
    }

    /// Returns the number of pairs of a target and a child.
    pub(super) fn pairs(&self) -> usize {
        self.children.blocks.len()
    }

    pub(super) fn peak_live_blocks(&self, order: &[u32]) -> u32 {
        let mut targets_left: Vec<usize> =
            (0..self.blocks() as u32).map(|block| self.targets.list(block).len()).collect();
        let (mut live, mut peak) = (0, 0);
        for &block in order {
            live += u32::from(targets_left[block as usize] > 0);
            peak = peak.max(live);
            for &child in self.children.list(block) {
                targets_left[child as usize] -= 1;
                live -= u32::from(targets_left[child as usize] == 0);
            }
        }
        peak
    }
}
