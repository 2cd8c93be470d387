//! Turns finished bitmaps into the database: the same summaries, files and records as an update-log
//! run.
//!
//! # Invariants
//! 1. A block is published once.
//! 2. At most [`TOGETHER`] files are unsynced at a time.
//! 3. If only the counts are kept, a record has no file.

use super::Baseline;
use parking_lot::Mutex;
use pipeline::checkpoint::{BlockRecord, Checkpoint, Commit, FORMAT, Opening, PUBLISHED, Parameters, PublishedFile};
use pipeline::storage::Create;
use pipeline::{BlockId, Error, Metrics, Publication, RunId, Stage, Storage, StorageFile, Workload};
use std::collections::BTreeMap;
use std::sync::Arc;
use trinim::cli::choice::chosen;
use trinim::solve::RemovalGame;
use xxhash_rust::xxh3::xxh3_128;

/// Blocks committed together: a sync waits for the device, and a batch of syncs takes hardly longer
/// than one.
const TOGETHER: usize = 64;

/// The folder of a run and its finished blocks.
pub(super) struct Publisher<'a> {
    game: &'a RemovalGame<'a>,
    storage: &'a dyn Storage,
    metrics: &'a Metrics,
    inner: Mutex<Inner>,
}

struct Inner {
    checkpoint: Checkpoint,
    records: BTreeMap<BlockId, BlockRecord>,
    pending: Vec<(BlockRecord, Option<Arc<dyn StorageFile>>)>,
}

impl<'a> Publisher<'a> {
    /// Takes the folder.
    pub(super) fn open(
        game: &'a RemovalGame<'a>,
        baseline: Baseline,
        storage: &'a Arc<dyn Storage>,
        run_id: RunId,
        metrics: &'a Metrics,
    ) -> Result<Publisher<'a>, Error> {
        let mut parameters = Parameters(game.parameters());
        // They prevent any other solve from continuing this one.
        parameters.0.push(("strategy".to_owned(), baseline.name().to_owned()));
        parameters.0.extend(baseline.redundancy().map(|kept| ("redundancy".to_owned(), chosen(kept))));
        let opened = Checkpoint::open(storage.clone(), &parameters, run_id, &|_, _| false)?;
        let Opening { mut checkpoint, recovered, .. } = opened;
        if !recovered.is_empty() {
            return Err(Error::NotEmpty { path: storage.path(""), name: FORMAT.to_owned() });
        }
        checkpoint.sweep(&|_| false)?;
        let inner = Mutex::new(Inner { checkpoint, records: BTreeMap::new(), pending: Vec::new() });
        Ok(Publisher { game, storage: &**storage, metrics, inner })
    }

    /// Publishes the losses of the canonical block `ordinal`.
    pub(super) fn publish(&self, ordinal: BlockId, losses: &[u64]) -> Result<(), Error> {
        let (summary, publication) = {
            let _time = self.metrics.enter(Stage::Publish);
            (self.game.summarise(ordinal, losses), self.game.publish(ordinal, losses))
        };
        let mut record = BlockRecord { block: ordinal, published: None, summary, extents: Vec::new() };
        let mut file = None;
        if let Some(Publication { name, bytes }) = publication {
            let (name, length, hash) = (format!("{PUBLISHED}/{name}"), bytes.len() as u64, xxh3_128(&bytes));
            let _time = self.metrics.enter(Stage::Write);
            let created = self.storage.create(&name, Create::Truncate)?;
            created.write_all_at(&bytes, 0)?;
            file = Some(created);
            self.metrics.counters.published_bytes.add(length);
            record.published = Some(PublishedFile { name, length, hash });
        }
        let mut inner = self.inner.lock();
        inner.pending.push((record, file));
        if inner.pending.len() >= TOGETHER {
            self.commit(&mut inner)?;
        }
        assert!(inner.pending.len() < TOGETHER, "publisher, invariant 2: {} files wait", inner.pending.len());
        Ok(())
    }

    fn commit(&self, inner: &mut Inner) -> Result<(), Error> {
        if inner.pending.is_empty() {
            return Ok(());
        }
        assert!(inner.pending.len() <= TOGETHER, "publisher, invariant 2: {} files together", inner.pending.len());
        let (records, files): (Vec<_>, Vec<_>) = std::mem::take(&mut inner.pending).into_iter().unzip();
        let dirty: Vec<_> = files.into_iter().flatten().collect();
        let named = records.iter().filter(|record| record.published.is_some()).count();
        assert_eq!(named, dirty.len(), "publisher, invariant 3: records with a file, and files");
        let directories = if dirty.is_empty() { Vec::new() } else { vec![PUBLISHED.to_owned()] };
        let commit = Commit { records: records.clone(), dirty, directories };
        {
            let _time = self.metrics.enter(Stage::Commit);
            inner.checkpoint.commit(commit)?;
        }
        // An interrupted baseline is never continued, so its blocks are safe only when all are.
        self.metrics.committed(0);
        for record in records {
            let block = record.block;
            let earlier = inner.records.insert(block, record);
            assert!(earlier.is_none(), "publisher, invariant 1: block {block} was published before");
        }
        Ok(())
    }

    /// Commits the remaining blocks and returns the folder, still locked, with all records.
    pub(super) fn close(self) -> Result<(Checkpoint, BTreeMap<BlockId, BlockRecord>), Error> {
        self.commit(&mut self.inner.lock())?;
        let Inner { checkpoint, records, .. } = self.inner.into_inner();
        self.metrics.counters.blocks_committed.add(records.len() as u64);
        Ok((checkpoint, records))
    }
}
