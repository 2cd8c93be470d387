//! zstd over the bitmap's bytes.

use super::{Codec, DecodeError, Scratch};

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
        scratch.compress(self.level, bytemuck::cast_slice(words), out);
    }

    fn decode(&self, stored: &[u8], words: &mut [u64], scratch: &mut Scratch) -> Result<(), DecodeError> {
        let expected = words.len() * 8;
        let length = scratch.decompress(stored, bytemuck::cast_slice_mut(words))?;
        if length == expected { Ok(()) } else { Err(DecodeError("zstd frame shorter than the raw length")) }
    }
}
