//! Upkeep of what a solve leaves on disk: is every byte still what was written, and making again what is not.
//!
//! # Shape
//! Two kinds of folders. A *run* has a journal, which knows the hash of every log entry and of every block, and the summary of every block:
//! from it manifest and `SUMS` follow to the last byte. A *database alone*, a `db` folder that was moved away, has what checks itself: blocks
//! with a hash for each frame, a manifest with the digest of every block's bitmap, and `SUMS` over all files.
//!
//! | who says what is right | run | database alone |
//! |---|---|---|
//! | of a log entry | journal | - |
//! | of a block | journal | `SUMS`; where its line is wrong, the block's own hashes together with its digest in the manifest |
//! | of the manifest | the summaries in the journal | `SUMS`; where its line is wrong, what all blocks add up to |
//! | of `SUMS` | all of these | all of these |
//!
//! # Invariants
//! 1. [`check()`] reads only and takes no lock, also beside a run that goes on.
//! 2. [`Repair`] writes nothing before it has said what it is going to do, and replaces a file only by bytes that somebody in the table
//!    above vouches for.
//! 3. A repair that was stopped, killed or failed is begun again by the same command; a repaired folder has the bytes that an undisturbed solve
//!    would have left.
//!
//! # Cost
//! A check reads what it looks at once. A repair begins with a check of all hashes; the rest is in [`Estimate`].
//!
//! # Not here
//! Whether the values are right: [`verify`](crate::verify). How logs and journal are checked and repaired: `pipeline::care::check`, `pipeline::care::repair`.

mod alone;
mod check;
mod repair;
mod run;

pub use check::{Report, Request, Subject, check};
pub use pipeline::care::check::Depth;
pub use pipeline::{Finding, Kind};
pub use repair::{Estimate, Repair};

use crate::database::{DatabaseError, MANIFEST, SUMS};
use pipeline::checkpoint::{FORMAT, METADATA, PUBLISHED};
use pipeline::storage::RealStorage;
use std::path::{Path, PathBuf};

/// Why a folder cannot be looked after.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What the engine says.
    #[error(transparent)]
    Run(#[from] pipeline::Error),
    /// What the database says.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The folder holds neither a run nor a database.
    #[error("{} holds neither a run nor a database", path.display())]
    Nothing {
        /// The folder.
        path: PathBuf,
    },
    /// A run with parameters that this program does not know.
    #[error("{} was begun with parameters that this program does not know", path.display())]
    Foreign {
        /// The file that names the parameters.
        path: PathBuf,
    },
    /// Nothing is left that says what the right bytes are, or from which to make them. Nothing was written.
    #[error("{} cannot be repaired: {reason}", path.display())]
    Irreparable {
        /// The damaged file.
        path: PathBuf,
        /// What is missing.
        reason: String,
    },
}

/// What a folder is.
enum Place {
    /// A run folder.
    Run(RealStorage),
    /// The files of a database, without its run.
    Database(RealStorage),
}

impl Place {
    fn of(folder: &Path) -> Result<Place, Error> {
        let nothing = || Error::Nothing { path: folder.into() };
        let has = |name: &str| folder.join(name).exists();
        if !folder.is_dir() {
            return Err(nothing());
        }
        if has(FORMAT) || has(METADATA) {
            return Ok(Place::Run(RealStorage::open(folder)?));
        }
        if has(MANIFEST) || has(SUMS) {
            return Ok(Place::Database(RealStorage::open(folder)?));
        }
        let inner = folder.join(PUBLISHED);
        if inner.join(MANIFEST).exists() || inner.join(SUMS).exists() {
            return Ok(Place::Database(RealStorage::open(inner)?));
        }
        Err(nothing())
    }
}
