//! The check of a finished store in shares, for many machines.

use super::definition::Definition;
use super::store::Store;
use super::summary::StoredSummary;
use super::{Error, summary_name};
use crate::care::verify::Share;
use crate::database::{BlockForm, BlockSummary, Game, Terms};
use pipeline::{BlockId, Error as RunError};
use std::collections::BTreeMap;

/// Reads the counts that [`verify_share`](crate::care::verify::verify_share) compares with the blocks:
/// those of the share, or of all blocks for share 0.
///
/// # Errors
/// [`RunError::Corrupt`] with a damaged summary, [`RunError::Io`] with a missing one, which
/// [`finish`](super::finish()) makes again; those of the store.
pub fn counts(
    store: &dyn Store,
    (definition, game, terms): (&Definition, &Game, Terms),
    index: u32,
    of: u32,
) -> Result<BTreeMap<u32, Vec<u64>>, Error> {
    let form = BlockForm::of(terms.task(game));
    let blocks = if index == 0 { 0..definition.blocks() } else { Share::blocks(index, of, definition.blocks()) };
    let mut counts = BTreeMap::new();
    for block in blocks.map(BlockId) {
        let path = || store.path(&summary_name(block));
        let missing = || RunError::io("read", path(), std::io::ErrorKind::NotFound.into());
        let stored = StoredSummary::read(store, &form, block)?.ok_or_else(missing)?;
        // Where every value is kept, the smaller boards are not counted.
        let summary = BlockSummary::from_bytes(&stored.summary, game.layout.offset_bits(), 0, 0);
        let summary = summary.ok_or_else(|| RunError::corrupt(path(), None, "not the summary of a block"))?;
        counts.insert(block.0, summary.losses_by_pieces);
    }
    Ok(counts)
}
