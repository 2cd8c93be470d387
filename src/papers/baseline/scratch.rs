//! The blocks of a baseline as files: raw bitmaps, loaded and stored whole.
//!
//! A file is `logs/BBBBBBBB.block`, where `BBBBBBBB` is the number of the block in hexadecimal; its
//! content is the words of the bitmap in native byte order. Only the run that wrote a file reads
//! it; nothing is synced.
//!
//! # Invariants
//! 1. A file is read only after it was written as a whole: a lock for each block keeps readers and
//!    writers apart.
//! 2. A load returns the bytes that were stored, or an error.

use super::Counters;
use parking_lot::Mutex;
use pipeline::checkpoint::LOGS;
use pipeline::storage::Create;
use pipeline::{BlockId, Damage, Error, Metrics, Stage, Storage};
use xxhash_rust::xxh3::Xxh3Default;

/// Bytes of one read or write.
const PIECE_BYTES: usize = 1 << 20;

pub(super) struct Scratch<'a> {
    storage: &'a dyn Storage,
    metrics: &'a Metrics,
    counters: &'a Counters,
    stored: Vec<Mutex<Option<u64>>>,
}

fn name_of(block: BlockId) -> String {
    format!("{LOGS}/{:08x}.block", block.0)
}

impl<'a> Scratch<'a> {
    /// Begins with no block stored.
    pub(super) fn new(blocks: u32, storage: &'a dyn Storage, metrics: &'a Metrics, counters: &'a Counters) -> Self {
        Scratch { storage, metrics, counters, stored: (0..blocks).map(|_| Mutex::new(None)).collect() }
    }

    /// Loads a block; returns false if it was never stored.
    pub(super) fn load(&self, block: BlockId, bitmap: &mut [u64]) -> Result<bool, Error> {
        // Several workers can load a finished block at the same time.
        let stored = *self.stored[block.index()].lock();
        self.read(block, stored, bitmap)
    }

    /// Stores a block; returns whether it was stored before.
    pub(super) fn store(&self, block: BlockId, bitmap: &[u64]) -> Result<bool, Error> {
        let mut stored = self.stored[block.index()].lock();
        let was_stored = stored.is_some();
        *stored = Some(self.write(block, was_stored, bitmap)?);
        Ok(was_stored)
    }

    /// Loads a block, changes it and stores it under its lock; `change` takes whether it was stored
    /// before.
    pub(super) fn update(
        &self,
        block: BlockId,
        bitmap: &mut [u64],
        change: impl FnOnce(bool, &mut [u64]),
    ) -> Result<(), Error> {
        let mut stored = {
            let _time = self.metrics.enter(Stage::Idle);
            self.stored[block.index()].lock()
        };
        change(self.read(block, *stored, bitmap)?, bitmap);
        *stored = Some(self.write(block, stored.is_some(), bitmap)?);
        Ok(())
    }

    /// Reads a block that was stored with this hash; returns false if it was not stored.
    fn read(&self, block: BlockId, stored: Option<u64>, bitmap: &mut [u64]) -> Result<bool, Error> {
        let Some(expected) = stored else { return Ok(false) };
        let name = name_of(block);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(bitmap);
        let found = {
            let _time = self.metrics.enter(Stage::Read);
            let file = self.storage.open(&name)?;
            let mut hasher = Xxh3Default::new();
            for (number, piece) in bytes.chunks_mut(PIECE_BYTES).enumerate() {
                file.read_exact_at(piece, (number * PIECE_BYTES) as u64)?;
                hasher.update(piece);
            }
            hasher.digest()
        };
        if found != expected {
            let (expected, found) = (format!("{expected:016x}"), format!("{found:016x}"));
            let damage = Damage::Hash { of: "hash of the block", expected, found };
            return Err(Error::corrupt(self.storage.path(&name), None, damage));
        }
        Counters::add(&self.counters.block_loads, 1);
        Counters::add(&self.counters.block_bytes_read, bytes.len() as u64);
        Ok(true)
    }

    fn write(&self, block: BlockId, exists: bool, bitmap: &[u64]) -> Result<u64, Error> {
        let name = name_of(block);
        let bytes: &[u8] = bytemuck::cast_slice(bitmap);
        let hash = {
            let _time = self.metrics.enter(Stage::Write);
            // In place: truncating a file and rewriting it makes some file systems flush it.
            let file =
                if exists { self.storage.open_write(&name)? } else { self.storage.create(&name, Create::Truncate)? };
            let mut hasher = Xxh3Default::new();
            for (number, piece) in bytes.chunks(PIECE_BYTES).enumerate() {
                file.write_all_at(piece, (number * PIECE_BYTES) as u64)?;
                hasher.update(piece);
            }
            hasher.digest()
        };
        let written = bytes.len() as u64;
        Counters::add(&self.counters.block_bytes_written, written);
        Counters::add(&self.counters.scratch_bytes, if exists { 0 } else { written });
        Ok(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testing::SimulatedStorage;

    #[test]
    fn what_is_loaded_is_what_was_stored_or_an_error() {
        let disk = SimulatedStorage::new(1);
        disk.create_dir(LOGS).unwrap();
        let (metrics, counters) = Default::default();
        let scratch = Scratch::new(2, &disk, &metrics, &counters);
        // Longer than one piece.
        let words: Vec<u64> = (0..PIECE_BYTES as u64 / 8 + 100).map(|word| word.wrapping_mul(0x9e37_79b9)).collect();
        let mut found = vec![1; words.len()];
        assert!(!scratch.load(BlockId(0), &mut found).unwrap());
        scratch.store(BlockId(0), &words).unwrap();
        assert!(scratch.load(BlockId(0), &mut found).unwrap() && found == words);
        let mut update = |block, word: usize, expected: bool| {
            let change = |was_stored: bool, bitmap: &mut [u64]| {
                assert_eq!(was_stored, expected);
                bitmap[word] = 5;
            };
            scratch.update(BlockId(block), &mut found, change).unwrap();
        };
        update(0, 9, true);
        update(1, 1, false);
        found.fill(0);
        assert!(scratch.load(BlockId(1), &mut found).unwrap());
        assert_eq!((found[1], found[9], &found[10..]), (5, 5, &words[10..]));
        let block_bytes = words.len() as u64 * 8;
        let of = |counter: &std::sync::atomic::AtomicU64| counter.load(std::sync::atomic::Ordering::Relaxed);
        assert_eq!(of(&counters.block_loads), 3);
        assert_eq!(of(&counters.block_bytes_read), 3 * block_bytes);
        assert_eq!(of(&counters.block_bytes_written), 3 * block_bytes);
        assert_eq!(of(&counters.scratch_bytes), 2 * block_bytes);

        let name = name_of(BlockId(0));
        let mut bytes = disk.contents(&name).unwrap();
        bytes[PIECE_BYTES + 1] ^= 4;
        disk.put(&name, &bytes);
        assert!(matches!(scratch.load(BlockId(0), &mut found), Err(Error::Corrupt { .. })));
        disk.put(&name, &bytes[..PIECE_BYTES]);
        assert!(matches!(scratch.load(BlockId(0), &mut found), Err(Error::Corrupt { .. })));
    }
}
