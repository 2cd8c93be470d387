//! Log entries, frames and codecs of the engine.

use crate::{choice, number};
use pipeline::codec::{self, Scratch, decode_frame};
use pipeline::log::entry::{ENTRY_FIXED_BYTES, EntryHeader};
use pipeline::log::frame::{ExtentHash, FRAME_HEADER_BYTES, Frame, FrameHeader, LONG_FRAME_WORDS, words_of_frames};
use pipeline::log::place::Place;
use pipeline::{BlockId, LogFile, Placement, RunId};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Limit on a decoded frame, in words.
const WORDS_MAX: usize = 4096;

const PLACE: Place = Place {
    run_id: RunId(0x0123_4567_89ab_cdef),
    file: LogFile { placement: Placement::Dedicated, bucket: BlockId(7), generation: 3 },
    offset: 8192,
};

/// Computes the salt of a place, as the format says.
fn salt(place: &Place) -> u64 {
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&place.run_id.0.to_le_bytes());
    bytes.extend_from_slice(&place.file.bucket.0.to_le_bytes());
    bytes.extend_from_slice(&[u8::from(place.file.placement == Placement::Shared), 0, 0, 0]);
    bytes.extend_from_slice(&place.file.generation.to_le_bytes());
    bytes.extend_from_slice(&place.offset.to_le_bytes());
    xxh3_64(&bytes)
}

fn words_of(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks(8).take(WORDS_MAX).map(|chunk| number::<8>(chunk).0).collect()
}

/// The header of an entry and its routes.
pub fn entry(bytes: &[u8]) {
    let (how, rest) = choice(bytes);
    let (head, routes) = rest.split_at(rest.len().min(ENTRY_FIXED_BYTES));
    let mut fixed = [0; ENTRY_FIXED_BYTES];
    fixed[..head.len()].copy_from_slice(head);
    if how & 1 == 0 {
        fixed[..4].copy_from_slice(b"TLEN");
        if how & 2 == 0 {
            fixed[4..6].copy_from_slice(&1u16.to_le_bytes());
            let words = number::<8>(&fixed[16..24]).0;
            fixed[12..16].copy_from_slice(&(words.div_ceil(131_072) as u32).to_le_bytes());
        }
        fixed[32..40].copy_from_slice(&xxh3_64(routes).to_le_bytes());
        let hash = xxh3_64_with_seed(&fixed[..40], salt(&PLACE));
        fixed[40..48].copy_from_slice(&hash.to_le_bytes());
    }
    let Ok(parsed) = EntryHeader::parse_fixed(&fixed, &PLACE) else { return };
    let other = Place { offset: PLACE.offset + 4096, ..PLACE };
    assert!(EntryHeader::parse_fixed(&fixed, &other).is_err(), "a header that is valid in another place");
    let Ok(header) = EntryHeader::parse_routes(&parsed, routes) else { return };
    let (written, _) = header.to_bytes(&PLACE);
    let mut again = [0; ENTRY_FIXED_BYTES];
    again.copy_from_slice(&written[..ENTRY_FIXED_BYTES]);
    let fixed = EntryHeader::parse_fixed(&again, &PLACE).expect("a header that was written");
    assert_eq!(EntryHeader::parse_routes(&fixed, &written[ENTRY_FIXED_BYTES..]), Ok(header));
}

/// The header of a frame, and its payload if it has one that fits.
pub fn frame(bytes: &[u8]) {
    let (how, rest) = choice(bytes);
    let (stream_words, rest) = number::<2>(rest);
    let frames = u32::try_from(stream_words.div_ceil(codec::FRAME_WORDS as u64)).unwrap_or(0);
    let Some(frame_words) = words_of_frames(stream_words, frames) else { return };
    let lengths = (stream_words, frame_words);
    let (head, payload) = rest.split_at(rest.len().min(FRAME_HEADER_BYTES));
    let mut header = [0; FRAME_HEADER_BYTES];
    header[..head.len()].copy_from_slice(head);
    if how & 1 == 0 {
        header[..4].copy_from_slice(b"TLFR");
        if how & 2 == 0 {
            header[8..12].fill(0);
            header[12..16].copy_from_slice(&(stream_words as u32).to_le_bytes());
            header[16..24].copy_from_slice(&(payload.len() as u64).to_le_bytes());
        }
        header[24..32].copy_from_slice(&xxh3_64(payload).to_le_bytes());
        let hash = xxh3_64_with_seed(&header[..32], 5);
        header[32..40].copy_from_slice(&hash.to_le_bytes());
    }
    let Ok(parsed) = FrameHeader::parse(&header, 0, 5, lengths) else { return };
    assert!(FrameHeader::parse(&header, 1, 5, lengths).is_err(), "a frame that is valid under another number");
    assert!(FrameHeader::parse(&header, 0, 6, lengths).is_err(), "a frame that is valid in another entry");
    assert!(parsed.payload_bytes <= parsed.raw_words * 8 && parsed.raw_words <= lengths.1);
    if !parsed.fits(payload) {
        return;
    }
    let mut words = vec![0; parsed.raw_words];
    if decode_frame(parsed.codec, payload, &mut words, &mut Scratch::new()).is_ok() {
        round_trip(&words);
    }
}

/// A payload for each codec, and the input as words through every codec.
pub fn codec(bytes: &[u8]) {
    let (tag, rest) = choice(bytes);
    let (length, stored) = number::<2>(rest);
    let mut words = vec![0; length as usize % WORDS_MAX];
    if decode_frame(tag, stored, &mut words, &mut Scratch::new()).is_ok() {
        round_trip(&words);
    }
    round_trip(&words_of(stored));
}

fn round_trip(words: &[u64]) {
    let (mut scratch, mut buffer) = (Scratch::new(), Vec::new());
    for codec in codec::all() {
        let frame = Frame::encode(*codec, words, &mut scratch, &mut buffer);
        assert!(frame.payload.len() <= words.len() * 8, "{} makes it longer", codec.name());
        let mut back = vec![0x5555; words.len()];
        decode_frame(frame.codec, &frame.payload, &mut back, &mut scratch).expect("a payload that was encoded");
        assert_eq!(back, words, "{}", codec.name());
        let mut out = Vec::new();
        frame.append_to(0, 9, &mut ExtentHash::new(9), &mut out);
        let mut header = [0; FRAME_HEADER_BYTES];
        header.copy_from_slice(&out[..FRAME_HEADER_BYTES]);
        let parsed = FrameHeader::parse(&header, 0, 9, (words.len() as u64, LONG_FRAME_WORDS))
            .expect("a header that was written");
        assert!(parsed.fits(&out[FRAME_HEADER_BYTES..]));
    }
}
