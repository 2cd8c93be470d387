//! The file of one canonical block: header, index, frames. `FORMAT.md` specifies its bytes.
//!
//! Frames have the codec `rows-huffman`, unless they are zero or `raw` makes them shorter.
//!
//! # Invariants
//! 1. The bytes are a pure function of (identity, ordinal, bitmap), independent of date, run and
//!    threads. They depend on every choice of the encoder of `rows-huffman`: an encoder that
//!    chooses otherwise makes another version of this file.
//! 2. Every frame decodes on its own and has its own hash; so do the header and the index. The
//!    identity in the header detects a block of another board, rule or layout, its ordinal a block
//!    under another's name.
//! 3. A file has the words of its form; no frame is longer in the file than its words. Lengths are
//!    checked against the file before any allocation.

use super::book::part_file_name;
use super::{BOOK, DatabaseError, MANIFEST, SUMS, SolveSpec};
use pipeline::codec::{self, DecodeError, FRAME_WORDS, Raw, Rows, Scratch};
use pipeline::storage::MemoryFile;
use pipeline::{BlockId, Damage, Expected, StorageFile};
use std::cell::RefCell;
use std::ops::Range;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: [u8; 8] = *b"TRINIMBK";
const VERSION: u32 = 1;
/// Length of the header, in bytes.
pub const HEADER_BYTES: usize = 64;
/// Length of one index row, in bytes.
pub const INDEX_ROW_BYTES: usize = 24;
/// The codecs that a frame may have: [`codec::ZERO`], `raw`, and `rows-huffman` where that is
/// shorter.
const CODECS: [u8; 3] = [codec::ZERO, 1, 8];
/// The bits of a length in an index row that hold the codec: its highest byte.
const CODEC_SHIFT: u32 = 56;

/// Limit on the length of any block file, in bytes: twice a bitmap of 2^34 positions.
pub const BLOCK_BYTES_MAX: u64 = 4 << 30;

/// Returns the limit on the length of a block file, in bytes, for a bitmap of `stream_words` words.
/// It is generous: encoding never enlarges a frame much, and the index is small.
pub fn block_bytes_at_most(stream_words: usize) -> u64 {
    (stream_words as u64 * 16 + (1 << 20)).min(BLOCK_BYTES_MAX)
}

/// Returns the name of a canonical block's file inside the `db` folder.
pub fn block_file_name(block: BlockId) -> String {
    format!("{:06}.blk", block.0)
}

/// Returns whether a file of this name may be one of a database, or of a part that becomes one.
/// Other names in its folder belong to someone else.
pub fn is_database_file(name: &str) -> bool {
    let is_numbered = |ending: &str, named: fn(BlockId) -> String| {
        let number = name.strip_suffix(ending).and_then(|number| number.parse().ok());
        number.is_some_and(|number| named(BlockId(number)) == name)
    };
    [MANIFEST, SUMS, BOOK].contains(&name)
        || is_numbered(".blk", block_file_name)
        || is_numbered(".part", part_file_name)
}

/// What all block files of a database have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockForm {
    /// Game and values ([`SolveSpec::identity`](super::SolveSpec::identity)).
    pub identity: u64,
    /// Words of the bitmaps of a block, all planes together.
    pub stream_words: usize,
}

/// The location of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRow {
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Length in the file, in bytes.
    pub stored_bytes: u64,
    codec: u8,
    hash: u64,
}

/// The header and index of a block file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockIndex {
    form: BlockForm,
    /// One row for each frame.
    pub frames: Vec<FrameRow>,
}

impl BlockForm {
    /// Returns the form of the block files of a solve.
    pub fn new<'a>(spec: impl Into<SolveSpec<'a>>) -> BlockForm {
        let spec = spec.into();
        BlockForm { identity: spec.identity(), stream_words: spec.stream_words() }
    }

    /// Encodes the whole file of a block, of [`stream_words`](BlockForm::stream_words) words.
    pub fn file(&self, block: BlockId, stream: &[u64]) -> Vec<u8> {
        assert_eq!(stream.len(), self.stream_words, "block files, invariant 3: the words of the form");
        let frames = stream.len().div_ceil(FRAME_WORDS);
        let mut payload = Vec::new();
        let mut index = Vec::with_capacity(frames * INDEX_ROW_BYTES);
        let begin = HEADER_BYTES + frames * INDEX_ROW_BYTES;
        SCRATCH.with_borrow_mut(|scratch| {
            for words in stream.chunks(FRAME_WORDS) {
                let from = payload.len();
                let tag = encode(words, &mut payload, scratch);
                let stored = &payload[from..];
                assert!(stored.len() <= 8 * words.len(), "block files, invariant 3: no longer than its words");
                index.extend_from_slice(&((begin + from) as u64).to_le_bytes());
                index.extend_from_slice(&(stored.len() as u64 | u64::from(tag) << CODEC_SHIFT).to_le_bytes());
                index.extend_from_slice(&xxh3_64(stored).to_le_bytes());
            }
        });
        let mut file = Vec::with_capacity(begin + payload.len());
        file.extend_from_slice(&MAGIC);
        file.extend_from_slice(&VERSION.to_le_bytes());
        file.extend_from_slice(&block.0.to_le_bytes());
        file.extend_from_slice(&(stream.len() as u64).to_le_bytes());
        file.extend_from_slice(&(FRAME_WORDS as u32).to_le_bytes());
        file.extend_from_slice(&(frames as u32).to_le_bytes());
        file.extend_from_slice(&self.identity.to_le_bytes());
        file.extend_from_slice(&xxh3_64(&index).to_le_bytes());
        file.extend_from_slice(&[0; 8]);
        let hash = xxh3_64(&file);
        file.extend_from_slice(&hash.to_le_bytes());
        file.extend_from_slice(&index);
        file.extend_from_slice(&payload);
        file
    }

    /// Decodes the bitmap from a whole file; the inverse of [`BlockForm::file`].
    ///
    /// # Errors
    /// [`DatabaseError::Corrupt`] and [`DatabaseError::Version`], as when the file is opened.
    pub fn read(&self, path: &Path, block: BlockId, file: &[u8], stream: &mut [u64]) -> Result<(), DatabaseError> {
        self.read_needed(path, block, file, &[0], stream).map(drop)
    }

    /// Decodes the bitmap from a whole file, except frames whose words all have a bit of each of
    /// these masks in their number. Returns the ranges of words left out.
    ///
    /// # Errors
    /// Those of [`BlockForm::read`]; damage inside a frame that is left out is not found.
    pub fn read_needed(
        &self,
        path: &Path,
        block: BlockId,
        file: &[u8],
        unneeded: &[u64],
        stream: &mut [u64],
    ) -> Result<Vec<Range<usize>>, DatabaseError> {
        let index = BlockIndex::open(&MemoryFile::new(path, file), self, block)?;
        let (mut begin, mut left_out) = (0, Vec::new());
        SCRATCH.with_borrow_mut(|scratch| {
            for (frame, words) in stream.chunks_mut(FRAME_WORDS).enumerate() {
                let range = begin..begin + words.len();
                begin = range.end;
                // The number of the first word has the bits that all words of the frame have.
                if unneeded.iter().all(|mask| range.start as u64 & mask != 0) {
                    left_out.push(range);
                    continue;
                }
                index.decode(path, frame, index.stored(path, frame, file)?, words, scratch)?;
            }
            Ok(left_out)
        })
    }
}

thread_local! {
    /// The codec's tables. Fresh ones for each block would be fresh pages, which take longer to get
    /// than to fill.
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::new());
}

/// Appends the payload of a frame; returns the tag of its codec.
fn encode(words: &[u64], payload: &mut Vec<u8>, scratch: &mut Scratch) -> u8 {
    let from = payload.len();
    let tag = codec::encode_frame(&Rows::HUFFMAN, words, payload, scratch);
    if payload.len() - from < words.len() * 8 {
        return tag;
    }
    payload.truncate(from);
    codec::encode_frame(&Raw, words, payload, scratch)
}

/// Returns the `N` little-endian bytes at a constant offset of the header or of an index row, both
/// of constant length.
pub(super) fn number<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[at..at + N]);
    out
}

impl BlockIndex {
    /// Reads header and index of a file.
    ///
    /// # Errors
    /// Those of [`BlockIndex::length`] and [`BlockIndex::parse`]; [`DatabaseError::Io`].
    pub fn open(file: &dyn StorageFile, form: &BlockForm, block: BlockId) -> Result<BlockIndex, DatabaseError> {
        let (path, mut header) = (file.path(), [0; HEADER_BYTES]);
        file.read_exact_at(&mut header, 0)?;
        let mut index = vec![0; BlockIndex::length(&path, &header, form, block)?];
        file.read_exact_at(&mut index, HEADER_BYTES as u64)?;
        BlockIndex::parse(&path, &header, form, &index, file.length()?)
    }

    /// Returns the stored bytes of one frame of the whole file that this index belongs to.
    ///
    /// # Errors
    /// [`DatabaseError::Corrupt`] if the file ends early.
    pub fn stored<'f>(&self, path: &Path, frame: usize, file: &'f [u8]) -> Result<&'f [u8], DatabaseError> {
        let row = self.frames[frame];
        let range = row.offset as usize..row.offset.saturating_add(row.stored_bytes) as usize;
        file.get(range).ok_or_else(|| DatabaseError::corrupt(path, row.offset, "the file ends early"))
    }

    /// Checks the header and returns the length of the index that follows it, in bytes.
    ///
    /// # Errors
    /// [`DatabaseError::Corrupt`] or [`DatabaseError::Version`] if the header does not belong to
    /// `block` of this database.
    pub fn length(
        path: &Path,
        header: &[u8; HEADER_BYTES],
        form: &BlockForm,
        block: BlockId,
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
        if u64::from_le_bytes(number(header, 32)) != form.identity {
            return Err(damage(32, "the block belongs to another board, rule, layout or kind of values"));
        }
        let found = BlockId(u32::from_le_bytes(number(header, 12)));
        if found != block {
            return Err(DatabaseError::corrupt(path, 12, format!("block {found} has the name of block {block}")));
        }
        let (words, frame_words) = (u64::from_le_bytes(number(header, 16)), u32::from_le_bytes(number(header, 24)));
        let frames = u32::from_le_bytes(number(header, 28));
        if words != form.stream_words as u64
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
        form: &BlockForm,
        index: &[u8],
        file_bytes: u64,
    ) -> Result<BlockIndex, DatabaseError> {
        let damage = |rule: &'static str| DatabaseError::corrupt(path, HEADER_BYTES as u64, rule);
        if u64::from_le_bytes(number(header, 40)) != xxh3_64(index) {
            return Err(damage("the hash of the index is wrong"));
        }
        let mut next = (HEADER_BYTES + index.len()) as u64;
        let mut parsed = BlockIndex { form: *form, frames: Vec::with_capacity(index.len() / INDEX_ROW_BYTES) };
        for (frame, row) in index.as_chunks::<INDEX_ROW_BYTES>().0.iter().enumerate() {
            let length = u64::from_le_bytes(number(row, 8));
            let (stored_bytes, codec) = (length & ((1 << CODEC_SHIFT) - 1), (length >> CODEC_SHIFT) as u8);
            let (offset, hash) = (u64::from_le_bytes(number(row, 0)), u64::from_le_bytes(number(row, 16)));
            if offset != next {
                return Err(damage("the frames are not contiguous"));
            }
            if !CODECS.contains(&codec) || stored_bytes > parsed.words_of(frame) as u64 * 8 {
                return Err(damage("a frame has another codec or is longer than its words"));
            }
            next = next.saturating_add(stored_bytes);
            parsed.frames.push(FrameRow { offset, stored_bytes, codec, hash });
        }
        if next != file_bytes {
            let damage = Damage::Length { expected: Expected::Exactly(next), found: file_bytes };
            return Err(DatabaseError::corrupt(path, file_bytes.min(next), damage));
        }
        Ok(parsed)
    }

    /// Returns the number of words that frame `frame` decodes to.
    pub fn words_of(&self, frame: usize) -> usize {
        self.form.stream_words.saturating_sub(frame * FRAME_WORDS).min(FRAME_WORDS)
    }

    /// Checks one frame and decodes it into `words`, as many as [`BlockIndex::words_of`] says.
    ///
    /// # Errors
    /// [`DatabaseError::Corrupt`] if the bytes differ from what was written.
    pub fn decode(
        &self,
        path: &Path,
        frame: usize,
        stored: &[u8],
        words: &mut [u64],
        scratch: &mut Scratch,
    ) -> Result<(), DatabaseError> {
        let FrameRow { offset, hash, codec, .. } = self.frames[frame];
        assert_eq!(words.len(), self.words_of(frame), "block files, invariant 3: the words of the form");
        let damage = |what: String| DatabaseError::corrupt(path, offset, what);
        if xxh3_64(stored) != hash {
            return Err(damage(format!("the hash of frame {frame} is wrong")));
        }
        let decoded = codec::decode_frame(codec, stored, words, scratch);
        decoded.map_err(|DecodeError(what)| damage(format!("frame {frame}: {what}")))
    }
}
