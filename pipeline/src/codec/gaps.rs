//! Gaps between set bits as bytes, then zstd.
//!
//! Payload: the length of the byte string (u32), then the string compressed by zstd level 1. The
//! string holds, for every set bit, the number of zero bits since the previous one; a count of 255
//! or more is written as bytes of value 255 followed by the rest. The zero bits after the last set
//! bit are left out. The length lets the decoder bound its buffer.

use super::{Codec, DecodeError, Scratch};

/// Distances between set bits, most of them one byte, compressed by zstd level 1.
pub struct Gaps;

impl Codec for Gaps {
    fn tag(&self) -> u8 {
        4
    }

    fn name(&self) -> &'static str {
        "gaps"
    }

    fn encode(&self, words: &[u64], out: &mut Vec<u8>, scratch: &mut Scratch) {
        let mut gaps = std::mem::take(&mut scratch.bytes);
        gaps.clear();
        let mut last = 0usize;
        for (at, word) in words.iter().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                let position = at * 64 + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let mut gap = position - last;
                last = position + 1;
                while gap >= 255 {
                    gaps.push(255);
                    gap -= 255;
                }
                gaps.push(gap as u8);
            }
        }
        out.extend_from_slice(&(gaps.len() as u32).to_le_bytes());
        scratch.compress(1, &gaps, out);
        scratch.bytes = gaps;
    }

    fn decode(&self, stored: &[u8], words: &mut [u64], scratch: &mut Scratch) -> Result<(), DecodeError> {
        let (length, body) = stored.split_first_chunk::<4>().ok_or(DecodeError("gaps frame without length"))?;
        let length = u32::from_le_bytes(*length) as usize;
        let bits = words.len() * 64;
        // `bits` bits take at most one byte per set bit and one per run of 255 zeros.
        if length > bits + bits / 255 + 1 {
            return Err(DecodeError("gaps frame longer than its bitmap allows"));
        }
        let mut gaps = std::mem::take(&mut scratch.bytes);
        gaps.clear();
        gaps.resize(length, 0);
        let decoded = scratch.decompress(body, &mut gaps);
        words.fill(0);
        let mut position = 0usize;
        let mut fits = decoded == Ok(length);
        if fits {
            for gap in &gaps {
                position += *gap as usize;
                if *gap == 255 {
                    continue;
                }
                let Some(word) = words.get_mut(position / 64) else {
                    fits = false;
                    break;
                };
                *word |= 1 << (position % 64);
                position += 1;
            }
        }
        scratch.bytes = gaps;
        decoded?;
        if fits { Ok(()) } else { Err(DecodeError("gaps frame does not fit its bitmap")) }
    }
}
