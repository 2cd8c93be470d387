//! A synthetic workload with everything the engine must handle: several edges between the same
//! blocks, every orientation, restrictions, streams that are not a whole number of frames, and
//! densities from none to all.

use pipeline::storage::pass_on;
use pipeline::{Auditor, Auditors, BlockId, Edge, Error, Publication, RecallError, SourceStream, Workload};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use testing::Random;

/// Blocks are the subsets of `bits` elements; block `i` updates `i | d` for single elements and
/// neighbouring pairs `d`.
pub struct Synthetic {
    /// Number of elements.
    pub bits: u32,
    /// Words of a stream.
    pub words: usize,
    /// Percentage of set bits before updates: 0, 5, 50 or 100.
    pub density: u32,
    /// Tells workloads apart.
    pub salt: u64,
    /// Number of blocks after which the run is asked to stop, and its stop flag.
    pub stop_after: Option<(AtomicU32, Arc<AtomicBool>)>,
    /// Whether targets read published files in place of shared logs. Not a parameter: a session may
    /// do so in a folder of logs.
    pub publishes: bool,
}

fn mix(value: u64) -> u64 {
    Random::new(value).bits()
}

impl Synthetic {
    fn traces(&self) -> Vec<u32> {
        let singles = (0..self.bits).map(|bit| 1 << bit);
        let pairs = (1..self.bits).map(|bit| 3 << (bit - 1));
        singles.chain(pairs).collect()
    }

    /// Returns the edges from `source` along `trace`: one, or two that differ in all but their
    /// ends.
    fn edges(&self, source: BlockId, trace: u32) -> impl Iterator<Item = Edge> {
        let hash = mix(self.salt ^ u64::from(source.0) << 32 ^ u64::from(trace));
        let copies = 1 + u64::from(hash >> 16 & 3 == 0);
        (0..copies).map(move |copy| {
            let operations: Arc<[u64]> = (0..1 + hash % 3).map(|at| mix(hash ^ at ^ copy << 32)).collect();
            let restriction = if trace.count_ones() == 2 { (1 + hash % 3) ^ copy } else { copy };
            let orientation = ((hash >> 8) as u8).wrapping_add(copy as u8) % 6;
            Edge { source, target: BlockId(source.0 | trace), orientation, restriction, operations }
        })
    }

    fn mask(&self, block: BlockId, word: usize) -> u64 {
        let a = mix(self.salt ^ 77 ^ (u64::from(block.0) << 20) ^ word as u64);
        match self.density {
            0 => 0,
            5 => a & mix(a) & mix(a ^ 1) & mix(a ^ 2),
            50 => a,
            _ => u64::MAX,
        }
    }

    /// Returns every block's stream, computed one after another in memory.
    pub fn reference(&self) -> Vec<Vec<u64>> {
        let mut streams: Vec<Vec<u64>> = Vec::new();
        for block in BlockId::all(self.blocks()) {
            let mut bitmap = vec![0; self.words];
            self.begin(block, &mut bitmap);
            for edge in self.edges_into(block) {
                let mut oriented = vec![0; self.words];
                self.orient(edge.orientation, 0, &streams[edge.source.index()], &mut oriented);
                self.apply(&edge, &oriented, &mut bitmap);
            }
            self.finish(block, &mut bitmap);
            streams.push(bitmap);
        }
        streams
    }
}

impl Workload for Synthetic {
    fn parameters(&self) -> Vec<(String, String)> {
        vec![
            ("bits".into(), self.bits.to_string()),
            ("words".into(), self.words.to_string()),
            ("density".into(), self.density.to_string()),
            ("salt".into(), self.salt.to_string()),
        ]
    }

    fn blocks(&self) -> u32 {
        1 << self.bits
    }

    fn order(&self) -> Vec<BlockId> {
        let mut order: Vec<BlockId> = BlockId::all(self.blocks()).collect();
        order.sort_by_key(|block| (block.0.count_ones(), *block));
        order
    }

    fn stream_words(&self) -> usize {
        self.words
    }

    fn edges_into(&self, target: BlockId) -> Vec<Edge> {
        self.traces()
            .into_iter()
            .filter(|trace| target.0 & trace == *trace)
            .flat_map(|trace| self.edges(BlockId(target.0 ^ trace), trace))
            .collect()
    }

    fn edges_from(&self, source: BlockId) -> Vec<Edge> {
        self.traces()
            .into_iter()
            .filter(|trace| source.0 & trace == 0)
            .flat_map(|trace| self.edges(source, trace))
            .collect()
    }

    fn begin(&self, block: BlockId, bitmap: &mut [u64]) {
        bitmap[0] |= u64::from(block.0 & 1);
    }

    fn orient(&self, orientation: u8, restriction: u64, stream: &[u64], oriented: &mut [u64]) {
        let words = stream.len();
        for (at, word) in oriented.iter_mut().enumerate() {
            let from = (at + usize::from(orientation) * 7) % words;
            *word = if at as u64 & restriction == 0 { stream[from].rotate_left(u32::from(orientation)) } else { 0 };
        }
    }

    fn apply(&self, edge: &Edge, stream: &[u64], bitmap: &mut [u64]) {
        for operation in edge.operations.iter() {
            let shift = (*operation % stream.len() as u64) as usize;
            for (at, word) in stream.iter().enumerate() {
                if at as u64 & edge.restriction == 0 {
                    let to = (at + shift) % stream.len();
                    bitmap[to] |= word.rotate_left((*operation >> 40) as u32 % 64) & mix(*operation);
                }
            }
        }
    }

    fn finish(&self, block: BlockId, bitmap: &mut [u64]) {
        for (at, word) in bitmap.iter_mut().enumerate() {
            *word = !*word & self.mask(block, at);
        }
        if let Some((left, stop)) = &self.stop_after
            && left.fetch_sub(1, Ordering::Relaxed) == 1
        {
            stop.store(true, Ordering::Relaxed);
        }
    }

    fn summarise(&self, block: BlockId, stream: &[u64]) -> Vec<u8> {
        let ones: u64 = stream.iter().map(|word| u64::from(word.count_ones())).sum();
        [u64::from(block.0).to_le_bytes(), ones.to_le_bytes()].concat()
    }

    fn publish(&self, block: BlockId, stream: &[u64]) -> Option<Publication> {
        let bytes = stream.iter().flat_map(|word| word.to_le_bytes()).collect();
        Some(Publication { name: format!("{block:04}.blk"), bytes })
    }

    fn recall(&self, _: BlockId, published: &[u8], stream: &mut [u64]) -> Result<(), RecallError> {
        let (words, rest) = published.as_chunks::<8>();
        if words.len() != stream.len() || !rest.is_empty() {
            return Err(RecallError { offset: None, damage: format!("{} bytes", published.len()).into() });
        }
        stream.iter_mut().zip(words).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
        Ok(())
    }

    fn publishes_streams(&self) -> bool {
        self.publishes
    }

    fn owns(&self, name: &str) -> bool {
        name == "SUMS"
            || name.strip_suffix(".blk").is_some_and(|number| number.len() == 4 && number.parse::<u32>().is_ok())
    }
}

/// A workload that breaks its promises in one place, or is another one than its parameters say.
pub struct Careless {
    /// The workload without the fault.
    pub sound: Synthetic,
    /// Panics when it finishes this block.
    pub panics_at: Option<u32>,
    /// Length of the files it publishes, in bytes.
    pub published_bytes: Option<usize>,
    /// Swaps two words of the stream of this block, which does not change its summary.
    pub swaps_at: Option<u32>,
    /// Summarises every block in another way.
    pub other_summaries: bool,
    /// Has an audit, which is not content with this block.
    pub doubts: Option<u32>,
    /// What it says of its auditors.
    pub auditors: Auditors,
    /// Auditors at work, and the most of them at a time.
    pub at_work: [AtomicUsize; 2],
}

impl Careless {
    /// Returns the sound workload, to change one field of it.
    pub fn new(sound: Synthetic) -> Careless {
        Careless {
            sound,
            panics_at: None,
            published_bytes: None,
            swaps_at: None,
            other_summaries: false,
            doubts: None,
            auditors: Auditors::default(),
            at_work: Default::default(),
        }
    }
}

impl Workload for Careless {
    pass_on! { self.sound =>
        fn parameters(&self) -> Vec<(String, String)>;
        fn blocks(&self) -> u32;
        fn order(&self) -> Vec<BlockId>;
        fn stream_words(&self) -> usize;
        fn edges_into(&self, target: BlockId) -> Vec<Edge>;
        fn edges_from(&self, source: BlockId) -> Vec<Edge>;
        fn begin(&self, block: BlockId, bitmap: &mut [u64]);
        fn orient(&self, orientation: u8, restriction: u64, stream: &[u64], oriented: &mut [u64]);
        fn apply(&self, edge: &Edge, stream: &[u64], bitmap: &mut [u64]);
        fn publishes_streams(&self) -> bool;
        fn owns(&self, name: &str) -> bool;
    }
    fn finish(&self, block: BlockId, bitmap: &mut [u64]) {
        assert_ne!(Some(block.0), self.panics_at, "this panic is part of the test");
        self.sound.finish(block, bitmap);
        if Some(block.0) == self.swaps_at {
            bitmap.swap(0, 1);
        }
    }
    fn summarise(&self, block: BlockId, stream: &[u64]) -> Vec<u8> {
        let mut summary = self.sound.summarise(block, stream);
        summary[0] ^= u8::from(self.other_summaries);
        summary
    }
    fn audit(&self, block: BlockId) -> Result<Option<Box<dyn Auditor + '_>>, Error> {
        let sources = self.sound.edges_into(block).iter().map(|edge| edge.source).collect();
        let witness =
            |doubted| Witness { sources, doubts: doubted == block.0, is_at_work: false, at_work: &self.at_work };
        Ok(self.doubts.map(|doubted| Box::new(witness(doubted)) as Box<dyn Auditor>))
    }
    fn auditors(&self) -> Auditors {
        self.auditors
    }
    fn publish(&self, block: BlockId, stream: &[u64]) -> Option<Publication> {
        let sound = self.sound.publish(block, stream)?;
        let bytes = self.published_bytes.map_or(sound.bytes, |bytes| vec![block.0 as u8; bytes]);
        Some(Publication { name: sound.name, bytes })
    }
}

/// An audit that wants to see every source, with all of its bits.
struct Witness<'a> {
    sources: BTreeSet<BlockId>,
    doubts: bool,
    is_at_work: bool,
    at_work: &'a [AtomicUsize; 2],
}

impl Drop for Witness<'_> {
    fn drop(&mut self) {
        self.at_work[0].fetch_sub(self.is_at_work.into(), Ordering::Relaxed);
    }
}

impl Auditor for Witness<'_> {
    fn see(&mut self, stream: &SourceStream<'_>, spare: &mut [u64]) {
        if !std::mem::replace(&mut self.is_at_work, true) {
            let others = self.at_work[0].fetch_add(1, Ordering::Relaxed);
            self.at_work[1].fetch_max(others + 1, Ordering::Relaxed);
        }
        assert_eq!(spare.len(), stream.words.len());
        spare.fill(u64::MAX);
        if stream.hashes().iter().all(Option::is_some) {
            self.sources.remove(&stream.source);
        }
    }

    fn judge(&mut self, _: &[u64]) -> Result<(), String> {
        match (self.sources.first(), self.doubts) {
            (Some(source), _) => Err(format!("block {source} did not pass")),
            (None, true) => Err("a doubt".to_owned()),
            (None, false) => Ok(()),
        }
    }
}
