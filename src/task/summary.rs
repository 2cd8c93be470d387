//! The summary of a block in a store, with the checksum of its file, and the counts that a check in
//! shares takes from the summaries.
//!
//! It can be recomputed from the file. Where the file is removed, the summary stays in its place.

use super::store::Store;
use super::{Error, missing, summary_name};
use pipeline::checkpoint::SUMMARY_BYTES_AT_MOST;
use pipeline::{BlockId, Error as RunError};
use std::collections::BTreeMap;
use trinim::database::{BlockForm, BlockSummary, SolveSpec};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: [u8; 8] = *b"TRINIMSM";
const VERSION: u32 = 1;
/// Bytes before the workload's summary.
const HEAD_BYTES: usize = 64;
const HASH_BYTES: usize = 8;

/// The summary of a block and the checksum of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredSummary {
    /// Length of the block's file, in bytes.
    pub(super) file_bytes: u64,
    pub(super) sum: blake3::Hash,
    pub(super) summary: Vec<u8>,
}

impl StoredSummary {
    /// Returns the stored summary of a block with this file.
    pub(super) fn new(file: &[u8], summary: Vec<u8>) -> StoredSummary {
        StoredSummary { file_bytes: file.len() as u64, sum: blake3::hash(file), summary }
    }

    pub(super) fn to_bytes(&self, form: &BlockForm, block: BlockId) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD_BYTES + self.summary.len() + HASH_BYTES);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&block.0.to_le_bytes());
        bytes.extend_from_slice(&form.identity.to_le_bytes());
        bytes.extend_from_slice(&self.file_bytes.to_le_bytes());
        bytes.extend_from_slice(self.sum.as_bytes());
        bytes.extend_from_slice(&self.summary);
        let hash = xxh3_64(&bytes);
        bytes.extend_from_slice(&hash.to_le_bytes());
        bytes
    }

    /// Decodes it; `None` if these are not the bytes of this block.
    fn from_bytes(bytes: &[u8], form: &BlockForm, block: BlockId) -> Option<StoredSummary> {
        let (content, hash) = bytes.split_last_chunk::<HASH_BYTES>()?;
        let (head, summary) = content.split_first_chunk::<HEAD_BYTES>()?;
        let file_bytes = u64::from_le_bytes(*head[24..].first_chunk()?);
        let sum = blake3::Hash::from_bytes(*head[32..].first_chunk()?);
        let stored = StoredSummary { file_bytes, sum, summary: summary.to_vec() };
        let is_right = xxh3_64(content) == u64::from_le_bytes(*hash) && stored.to_bytes(form, block) == bytes;
        is_right.then_some(stored)
    }

    /// Reads the summary of a block that must have one.
    pub(super) fn read_committed(store: &dyn Store, form: &BlockForm, block: BlockId) -> Result<StoredSummary, Error> {
        StoredSummary::read(store, form, block)?.ok_or_else(|| missing(store, &summary_name(block)))
    }

    /// Reads the summary of a block; `None` if there is none.
    pub(super) fn read(store: &dyn Store, form: &BlockForm, block: BlockId) -> Result<Option<StoredSummary>, Error> {
        let name = summary_name(block);
        let Some(bytes) = store.read(&name, (HEAD_BYTES + SUMMARY_BYTES_AT_MOST + HASH_BYTES) as u64)? else {
            return Ok(None);
        };
        match StoredSummary::from_bytes(&bytes, form, block) {
            Some(stored) => Ok(Some(stored)),
            None => Err(RunError::corrupt(store.path(&name), None, "not the summary of this block").into()),
        }
    }
}

/// Reads the counts that a check in shares compares with the blocks: those of the share, or of all
/// blocks for share 0.
///
/// # Errors
/// [`RunError::Corrupt`] with a damaged summary, [`RunError::Io`] with a missing one, which
/// [`finish`](super::finish()) makes again; those of the store.
pub fn counts(store: &dyn Store, spec: SolveSpec<'_>, index: u32, of: u32) -> Result<BTreeMap<u32, Vec<u64>>, Error> {
    let form = BlockForm::new(spec);
    let mut counts = BTreeMap::new();
    for block in BlockId::share(spec.blocks(), index, if index == 0 { 1 } else { of }) {
        let stored = StoredSummary::read_committed(store, &form, block)?;
        // Where every value is kept, the smaller boards are not counted.
        let summary = BlockSummary::from_bytes(&stored.summary, spec.game.layout.offset_bits(), 0, 0);
        let summary = summary
            .ok_or_else(|| RunError::corrupt(store.path(&summary_name(block)), None, "not the summary of a block"))?;
        counts.insert(block.0, summary.losses_by_pieces);
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_read_back_for_its_own_block_only() {
        let form = BlockForm { identity: 7, stream_words: 8 };
        let stored = StoredSummary::new(b"a file", vec![1, 2, 3]);
        let bytes = stored.to_bytes(&form, BlockId(5));
        assert_eq!(StoredSummary::from_bytes(&bytes, &form, BlockId(5)), Some(stored));
        assert_eq!(StoredSummary::from_bytes(&bytes, &form, BlockId(6)), None);
        assert_eq!(StoredSummary::from_bytes(&bytes, &BlockForm { identity: 8, ..form }, BlockId(5)), None);
        for at in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[at] ^= 1 << (at % 8);
            assert_eq!(StoredSummary::from_bytes(&wrong, &form, BlockId(5)), None, "byte {at}");
            assert_eq!(StoredSummary::from_bytes(&bytes[..at], &form, BlockId(5)), None, "{at} bytes");
        }
    }
}
