//! A toy pipeline on the checkpoint: small enough for a hundred thousand crashes, and able to show
//! every lost, doubled or foreign update.
//!
//! Six blocks. The value of a block is the hash of the sorted multiset of the updates sent to it,
//! and the updates it sends depend on its value. Blocks 0 to 3 have log files of their own; blocks
//! 4 and 5 share one. The order of updates in a log, and so its bytes, may differ between runs; the
//! published bytes may not.

pub mod explore;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pipeline::checkpoint::{BlockRecord, Checkpoint, Epoch, FinishedBlocks, Opening, Parameters, PublishedFile};
use pipeline::storage::Create;
use pipeline::testing::{SECTOR_BYTES, SimulatedStorage};
use pipeline::{BlockId, Error, Extent, LogFile, Placement, RunId, Storage, StorageFile};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

pub const BLOCKS: u32 = 6;
const SHARED_FROM: u32 = 4;
const EPOCH_BLOCKS: usize = 2;
const ENTRY_BYTES: usize = 12;

/// Rules of the engine that a test can break, to prove that the tests notice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Broken {
    /// Read whole log files instead of the committed extents.
    pub salvage: bool,
    /// Remove consumed logs before the commit.
    pub remove_early: bool,
    /// Not a rule: ignore files that no record names at the end.
    pub untidy: bool,
}

/// What is wrong at the end of a history of crashes.
#[derive(Debug)]
#[expect(dead_code, reason = "the fields are for those who read why a test failed")]
pub enum Wrong {
    /// An acknowledged block is gone.
    Lost(u32),
    /// The published files differ from the golden ones.
    Different(String),
    /// The run cannot be continued.
    Stuck(Error),
    /// Files remain that no record names.
    Leftover(Vec<String>),
}

pub fn parameters() -> Parameters {
    let pair = |name: &str, value: &str| (name.to_string(), value.to_string());
    Parameters(vec![pair("board", "toy"), pair("rule", "normal")])
}

fn bucket(target: u32) -> (Placement, BlockId) {
    if target < SHARED_FROM { (Placement::Dedicated, BlockId(target)) } else { (Placement::Shared, BlockId(0)) }
}

fn needs(finished: &FinishedBlocks, extent: &Extent) -> bool {
    match extent.file.placement {
        Placement::Shared => (SHARED_FROM..BLOCKS).any(|block| !finished.contains(&BlockId(block))),
        Placement::Dedicated => !finished.contains(&extent.file.bucket),
    }
}

/// Returns the updates that a block sends: target and value.
fn updates(block: u32, value: u64) -> Vec<(u32, u64)> {
    let mut updates = Vec::new();
    for target in block + 1..BLOCKS {
        for number in 0..(block + target) % 3 + u32::from(target == block + 1) {
            let seed = [value, u64::from(target), u64::from(number)];
            let bytes: Vec<u8> = seed.iter().flat_map(|word| word.to_le_bytes()).collect();
            updates.push((target, xxh3_64(&bytes)));
        }
    }
    updates
}

fn value(block: u32, mut received: Vec<u64>) -> u64 {
    received.sort_unstable();
    let words = std::iter::once(u64::from(block)).chain(received);
    xxh3_64(&words.flat_map(u64::to_le_bytes).collect::<Vec<u8>>())
}

fn published_name(block: u32) -> String {
    format!("db/{block:08x}.blk")
}

fn published_bytes(value: u64) -> Vec<u8> {
    (0..40).flat_map(|index| (value ^ index).to_le_bytes()).collect()
}

/// Returns the required contents of `db/` at the end.
pub fn golden() -> BTreeMap<String, Vec<u8>> {
    let mut received = vec![Vec::new(); BLOCKS as usize];
    let mut files = BTreeMap::new();
    let mut sums = Vec::new();
    for block in 0..BLOCKS {
        let value = value(block, std::mem::take(&mut received[block as usize]));
        for (target, update) in updates(block, value) {
            received[target as usize].push(update);
        }
        files.insert(published_name(block), published_bytes(value));
        sums.extend_from_slice(&value.to_le_bytes());
    }
    files.insert("db/SUMS".to_string(), sums);
    files
}

struct Run {
    checkpoint: Checkpoint,
    broken: Broken,
    seed: u64,
    extents: Vec<Extent>,
    logs: BTreeMap<String, (Arc<dyn StorageFile>, u64)>,
    touched: BTreeSet<String>,
}

impl Run {
    fn received(&self, block: u32) -> Result<Vec<u64>, Error> {
        let storage = self.checkpoint.storage();
        let bucket = bucket(block);
        let mut received = Vec::new();
        let mut read = |name: &str, offset: u64, length: u64, hash: Option<u64>| {
            let file = storage.open(name)?;
            let mut bytes = vec![0; length as usize];
            file.read_exact_at(&mut bytes, offset)?;
            if hash.is_some_and(|hash| hash != xxh3_64(&bytes)) {
                return Err(Error::corrupt(name, offset, "the hash of an entry is wrong"));
            }
            for entry in bytes.as_chunks::<ENTRY_BYTES>().0 {
                let target = u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
                let mut update = [0; 8];
                update.copy_from_slice(&entry[4..]);
                if target == block {
                    received.push(u64::from_le_bytes(update));
                }
            }
            Ok(())
        };
        let here = |extent: &&Extent| (extent.file.placement, extent.file.bucket) == bucket;
        if self.broken.salvage {
            let extents = self.extents.iter().filter(here);
            let files: BTreeSet<String> = extents.map(|extent| extent.file.name()).collect();
            for name in files {
                let length = storage.length(&name)?.unwrap_or(0);
                for offset in (0..length).step_by(SECTOR_BYTES) {
                    let length = (SECTOR_BYTES as u64).min(length - offset);
                    read(&name, offset, length / 12 * 12, None)?;
                }
            }
        } else {
            for extent in self.extents.iter().filter(here) {
                read(&extent.file.name(), extent.offset, extent.length, Some(extent.hash))?;
            }
        }
        Ok(received)
    }

    fn send(&mut self, block: u32, value: u64) -> Result<Vec<Extent>, Error> {
        let mut entries: BTreeMap<(Placement, BlockId), Vec<(u32, u64)>> = BTreeMap::new();
        for (target, update) in updates(block, value) {
            entries.entry(bucket(target)).or_default().push((target, update));
        }
        let mut extents = Vec::new();
        for ((placement, bucket), mut entries) in entries {
            let turn = self.seed as usize % entries.len();
            entries.rotate_left(turn);
            let bytes: Vec<u8> = entries
                .iter()
                .flat_map(|(target, update)| {
                    let (target, update) = (target.to_le_bytes(), update.to_le_bytes());
                    target.into_iter().chain(update)
                })
                .collect();
            let log = LogFile { placement, bucket, generation: self.checkpoint.generation() };
            let name = log.name();
            if !self.logs.contains_key(&name) {
                let file = self.checkpoint.storage().create(&name, Create::New)?;
                self.logs.insert(name.clone(), (file, 0));
            }
            let (file, end) = self.logs.get_mut(&name).expect("inserted above");
            file.write_all_at(&bytes, *end)?;
            let extent = Extent {
                file: log,
                offset: *end,
                length: bytes.len() as u64,
                hash: xxh3_64(&bytes),
                source: BlockId(block),
            };
            *end = extent.end().next_multiple_of(SECTOR_BYTES as u64);
            self.touched.insert(name);
            extents.push(extent);
        }
        Ok(extents)
    }

    fn epoch(&mut self, blocks: &[u32], acknowledged: &mut BTreeSet<u32>) -> Result<(), Error> {
        let mut epoch = Epoch { directories: vec!["logs".to_string(), "db".to_string()], ..Epoch::default() };
        for &block in blocks {
            let value = value(block, self.received(block)?);
            let extents = self.send(block, value)?;
            self.extents.extend_from_slice(&extents);
            let (name, bytes) = (published_name(block), published_bytes(value));
            let file = self.checkpoint.storage().create(&name, Create::Truncate)?;
            file.write_all_at(&bytes, 0)?;
            epoch.dirty.push(file);
            epoch.records.push(BlockRecord {
                block: BlockId(block),
                published: Some(PublishedFile { name, length: bytes.len() as u64, hash: xxh3_128(&bytes) }),
                summary: value.to_le_bytes().to_vec(),
                extents,
            });
        }
        for name in std::mem::take(&mut self.touched) {
            epoch.dirty.push(Arc::clone(&self.logs[&name].0));
        }
        if self.broken.remove_early {
            self.remove_consumed(|block| blocks.contains(&block))?;
        }
        self.checkpoint.commit(epoch)?;
        acknowledged.extend(blocks);
        self.remove_consumed(|_| false)
    }

    fn remove_consumed(&mut self, also: impl Fn(u32) -> bool) -> Result<(), Error> {
        let finished = self.checkpoint.finished();
        let done = |block: u32| finished.contains(&BlockId(block)) || also(block);
        let is_live = |extent: &Extent| match extent.file.placement {
            Placement::Shared => (SHARED_FROM..BLOCKS).any(|block| !done(block)),
            Placement::Dedicated => !done(extent.file.bucket.0),
        };
        let (live, consumed) = self.extents.iter().partition(|extent| is_live(extent));
        let consumed: Vec<Extent> = consumed;
        self.extents = live;
        let names: BTreeSet<String> = consumed.iter().map(|extent| extent.file.name()).collect();
        names.iter().try_for_each(|name| self.checkpoint.remove(name))
    }
}

/// Opens the folder and works to the end, or until something fails.
pub fn run(
    storage: Arc<dyn Storage>,
    seed: u64,
    broken: Broken,
    acknowledged: &mut BTreeSet<u32>,
) -> Result<Result<(), Wrong>, Error> {
    let opened = Checkpoint::open(storage, &parameters(), RunId(u128::from(seed)), &needs)?;
    let Opening { mut checkpoint, recovered, .. } = opened;
    if let Some(lost) = acknowledged.iter().find(|block| !checkpoint.finished().contains(&BlockId(**block))) {
        return Ok(Err(Wrong::Lost(*lost)));
    }
    let extents: Vec<Extent> = recovered.iter().flat_map(|record| record.extents.iter().copied()).collect();
    let live: BTreeSet<String> = extents.iter().map(|extent| extent.file.name()).collect();
    checkpoint.sweep(&|name| live.contains(name))?;
    let mut run = Run { checkpoint, broken, seed, extents, logs: BTreeMap::new(), touched: BTreeSet::new() };
    let left: Vec<u32> = (0..BLOCKS).filter(|block| !run.checkpoint.finished().contains(&BlockId(*block))).collect();
    let mut values: BTreeMap<u32, Vec<u8>> =
        recovered.into_iter().map(|record| (record.block.0, record.summary)).collect();
    for blocks in left.chunks(EPOCH_BLOCKS) {
        run.epoch(blocks, acknowledged)?;
    }
    for block in left {
        let file = run.checkpoint.storage().open(&published_name(block))?;
        let mut value = vec![0; 8];
        file.read_exact_at(&mut value, 0)?;
        values.insert(block, value);
    }
    let sums: Vec<u8> = values.into_values().flatten().collect();
    run.checkpoint.write_atomically("db/SUMS", &sums)?;
    Ok(Ok(()))
}

/// Checks that a disk holds the golden result and no file that no record names.
pub fn check_result(disk: &SimulatedStorage, golden: &BTreeMap<String, Vec<u8>>) -> Result<(), Wrong> {
    for (name, bytes) in golden {
        if disk.contents(name).as_ref() != Some(bytes) {
            return Err(Wrong::Different(name.clone()));
        }
    }
    let expected = ["FORMAT", "LOCK"];
    let (metadata, others): (Vec<String>, Vec<String>) = disk
        .names()
        .into_iter()
        .filter(|name| !golden.contains_key(name) && !expected.contains(&name.as_str()))
        .partition(|name| name.starts_with("m/"));
    if others.is_empty() && metadata.len() == 4 {
        return Ok(());
    }
    Err(Wrong::Leftover([others, metadata].concat()))
}

/// A way to put something between the protocol and the disk.
pub type Wrap<'a> = &'a dyn Fn(SimulatedStorage) -> Arc<dyn Storage>;

/// Continues a history without further faults and judges its end.
pub fn finish(
    disk: &SimulatedStorage,
    wrap: Wrap<'_>,
    broken: Broken,
    acknowledged: &BTreeSet<u32>,
    golden: &BTreeMap<String, Vec<u8>>,
) -> Result<(), Wrong> {
    let mut acknowledged = acknowledged.clone();
    match run(wrap(disk.clone()), 2, broken, &mut acknowledged) {
        Err(error) => Err(Wrong::Stuck(error)),
        Ok(Err(wrong)) => Err(wrong),
        Ok(Ok(())) => match check_result(disk, golden) {
            Err(Wrong::Leftover(_)) if broken.untidy => Ok(()),
            other => other,
        },
    }
}
