//! The commit: steps C2 to C5 of the table on the page of [`super`].

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{BlockRecord, Checkpoint};
use crate::Error;
use crate::parallel;
use crate::storage::StorageFile;

/// Everything that one commit makes durable, all of it or nothing. The engine has written it (C1).
#[derive(Default)]
pub struct Commit {
    /// Blocks that finished.
    pub records: Vec<BlockRecord>,
    /// Files written since the last commit that a resume would need, to be synced in parallel.
    pub dirty: Vec<Arc<dyn StorageFile>>,
    /// Folders with new names.
    pub directories: Vec<String>,
}

impl Checkpoint {
    /// Makes a commit durable. When it returns, its blocks stay finished after any stop.
    ///
    /// # Errors
    /// Returns [`Error::Limit`] or [`Error::JournalFull`] before anything changes. After any other
    /// error the commit may be durable, and calls return [`Error::Poisoned`] until it is reopened.
    ///
    /// # Panics
    /// Panics if a block is committed twice or an extent is in a file of an older generation: both
    /// are errors of the engine that would spoil the run.
    pub fn commit(&mut self, commit: Commit) -> Result<(), Error> {
        self.check()?;
        let mut blocks = BTreeSet::new();
        for record in &commit.records {
            let block = record.block;
            let is_new = blocks.insert(block) && !self.finished.contains(&block);
            assert!(is_new, "checkpoint, invariant 7: block {block} is committed again");
            for extent in &record.extents {
                assert_eq!(extent.file.generation, self.generation, "checkpoint, invariant 2: {}", extent.file.name());
            }
        }
        let (bytes, hash) = self.journal.encode(&commit.records)?;

        self.failed = true;
        sync_all(&commit.dirty, self.storage.sync_parallelism())?; // C2
        for folder in &commit.directories {
            self.storage.sync_dir(folder)?; // C3
        }
        self.journal.append(&bytes, hash)?; // C4, C5
        self.failed = false;

        for record in commit.records {
            self.finished.insert(record.block);
            self.order.push(record.block);
            self.published.extend(record.published.map(|file| file.name));
        }
        Ok(())
    }
}

/// Syncs files, up to `parallelism` at the same time; an error ends it early.
pub(crate) fn sync_all(files: &[Arc<dyn StorageFile>], parallelism: usize) -> Result<(), Error> {
    let synced = parallel::for_each(parallelism, files.len(), || Ok(()), |(), index| files[index].sync());
    synced.map_err(cause_of)
}

/// Returns the cause among the errors of several threads: the errors after the first failure report
/// "poisoned".
fn cause_of(mut errors: Vec<Error>) -> Error {
    let cause = errors.iter().position(|error| !matches!(error, Error::Poisoned));
    errors.swap_remove(cause.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::Parameters;
    use crate::ids::{BlockId, RunId};
    use crate::storage::{Create, Storage};
    use crate::testing::{Fault, SimulatedStorage};

    #[test]
    fn the_cause_of_a_failed_sync_is_reported() {
        let disk = SimulatedStorage::new(1);
        let files: Vec<_> = (0..40).map(|number| disk.create(&format!("x{number}"), Create::New).unwrap()).collect();
        assert!(sync_all(&files, 16).is_ok());
        assert_eq!(disk.steps(), 80);
        let disk = disk.with_fault(100, Fault::FailOnce);
        let error = sync_all(&files, 16).unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{error:?}");
        assert!(matches!(sync_all(&files, 16), Err(Error::Poisoned)));
        assert!(disk.steps() >= 100);
    }

    #[test]
    fn the_cause_is_found_wherever_it_is_among_the_errors() {
        for place in 0..3 {
            let mut errors = vec![Error::Poisoned, Error::Poisoned];
            errors.insert(place, Error::Interrupted);
            assert!(matches!(cause_of(errors), Error::Interrupted), "error {place}");
        }
        assert!(matches!(cause_of(vec![Error::Poisoned]), Error::Poisoned));
    }

    #[test]
    #[should_panic(expected = "invariant 7: block 5 is committed again")]
    fn a_block_is_committed_once() {
        let storage = Arc::new(SimulatedStorage::new(1));
        let opened = Checkpoint::open(storage, &Parameters::default(), RunId(1), &|_, _| true);
        let mut checkpoint = opened.unwrap().checkpoint;
        let record = BlockRecord { block: BlockId(5), ..BlockRecord::default() };
        let records = vec![record.clone(), record];
        let _ = checkpoint.commit(Commit { records, ..Commit::default() });
    }
}
