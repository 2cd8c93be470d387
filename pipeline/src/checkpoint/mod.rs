//! The checkpoint: which blocks are finished, durably, whatever happens.
//!
//! A run writes two kinds of files: logs with updates between blocks, and published files. This
//! module decides which of their bytes count. A finished block counts together with everything it
//! sent, or not at all; what was acknowledged stays, through kills, power cuts, full disks and failed
//! syncs; one damaged copy of the metadata heals. The bytes are described in `FORMAT.md`.
//!
//! # Shape
//!
//! ```text
//! LOCK                 taken (flock) by the one owner; made once, never deleted, empty
//! FORMAT               version, run id, parameters; written once
//! m/manifest.G.a .b    everything finished when generation G began, two equal copies
//! m/journal.G.a  .b    one record for each commit since then, two equal copies
//! logs/                log files; the generation that made a file is in its name
//! db/                  published files; no run id, no generation, no date
//! ```
//!
//! A [`BlockRecord`] names the published file of a block and the [`Extent`]s of log files that hold
//! its updates. The journal is the only truth: a file counts because a record names it, and of a log
//! file exactly the bytes count that an extent names.
//!
//! # Commit
//!
//! ```text
//! C1  the engine writes log entries (each from a fresh sector on) and published files, under their final names
//! C2  sync of every file written, several at a time; not of logs that nobody reads once this record counts
//! C3  sync of the folders with new names
//! C4  record appended to journal a, sync          <- the commit point
//! C5  record appended to journal b, sync          <- acknowledged when this returns
//! C6  the engine removes consumed log files, lazily
//! ```
//!
//! # Opening
//!
//! ```text
//! R1  lock; a folder without FORMAT that holds other files is refused before that
//! R2  FORMAT has to agree with version and parameters; damaged, it is taken from the manifest
//! R3  the highest manifest, either copy; damaged in both: refused, never the generation before.
//!     None, but files that only a run with a manifest leaves: refused, never a silent new start
//! R4  journal records, each from either copy, as far as the chain of hashes goes; an end that no
//!     crash can leave (bytes in b where a has no record, a record behind a gap) is refused
//! R5  published files exist with their exact length, needed extents lie inside their files
//! R6  folders and names made durable anew; what switches left that did not complete is removed,
//!     or each try on a full disk would leave more of it; generation G+1: two manifests (temporary, sync), two
//!     empty journals, sync of m/, both renames, sync of m/   <- the switch
//! R7  everything else in m/ removed, sync of m/
//! R8  the engine sweeps: log and published files that nothing names are removed
//! ```
//!
//! # Every stop
//!
//! | Stop at | On disk | Resume |
//! |---|---|---|
//! | before `FORMAT` is renamed | `LOCK`, empty folders, `FORMAT.tmp`, any subset | begins anew |
//! | between `FORMAT` and the first manifest | temporary manifests, empty journals; no data possible | begins anew, same run id |
//! | C1, C2 | bytes and files that no record names | swept; the epoch is done again |
//! | C3 | names may be missing; the record does not exist yet | same |
//! | C4, torn | hash wrong in a, b shorter | the record is not there; the epoch is done again |
//! | C4 done, C5 not or torn | a has one record more | it counts: what is still needed of what it names was durable before C4 |
//! | C6 | consumed logs still there, or back after a power cut | swept |
//! | R6 before the renames | generation G is the highest; numbers are never used twice | as before |
//! | R6, one or both renames | G, or G+1 in one or two whole copies, with empty journals | either: equal contents |
//! | R7 | parts of older generations | the highest counts; gone for good before the first commit of G+1 |
//! | R8 | some files removed | swept again |
//! | a failed sync anywhere | unknown; pages marked clean, so a record may be readable but not safe | the owner stops; all that counts is written anew at R6 before anything is built on it |
//! | disk full anywhere | a prefix of a write | as at a stop; what counts was not touched |
//! | power cut inside a sector | garbage in the sectors that were being written | none of them holds bytes that count: records and entries begin on fresh sectors |
//! | one copy of `FORMAT`, manifest or journal damaged | | read from the other copy; written anew at R6 |
//! | both copies damaged at one place | | refused, with file and offset |
//!
//! # Invariants
//!
//! 1. Nothing outside the extents of committed records is ever read as log: there is no salvaging of
//!    tails, hence no cutting of tails either.
//! 2. A file name that carries a generation is never used again; a resumed run never appends to a
//!    file of an older generation.
//! 3. Nothing is built on metadata that can merely be read: each opening writes them anew.
//! 4. After any failed step of a commit the checkpoint refuses everything until it is reopened. Errors
//!    take the same way as crashes.
//! 5. At most one owner. Readers ([`inspect`]) need no lock and change nothing.
//! 6. The run id influences no published byte.
//!
//! # Cost
//!
//! A commit writes two records of at least 4 KiB and waits for two syncs, one for each folder, and
//! those of the data, [`Storage::sync_parallelism`] at a time. Opening reads all metadata and writes
//! the records once more, twice: 41 bytes for each needed extent and about 100 and the summary for
//! each block, held in memory meanwhile.
//!
//! # Not here
//!
//! What a log entry or a published file contains, and comparing their hashes (who reads them does);
//! when to commit; making lost log entries anew ([`crate::care::repair`], between the two halves of an
//! opening, [`Draft`]). Not promised: work acknowledged by a disk that lies about syncs. Then blocks may
//! be lost or the folder refused, but no result is wrong.
//!
//! No ballast file, and no forecast of free space before a commit. A reserve is of use where a stop has
//! to be recorded; here it has not: a run that meets a full disk writes nothing more, the last record
//! stands, and the time lost is that since the last commit. A forecast could only refuse earlier what
//! C1 refuses without harm, and be wrong when somebody else fills the disk in between. What a resume
//! needs before it frees anything is the new metadata (R6); to make room for that is up to whoever
//! enlarges the disk. The plan of the whole run is compared with the free space before it begins.

mod bytes;
mod commit;
mod examine;
mod identity;
mod journal;
mod manifest;
mod names;
mod open;
mod record;
mod recover;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::Error;
use crate::ids::RunId;
use crate::log::place::Extent;
use crate::storage::{EntryKind, LockGuard, Storage, folder_of};

pub use commit::Epoch;
pub(crate) use commit::sync_all;
pub use examine::{Examination, examine};
pub use identity::{FORMAT_VERSION, Parameters};
pub use names::{FORMAT, LOCK, LOGS, METADATA, PUBLISHED, TEMPORARY};
pub use open::Draft;
pub use record::{BlockRecord, PublishedFile, SUMMARY_BYTES_AT_MOST};
pub use recover::{Finished, Inspection, inspect};

use identity::Identity;
use journal::Journal;

/// Ownership of a run folder, and the only way to change what counts in it.
pub struct Checkpoint {
    storage: Arc<dyn Storage>,
    identity: Identity,
    generation: u64,
    journal: Journal,
    finished: Finished,
    published: BTreeSet<String>,
    /// Whether a commit failed half-way.
    failed: bool,
    _lock: LockGuard,
}

/// What [`Checkpoint::open`] returns.
pub struct Opened {
    /// The owner of the folder.
    pub checkpoint: Checkpoint,
    /// The finished blocks in the order of their commits, with the extents that are still needed.
    pub recovered: Vec<BlockRecord>,
}

impl Checkpoint {
    /// Takes the run folder and continues its run, or begins one in an empty folder.
    ///
    /// `run_id` is that of a run that begins; a run that continues keeps its own. `needs` says, once
    /// the finished blocks are known, whether the updates of an extent are still to be read: files
    /// of needed extents have to exist and be long enough, extents that are not needed are
    /// forgotten. It must not say no and later yes.
    ///
    /// # Errors
    /// - [`Error::Locked`]: somebody else owns the folder.
    /// - [`Error::NotEmpty`]: the folder holds other files and no `FORMAT`; nothing was touched.
    /// - [`Error::Parameters`], [`Error::Version`]: another run than the one asked for.
    /// - [`Error::Corrupt`]: metadata damaged in both copies, or a named file missing or cut.
    /// - [`Error::Io`].
    ///
    /// Sweep before the first write. Up to the switch to a new generation nothing that counts is changed, and the switch is
    /// atomic: opening can be repeated after any error.
    pub fn open(
        storage: Arc<dyn Storage>,
        parameters: &Parameters,
        run_id: RunId,
        needs: &dyn Fn(&Finished, &Extent) -> bool,
    ) -> Result<Opened, Error> {
        open::open(storage, parameters, run_id, needs)
    }

    /// The generation that files created from now on carry in their names.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Identity of the run: random, and without influence on published files.
    pub fn run_id(&self) -> RunId {
        self.identity.run_id
    }

    /// Parameters of the run.
    pub fn parameters(&self) -> &Parameters {
        &self.identity.parameters
    }

    /// The committed blocks.
    pub fn finished(&self) -> &Finished {
        &self.finished
    }

    /// The storage below.
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    /// Deletes every file in `logs/` and `db/` of which `live` says no (names relative to the run
    /// folder). Published files of committed blocks are kept without asking.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn sweep(&mut self, live: &dyn Fn(&str) -> bool) -> Result<(), Error> {
        self.check()?;
        for folder in [LOGS, PUBLISHED] {
            let entries = self.storage.list(folder)?;
            let mut files: Vec<String> = entries
                .into_iter()
                .filter(|entry| entry.kind == EntryKind::File)
                .map(|entry| format!("{folder}/{}", entry.name))
                .collect();
            files.sort_unstable();
            for name in &files {
                if !self.published.contains(name) && !live(name) {
                    self.remove(name)?;
                }
            }
            self.storage.sync_dir(folder)?;
        }
        Ok(())
    }

    /// [`write_atomically`], by the owner. The name should be below `db/`, where [`Checkpoint::sweep`] removes the temporary file that
    /// an interrupted call leaves.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write_atomically(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        self.check()?;
        write_atomically(&*self.storage, name, bytes)
    }

    /// Removes a file that is no longer needed. It may come back after a power cut (the folder is not
    /// synced), and may be gone already.
    ///
    /// # Errors
    /// [`Error::Io`].
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

/// Writes a small file so that its name stands for the whole contents or for the old file: temporary file, sync, rename, sync of the folder.
///
/// # Errors
/// [`Error::Io`].
pub fn write_atomically(storage: &dyn Storage, name: &str, bytes: &[u8]) -> Result<(), Error> {
    let temporary = names::temporary(name);
    open::write_new(storage, &temporary, bytes)?;
    storage.rename(&temporary, name)?;
    storage.sync_dir(folder_of(name))
}
