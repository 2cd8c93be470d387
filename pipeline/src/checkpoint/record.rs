//! The record of a finished block in manifest and journal.

use super::identity::limit;
use super::names::PUBLISHED;
use crate::Error;
use crate::bytes::{Cursor, ParseError, length_u32};
use crate::finding::{Damage, Expected};
use crate::ids::BlockId;
use crate::log::place::{Extent, LogFile, Placement};
use crate::storage::{Storage, folder_of, is_valid_name, read_whole};
use xxhash_rust::xxh3::xxh3_128;

/// Length of the longest summary of a block, in bytes.
pub const SUMMARY_BYTES_AT_MOST: usize = 1 << 16;

/// Largest number of blocks in a run.
pub const BLOCKS_AT_MOST: usize = 1 << 20;

const RECORD_LEAST_BYTES: usize = 13;
const EXTENT_BYTES: usize = 41;

/// A finished block: its published file, and the extents of its updates in the logs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockRecord {
    /// Number of the block.
    pub block: BlockId,
    /// The file it published in `db/`, if any.
    pub published: Option<PublishedFile>,
    /// Up to [`SUMMARY_BYTES_AT_MOST`] bytes that the checkpoint carries without interpreting them.
    pub summary: Vec<u8>,
    /// The log entries it wrote.
    pub extents: Vec<Extent>,
}

/// A file that a finished block published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedFile {
    /// Name relative to the run folder, below `db/`.
    pub name: String,
    /// Exact length, in bytes.
    pub length: u64,
    /// Hash of the contents, compared on reading.
    pub hash: u128,
}

impl PublishedFile {
    /// Reads the file and compares it with the record.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if length or hash differ; [`Error::Io`].
    pub fn read(&self, storage: &dyn Storage) -> Result<Vec<u8>, Error> {
        let bytes = self.read_unchecked(storage)?;
        let got = xxh3_128(&bytes);
        if got != self.hash {
            let damage = Damage::hash("hash of the file", self.hash, got);
            return Err(Error::corrupt(storage.path(&self.name), None, damage));
        }
        Ok(bytes)
    }

    /// Reads as many bytes as the record says; the caller compares their hash.
    pub(crate) fn read_unchecked(&self, storage: &dyn Storage) -> Result<Vec<u8>, Error> {
        let opened = storage.open(&self.name)?;
        let found = opened.length()?;
        if found != self.length {
            let expected = Expected::Exactly(self.length);
            return Err(Error::corrupt(opened.path(), None, Damage::Length { expected, found }));
        }
        read_whole(&*opened, found)
    }
}

fn encode_extent(extent: &Extent, bytes: &mut Vec<u8>) {
    let LogFile { placement, bucket, generation } = extent.file;
    bytes.extend_from_slice(&bucket.0.to_le_bytes());
    bytes.push(placement.byte());
    bytes.extend_from_slice(&generation.to_le_bytes());
    bytes.extend_from_slice(&extent.offset.to_le_bytes());
    bytes.extend_from_slice(&extent.length.to_le_bytes());
    bytes.extend_from_slice(&extent.hash.to_le_bytes());
    bytes.extend_from_slice(&extent.source.0.to_le_bytes());
}

fn decode_extent(cursor: &mut Cursor<'_>) -> Result<Extent, ParseError> {
    let bucket = BlockId(cursor.u32("bucket of an extent")?);
    let placement = Placement::from_flag(cursor.flag("kind of an extent")?);
    let generation = cursor.u64("file generation of an extent")?;
    let extent = Extent {
        file: LogFile { placement, bucket, generation },
        offset: cursor.u64("offset of an extent")?,
        length: cursor.u64("length of an extent")?,
        hash: cursor.u64("hash of an extent")?,
        source: BlockId(cursor.u32("source of an extent")?),
    };
    match extent.offset.checked_add(extent.length) {
        Some(end) if i64::try_from(end).is_ok() => Ok(extent),
        _ => Err(cursor.error("an extent ends after byte 2^63")),
    }
}

impl BlockRecord {
    fn check(&self) -> Result<(), Error> {
        limit("length of a summary", self.summary.len(), SUMMARY_BYTES_AT_MOST)?;
        limit("number of extents", self.extents.len(), u32::MAX as usize)?;
        if let Some(file) = &self.published {
            assert!(is_published_name(&file.name), "published as {}", file.name);
        }
        Ok(())
    }

    /// Returns a bound on the encoded length in bytes.
    pub(crate) fn bytes_at_most(&self) -> u64 {
        let name = self.published.as_ref().map_or(0, |file| file.name.len());
        (64 + name + self.summary.len() + self.extents.len() * EXTENT_BYTES) as u64
    }

    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.block.0.to_le_bytes());
        bytes.push(u8::from(self.published.is_some()));
        if let Some(file) = &self.published {
            bytes.extend_from_slice(&length_u32(file.name.len()).to_le_bytes()[..2]);
            bytes.extend_from_slice(file.name.as_bytes());
            bytes.extend_from_slice(&file.length.to_le_bytes());
            bytes.extend_from_slice(&file.hash.to_le_bytes());
        }
        bytes.extend_from_slice(&length_u32(self.summary.len()).to_le_bytes());
        bytes.extend_from_slice(&self.summary);
        bytes.extend_from_slice(&length_u32(self.extents.len()).to_le_bytes());
        for extent in &self.extents {
            encode_extent(extent, bytes);
        }
    }

    fn decode(cursor: &mut Cursor<'_>) -> Result<Self, ParseError> {
        let block = BlockId(cursor.u32("block")?);
        let published = if cursor.flag("published flag")? {
            let name_bytes = usize::from(cursor.u16("length of a published name")?);
            let name = cursor.text(name_bytes, "published name")?;
            if !is_published_name(name) {
                let rule = format!("the published name is not below {PUBLISHED}/: {}", name.escape_default());
                return Err(cursor.error(rule));
            }
            Some(PublishedFile {
                name: name.to_string(),
                length: cursor.u64("published length")?,
                hash: cursor.u128("published hash")?,
            })
        } else {
            None
        };
        let summary_bytes = cursor.u32("length of a summary")? as usize;
        let most = Expected::AtMost(SUMMARY_BYTES_AT_MOST as u64);
        cursor.require("length of a summary", most, summary_bytes as u64)?;
        let summary = cursor.take(summary_bytes, "summary")?.to_vec();
        let count = cursor.count(EXTENT_BYTES, "number of extents")?;
        let mut extents = Vec::with_capacity(count);
        for _ in 0..count {
            extents.push(decode_extent(cursor)?);
        }
        Ok(Self { block, published, summary, extents })
    }
}

fn is_published_name(name: &str) -> bool {
    is_valid_name(name) && folder_of(name) == PUBLISHED
}

pub(super) fn encode_records(records: &[BlockRecord], bytes: &mut Vec<u8>) -> Result<(), Error> {
    limit("number of records", records.len(), BLOCKS_AT_MOST)?;
    bytes.extend_from_slice(&length_u32(records.len()).to_le_bytes());
    for record in records {
        record.check()?;
        record.encode(bytes);
    }
    Ok(())
}

/// Decodes a list of records, which must fill the slice.
pub(super) fn decode_records(bytes: &[u8]) -> Result<Vec<BlockRecord>, ParseError> {
    let mut cursor = Cursor::new(bytes);
    let count = cursor.count(RECORD_LEAST_BYTES, "number of records")?;
    cursor.require("number of records", Expected::AtMost(BLOCKS_AT_MOST as u64), count as u64)?;
    let mut records = Vec::with_capacity(count);
    for _ in 0..count {
        records.push(BlockRecord::decode(&mut cursor)?);
    }
    cursor.end("records")?;
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn extent() -> impl Strategy<Value = Extent> {
        let numbers = (any::<u32>(), any::<bool>(), any::<u64>(), any::<u64>(), any::<u32>());
        (numbers, 0..1_u64 << 62, 0..1_u64 << 62).prop_map(
            |((bucket, is_shared, generation, hash, source), offset, length)| {
                let file = LogFile { placement: Placement::from_flag(is_shared), bucket: BlockId(bucket), generation };
                Extent { file, offset, length, hash, source: BlockId(source) }
            },
        )
    }

    fn record() -> impl Strategy<Value = BlockRecord> {
        let published = proptest::option::of(("db/[a-z0-9]{1,20}", any::<u64>(), any::<u128>()));
        let summary = proptest::collection::vec(any::<u8>(), 0..100);
        let extents = proptest::collection::vec(extent(), 0..10);
        (any::<u32>(), published, summary, extents).prop_map(|(block, published, summary, extents)| BlockRecord {
            block: BlockId(block),
            published: published.map(|(name, length, hash)| PublishedFile { name, length, hash }),
            summary,
            extents,
        })
    }

    proptest! {
        #[test]
        fn records_come_back(records in proptest::collection::vec(record(), 0..5)) {
            let mut bytes = Vec::new();
            encode_records(&records, &mut bytes).unwrap();
            prop_assert_eq!(decode_records(&bytes).unwrap(), records);
        }

        #[test]
        fn cut_and_changed_records_do_no_harm(
            records in proptest::collection::vec(record(), 1..4),
            place in any::<proptest::sample::Index>(),
            value in any::<u8>(),
        ) {
            let mut bytes = Vec::new();
            encode_records(&records, &mut bytes).unwrap();
            let place = place.index(bytes.len());
            prop_assert!(decode_records(&bytes[..place]).is_err());
            bytes[place] = value;
            let _ = decode_records(&bytes);
        }

        #[test]
        fn any_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode_records(&bytes);
        }
    }

    #[test]
    fn counts_are_checked_before_they_are_believed() {
        let error = decode_records(&[0xff; 100]).unwrap_err();
        let error = error.into_error(std::path::Path::new("x"), 0);
        assert!(error.to_string().contains("number of records"), "{error}");
    }

    /// Files have offsets up to 2^63 - 1, so an extent that ends later is damage.
    #[test]
    fn extents_end_before_byte_2_63() {
        let end = 1_u64 << 63;
        for (offset, length, fits) in
            [(end - 2, 1, true), (0, end - 1, true), (end - 1, 1, false), (end, 0, false), (u64::MAX, 1, false)]
        {
            let file = LogFile { placement: Placement::Shared, bucket: BlockId(0), generation: 1 };
            let extent = Extent { file, offset, length, hash: 0, source: BlockId(0) };
            let mut bytes = Vec::new();
            encode_records(&[BlockRecord { extents: vec![extent], ..BlockRecord::default() }], &mut bytes).unwrap();
            assert_eq!(decode_records(&bytes).is_ok(), fits, "{length} bytes from {offset}");
        }
    }

    #[test]
    fn published_names_stay_below_their_folder() {
        for name in ["db/../x", "/etc/x", "logs/x", "db/a/b", "db/", "x"] {
            let mut bytes = vec![1, 0, 0, 0, 7, 0, 0, 0, 1];
            bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(&[0; 32]);
            let error = decode_records(&bytes).unwrap_err();
            let error = error.into_error(std::path::Path::new("x"), 0);
            assert!(error.to_string().contains("published name"), "{name}: {error}");
        }
    }

    #[test]
    fn too_long_summaries_are_refused() {
        let record = BlockRecord { summary: vec![0; SUMMARY_BYTES_AT_MOST + 1], ..BlockRecord::default() };
        let error = encode_records(&[record], &mut Vec::new()).unwrap_err();
        assert!(matches!(error, Error::Limit { limit: 65536, .. }), "{error:?}");
    }
}
