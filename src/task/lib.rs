//! A solve in independent tasks, for many machines: each computes one or several blocks from the
//! files of a store that all machines reach, and commits one file per block.
//!
//! ```text
//! init  ->  task.json  what is solved
//! task  ->  db/<block file> of its sources  --maintenance::recompute-->  summaries/<block>, db/<block file>
//! finish ->  db/manifest.json, db/SUMS: the database that a solve leaves
//! ```
//!
//! A driver decides which task runs when and where: [`plan`] lists the blocks and their sources,
//! [`committed`] those that are done. `FORMAT.md` of this package has the bytes of the store.
//!
//! # Invariants
//! 1. The bytes of a file depend only on the store's `task.json`. A name never has two contents: a
//!    file is created whole or not at all, and if its name is taken, its bytes are compared.
//! 2. So any number of tasks can compute the same block at the same time, be killed at any moment,
//!    or continue after they were taken for dead.
//! 3. A block is committed when its file exists; in a store that keeps only counts, when its
//!    summary exists.
//! 4. A task trusts no file: the files of its sources carry the identity of the game and hashes,
//!    which are compared at the moment of use.
//! 5. A file is removed only by [`sweep`] and [`finish`], and only when it is not needed any more.
//!
//! # Not here
//! Clocks, processes and schedules: the command line waits, a driver decides.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![warn(unreachable_pub)]

mod compute;
mod copy;
mod definition;
mod finish;
mod names;
mod plan;
pub mod store;
mod summary;
mod sweep;

pub use compute::{TaskOptions, TaskWork, Tasks, compute};
pub use copy::{CopyWork, copy, require_sealed};
pub use definition::{init, open};
pub use finish::{SealedDatabase, finish};
pub use plan::{ALONE, BatchRow, BlockRow, batches, plan};
pub use store::BucketStore;
pub use store::{DATABASE, DEFINITION, FolderStore, SUMMARIES, Store};
pub use summary::counts;
pub use sweep::{SweepWork, Sweeper, sweep};

use names::{block_folders, block_name, block_of, summary_folders, summary_name};
use pipeline::BlockId;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use trinim::database::SolveSpec;

/// An error of a task.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the store, or of the files in it.
    #[error(transparent)]
    Run(#[from] pipeline::Error),
    /// The place is not a store.
    #[error("{} is not a store of tasks: it has no {DEFINITION}", path.display())]
    NotAStore {
        /// The store.
        path: PathBuf,
    },
    /// The store was started with a different value of a parameter, or by another program.
    #[error("{} records {name} = {found}, not {wanted}", path.display())]
    Differs {
        /// The definition in the store.
        path: PathBuf,
        /// The first parameter that differs.
        name: String,
        /// Its value in the store.
        found: String,
        /// The value of this program or command.
        wanted: String,
    },
    /// There is no such block.
    #[error("no block {block}: blocks are numbered 0 to {last}")]
    NoBlock {
        /// The requested number.
        block: u32,
        /// The largest number.
        last: u32,
    },
    /// The store created a file twice, although the name was taken.
    #[error("{} was created twice: this store does not reject existing names", path.display())]
    Twice {
        /// The file, which was removed.
        path: PathBuf,
    },
    /// The store has no manifest and no `SUMS` yet.
    #[error("{} is not finished: it has no database yet", path.display())]
    Unsealed {
        /// The store.
        path: PathBuf,
    },
    /// The work needs blocks that are missing.
    #[error("{missing} of {blocks} blocks are not committed yet")]
    Unfinished {
        /// Number of missing blocks.
        missing: u64,
        /// Number of all blocks.
        blocks: u64,
    },
}

/// The error for a file that should be in a store.
fn missing(store: &dyn Store, name: &str) -> Error {
    pipeline::Error::io("read", store.path(name), std::io::ErrorKind::NotFound.into()).into()
}

/// Refuses blocks that the game does not have.
fn require(spec: SolveSpec<'_>, blocks: &[BlockId]) -> Result<(), Error> {
    match blocks.iter().max() {
        Some(block) if block.0 >= spec.blocks() => Err(Error::NoBlock { block: block.0, last: spec.blocks() - 1 }),
        _ => Ok(()),
    }
}

/// Returns the name of the file whose existence means that a block is committed.
fn deciding_name(spec: SolveSpec<'_>, block: BlockId) -> String {
    if spec.terms.keep.is_database() { block_name(spec, block) } else { summary_name(block) }
}

/// Makes all names in some folders of a store safe from power cuts.
fn sync(store: &dyn Store, folders: Vec<String>) -> Result<(), Error> {
    Ok(folders.iter().try_for_each(|folder| store.sync(folder))?)
}

/// The blocks in a listing of a store.
struct Listing {
    /// The files of blocks, with their lengths in bytes.
    files: BTreeMap<BlockId, u64>,
    /// The blocks that have a summary, in a store where that decides.
    summaries: Option<BTreeSet<BlockId>>,
}

impl Listing {
    fn read(store: &dyn Store, spec: SolveSpec<'_>) -> Result<Listing, Error> {
        let all = || BlockId::all(spec.blocks());
        let listed =
            |folders: Vec<String>, name: &dyn Fn(BlockId) -> String| -> Result<BTreeMap<BlockId, u64>, Error> {
                let mut found = BTreeMap::new();
                for folder in folders {
                    found.extend(store.list(&folder)?.into_iter().filter_map(|(file, bytes)| {
                        let block = block_of(&file, spec.blocks())?;
                        (name(block) == format!("{folder}/{file}")).then_some((block, bytes))
                    }));
                }
                Ok(found)
            };
        let files = listed(block_folders(spec, all()), &|block| block_name(spec, block))?;
        let summaries = match spec.terms.keep.is_database() {
            true => None,
            false => Some(listed(summary_folders(all()), &summary_name)?.into_keys().collect()),
        };
        Ok(Listing { files, summaries })
    }

    fn blocks(&self) -> impl Iterator<Item = BlockId> {
        let (files, summaries) = match &self.summaries {
            None => (Some(self.files.keys()), None),
            Some(summaries) => (None, Some(summaries)),
        };
        files.into_iter().flatten().chain(summaries.into_iter().flatten()).copied()
    }

    fn has(&self, block: BlockId) -> bool {
        match &self.summaries {
            Some(summaries) => summaries.contains(&block),
            None => self.files.contains_key(&block),
        }
    }
}

/// Returns the committed blocks, ascending, from the names in the store; no file is read.
///
/// # Errors
/// Those of the store.
pub fn committed(store: &dyn Store, spec: SolveSpec<'_>) -> Result<Vec<BlockId>, Error> {
    Ok(Listing::read(store, spec)?.blocks().collect())
}
