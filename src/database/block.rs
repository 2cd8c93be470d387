//! The file of one canonical block: header, index, frames. `FORMAT.md` specifies its bytes.
//!
//! # Invariants
//! 1. The bytes are a pure function of (identity, ordinal, bitmap), independent of date, run and
//!    threads.
//! 2. Every frame decodes on its own and has its own hash; so do the header and the index. A block
//!    of another board, rule or layout fails by the identity in the header, a block under another's
//!    name by its ordinal.
//! 3. Lengths are checked against the file before any allocation.

use super::DatabaseError;
use super::frame::{self, Frame, FrameError};
use pipeline::{Damage, Expected};
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: [u8; 8] = *b"TRINIMBK";
const VERSION: u32 = 1;
/// Length of the header, in bytes.
pub const HEADER_BYTES: usize = 64;
/// Length of one index row, in bytes.
pub const INDEX_ROW_BYTES: usize = 24;
/// Words of bitmap in a full frame: 16 MiB. Larger frames find few more repeats, smaller ones lose
/// them (a log codec that uses the same repeats took a fifth more bytes in frames of 1 MiB).
pub const FRAME_WORDS: usize = 1 << 21;

/// Limit on the length of any block file, in bytes: twice a bitmap of 2^34 positions.
pub const BLOCK_BYTES_MAX: u64 = 4 << 30;

/// Returns the limit on the length of a block file, in bytes, for a bitmap of `stream_words` words.
/// It is generous: encoding never enlarges a frame much, and the index is small.
pub fn block_bytes_at_most(stream_words: usize) -> u64 {
    (stream_words as u64 * 16 + (1 << 20)).min(BLOCK_BYTES_MAX)
}

/// Returns the name of a canonical block's file inside the `db` folder.
pub fn block_file_name(ordinal: u32) -> String {
    format!("{ordinal:06}.blk")
}

/// The location of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRow {
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Length in the file, in bytes.
    pub stored_bytes: u64,
    hash: u64,
}

/// The header and index of a block file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockIndex {
    /// Ordinal of the canonical block.
    pub ordinal: u32,
    /// Words of its bitmap.
    pub stream_words: u64,
    /// Words of a full frame.
    pub frame_words: u32,
    /// One row for each frame.
    pub frames: Vec<FrameRow>,
}

/// Encodes the whole file of a block.
pub fn block_file(identity: u64, ordinal: u32, stream: &[u64]) -> Vec<u8> {
    let frames = stream.len().div_ceil(FRAME_WORDS);
    let mut payload = Vec::new();
    let mut index = Vec::with_capacity(frames * INDEX_ROW_BYTES);
    let begin = HEADER_BYTES + frames * INDEX_ROW_BYTES;
    for words in stream.chunks(FRAME_WORDS) {
        let stored = frame::encode(words);
        index.extend_from_slice(&((begin + payload.len()) as u64).to_le_bytes());
        index.extend_from_slice(&(stored.len() as u64).to_le_bytes());
        index.extend_from_slice(&xxh3_64(&stored).to_le_bytes());
        payload.extend_from_slice(&stored);
    }
    let mut file = Vec::with_capacity(begin + payload.len());
    file.extend_from_slice(&MAGIC);
    file.extend_from_slice(&VERSION.to_le_bytes());
    file.extend_from_slice(&ordinal.to_le_bytes());
    file.extend_from_slice(&(stream.len() as u64).to_le_bytes());
    file.extend_from_slice(&(FRAME_WORDS as u32).to_le_bytes());
    file.extend_from_slice(&(frames as u32).to_le_bytes());
    file.extend_from_slice(&identity.to_le_bytes());
    file.extend_from_slice(&xxh3_64(&index).to_le_bytes());
    file.extend_from_slice(&[0; 8]);
    let hash = xxh3_64(&file);
    file.extend_from_slice(&hash.to_le_bytes());
    file.extend_from_slice(&index);
    file.extend_from_slice(&payload);
    file
}

/// Returns the `N` little-endian bytes at a constant offset of the header or of an index row, both
/// of constant length.
fn number<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[at..at + N]);
    out
}

/// Decodes the bitmap from a whole file; the inverse of [`block_file`].
///
/// # Errors
/// [`DatabaseError::Corrupt`] and [`DatabaseError::Version`], as when the file is opened.
pub fn read_block(
    path: &Path,
    identity: u64,
    ordinal: u32,
    file: &[u8],
    stream: &mut [u64],
) -> Result<(), DatabaseError> {
    let index = BlockIndex::of_file(path, identity, ordinal, file, stream.len() as u64)?;
    for (frame, words) in stream.chunks_mut(FRAME_WORDS).enumerate() {
        let parsed = index.frame_of_file(path, frame, file)?;
        parsed.decode(words).map_err(|error| index.damage(path, frame, error))?;
    }
    Ok(())
}

impl BlockIndex {
    /// Parses header and index of a whole file.
    ///
    /// # Errors
    /// Those of [`BlockIndex::length`] and [`BlockIndex::parse`].
    pub fn of_file(
        path: &Path,
        identity: u64,
        ordinal: u32,
        file: &[u8],
        stream_words: u64,
    ) -> Result<BlockIndex, DatabaseError> {
        let early = || DatabaseError::corrupt(path, file.len() as u64, "the file ends early");
        let (header, rest) = file.split_first_chunk::<HEADER_BYTES>().ok_or_else(early)?;
        let length = BlockIndex::length(path, header, identity, ordinal, stream_words)?;
        let index = rest.get(..length).ok_or_else(early)?;
        BlockIndex::parse(path, header, index, file.len() as u64)
    }

    /// Checks and parses one frame of the whole file that this index belongs to.
    ///
    /// # Errors
    /// Those of [`BlockIndex::frame`].
    pub fn frame_of_file(&self, path: &Path, frame: usize, file: &[u8]) -> Result<Frame, DatabaseError> {
        let row = self.frames[frame];
        let range = row.offset as usize..row.offset.saturating_add(row.stored_bytes) as usize;
        let stored = file.get(range).ok_or_else(|| DatabaseError::corrupt(path, row.offset, "the file ends early"))?;
        self.frame(path, frame, stored.to_vec())
    }

    /// Checks the header and returns the length of the index that follows it, in bytes.
    ///
    /// # Errors
    /// [`DatabaseError::Corrupt`] or [`DatabaseError::Version`] if the header does not belong to
    /// block `ordinal` of this database.
    pub fn length(
        path: &Path,
        header: &[u8; HEADER_BYTES],
        identity: u64,
        ordinal: u32,
        stream_words: u64,
    ) -> Result<usize, DatabaseError> {
        let damage = |offset: u64, rule: &'static str| DatabaseError::corrupt(path, offset, rule);
        if header[..8] != MAGIC {
            return Err(damage(0, "not a block file: the magic number is wrong"));
        }
        if u64::from_le_bytes(number(header, 56)) != xxh3_64(&header[..56]) {
            return Err(damage(0, "the hash of the header is wrong"));
        }
        let version = u32::from_le_bytes(number(header, 8));
        if version != VERSION {
            return Err(DatabaseError::Version { path: path.into(), found: version.into(), supported: VERSION.into() });
        }
        if u64::from_le_bytes(number(header, 32)) != identity {
            return Err(damage(32, "the block belongs to another board, rule or layout"));
        }
        let found = u32::from_le_bytes(number(header, 12));
        if found != ordinal {
            return Err(DatabaseError::corrupt(path, 12, format!("block {found} has the name of block {ordinal}")));
        }
        let (words, frame_words) = (u64::from_le_bytes(number(header, 16)), u32::from_le_bytes(number(header, 24)));
        let frames = u32::from_le_bytes(number(header, 28));
        if words != stream_words
            || frame_words as usize != FRAME_WORDS
            || u64::from(frames) != words.div_ceil(frame_words.into())
        {
            return Err(damage(16, "the lengths in the header do not match the layout"));
        }
        Ok(frames as usize * INDEX_ROW_BYTES)
    }

    /// Parses the index that follows a checked header in a file of `file_bytes` bytes.
    ///
    /// # Errors
    /// [`DatabaseError::Corrupt`] if a hash or a length is wrong.
    pub fn parse(
        path: &Path,
        header: &[u8; HEADER_BYTES],
        index: &[u8],
        file_bytes: u64,
    ) -> Result<BlockIndex, DatabaseError> {
        let damage = |rule: &'static str| DatabaseError::corrupt(path, HEADER_BYTES as u64, rule);
        if u64::from_le_bytes(number(header, 40)) != xxh3_64(index) {
            return Err(damage("the hash of the index is wrong"));
        }
        let mut next = (HEADER_BYTES + index.len()) as u64;
        let mut frames = Vec::with_capacity(index.len() / INDEX_ROW_BYTES);
        for row in index.as_chunks::<INDEX_ROW_BYTES>().0 {
            let row = FrameRow {
                offset: u64::from_le_bytes(number(row, 0)),
                stored_bytes: u64::from_le_bytes(number(row, 8)),
                hash: u64::from_le_bytes(number(row, 16)),
            };
            if row.offset != next {
                return Err(damage("the frames are not contiguous"));
            }
            next = next.saturating_add(row.stored_bytes);
            frames.push(row);
        }
        if next != file_bytes {
            let damage = Damage::Length { expected: Expected::Exactly(next), found: file_bytes };
            return Err(DatabaseError::corrupt(path, file_bytes.min(next), damage));
        }
        Ok(BlockIndex {
            ordinal: u32::from_le_bytes(number(header, 12)),
            stream_words: u64::from_le_bytes(number(header, 16)),
            frame_words: u32::from_le_bytes(number(header, 24)),
            frames,
        })
    }

    /// Returns the number of words that frame `frame` decodes to.
    pub fn words_of(&self, frame: usize) -> usize {
        let begin = frame as u64 * u64::from(self.frame_words);
        self.stream_words.saturating_sub(begin).min(self.frame_words.into()) as usize
    }

    /// Checks and parses one frame.
    ///
    /// # Errors
    /// [`DatabaseError::Corrupt`] if the bytes differ from what was written.
    pub fn frame(&self, path: &Path, frame: usize, stored: Vec<u8>) -> Result<Frame, DatabaseError> {
        let row = &self.frames[frame];
        if xxh3_64(&stored) != row.hash {
            return Err(DatabaseError::corrupt(path, row.offset, format!("the hash of frame {frame} is wrong")));
        }
        Frame::parse(stored, self.words_of(frame)).map_err(|error| self.damage(path, frame, error))
    }

    /// Builds the error for damage inside a frame with a correct hash.
    pub fn damage(&self, path: &Path, frame: usize, error: FrameError) -> DatabaseError {
        DatabaseError::corrupt(path, self.frames[frame].offset, format!("frame {frame}: {error}"))
    }
}
