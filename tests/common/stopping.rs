//! A solve that is stopped after a certain number of blocks, at any speed.

use pipeline::{BlockId, Edge, Options, Publication, Unreadable, Workload};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use trinim::solve::RemovalGame;

/// The workload of a solve, which requests a stop after some blocks.
pub struct Stopping<'a> {
    game: RemovalGame<'a>,
    left: AtomicU32,
    stop: Arc<AtomicBool>,
    publishes: bool,
}

impl<'a> Stopping<'a> {
    pub fn new(game: RemovalGame<'a>, blocks: u32, options: &Options) -> Stopping<'a> {
        Stopping { game, left: AtomicU32::new(blocks), stop: options.stop.clone(), publishes: false }
    }

    /// Leaves shared logs out, as the solve itself does; otherwise they are written.
    pub fn without_logs(self) -> Stopping<'a> {
        Stopping { publishes: self.game.publishes_streams(), ..self }
    }
}

impl Workload for Stopping<'_> {
    fn parameters(&self) -> Vec<(String, String)> {
        self.game.parameters()
    }
    fn blocks(&self) -> u32 {
        self.game.blocks()
    }
    fn order(&self) -> Vec<BlockId> {
        self.game.order()
    }
    fn stream_words(&self) -> usize {
        self.game.stream_words()
    }
    fn edges_into(&self, target: BlockId) -> Vec<Edge> {
        self.game.edges_into(target)
    }
    fn edges_from(&self, source: BlockId) -> Vec<Edge> {
        self.game.edges_from(source)
    }
    fn begin(&self, block: BlockId, bitmap: &mut [u64]) {
        self.game.begin(block, bitmap);
    }
    fn orient(&self, orientation: u8, restriction: u64, stream: &[u64], oriented: &mut [u64]) {
        self.game.orient(orientation, restriction, stream, oriented);
    }
    fn apply(&self, edge: &Edge, stream: &[u64], bitmap: &mut [u64]) {
        self.game.apply(edge, stream, bitmap);
    }
    fn finish(&self, block: BlockId, bitmap: &mut [u64]) {
        self.game.finish(block, bitmap);
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
    fn summarise(&self, block: BlockId, stream: &[u64]) -> Vec<u8> {
        self.game.summarise(block, stream)
    }
    fn publish(&self, block: BlockId, stream: &[u64]) -> Option<Publication> {
        self.game.publish(block, stream)
    }
    fn recall(&self, block: BlockId, published: &[u8], stream: &mut [u64]) -> Result<(), Unreadable> {
        self.game.recall(block, published, stream)
    }
    fn publishes_streams(&self) -> bool {
        self.publishes
    }
}
