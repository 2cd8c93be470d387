//! The committer: commits written blocks, then deletes the logs that no block needs any longer.

use super::ledger::sources_of;
use super::session::Session;
use super::unsynced::Pending;
use crate::checkpoint::{BlockRecord, Checkpoint, Epoch, LOGS, PUBLISHED};
use crate::error::Error;
use crate::ids::BlockId;
use crate::log::writer::Dirty;
use crate::measure::stage::Stage;
use crate::run::Event;
use std::collections::{BTreeMap, BTreeSet};

/// The thread of step 6 of a block.
pub(super) struct Committer<'c> {
    pub(super) session: &'c Session<'c>,
    pub(super) checkpoint: &'c mut Checkpoint,
    /// Records of the committed blocks.
    pub(super) records: &'c mut BTreeMap<BlockId, BlockRecord>,
}

impl Committer<'_> {
    /// Commits written blocks until the writer has ended, then commits the last ones.
    pub(super) fn serve(&mut self) -> Result<(), Error> {
        loop {
            let unsynced = &self.session.unsynced;
            let Pending { records, dirty, over, wanted } = unsynced.take(self.session.options.commit_interval);
            if self.session.has_failed() {
                return Ok(());
            }
            if !records.is_empty() {
                self.commit(records, dirty)?;
            } else if wanted && !over {
                // Handles run short before any block is complete: sync and close them.
                let _time = self.session.metrics.enter(Stage::Commit);
                dirty.values().try_for_each(|file| file.sync())?;
                unsynced.committed();
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
        // This commit makes these logs superfluous. They are deleted after it, so they need no
        // sync.
        let spent = session.ledger.spent(sources.iter().map(|(block, sources)| (*block, sources)));
        let needed = dirty.into_iter().filter(|(name, _)| !spent.contains(name));
        let epoch = Epoch {
            records: records.clone(),
            dirty: needed.map(|(_, file)| file).collect(),
            directories: vec![LOGS.to_owned(), PUBLISHED.to_owned()],
        };
        {
            let _time = session.metrics.enter(Stage::Commit);
            self.checkpoint.commit(epoch)?;
        }
        session.metrics.committed(records.len() as u64);
        self.records.extend(records.into_iter().map(|record| (record.block, record)));
        (session.observer)(&Event::Committed { finished_blocks: self.records.len() as u32 });
        session.unsynced.committed();
        self.drop_consumed(&sources)
    }

    /// Deletes the logs that no block needs after the commit of these blocks.
    fn drop_consumed(&self, blocks: &[(BlockId, BTreeSet<BlockId>)]) -> Result<(), Error> {
        for (block, sources) in blocks {
            for (file, bytes) in self.session.ledger.consume(*block, sources) {
                self.session.retired.lock().push(file);
                self.checkpoint.remove(&file.name())?;
                self.session.metrics.log_removed(bytes);
            }
        }
        Ok(())
    }
}
