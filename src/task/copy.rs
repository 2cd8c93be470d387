//! Copies a finished store, or a part of it, into another: to a machine, or from it.
//!
//! # Invariants
//! 1. Only committed bytes are copied: a summary has a hash of its own and the checksum of its
//!    block, `SUMS` has that of the manifest.
//! 2. The target is a store from the beginning. Existing files in it are compared and neither
//!    fetched again nor overwritten, so a copy continues after any stop.
//! 3. `SUMS` comes last: with it, the copy is complete.
//!
//! # Cost
//! Each thread holds a block's file.

use super::compute::is_committed;
use super::definition::init;
use super::store::{Store, commit};
use super::summary::StoredSummary;
use super::{DATABASE, Error, block_name, missing, summary_folders, summary_name, sync};
use parking_lot::Mutex;
use pipeline::{BlockId, Damage, Error as RunError, Expected, parallel};
use serde::Serialize;
use std::collections::BTreeSet;
use trinim::database::{BlockForm, LIST_BYTES_MAX, MANIFEST, SUMS, SolveSpec, Sums};

/// The work of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct CopyWork {
    /// Files that were copied.
    pub files: u64,
    /// Their size.
    pub bytes: u64,
    /// Files that already existed with the same contents.
    pub present: u64,
}

impl CopyWork {
    fn add(&mut self, file: &[u8], is_new: bool) {
        if is_new {
            self.files += 1;
            self.bytes += file.len() as u64;
        } else {
            self.present += 1;
        }
    }
}

/// Checks that a store is finished.
///
/// # Errors
/// [`Error::Unsealed`]; those of the store.
pub fn require_sealed(store: &dyn Store) -> Result<(), Error> {
    let missing = || Error::Unsealed { path: store.path("") };
    store.begin(&list_name(SUMS), 1)?.map(drop).ok_or_else(missing)
}

/// Copies a finished store `from` into `to`, on `threads` threads; of the blocks only those in
/// `blocks`, if given. `progress` is called with the number of copied blocks.
///
/// # Errors
/// [`Error::Unsealed`]; [`Error::Differs`] if the target was begun for another solve;
/// [`RunError::Corrupt`] with a file that does not have the committed bytes, in either store;
/// [`RunError::Io`], also for a missing file; those of the stores.
pub fn copy(
    from: &dyn Store,
    to: &dyn Store,
    spec: SolveSpec<'_>,
    blocks: Option<&BTreeSet<BlockId>>,
    threads: usize,
    progress: impl FnMut(u32) + Send,
) -> Result<CopyWork, Error> {
    let form = BlockForm::new(spec);
    let lists = lists(from)?;
    init(to, spec)?;
    let is_wanted = |block: &BlockId| blocks.is_none_or(|blocks| blocks.contains(block));
    let wanted: Vec<BlockId> = BlockId::all(spec.blocks()).filter(is_wanted).collect();
    let copied = Mutex::new(CopyWork::default());
    let done = Mutex::new((0, progress));
    let one = |_: &mut (), index: usize| -> Result<(), Error> {
        let block = wanted[index];
        let stored = StoredSummary::read_committed(from, &form, block)?;
        let bytes = stored.to_bytes(&form, block);
        let is_new = put(to, &summary_name(block), &bytes)?;
        copied.lock().add(&bytes, is_new);
        if spec.terms.keep.is_database() {
            let name = block_name(spec, block);
            if is_committed(to, spec, &form, block)? {
                let bytes = to.read(&name, stored.file_bytes)?.ok_or_else(|| missing(to, &name))?;
                check(to, &name, &bytes, &stored)?;
                copied.lock().add(&bytes, false);
            } else {
                let bytes = from.read(&name, stored.file_bytes)?.ok_or_else(|| missing(from, &name))?;
                check(from, &name, &bytes, &stored)?;
                let is_new = put(to, &name, &bytes)?;
                copied.lock().add(&bytes, is_new);
            }
        }
        let (blocks, progress) = &mut *done.lock();
        *blocks += 1;
        progress(*blocks);
        Ok(())
    };
    parallel::for_each(threads, wanted.len(), || Ok(()), one)
        .map_err(|mut errors: Vec<Error>| errors.swap_remove(0))?;
    let mut copied = copied.into_inner();
    // Earlier files may not be safe yet; creating the lists makes the database safe.
    sync(to, summary_folders(wanted))?;
    assert!(lists[1].0 == list_name(SUMS), "copy, invariant 3: {} comes last", lists[1].0);
    for (name, bytes) in &lists {
        copied.add(bytes, commit(to, name, bytes)?);
    }
    Ok(copied)
}

/// Reads the manifest and then `SUMS`, which has the checksum of the manifest.
fn lists(store: &dyn Store) -> Result<[(String, Vec<u8>); 2], Error> {
    require_sealed(store)?;
    let [manifest, sums] = [MANIFEST, SUMS].map(list_name);
    let read = |name: &str| store.read(name, LIST_BYTES_MAX)?.ok_or_else(|| missing(store, name));
    let (manifest_bytes, sums_bytes) = (read(&manifest)?, read(&sums)?);
    let sum = Sums::parse(&sums_bytes).lines.get(MANIFEST).map(|(sum, _)| *sum);
    if sum != Some(blake3::hash(&manifest_bytes)) {
        return Err(RunError::corrupt(store.path(&manifest), None, "not the manifest of SUMS").into());
    }
    Ok([(manifest, manifest_bytes), (sums, sums_bytes)])
}

/// Creates a file unless it exists with the same bytes; returns whether it was created.
fn put(store: &dyn Store, name: &str, bytes: &[u8]) -> Result<bool, Error> {
    Ok(!super::store::is_there(store, name, bytes)? && commit(store, name, bytes)?)
}

/// Compares the file of a block with the committed one.
fn check(store: &dyn Store, name: &str, bytes: &[u8], stored: &StoredSummary) -> Result<(), Error> {
    let found = bytes.len() as u64;
    if found != stored.file_bytes {
        let damage = Damage::Length { expected: Expected::Exactly(stored.file_bytes), found };
        return Err(RunError::corrupt(store.path(name), None, damage).into());
    }
    if blake3::hash(bytes) != stored.sum {
        return Err(RunError::corrupt(store.path(name), None, "its bytes are not those that were committed").into());
    }
    Ok(())
}

fn list_name(name: &str) -> String {
    format!("{DATABASE}/{name}")
}
