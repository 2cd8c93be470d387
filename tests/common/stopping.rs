//! A solve that is stopped after a given number of blocks, at any speed.

use pipeline::storage::pass_on;
use pipeline::{BlockId, Edge, Options, Publication, RecallError, Workload};
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

    /// Leaves out shared logs, as the solve itself does; by default they are written.
    pub fn without_logs(self) -> Stopping<'a> {
        Stopping { publishes: self.game.publishes_streams(), ..self }
    }
}

impl Workload for Stopping<'_> {
    pass_on! { self.game =>
        fn parameters(&self) -> Vec<(String, String)>;
        fn blocks(&self) -> u32;
        fn order(&self) -> Vec<BlockId>;
        fn stream_words(&self) -> usize;
        fn edges_into(&self, target: BlockId) -> Vec<Edge>;
        fn edges_from(&self, source: BlockId) -> Vec<Edge>;
        fn begin(&self, block: BlockId, bitmap: &mut [u64]);
        fn orient(&self, orientation: u8, restriction: u64, stream: &[u64], oriented: &mut [u64]);
        fn apply(&self, edge: &Edge, stream: &[u64], bitmap: &mut [u64]);
        fn summarise(&self, block: BlockId, stream: &[u64]) -> Vec<u8>;
        fn publish(&self, block: BlockId, stream: &[u64]) -> Option<Publication>;
        fn owns(&self, name: &str) -> bool;
        fn recall(&self, block: BlockId, published: &[u8], stream: &mut [u64]) -> Result<(), RecallError>;
    }
    fn finish(&self, block: BlockId, bitmap: &mut [u64]) {
        self.game.finish(block, bitmap);
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
    fn publishes_streams(&self) -> bool {
        self.publishes
    }
}
