//! The schedule: hands out blocks, with the block graph as counters.
//!
//! The committer takes care of durability: a block can be handed out before its sources are
//! committed.
//!
//! # Invariants
//! 1. A block is handed out once, and only after the log entries of all its sources are in their
//!    files.
//! 2. Among the ready blocks the earliest in the workload's order is handed out first: `ready` is a
//!    heap by rank.

use crate::error::Error;
use crate::ids::BlockId;
use crate::sync::{Condvar, Mutex};
use crate::workload::Workload;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Hands out blocks to workers.
pub struct Schedule {
    rank: Vec<u32>,
    targets: Vec<Vec<BlockId>>,
    inner: Mutex<Inner>,
    changed: Condvar,
}

/// In place of the number of missing sources: the block was handed out.
const HANDED_OUT: u32 = u32::MAX;

struct Inner {
    /// Per block: number of sources whose logs are not written yet, or [`HANDED_OUT`].
    missing: Vec<u32>,
    ready: BinaryHeap<Reverse<(u32, BlockId)>>,
    unfinished: u32,
    waiting: u32,
    stopped: bool,
}

/// Answer to a worker's request for a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Compute this block.
    Block(BlockId),
    /// Nothing is ready until a running block is written: ask the writer to flush, then wait.
    Starved,
    /// Every block is finished, or the run was stopped.
    Over,
}

impl Schedule {
    /// Builds the counters; blocks for which `finished` returns true are not handed out.
    ///
    /// # Errors
    /// Returns [`Error::Workload`] if the order is not a topological permutation of the blocks.
    pub fn new(workload: &dyn Workload, finished: impl Fn(BlockId) -> bool) -> Result<Schedule, Error> {
        let sources = |target| workload.edges_into(target).iter().map(|edge| edge.source).collect();
        Schedule::from_graph(workload.blocks(), &workload.order(), &sources, finished)
    }

    /// Builds the counters of any graph: a block waits for its `sources`.
    ///
    /// # Errors
    /// Returns [`Error::Workload`] if the order is not a topological permutation of the blocks.
    pub fn from_graph(
        blocks: u32,
        order: &[BlockId],
        sources: &dyn Fn(BlockId) -> BTreeSet<BlockId>,
        finished: impl Fn(BlockId) -> bool,
    ) -> Result<Schedule, Error> {
        let blocks = blocks as usize;
        let mut rank = vec![u32::MAX; blocks];
        for (position, block) in order.iter().enumerate() {
            match rank.get_mut(block.index()) {
                Some(slot) if *slot == u32::MAX => *slot = position as u32,
                _ => return Err(Error::workload(format!("block {block} is repeated in the order, or unknown"))),
            }
        }
        if order.len() != blocks {
            return Err(Error::workload(format!("the order names {} of {blocks} blocks", order.len())));
        }
        let mut targets = vec![Vec::new(); blocks];
        let mut missing = vec![0u32; blocks];
        for target in BlockId::all(blocks as u32) {
            for source in sources(target) {
                if source.index() >= blocks || rank[source.index()] >= rank[target.index()] {
                    return Err(Error::workload(format!(
                        "block {source} updates block {target} but does not come before it in the order"
                    )));
                }
                if !finished(source) {
                    missing[target.index()] += 1;
                }
                targets[source.index()].push(target);
            }
        }
        let mut ready = BinaryHeap::new();
        let mut unfinished = 0;
        for block in BlockId::all(blocks as u32) {
            if !finished(block) {
                unfinished += 1;
                if missing[block.index()] == 0 {
                    ready.push(Reverse((rank[block.index()], block)));
                }
            }
        }
        let inner = Inner { missing, ready, unfinished, waiting: 0, stopped: false };
        Ok(Schedule { rank, targets, inner: Mutex::new(inner), changed: Condvar::new() })
    }

    /// Takes a block if one is ready, without waiting.
    pub fn next(&self) -> Next {
        let mut inner = self.inner.lock();
        if inner.stopped || inner.unfinished == 0 {
            return Next::Over;
        }
        let Some(Reverse((_, block))) = inner.ready.pop() else { return Next::Starved };
        let missing = std::mem::replace(&mut inner.missing[block.index()], HANDED_OUT);
        assert_eq!(missing, 0, "schedule, invariant 1: block {block} is handed out too early or again");
        Next::Block(block)
    }

    /// Waits until a block can be ready or the run is over.
    pub fn wait(&self) {
        let mut inner = self.inner.lock();
        if inner.stopped || inner.unfinished == 0 || !inner.ready.is_empty() {
            return;
        }
        inner.waiting += 1;
        self.changed.wait(&mut inner);
        inner.waiting -= 1;
    }

    /// Returns whether a worker waits while no block is ready.
    pub fn starved(&self) -> bool {
        let inner = self.inner.lock();
        inner.waiting > 0 && inner.ready.is_empty()
    }

    /// Records that the entries of `block` are in their files.
    pub fn written(&self, block: BlockId) {
        let mut inner = self.inner.lock();
        let is_handed_out = std::mem::take(&mut inner.missing[block.index()]) == HANDED_OUT;
        assert!(is_handed_out, "schedule, invariant 1: block {block} is written twice or was never handed out");
        inner.unfinished -= 1;
        for target in &self.targets[block.index()] {
            let missing = inner.missing[target.index()];
            assert!(
                (1..HANDED_OUT).contains(&missing),
                "schedule, invariant 1: block {target} did not wait for its source {block}"
            );
            inner.missing[target.index()] = missing - 1;
            if missing == 1 {
                inner.ready.push(Reverse((self.rank[target.index()], *target)));
            }
        }
        drop(inner);
        self.changed.notify_all();
    }

    /// Ends the schedule: no further block is handed out.
    pub fn stop(&self) {
        self.inner.lock().stopped = true;
        self.changed.notify_all();
    }

    /// Returns the place of a block in the order.
    pub(super) fn place(&self, block: BlockId) -> u32 {
        self.rank[block.index()]
    }

    /// Returns the distinct targets of a block.
    pub fn targets(&self, block: BlockId) -> &[BlockId] {
        &self.targets[block.index()]
    }
}
