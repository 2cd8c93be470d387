//! The checkpoint: which blocks are finished, durably, after any kind of stop.
//!
//! A run writes logs with updates between blocks, and published files. This module decides which of
//! their bytes count: a finished block together with everything it sent, or not at all.
//! Acknowledged commits survive kills, power cuts, full disks and failed syncs. `FORMAT.md`
//! describes the bytes.
//!
//! # Files
//! ```text
//! LOCK                 taken (flock) by the one owner; created once, never deleted, empty
//! FORMAT               version, run id, parameters; written once
//! m/manifest.G.a .b    everything finished when generation G began, two equal copies
//! m/journal.G.a  .b    one record for each commit since then, two equal copies
//! logs/                log files; each name carries the generation that created it
//! db/                  published files; no run id, no generation, no date
//! ```
//!
//! A [`BlockRecord`] names the published file of a block and the [`Extent`]s of log files that hold
//! its updates. A file counts because a record names it, and the bytes of a log file count if an
//! extent names them.
//!
//! # Commit
//! ```text
//! C1  the engine writes log entries (each on fresh sectors) and published files, under their final
//!     names
//! C2  sync of every written file, several at a time, except logs that no block reads once this
//!     record counts
//! C3  sync of the folders with new names
//! C4  append the record to journal a, sync        <- the commit point
//! C5  append the record to journal b, sync        <- acknowledged on return
//! C6  the engine removes consumed log files, lazily
//! ```
//!
//! # Opening
//! ```text
//! R1  lock; before that, refuse a folder without FORMAT that holds other files
//! R2  FORMAT must agree with version and parameters; if damaged, it is taken from the manifest
//! R3  the highest manifest, from either copy; damaged in both: refused, never the generation
//!     before. No manifest, but files that only a run with a manifest leaves: refused, never a
//!     silent new start
//! R4  journal records, each from either copy, as far as the chain of hashes goes; an end that no
//!     crash can leave (bytes in b where a has no record, a record after a gap) is refused
//! R5  published files exist with their exact length, needed extents are inside their files
//! R6  make folders and names durable again; remove what incomplete switches left, because on a
//!     full disk each attempt would leave more of it; generation G+1: two manifests (temporary,
//!     sync), two empty journals, sync of m/, both renames, sync of m/   <- the switch
//! R7  remove everything else in m/, sync of m/
//! R8  the engine sweeps: removes log and published files that no record names
//! ```
//!
//! # Every stop
//! | Stop at | On disk | Resume |
//! |---|---|---|
//! | before `FORMAT` is renamed | `LOCK`, empty folders, `FORMAT.tmp`, any subset | begins again |
//! | between `FORMAT` and the first manifest | temporary manifests, empty journals; no data possible | begins again, same run id |
//! | C1, C2 | bytes and files that no record names | swept; the commit is repeated |
//! | C3 | names may be missing; the record does not exist yet | same |
//! | C4, torn | hash wrong in a, b shorter | the record does not exist; the commit is repeated |
//! | C4 done, C5 not or torn | a has one record more | it counts: everything it names that is still needed was durable before C4 |
//! | C6 | consumed logs still exist, or reappear after a power cut | swept |
//! | R6 before the renames | generation G is the highest; numbers are never used twice | as before |
//! | R6, one or both renames | G, or G+1 in one or two whole copies, with empty journals | either: equal contents |
//! | R7 | parts of older generations | the highest counts; the others are durably removed before the first commit of G+1 |
//! | R8 | some files removed | swept again |
//! | a failed sync anywhere | unknown; pages marked clean, so a record may be readable but not safe | the owner stops; R6 rewrites everything that counts before anything depends on it |
//! | disk full anywhere | a prefix of a write | as at a stop; no byte that counts has changed |
//! | power cut inside a sector | garbage in the sectors that were being written | none of them holds bytes that count: records and entries begin on fresh sectors |
//! | one copy of `FORMAT`, manifest or journal damaged | | read from the other copy; rewritten at R6 |
//! | both copies of a manifest or of one record damaged | | refused, with file and offset |
//!
//! # Invariants
//! 1. Nothing outside the extents of committed records is ever read as log. Tails are not salvaged,
//!    so they need no truncation.
//! 2. A file name that carries a generation is never used again; a resumed run never appends to a
//!    file of an older generation.
//! 3. Each opening rewrites the metadata before anything depends on it, because readable bytes need
//!    not be durable.
//! 4. After a failed step of a commit the checkpoint refuses everything until it is reopened.
//!    Errors take the same path as crashes.
//! 5. At most one owner. Readers ([`inspect`]) need no lock and change nothing.
//! 6. The run id affects no published byte.
//! 7. A block is committed once.
//!
//! # Cost
//! A commit writes two records of at least 4 KiB and waits for their two syncs, one sync per folder
//! with new names, and the syncs of the data, [`Storage::sync_parallelism`] at a time. Opening
//! reads all metadata, holds the records in memory and writes them twice: 41 bytes per needed
//! extent, and about 100 bytes plus the summary per block.
//!
//! # Not here
//! - The contents of log entries and published files: their readers compare the hashes.
//! - The times of commits.
//! - Recomputing lost log entries ([`crate::maintenance::repair`], between the two halves of an
//!   opening, [`LockedRun`]).
//! - Protection from a disk that lies about syncs: blocks may be lost or the folder refused, but no
//!   result is wrong.
//! - A ballast file. Journal space is reserved as blocks finish ([`JournalRoom`]), so a run that
//!   meets a full disk still commits them. Where a file system cannot reserve space, that record
//!   may be refused; the last one then stands.
//! - A forecast of free space before each commit: C1 refuses without harm, only later. A resume on
//!   a full disk needs room for the new metadata (R6) before it frees any.

mod commit;
mod examine;
mod identity;
mod journal;
mod manifest;
mod names;
mod open;
mod record;
mod recover;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::Error;
use crate::finding::Damage;
use crate::ids::{BlockId, RunId};
use crate::log::place::Extent;
use crate::storage::{EntryKind, LockGuard, Storage, folder_of};

pub use commit::Commit;
pub(crate) use commit::sync_all;
pub(crate) use examine::left_over;
pub use examine::{Examination, examine};
pub use identity::{FORMAT_VERSION, Parameters};
pub use journal::JournalRoom;
pub(crate) use names::is_log;
pub use names::{FORMAT, LOCK, LOGS, METADATA, PUBLISHED, TEMPORARY, foreign, without_temporary};
pub use open::LockedRun;
pub use record::{BLOCKS_AT_MOST, BlockRecord, PublishedFile, SUMMARY_BYTES_AT_MOST};
pub use recover::{FinishedBlocks, Inspection, inspect};

use identity::Identity;
use journal::Journal;

/// Ownership of a run folder; only the owner can change the bytes that count.
pub struct Checkpoint {
    storage: Arc<dyn Storage>,
    identity: Identity,
    generation: u64,
    journal: Journal,
    finished: FinishedBlocks,
    /// The finished blocks in the order of their commits.
    order: Vec<BlockId>,
    published: BTreeSet<String>,
    failed: bool,
    _lock: LockGuard,
}

/// What [`Checkpoint::open`] returns.
pub struct Opening {
    /// The owner of the folder.
    pub checkpoint: Checkpoint,
    /// Finished blocks in the order of their commits, with the extents that are still needed.
    pub recovered: Vec<BlockRecord>,
}

impl Checkpoint {
    /// Takes the run folder and continues its run, or begins a run in an empty folder.
    ///
    /// `run_id` is used if a run begins; a run that continues keeps its own. Once the finished
    /// blocks are known, `needs` returns whether the updates of an extent must still be read. Files
    /// of needed extents must exist and be long enough; other extents are dropped. Once `needs` has
    /// returned false for an extent, it must never return true for it.
    ///
    /// # Errors
    /// - [`Error::Locked`]: another owner has the folder.
    /// - [`Error::NotEmpty`]: the folder holds other files and no `FORMAT`; nothing was changed.
    /// - [`Error::Parameters`], [`Error::Version`]: the folder belongs to a different run.
    /// - [`Error::Codec`]: a needed log is in a codec of another version.
    /// - [`Error::Corrupt`]: metadata damaged in both copies, or a named file missing or cut.
    /// - [`Error::Io`].
    ///
    /// Sweep before the first write. Nothing that counts changes before the switch to a new
    /// generation, and the switch is atomic: opening can be repeated after any error.
    pub fn open(
        storage: Arc<dyn Storage>,
        parameters: &Parameters,
        run_id: RunId,
        needs: &dyn Fn(&FinishedBlocks, &Extent) -> bool,
    ) -> Result<Opening, Error> {
        open::open(storage, parameters, run_id, needs)
    }

    /// Returns the generation in the names of files created from now on.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the identity of the run, which is random and has no effect on published files.
    pub fn run_id(&self) -> RunId {
        self.identity.run_id
    }

    /// Returns the parameters of the run.
    pub fn parameters(&self) -> &Parameters {
        &self.identity.parameters
    }

    /// Returns the committed blocks.
    pub fn finished(&self) -> &FinishedBlocks {
        &self.finished
    }

    /// Returns the object that reserves space for the records of future commits.
    pub fn journal_room(&self) -> JournalRoom {
        self.journal.room()
    }

    /// Returns the storage of the run folder.
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    /// Deletes every file in `logs/` and `db/` for which `live` returns false (names are relative
    /// to the run folder), except the published files of committed blocks and, in `logs/`, files
    /// without the name of a log.
    ///
    /// # Errors
    /// Returns [`Error::Poisoned`] after a failed commit, [`Error::Corrupt`] if something other
    /// than a file has the name of one, or [`Error::Io`].
    pub fn sweep(&mut self, live: &dyn Fn(&str) -> bool) -> Result<(), Error> {
        self.check()?;
        for folder in [LOGS, PUBLISHED] {
            let entries = self.storage.list(folder)?;
            let mut files: Vec<(String, EntryKind)> = entries
                .into_iter()
                .filter(|entry| folder != LOGS || names::is_log(&entry.name))
                .map(|entry| (format!("{folder}/{}", entry.name), entry.kind))
                .collect();
            files.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
            for (name, kind) in &files {
                if !self.published.contains(name) && !live(name) {
                    require_file(&*self.storage, name, *kind)?;
                    self.remove(name)?;
                }
            }
            self.storage.sync_dir(folder)?;
        }
        Ok(())
    }

    /// Begins a generation in which the records of a finished run name neither published files nor
    /// extents, for a caller that has replaced these files and wants to remove them. Like an
    /// opening, the switch is atomic, and durable on return.
    ///
    /// # Errors
    /// Returns [`Error::Poisoned`] after a failed commit, or [`Error::Io`]; after that the folder
    /// has the old generation or the new one, and this owner refuses everything.
    pub fn forget_published(&mut self, records: &mut BTreeMap<BlockId, BlockRecord>) -> Result<(), Error> {
        self.check()?;
        self.failed = true;
        for record in records.values_mut() {
            record.published = None;
            record.extents.clear();
        }
        let records: Vec<BlockRecord> = self.order.iter().filter_map(|block| records.get(block).cloned()).collect();
        self.journal = open::begin(&*self.storage, &self.identity, self.generation + 1, &records)?;
        self.generation += 1;
        self.published.clear();
        self.failed = false;
        Ok(())
    }

    /// Calls [`write_atomically`] as the owner. The name should be below `db/`, where
    /// [`Checkpoint::sweep`] removes the temporary file of an interrupted call.
    ///
    /// # Errors
    /// Returns [`Error::Poisoned`] after a failed commit, or [`Error::Io`].
    pub fn write_atomically(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        self.check()?;
        write_atomically(&*self.storage, name, bytes)
    }

    /// Removes a file that is no longer needed, if it exists. It may reappear after a power cut,
    /// because the folder is not synced.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        open::remove_if_there(&*self.storage, name)
    }

    fn check(&self) -> Result<(), Error> {
        if self.failed {
            return Err(Error::Poisoned);
        }
        Ok(())
    }
}

/// Refuses anything that has the name of a file of the run but is not a file.
fn require_file(storage: &dyn Storage, name: &str, kind: EntryKind) -> Result<(), Error> {
    match kind {
        EntryKind::File => Ok(()),
        EntryKind::Folder | EntryKind::Other => Err(Error::corrupt(storage.path(name), None, Damage::NotAFile)),
    }
}

/// Writes a small file atomically: its name always refers to the complete old or the complete new
/// contents. Temporary file, sync, rename, sync of the folder.
///
/// # Errors
/// Returns [`Error::Io`].
pub fn write_atomically(storage: &dyn Storage, name: &str, bytes: &[u8]) -> Result<(), Error> {
    let temporary = names::temporary(name);
    open::write_new(storage, &temporary, bytes)?;
    storage.rename(&temporary, name)?;
    storage.sync_dir(folder_of(name))
}
