//! Solves a board: passes the workload to the engine and makes a database of its results.
//!
//! [`SolveSpec`] → [`RemovalGame`] (the workload) → `pipeline::Run` → one summary for each
//! canonical block → manifest and `SUMS`, beside the published blocks if the database is kept.
//! [`crate::job`] makes the [`SolveSpec`].

pub(crate) mod book;
mod distances;
pub mod parts;
mod workload;

pub use parts::{PartError, PartSolver};
pub use workload::RemovalGame;

use crate::database::{BOOK, Keep, MANIFEST, Manifest, SUMS, SolveSpec, Sums};
use pipeline::checkpoint::{BlockRecord, Checkpoint, PUBLISHED, PublishedFile};
use pipeline::{BlockId, Event, Metrics, Options, Run, Storage};
use std::collections::BTreeMap;
use std::sync::Arc;
use trinim_kernel::Kernel;

/// A solved board.
#[derive(Clone, Debug)]
pub struct Solved {
    /// The manifest of the database: census, digest, layout.
    pub manifest: Manifest,
    /// Bytes of all files in the `db` folder.
    pub database_bytes: u64,
    /// Peak of the memory leased by the engine, in bytes.
    pub peak_leased_bytes: u64,
}

/// Solves in the folder of `storage`, or continues an interrupted solve. A [`SolveSpec`] from a
/// game keeps the database. The kernel does not change the result.
///
/// # Errors
/// Those of [`Run::start`]; [`pipeline::Error::Corrupt`] if a published block differs from what was
/// written.
pub fn solve<'a>(
    spec: impl Into<SolveSpec<'a>>,
    kernel: Kernel,
    storage: &Arc<dyn Storage>,
    options: &Options,
    metrics: &Metrics,
    observer: &(dyn Fn(&Event) + Sync),
) -> Result<Solved, pipeline::Error> {
    let spec = spec.into();
    let workload = RemovalGame::new(spec, kernel);
    let mut finished =
        Run::new(&workload, storage.clone()).options(options).metrics(metrics).observer(observer).start()?;
    let (manifest, database_bytes) = seal(&**storage, &mut finished.checkpoint, spec, &mut finished.records)?;
    Ok(Solved { manifest, database_bytes, peak_leased_bytes: finished.peak_leased_bytes })
}

/// Completes a run in which all blocks have records: merges the parts of the book if one is kept,
/// and writes the manifest and `SUMS`, unless all are already right. Returns the manifest and the
/// bytes of the database.
///
/// A manifest with other contents and a `SUMS` of another length are damage, found without reading
/// the blocks. Then the published files are checked, and both files are written again.
///
/// # Errors
/// [`pipeline::Error::Workload`] if a record is malformed, [`pipeline::Error::Corrupt`] if a
/// published block differs from what was written, [`pipeline::Error::Io`].
#[doc(hidden)]
pub fn seal(
    storage: &dyn Storage,
    checkpoint: &mut Checkpoint,
    spec: SolveSpec<'_>,
    records: &mut BTreeMap<BlockId, BlockRecord>,
) -> Result<(Manifest, u64), pipeline::Error> {
    let manifest = Manifest::from_summaries(spec, records.values().map(|record| &record.summary[..]))
        .ok_or_else(|| pipeline::Error::workload("a block summary in the journal is malformed"))?;
    let json = manifest.to_json();
    let (manifest_name, sums_name) = (format!("{PUBLISHED}/{MANIFEST}"), format!("{PUBLISHED}/{SUMS}"));
    let files: Vec<(BlockId, PublishedFile)> =
        records.values().filter_map(|record| Some((record.block, record.published.clone()?))).collect();
    let is_bound = files.is_empty();
    if let Keep::Book { pieces } = spec.terms.keep
        && !is_bound
    {
        book::Parts::new(spec.game, pieces).bind(storage, &files)?;
    }
    let lengths: Vec<(&str, u64)> = match spec.terms.keep {
        Keep::Book { .. } => vec![(BOOK, book::length(storage)?)],
        _ => files.iter().map(|(_, file)| (file_name(&file.name), file.length)).collect(),
    };
    let sums_bytes: u64 = lengths.iter().map(|(name, _)| *name).chain([MANIFEST]).map(Sums::line_bytes).sum();
    let total = json.len() as u64 + lengths.iter().map(|(_, length)| length).sum::<u64>() + sums_bytes;
    let is_sealed = storage.length(&sums_name)? == Some(sums_bytes) && holds(storage, &manifest_name, &json)?;
    // A book that was just made is read back in any case.
    let is_new = !is_bound && spec.terms.keep != Keep::Database;
    if is_new || !is_sealed {
        let sums = match spec.terms.keep {
            Keep::Book { .. } => Sums::text([(BOOK, book::sum(storage, spec, &manifest.census)?)], &json),
            _ => {
                let hash = |file: &PublishedFile| file.read(storage).map(|bytes| blake3::hash(&bytes));
                let hashed = files.iter().map(|(_, file)| Ok((file_name(&file.name), hash(file)?)));
                Sums::text(hashed.collect::<Result<Vec<_>, pipeline::Error>>()?, &json)
            }
        };
        checkpoint.write_atomically(&manifest_name, &json)?;
        checkpoint.write_atomically(&sums_name, sums.as_bytes())?;
    }
    if let Keep::Book { .. } = spec.terms.keep {
        if !is_bound {
            checkpoint.forget_published(records)?;
        }
        book::remove_parts(storage, checkpoint)?;
    }
    Ok((manifest, total))
}

/// Returns the name of a file without its folder.
fn file_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Returns whether a file exists and has exactly these bytes.
fn holds(storage: &dyn Storage, name: &str, expected: &[u8]) -> Result<bool, pipeline::Error> {
    if storage.length(name)? != Some(expected.len() as u64) {
        return Ok(false);
    }
    let mut bytes = vec![0; expected.len()];
    storage.open(name)?.read_exact_at(&mut bytes, 0)?;
    Ok(bytes == expected)
}
