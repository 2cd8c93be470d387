//! The end of a solve in tasks: manifest and `SUMS`, from the summaries of the blocks.

use super::definition::damage;
use super::store::{Store, commit, is_there};
use super::summary::StoredSummary;
use super::{DATABASE, Error, Listed, SUMMARIES, block_name, summary_name};
use crate::database::block::block_bytes_at_most;
use crate::database::{BlockForm, MANIFEST, Manifest, SUMS, Sums, Task, block_file_name};
use crate::solve::RemovalGame;
use crate::task::sweep::remove_blocks;
use pipeline::{Bitmap, BlockId, Damage, Error as RunError, Expected, Workload};
use trinim_kernel::Kernel;

/// The end of a solve.
pub struct Sealed {
    /// The manifest of the database.
    pub manifest: Manifest,
    /// Bytes of all files of the database.
    pub database_bytes: u64,
}

/// Writes the manifest and `SUMS`, in the bytes of a solve that keeps the same, or finds them
/// there. In a store that keeps counts, the files of the blocks then go.
///
/// A file of a block is not read again if its summary is there: `SUMS` has the checksum of what was
/// committed, so that a later check finds what changed since.
///
/// # Errors
/// [`Error::Unfinished`]; [`RunError::Corrupt`] with a summary or a block that is damaged or has
/// another length than was committed, and with a manifest or `SUMS` of other bytes; those of the
/// store.
pub fn finish(store: &dyn Store, task: Task<'_>, kernel: Kernel) -> Result<Sealed, Error> {
    let form = BlockForm::of(task);
    let listed = Listed::of(store, task)?;
    let all = || BlockId::all(task.blocks());
    let missing = all().filter(|block| !listed.has(*block)).count() as u64;
    if missing > 0 {
        return Err(Error::Unfinished { missing, blocks: task.blocks().into() });
    }
    let mut again = None;
    let mut summaries = Vec::new();
    for block in all() {
        let stored = match StoredSummary::read(store, &form, block)? {
            Some(stored) => stored,
            None => {
                let again = match &mut again {
                    Some(again) => again,
                    None => again.insert(Again::new(&form, RemovalGame::new(task, kernel).published())?),
                };
                let stored = again.summary(store, &form, block)?;
                commit(store, &summary_name(block), &stored.to_bytes(&form, block))?;
                stored
            }
        };
        if let Some(found) = listed.files.get(&block).copied().filter(|found| *found != stored.file_bytes) {
            let damage = Damage::Length { expected: Expected::Exactly(stored.file_bytes), found };
            return Err(RunError::corrupt(store.path(&block_name(block)), None, damage).into());
        }
        summaries.push(stored);
    }
    let manifest = Manifest::of_summaries(task, summaries.iter().map(|stored| &stored.summary[..]))
        .ok_or_else(|| RunError::corrupt(store.path(SUMMARIES), None, "summaries of another form"))?;
    let json = manifest.to_json();
    let kept = if task.terms.keep.is_database() { &summaries[..] } else { &[] };
    let sums = Sums::text(all().zip(kept).map(|(block, stored)| (block_file_name(block), stored.sum)), &json);
    let files =
        [(MANIFEST, &json[..]), (SUMS, sums.as_bytes())].map(|(name, bytes)| (format!("{DATABASE}/{name}"), bytes));
    for (name, bytes) in &files {
        // Before anything is written.
        is_there(store, name, bytes)?;
    }
    for (name, bytes) in &files {
        commit(store, name, bytes)?;
    }
    if !task.terms.keep.is_database() {
        store.settle(SUMMARIES)?;
        remove_blocks(store, listed.files.into_keys())?;
    }
    let blocks: u64 = kept.iter().map(|stored| stored.file_bytes).sum();
    Ok(Sealed { manifest, database_bytes: blocks + (json.len() + sums.len()) as u64 })
}

/// Makes summaries again.
struct Again<'a> {
    workload: RemovalGame<'a>,
    stream: Bitmap,
}

impl<'a> Again<'a> {
    fn new(form: &BlockForm, workload: RemovalGame<'a>) -> Result<Again<'a>, Error> {
        Ok(Again { workload, stream: Bitmap::zeroed(form.stream_words)? })
    }

    fn summary(&mut self, store: &dyn Store, form: &BlockForm, block: BlockId) -> Result<StoredSummary, Error> {
        let (name, stream) = (block_name(block), self.stream.words_mut());
        let Some(file) = store.read(&name, block_bytes_at_most(form.stream_words))? else {
            return Err(Error::Unfinished { missing: 1, blocks: self.workload.blocks().into() });
        };
        form.read(&store.path(&name), block, &file, stream).map_err(damage)?;
        Ok(StoredSummary::of(&file, self.workload.summarise(block, stream)))
    }
}
