//! Solves a board: hands the workload to the engine and turns what it leaves into a database.
//!
//! # Path
//! [`Game`] → [`RemovalGame`] (the workload) → `pipeline::Run` → one [`BlockSummary`] for each canonical block → manifest and
//! `SUMS` beside the published blocks. [`baseline`] has the papers' ways to the same folder; [`Strategy`] names all ways.
//!
//! # Not here
//! How logs move (package `pipeline`), what a block file holds (`database`), printing (`cli`).

pub mod baseline;
mod builder;
mod strategy;
mod workload;

pub use builder::Solve;
pub use strategy::{Baseline, ParseStrategyError, Redundancy, Strategy};
pub use workload::RemovalGame;

use crate::database::{BlockSummary, Game, MANIFEST, Manifest, SUMS, Sums};
use crate::kernel::Kernel;
use pipeline::care::check;
use pipeline::checkpoint::{BlockRecord, Checkpoint, PUBLISHED};
use pipeline::{BlockId, Event, Metrics, Options, Run, Storage};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A solved board.
pub struct Solved {
    /// What the database's manifest says: census, digest, layout.
    pub manifest: Manifest,
    /// What was measured to choose the codec of the logs, if that was left to the engine.
    pub candidates: Vec<pipeline::Candidate>,
    /// Bytes of all files in the `db` folder; 0 when no database was kept.
    pub database_bytes: u64,
    /// Highest sum of memory leased by the engine, in bytes.
    pub peak_leased_bytes: u64,
}

/// Solves a game in the folder behind `storage`, or goes on where an earlier call stopped. The kernel has no influence
/// on the result.
///
/// # Errors
/// Those of [`Run::start`]; [`pipeline::Error::Corrupt`] when a published block is not what was written.
pub fn solve(
    game: &Game,
    kernel: Kernel,
    storage: &Arc<dyn Storage>,
    options: &Options,
    metrics: &Metrics,
    observer: &(dyn Fn(&Event) + Sync),
) -> Result<Solved, pipeline::Error> {
    let workload = RemovalGame::new(game, kernel);
    let finished = Run::new(&workload, storage.clone()).options(options).metrics(metrics).observer(observer).start()?;
    let manifest = solved_manifest(game, &finished.records)?;
    let database_bytes = seal(&**storage, &finished.checkpoint, &finished.records, &manifest)?;
    Ok(Solved {
        manifest,
        candidates: finished.candidates,
        database_bytes,
        peak_leased_bytes: finished.peak_leased_bytes,
    })
}

/// The manifest of a run whose blocks all have their records.
fn solved_manifest(game: &Game, records: &BTreeMap<BlockId, BlockRecord>) -> Result<Manifest, pipeline::Error> {
    let summaries: Vec<BlockSummary> = records
        .values()
        .map(|record| BlockSummary::from_bytes(&record.summary))
        .collect::<Option<_>>()
        .ok_or_else(|| pipeline::Error::workload("a block's summary in the journal is not one of this program"))?;
    Ok(Manifest::new(game, &summaries))
}

/// Writes manifest and `SUMS`, unless they are there as they have to be; returns the bytes of the database.
///
/// What can be seen without reading the blocks again is looked at: a manifest with other bytes or a `SUMS` of another length was damaged, and both are
/// written anew from blocks that are checked first.
fn seal(
    storage: &dyn Storage,
    checkpoint: &Checkpoint,
    records: &BTreeMap<BlockId, BlockRecord>,
    manifest: &Manifest,
) -> Result<u64, pipeline::Error> {
    let json = manifest.to_json();
    let (manifest_name, sums_name) = (format!("{PUBLISHED}/{MANIFEST}"), format!("{PUBLISHED}/{SUMS}"));
    let files = || records.values().filter_map(|record| record.published.as_ref());
    let sums_bytes: u64 = files().map(|file| file_name(&file.name)).chain([MANIFEST]).map(Sums::line_bytes).sum();
    let total = json.len() as u64 + files().map(|file| file.length).sum::<u64>() + sums_bytes;
    if storage.length(&sums_name)? == Some(sums_bytes) && holds(storage, &manifest_name, &json)? {
        return Ok(total);
    }
    let mut sums = String::new();
    for file in files() {
        let bytes = check::read_published(storage, file)?;
        sums.push_str(&Sums::line(blake3::hash(&bytes), file_name(&file.name)));
    }
    sums.push_str(&Sums::line(blake3::hash(&json), MANIFEST));
    checkpoint.write_atomically(&manifest_name, &json)?;
    checkpoint.write_atomically(&sums_name, sums.as_bytes())?;
    Ok(total)
}

/// The name of a file without its folder.
fn file_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Whether a file exists and has these bytes.
fn holds(storage: &dyn Storage, name: &str, expected: &[u8]) -> Result<bool, pipeline::Error> {
    if storage.length(name)? != Some(expected.len() as u64) {
        return Ok(false);
    }
    let mut bytes = vec![0; expected.len()];
    storage.open(name)?.read_exact_at(&mut bytes, 0)?;
    Ok(bytes == expected)
}
