//! Codecs for the frames of a stream.
//!
//! A frame is a part of a bitmap, encoded independently of its neighbours: up to [`FRAME_WORDS`]
//! words, or four times as many in logs of long streams. Its header stores the codec's tag (see
//! `FORMAT.md`). The frame module verifies checksums before a codec reads the bytes.
//!
//! # Invariants
//! 1. `decode(encode(words)) == words` for every input.
//! 2. `decode` of arbitrary bytes returns an error or fills exactly the given words; it never
//!    allocates more than a constant times the frame's raw size, and never panics.
//! 3. An all-zero frame is tagged [`ZERO`] and stores no payload, with any codec.

pub mod huffman;
mod rows;

pub use rows::Rows;

/// Words of a full frame before encoding, 1 MiB, decoded by one probe. Smaller frames lose repeats
/// of whole rows (256 KiB: 15 % more bytes); larger ones do not fit into the cache.
pub const FRAME_WORDS: usize = 128 * 1024;

/// Tag of a frame without payload: every word is zero.
pub const ZERO: u8 = 0;

/// Why a payload cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DecodeError(pub &'static str);

/// Contexts and buffers that a thread reuses from frame to frame.
#[derive(Default)]
pub struct Scratch {
    compressor: Option<zstd::bulk::Compressor<'static>>,
    decompressor: Option<zstd::bulk::Decompressor<'static>>,
    table: Vec<u32>,
    numbers: Vec<u16>,
    distinct: Vec<u64>,
    links: Vec<u16>,
    encoder: Option<huffman::Encoder>,
    decoder: Option<huffman::Decoder>,
}

impl Scratch {
    /// Creates an empty scratch; contexts are created on first use.
    pub fn new() -> Scratch {
        Scratch::default()
    }
}

/// Encodes and decodes frames. Implementations are stateless values.
pub trait Codec: Send + Sync {
    /// Returns the number stored in the frame header.
    fn tag(&self) -> u8;

    /// Returns the name on the command line and in reports.
    fn name(&self) -> &'static str;

    /// Appends the encoding of `words` to `out`.
    fn encode(&self, words: &[u64], out: &mut Vec<u8>, scratch: &mut Scratch);

    /// Decodes `stored` into all of `words`.
    ///
    /// # Errors
    /// Returns [`DecodeError`] if the bytes are not an encoding of exactly `words.len()` words.
    fn decode(&self, stored: &[u8], words: &mut [u64], scratch: &mut Scratch) -> Result<(), DecodeError>;
}

/// The bitmap itself, as little-endian words.
pub struct Raw;

impl Codec for Raw {
    fn tag(&self) -> u8 {
        1
    }

    fn name(&self) -> &'static str {
        "raw"
    }

    fn encode(&self, words: &[u64], out: &mut Vec<u8>, _: &mut Scratch) {
        out.extend_from_slice(bytemuck::cast_slice(words));
    }

    fn decode(&self, stored: &[u8], words: &mut [u64], _: &mut Scratch) -> Result<(), DecodeError> {
        if stored.len() != words.len() * 8 {
            return Err(DecodeError("raw frame has the wrong length"));
        }
        bytemuck::cast_slice_mut(words).copy_from_slice(stored);
        Ok(())
    }
}

/// zstd at level 1 over the little-endian words of the frame.
pub struct Zstd1;

impl Codec for Zstd1 {
    fn tag(&self) -> u8 {
        2
    }

    fn name(&self) -> &'static str {
        "zstd1"
    }

    fn encode(&self, words: &[u64], out: &mut Vec<u8>, scratch: &mut Scratch) {
        let context = || zstd::bulk::Compressor::new(1).expect("the level is within zstd's range");
        let raw: &[u8] = bytemuck::cast_slice(words);
        let start = out.len();
        out.resize(start + zstd::zstd_safe::compress_bound(raw.len()), 0);
        let stored = scratch.compressor.get_or_insert_with(context).compress_to_buffer(raw, &mut out[start..]);
        out.truncate(start + stored.expect("the destination has zstd's own upper bound"));
    }

    fn decode(&self, stored: &[u8], words: &mut [u64], scratch: &mut Scratch) -> Result<(), DecodeError> {
        let context = scratch.decompressor.take().map_or_else(zstd::bulk::Decompressor::new, Ok);
        let context = context.map_err(|_| DecodeError("no memory for a zstd context"))?;
        let raw: &mut [u8] = bytemuck::cast_slice_mut(words);
        let length = scratch.decompressor.insert(context).decompress_to_buffer(stored, raw).ok();
        if length == Some(raw.len()) { Ok(()) } else { Err(DecodeError("not a zstd frame of the raw length")) }
    }
}

/// Returns every codec of this version, by ascending tag.
pub fn all() -> &'static [&'static dyn Codec] {
    &[&Raw, &Zstd1, &Rows::BYTES, &Rows::HUFFMAN]
}

/// Returns the name of a codec that only unreleased versions had. Its tag is never used again.
pub fn withdrawn(tag: u8) -> Option<&'static str> {
    match tag {
        3 => Some("zstd3"),
        4 => Some("gaps"),
        5 => Some("rows"),
        6 => Some("rows-zstd1"),
        _ => None,
    }
}

/// Returns the codec with the given name.
pub fn by_name(name: &str) -> Option<&'static dyn Codec> {
    all().iter().copied().find(|codec| codec.name() == name)
}

/// Returns the codec with the given tag ([`ZERO`] is not a codec).
pub fn by_tag(tag: u8) -> Option<&'static dyn Codec> {
    all().iter().copied().find(|codec| codec.tag() == tag)
}

/// Encodes one frame: appends the payload to `out` and returns the tag to store.
pub fn encode_frame(codec: &dyn Codec, words: &[u64], out: &mut Vec<u8>, scratch: &mut Scratch) -> u8 {
    if words.iter().all(|word| *word == 0) {
        return ZERO;
    }
    let start = out.len();
    codec.encode(words, out, scratch);
    assert_ne!(codec.tag(), ZERO, "codec, invariant 3: the tag of {}", codec.name());
    debug_assert!(is_decoded(codec, &out[start..], words, scratch), "codec, invariant 1: {}", codec.name());
    codec.tag()
}

/// Returns whether a payload decodes to these words; a codec of the caller may be wrong.
fn is_decoded(codec: &dyn Codec, stored: &[u8], words: &[u64], scratch: &mut Scratch) -> bool {
    let mut decoded = vec![!0; words.len()];
    let is_ours = by_name(codec.name()).is_some();
    !is_ours || codec.decode(stored, &mut decoded, scratch).is_ok() && decoded == words
}

/// Decodes a payload by its stored tag into all of `words`.
///
/// # Errors
/// Returns [`DecodeError`] for an unknown tag or a payload that does not fit it.
pub fn decode_frame(tag: u8, stored: &[u8], words: &mut [u64], scratch: &mut Scratch) -> Result<(), DecodeError> {
    if tag == ZERO {
        if !stored.is_empty() {
            return Err(DecodeError("zero frame with a payload"));
        }
        words.fill(0);
        return Ok(());
    }
    by_tag(tag).ok_or(DecodeError("unknown codec tag"))?.decode(stored, words, scratch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bitmaps of many densities, with runs: both like and unlike real streams.
    fn bitmap() -> impl Strategy<Value = Vec<u64>> {
        let word = prop_oneof![
            4 => Just(0u64),
            1 => Just(u64::MAX),
            2 => any::<u64>(),
            4 => (any::<u64>(), any::<u64>(), any::<u64>()).prop_map(|(a, b, c)| a & b & c),
            1 => (0u32..64).prop_map(|bit| 1u64 << bit),
        ];
        prop_oneof![
            proptest::collection::vec(word, 0..300),
            (any::<u64>(), 0usize..4096).prop_map(|(word, length)| vec![word; length]),
            (any::<u64>(), 1usize..40, 0usize..4096).prop_map(|(seed, period, length)| (0..length)
                .map(|at| seed.rotate_left((at % period) as u32))
                .collect()),
        ]
    }

    proptest! {
        #[test]
        fn every_codec_round_trips(words in bitmap()) {
            let mut scratch = Scratch::new();
            for codec in all() {
                let mut stored = Vec::new();
                let tag = encode_frame(*codec, &words, &mut stored, &mut scratch);
                let mut back = vec![0x5555_5555_5555_5555; words.len()];
                decode_frame(tag, &stored, &mut back, &mut scratch).unwrap();
                prop_assert_eq!(&back, &words, "{}", codec.name());
            }
        }

        #[test]
        fn hostile_payloads_are_refused_or_decoded_but_never_panic(
            tag in 0u8..9, stored in proptest::collection::vec(any::<u8>(), 0..200), length in 0usize..100,
        ) {
            let mut words = vec![0; length];
            let _ = decode_frame(tag, &stored, &mut words, &mut Scratch::new());
        }

        #[test]
        fn a_cut_payload_is_refused(words in bitmap(), keep in 0.0f64..1.0) {
            let mut scratch = Scratch::new();
            for codec in all() {
                let mut stored = Vec::new();
                let tag = encode_frame(*codec, &words, &mut stored, &mut scratch);
                let cut = (stored.len() as f64 * keep) as usize;
                if cut < stored.len() {
                    let mut back = vec![0; words.len()];
                    let decoded = decode_frame(tag, &stored[..cut], &mut back, &mut scratch);
                    prop_assert!(decoded.is_err(), "{}", codec.name());
                }
            }
        }
    }

    /// As many rows as codecs can number: all different, with equal ones as far apart as possible.
    #[test]
    fn the_longest_frames_round_trip() {
        let (rows, mut scratch) = (1 << 16, Scratch::new());
        let numbered = |number: &dyn Fn(u64) -> u64| -> Vec<u64> {
            (0..rows).flat_map(|row| [number(row) | 1 << 40, 0, 0, number(row) << 9, 0, 0, 0, 7]).collect()
        };
        let numbers: [&dyn Fn(u64) -> u64; 3] = [&|row| row, &|row| row % (rows / 2), &|row| row % (rows - 1)];
        for words in numbers.map(numbered) {
            for codec in all() {
                let mut stored = Vec::new();
                let tag = encode_frame(*codec, &words, &mut stored, &mut scratch);
                let mut back = vec![0x5555_5555_5555_5555; words.len()];
                decode_frame(tag, &stored, &mut back, &mut scratch).unwrap();
                assert!(back == words, "{}", codec.name());
            }
        }
    }

    #[test]
    fn tags_and_names_are_unique_and_found() {
        for codec in all() {
            assert_eq!(by_tag(codec.tag()).unwrap().name(), codec.name());
            assert_eq!(by_name(codec.name()).unwrap().tag(), codec.tag());
        }
        assert!(by_tag(ZERO).is_none());
        let (found, gone): (Vec<u8>, Vec<u8>) = (0..=u8::MAX).partition(|tag| by_tag(*tag).is_some());
        assert_eq!(found, [1, 2, 7, 8]);
        let gone = gone.into_iter().filter_map(withdrawn);
        assert_eq!(Vec::from_iter(gone), ["zstd3", "gaps", "rows", "rows-zstd1"]);
    }
}
