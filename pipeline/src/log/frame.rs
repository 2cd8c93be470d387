//! Frames: independently encoded parts of a stream, as bytes of a log entry.
//!
//! # Invariants
//! 1. Lengths are bounded before anything is allocated.
//! 2. The extent hash in the journal covers the entry header and every frame header in order, and
//!    each frame header holds its payload's hash: a lost, doubled or stale frame is detected.

use crate::bytes::{Cursor, ParseError};
use crate::codec::{self, Codec, FRAME_WORDS, Scratch};
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_64_with_seed};

const FRAME_MAGIC: [u8; 4] = *b"TLFR";

/// Length of a frame header, in bytes.
pub const FRAME_HEADER_BYTES: usize = 40;

pub(super) fn differ(found: u64, expected: u64) -> bool {
    found != expected
}

/// Words of a frame of a long stream. In longer frames more rows repeat: logs of nine layers have
/// 0.82 of the bytes. A frame of this length has as many rows as a codec can number.
pub const LONG_FRAME_WORDS: usize = 4 * FRAME_WORDS;
/// Words of the shortest stream in long frames. It has 16 frames, so one is decoded while the next
/// ones are read.
const LONG_STREAM_WORDS: u64 = 16 * LONG_FRAME_WORDS as u64;

/// Returns the words of the frames into which a stream of `words` words is divided.
pub fn frame_words(words: u64) -> usize {
    if words < LONG_STREAM_WORDS { FRAME_WORDS } else { LONG_FRAME_WORDS }
}

/// Returns the number of these frames.
pub fn frames_of(words: u64) -> u32 {
    words.div_ceil(frame_words(words) as u64) as u32
}

/// Returns the words of the frames of an entry that has `frames` for a stream of `words` words;
/// `None` if no version divided streams in this way.
pub fn words_of_frames(words: u64, frames: u32) -> Option<usize> {
    let fits = |one: &usize| words.div_ceil(*one as u64) == u64::from(frames);
    [FRAME_WORDS, LONG_FRAME_WORDS].into_iter().find(fits)
}

/// One encoded frame without a position in an entry.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Codec tag, [`codec::ZERO`] for a frame of zeros.
    pub codec: u8,
    /// Words after decoding.
    pub raw_words: u32,
    /// Encoded bytes.
    pub payload: Vec<u8>,
    payload_hash: u64,
}

impl Frame {
    /// Encodes up to [`LONG_FRAME_WORDS`] words. A payload that would be larger than the raw words
    /// is stored raw.
    pub fn encode(codec: &dyn Codec, words: &[u64], scratch: &mut Scratch, bytes: &mut Vec<u8>) -> Frame {
        bytes.clear();
        let mut tag = codec::encode_frame(codec, words, bytes, scratch);
        if bytes.len() > words.len() * 8 {
            bytes.clear();
            tag = codec::encode_frame(&codec::Raw, words, bytes, scratch);
        }
        assert!(
            words.len() <= LONG_FRAME_WORDS && bytes.len() <= words.len() * 8,
            "frames, invariant 1: {} words in {} bytes",
            words.len(),
            bytes.len()
        );
        let payload_hash = xxh3_64(bytes);
        Frame { codec: tag, raw_words: words.len() as u32, payload: bytes.as_slice().to_vec(), payload_hash }
    }

    /// Returns the stored length in bytes, header included.
    pub fn stored_bytes(&self) -> usize {
        FRAME_HEADER_BYTES + self.payload.len()
    }

    /// Appends header and payload as frame `index` of an entry, and adds the header to the extent
    /// hash.
    pub fn append_to(&self, index: u32, entry_hash: u64, hash: &mut ExtentHash, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&FRAME_MAGIC);
        out.extend_from_slice(&[self.codec, 0, 0, 0]);
        out.extend_from_slice(&index.to_le_bytes());
        out.extend_from_slice(&self.raw_words.to_le_bytes());
        out.extend_from_slice(&(self.payload.len() as u64).to_le_bytes());
        out.extend_from_slice(&self.payload_hash.to_le_bytes());
        let header_hash = xxh3_64_with_seed(&out[start..], entry_hash);
        out.extend_from_slice(&header_hash.to_le_bytes());
        hash.add(header_hash);
        out.extend_from_slice(&self.payload);
    }
}

/// Header of a frame, parsed and checked against its entry.
#[derive(Clone, Copy, Debug)]
pub struct FrameHeader {
    /// Codec tag.
    pub codec: u8,
    /// Words after decoding.
    pub raw_words: usize,
    /// Length of the payload, in bytes.
    pub payload_bytes: usize,
    payload_hash: u64,
    /// Hash of the header.
    pub hash: u64,
}

impl FrameHeader {
    /// Parses the header of frame `index` of the entry with hash `entry_hash` and `stream_words`
    /// words in frames of `frame_words`.
    ///
    /// # Errors
    /// Returns the name of the field that is wrong.
    pub fn parse(
        bytes: &[u8; FRAME_HEADER_BYTES],
        index: u32,
        entry_hash: u64,
        (stream_words, frame_words): (u64, usize),
    ) -> Result<FrameHeader, &'static str> {
        let (body, _) = bytes.split_at(FRAME_HEADER_BYTES - 8);
        let expected = xxh3_64_with_seed(body, entry_hash);
        let mut fields = Cursor::new(bytes);
        let mut parse = || -> Result<_, ParseError> {
            let (magic, codec) = (fields.array::<4>("magic")?, fields.u8("codec")?);
            fields.take(3, "zeros")?;
            let (found, raw_words) = (fields.u32("number")?, fields.u32("words")? as usize);
            let (payload_bytes, payload_hash) = (fields.u64("length")? as usize, fields.u64("hash")?);
            let hash = fields.u64("hash of the header")?;
            Ok((magic, found, FrameHeader { codec, raw_words, payload_bytes, payload_hash, hash }))
        };
        let Ok((magic, found, header)) = parse() else { return Err("frame header too short") };
        if magic != FRAME_MAGIC {
            return Err("frame magic");
        }
        if differ(header.hash, expected) {
            return Err("frame header hash");
        }
        let begin = u64::from(index) * frame_words as u64;
        let raw_words = stream_words.saturating_sub(begin).min(frame_words as u64);
        if found != index || header.raw_words as u64 != raw_words || header.payload_bytes > header.raw_words * 8 {
            return Err("frame header lengths");
        }
        Ok(header)
    }

    /// Returns whether `payload` has the hash in this header.
    pub fn fits(&self, payload: &[u8]) -> bool {
        !differ(xxh3_64(payload), self.payload_hash)
    }
}

/// Hash over the entry header and the frame headers of one extent, in order.
pub struct ExtentHash(Xxh3);

impl ExtentHash {
    /// Starts with the hash of the entry header.
    pub fn new(entry_hash: u64) -> ExtentHash {
        let mut hash = ExtentHash(Xxh3::new());
        hash.add(entry_hash);
        hash
    }

    /// Adds the hash of one frame header.
    pub fn add(&mut self, header_hash: u64) {
        self.0.update(&header_hash.to_le_bytes());
    }

    /// Returns the hash so far.
    pub fn value(&self) -> u64 {
        self.0.digest()
    }
}
