//! The committer: commits written blocks, then deletes the logs that no block needs any longer.
//!
//! It keeps invariant 2 of a [run](super) and relies on those of the [ledger](super::ledger).

use super::commit_queue::CommitBatch;
use super::ledger::sources_of;
use super::session::Session;
use crate::checkpoint::{BlockRecord, Checkpoint, Commit, LOGS, PUBLISHED};
use crate::error::Error;
use crate::ids::BlockId;
use crate::log::place::ENTRY_ALIGNMENT;
use crate::log::writer::Dirty;
use crate::measure::stage::Stage;
use crate::run::Event;
use std::collections::{BTreeMap, BTreeSet};

/// The thread of step 6 of a block.
pub(super) struct Committer<'c> {
    pub(super) session: &'c Session<'c>,
    pub(super) checkpoint: &'c mut Checkpoint,
    pub(super) records: &'c mut BTreeMap<BlockId, BlockRecord>,
}

impl Committer<'_> {
    /// Commits written blocks until the writer has ended, then commits the last ones.
    pub(super) fn serve(mut self) -> Result<(), Error> {
        loop {
            let commits = &self.session.commits;
            let CommitBatch { records, dirty, over, wanted, .. } = commits.take(self.session.options.commit_interval);
            if self.session.has_failed() {
                return Ok(());
            }
            if !records.is_empty() {
                self.commit(records, dirty)?;
            } else if wanted && !over {
                // Too many files are open before any block is complete: sync and close them.
                let _time = self.session.metrics.enter(Stage::Commit);
                dirty.values().try_for_each(|file| file.sync())?;
                commits.committed();
            }
            if over {
                return Ok(());
            }
        }
    }

    fn commit(&mut self, records: Vec<BlockRecord>, dirty: Dirty) -> Result<(), Error> {
        let session = self.session;
        let sources: Vec<(BlockId, BTreeSet<BlockId>)> =
            records.iter().map(|record| (record.block, sources_of(session.workload, record.block))).collect();
        self.check_sources(&sources);
        self.check_extents(&records);
        // This commit makes these logs superfluous. They are deleted after it, so they need no
        // sync.
        let spent = session.ledger.spent(sources.iter().map(|(block, sources)| (*block, sources)));
        let needed = dirty.into_iter().filter(|(name, _)| !spent.contains(name));
        let commit = Commit {
            records: records.clone(),
            dirty: needed.map(|(_, file)| file).collect(),
            directories: vec![LOGS.to_owned(), PUBLISHED.to_owned()],
        };
        {
            let _time = session.metrics.enter(Stage::Commit);
            self.checkpoint.commit(commit)?;
        }
        session.metrics.committed(records.len() as u64);
        self.records.extend(records.into_iter().map(|record| (record.block, record)));
        (session.observer)(&Event::Committed { finished_blocks: self.records.len() as u32 });
        session.commits.committed();
        self.drop_consumed(&sources, spent)
    }

    /// Checks that no block comes before one of its sources.
    fn check_sources(&self, blocks: &[(BlockId, BTreeSet<BlockId>)]) {
        let now: BTreeSet<BlockId> = blocks.iter().map(|(block, _)| *block).collect();
        for (block, sources) in blocks {
            let early = sources.iter().find(|source| !now.contains(source) && !self.records.contains_key(source));
            assert_eq!(early, None, "run, invariant 2: block {block} is committed before this source of it");
        }
    }

    /// Checks that no later write touches a sector of an entry.
    fn check_extents(&self, records: &[BlockRecord]) {
        for extent in records.iter().flat_map(|record| &record.extents) {
            let is_fresh = extent.offset.is_multiple_of(ENTRY_ALIGNMENT);
            assert!(
                is_fresh,
                "log writer, invariant 1: the entry of block {} begins at {}",
                extent.source, extent.offset
            );
        }
    }

    /// Deletes the logs that no block needs after the commit of these blocks; those that the commit
    /// `spent` are among them.
    fn drop_consumed(&self, blocks: &[(BlockId, BTreeSet<BlockId>)], mut spent: BTreeSet<String>) -> Result<(), Error> {
        for (block, sources) in blocks {
            let is_committed = self.checkpoint.finished().contains(block);
            assert!(is_committed, "ledger, invariant 1: the logs for block {block} go before its commit");
            for (file, bytes) in self.session.ledger.consume(*block, sources) {
                let name = file.name();
                self.session.retired.lock().push(file);
                self.checkpoint.remove(&name)?;
                self.session.metrics.log_removed(bytes);
                spent.remove(&name);
            }
        }
        assert!(spent.is_empty(), "ledger, invariant 2: unsynced logs that a block still needs: {spent:?}");
        Ok(())
    }
}
