//! The end of a solve in tasks: manifest and `SUMS`, from the summaries of the blocks.

use super::definition::damage;
use super::store::{Store, commit, is_there};
use super::summary::StoredSummary;
use super::sweep::remove_blocks;
use super::{DATABASE, Error, Listing, SUMMARIES, block_name, summary_folders, summary_name, sync};
use parking_lot::Mutex;
use pipeline::{Bitmap, BlockId, Damage, Error as RunError, Expected, Workload, parallel};
use trinim::database::block::block_bytes_at_most;
use trinim::database::{BlockForm, MANIFEST, Manifest, SUMS, SolveSpec, Sums, Tally, block_file_name};
use trinim::solve::RemovalGame;
use trinim_kernel::Kernel;

/// The end of a solve.
pub struct SealedDatabase {
    /// The manifest of the database.
    pub manifest: Manifest,
    /// Bytes of all files of the database.
    pub database_bytes: u64,
}

/// Summaries that are read at a time.
const TOGETHER: usize = 4096;

/// Writes the manifest and `SUMS`, with the bytes of a solve that keeps the same, or finds them
/// there. In a store that keeps counts, then removes the files of the blocks. Summaries are read on
/// `threads` threads, and `progress` is called with the number of summaries read.
///
/// A block's file is not read again if its summary exists: `SUMS` has the checksum of the committed
/// bytes, so a later check finds any change.
///
/// # Errors
/// [`Error::Unfinished`]; [`RunError::Corrupt`] with a summary or a block that is damaged or has
/// another length than the committed one, and with a manifest or `SUMS` of other bytes; those of
/// the store.
pub fn finish(
    store: &dyn Store,
    spec: SolveSpec<'_>,
    kernel: Kernel,
    threads: usize,
    mut progress: impl FnMut(u32),
) -> Result<SealedDatabase, Error> {
    let form = BlockForm::new(spec);
    let listed = Listing::read(store, spec)?;
    let all: Vec<BlockId> = BlockId::all(spec.blocks()).collect();
    let missing = all.iter().filter(|block| !listed.has(**block)).count() as u64;
    if missing > 0 {
        return Err(Error::Unfinished { missing, blocks: spec.blocks().into() });
    }
    let mut again = None;
    let mut tally = Tally::new(spec);
    let (mut sums, mut block_bytes) = (Vec::new(), 0);
    for blocks in all.chunks(TOGETHER) {
        let read = Mutex::new(vec![None; blocks.len()]);
        let one = |_: &mut (), index: usize| -> Result<(), Error> {
            let stored = StoredSummary::read(store, &form, blocks[index])?;
            read.lock()[index] = stored;
            Ok(())
        };
        parallel::for_each(threads, blocks.len(), || Ok(()), one)
            .map_err(|mut errors: Vec<Error>| errors.swap_remove(0))?;
        for (block, stored) in blocks.iter().zip(read.into_inner()) {
            let stored = match stored {
                Some(stored) => stored,
                None => {
                    let again = match &mut again {
                        Some(again) => again,
                        None => again.insert(Again::new(&form, RemovalGame::new(spec, kernel).published())?),
                    };
                    let stored = again.summary(store, &form, spec, *block)?;
                    commit(store, &summary_name(*block), &stored.to_bytes(&form, *block))?;
                    stored
                }
            };
            if let Some(found) = listed.files.get(block).copied().filter(|found| *found != stored.file_bytes) {
                let damage = Damage::Length { expected: Expected::Exactly(stored.file_bytes), found };
                return Err(RunError::corrupt(store.path(&block_name(spec, *block)), None, damage).into());
            }
            tally.add(&stored.summary).ok_or_else(|| foreign(store))?;
            if spec.terms.keep.is_database() {
                sums.push((block_file_name(*block), stored.sum));
                block_bytes += stored.file_bytes;
            }
        }
        progress(blocks.last().map_or(0, |last| last.0 + 1));
    }
    let manifest = tally.manifest().ok_or_else(|| foreign(store))?;
    let json = manifest.to_json();
    let sums = Sums::text(sums, &json);
    let files =
        [(MANIFEST, &json[..]), (SUMS, sums.as_bytes())].map(|(name, bytes)| (format!("{DATABASE}/{name}"), bytes));
    for (name, bytes) in &files {
        // Before anything is written.
        is_there(store, name, bytes)?;
    }
    for (name, bytes) in &files {
        commit(store, name, bytes)?;
    }
    if !spec.terms.keep.is_database() {
        sync(store, summary_folders(all))?;
        remove_blocks(store, spec, listed.files.into_keys().collect())?;
    }
    Ok(SealedDatabase { manifest, database_bytes: block_bytes + (json.len() + sums.len()) as u64 })
}

fn foreign(store: &dyn Store) -> RunError {
    RunError::corrupt(store.path(SUMMARIES), None, "summaries of another form")
}

struct Again<'a> {
    workload: RemovalGame<'a>,
    stream: Bitmap,
}

impl<'a> Again<'a> {
    fn new(form: &BlockForm, workload: RemovalGame<'a>) -> Result<Again<'a>, Error> {
        Ok(Again { workload, stream: Bitmap::zeroed(form.stream_words)? })
    }

    fn summary(
        &mut self,
        store: &dyn Store,
        form: &BlockForm,
        spec: SolveSpec<'_>,
        block: BlockId,
    ) -> Result<StoredSummary, Error> {
        let (name, stream) = (block_name(spec, block), self.stream.words_mut());
        let Some(file) = store.read(&name, block_bytes_at_most(form.stream_words))? else {
            return Err(Error::Unfinished { missing: 1, blocks: self.workload.blocks().into() });
        };
        form.read(&store.path(&name), block, &file, stream).map_err(damage)?;
        Ok(StoredSummary::new(&file, self.workload.summarise(block, stream)))
    }
}
