//! zstd over the bitmap's bytes.

use super::{Codec, DecodeError, Scratch, append_words, words_from_bytes};

/// zstd at one level over the little-endian words of the frame.
pub struct ZstdWords {
    pub(super) tag: u8,
    pub(super) level: i32,
    pub(super) name: &'static str,
}

impl Codec for ZstdWords {
    fn tag(&self) -> u8 {
        self.tag
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn encode(&self, words: &[u64], out: &mut Vec<u8>, scratch: &mut Scratch) {
        if cfg!(target_endian = "little") {
            scratch.compress(self.level, bytemuck::cast_slice(words), out);
        } else {
            let mut raw = std::mem::take(&mut scratch.bytes);
            raw.clear();
            append_words(words, &mut raw);
            scratch.compress(self.level, &raw, out);
            scratch.bytes = raw;
        }
    }

    fn decode(&self, stored: &[u8], words: &mut [u64], scratch: &mut Scratch) -> Result<(), DecodeError> {
        let expected = words.len() * 8;
        let length = if cfg!(target_endian = "little") {
            scratch.decompress(stored, bytemuck::cast_slice_mut(words))?
        } else {
            let mut raw = std::mem::take(&mut scratch.bytes);
            raw.clear();
            raw.resize(expected, 0);
            let length = scratch.decompress(stored, &mut raw)?;
            words_from_bytes(&raw, words);
            scratch.bytes = raw;
            length
        };
        if length == expected { Ok(()) } else { Err(DecodeError("zstd frame shorter than the raw length")) }
    }
}
