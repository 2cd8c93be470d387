//! Headers of log entries, as bytes.
//!
//! An *entry* is what one finished block sends: to one target (placement *dedicated*) or to all of
//! them (*shared*). Its header lists the *routes* (target, orientation, operations). The frames
//! follow, each an independently encoded part of the stream. `FORMAT.md` specifies every byte.
//!
//! # Invariants
//! 1. A header is valid only in its own [`Place`].
//! 2. Lengths are bounded before anything is allocated.

use super::frame::{differ, frames_of, words_of_frames};
use super::place::{Place, Placement};
use crate::bytes::{Cursor, ParseError};
use crate::ids::BlockId;
use crate::workload::{Edge, Workload};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

const ENTRY_MAGIC: [u8; 4] = *b"TLEN";
const VERSION: u16 = 1;

/// Length of the fixed part of an entry header, in bytes.
pub const ENTRY_FIXED_BYTES: usize = 48;
/// Bound on the routes of one entry, in bytes.
pub const ROUTES_BYTES_MAX: usize = 64 << 20;

/// One use of an entry: its target, orientation and operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Target block.
    pub target: BlockId,
    /// Orientation that the target needs. The frames of a dedicated entry already have it.
    pub orientation: u8,
    /// Restriction of the edge. The frames of a dedicated entry already have it.
    pub restriction: u64,
    /// The workload's operations.
    pub operations: Vec<u64>,
}

impl From<&Edge> for Route {
    fn from(edge: &Edge) -> Route {
        Route {
            target: edge.target,
            orientation: edge.orientation,
            restriction: edge.restriction,
            operations: edge.operations.to_vec(),
        }
    }
}

impl Route {
    /// Returns whether this is the route of `edge`.
    pub fn is(&self, edge: &Edge) -> bool {
        self.target == edge.target
            && self.orientation == edge.orientation
            && self.restriction == edge.restriction
            && self.operations[..] == edge.operations[..]
    }
}

/// Header of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryHeader {
    /// Block that sent the stream.
    pub source: BlockId,
    /// Whether the frames have the orientation of the one route (dedicated), or the source's own
    /// for all routes (shared).
    pub placement: Placement,
    /// Length of the stream, in words.
    pub stream_words: u64,
    /// Number of frames that follow.
    pub frames: u32,
    /// Uses of the entry.
    pub routes: Vec<Route>,
}

/// The parsed fixed part of an entry header; the routes follow it.
#[derive(Clone, Copy, Debug)]
pub struct EntryFixed {
    /// Length of the routes, in bytes.
    pub routes_bytes: usize,
    routes: u32,
    source: BlockId,
    placement: Placement,
    stream_words: u64,
    frames: u32,
    routes_hash: u64,
    /// Hash of the fixed part; it covers the hash of the routes and the salt.
    pub hash: u64,
}

impl EntryHeader {
    /// Builds the header of the entry that block `source` of a workload sends along `routes`.
    pub fn new(workload: &dyn Workload, source: BlockId, placement: Placement, routes: Vec<Route>) -> EntryHeader {
        let stream_words = workload.stream_words() as u64;
        EntryHeader { source, placement, stream_words, frames: frames_of(stream_words), routes }
    }

    /// Encodes the header for its place; returns the bytes and the hash of the fixed part.
    pub fn to_bytes(&self, place: &Place) -> (Vec<u8>, u64) {
        let mut routes = Vec::new();
        for route in &self.routes {
            routes.extend_from_slice(&route.target.0.to_le_bytes());
            routes.extend_from_slice(&[route.orientation, 0, 0, 0]);
            routes.extend_from_slice(&route.restriction.to_le_bytes());
            routes.extend_from_slice(&(route.operations.len() as u64).to_le_bytes());
            for operation in &route.operations {
                routes.extend_from_slice(&operation.to_le_bytes());
            }
        }
        let mut bytes = Vec::with_capacity(ENTRY_FIXED_BYTES + routes.len());
        bytes.extend_from_slice(&ENTRY_MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&[self.placement.byte(), 0]);
        bytes.extend_from_slice(&self.source.0.to_le_bytes());
        bytes.extend_from_slice(&self.frames.to_le_bytes());
        bytes.extend_from_slice(&self.stream_words.to_le_bytes());
        bytes.extend_from_slice(&(self.routes.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&(routes.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&xxh3_64(&routes).to_le_bytes());
        let hash = xxh3_64_with_seed(&bytes, place.salt());
        bytes.extend_from_slice(&hash.to_le_bytes());
        bytes.extend_from_slice(&routes);
        (bytes, hash)
    }

    /// Parses the fixed part of a header.
    ///
    /// # Errors
    /// Returns the name of the field that is wrong.
    pub fn parse_fixed(bytes: &[u8; ENTRY_FIXED_BYTES], place: &Place) -> Result<EntryFixed, &'static str> {
        let (body, _) = bytes.split_at(ENTRY_FIXED_BYTES - 8);
        let expected = xxh3_64_with_seed(body, place.salt());
        let mut fields = Cursor::new(bytes);
        let mut parse = || -> Result<_, ParseError> {
            let (magic, version) = (fields.array::<4>("magic")?, fields.u16("version")?);
            let placement = Placement::from_flag(fields.u8("kind")? != 0);
            fields.take(1, "zero")?;
            let (source, frames) = (BlockId(fields.u32("source")?), fields.u32("frames")?);
            let (stream_words, routes) = (fields.u64("words")?, fields.u32("routes")?);
            let (routes_bytes, routes_hash) = (fields.u32("length of the routes")? as usize, fields.u64("hash")?);
            let hash = fields.u64("hash of the header")?;
            let fixed = EntryFixed { routes_bytes, routes, source, placement, stream_words, frames, routes_hash, hash };
            Ok((magic, version, fixed))
        };
        let Ok((magic, version, fixed)) = parse() else { return Err("entry header too short") };
        if magic != ENTRY_MAGIC {
            return Err("entry magic");
        }
        if differ(fixed.hash, expected) {
            return Err("entry header hash");
        }
        if version != VERSION {
            return Err("entry version");
        }
        if fixed.routes_bytes > ROUTES_BYTES_MAX || words_of_frames(fixed.stream_words, fixed.frames).is_none() {
            return Err("entry header lengths");
        }
        Ok(fixed)
    }

    /// Parses the routes that follow a fixed part.
    ///
    /// # Errors
    /// Returns the name of the field that is wrong.
    pub fn parse_routes(fixed: &EntryFixed, bytes: &[u8]) -> Result<EntryHeader, &'static str> {
        if differ(xxh3_64(bytes), fixed.routes_hash) {
            return Err("routes hash");
        }
        let mut fields = Cursor::new(bytes);
        let mut parse = || -> Result<_, ParseError> {
            let (target, orientation) = (BlockId(fields.u32("target")?), fields.u8("orientation")?);
            fields.take(3, "zeros")?;
            let (restriction, count) = (fields.u64("restriction")?, fields.u64("number of operations")?);
            let masks = fields.take((count as usize).saturating_mul(8), "operations")?.as_chunks::<8>().0;
            let operations = masks.iter().map(|mask| u64::from_le_bytes(*mask)).collect();
            Ok(Route { target, orientation, restriction, operations })
        };
        let routes = (0..fixed.routes).map(|_| parse()).collect::<Result<_, _>>();
        let routes = routes.map_err(|_| "routes too short")?;
        if fields.remaining() > 0 {
            return Err("bytes after the routes");
        }
        Ok(EntryHeader {
            source: fixed.source,
            placement: fixed.placement,
            stream_words: fixed.stream_words,
            frames: fixed.frames,
            routes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{FRAME_WORDS, Raw, Scratch};
    use crate::ids::RunId;
    use crate::log::frame::{ExtentHash, FRAME_HEADER_BYTES, Frame, FrameHeader};
    use crate::log::place::LogFile;

    /// Each check of a header that its writer sealed with correct hashes.
    #[test]
    fn each_check_of_an_entry_header() {
        let file = LogFile { placement: Placement::Dedicated, bucket: BlockId(9), generation: 2 };
        let place = Place { run_id: RunId(7), file, offset: 4096 };
        let route = Route { target: BlockId(9), orientation: 1, restriction: 2, operations: vec![3, 4] };
        let (stream_words, routes) = (FRAME_WORDS as u64 + 1, vec![route]);
        let header =
            EntryHeader { source: BlockId(3), placement: Placement::Dedicated, stream_words, frames: 2, routes };
        let (sound, _) = header.to_bytes(&place);
        let parse = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = sound.clone();
            change(&mut bytes);
            let routes = xxh3_64(&bytes[ENTRY_FIXED_BYTES..]);
            bytes[32..40].copy_from_slice(&routes.to_le_bytes());
            let own = xxh3_64_with_seed(&bytes[..40], place.salt());
            bytes[40..48].copy_from_slice(&own.to_le_bytes());
            let (fixed, routes) = bytes.split_first_chunk().unwrap();
            EntryHeader::parse_routes(&EntryHeader::parse_fixed(fixed, &place)?, routes)
        };
        let put = |bytes: &mut Vec<u8>, at: usize, number: usize| {
            bytes[at..at + 4].copy_from_slice(&(number as u32).to_le_bytes());
        };
        assert_eq!(parse(&|_| {}), Ok(header));
        assert_eq!(parse(&|bytes| bytes[0] ^= 1), Err("entry magic"));
        assert_eq!(parse(&|bytes| bytes[4] = 2), Err("entry version"));
        assert_eq!(parse(&|bytes| bytes[12] = 3), Err("entry header lengths"));
        assert!(parse(&|bytes| put(bytes, 28, ROUTES_BYTES_MAX)).is_ok());
        assert_eq!(parse(&|bytes| put(bytes, 28, ROUTES_BYTES_MAX + 1)), Err("entry header lengths"));
        assert_eq!(parse(&|bytes| bytes[24] = 2), Err("routes too short"));
        assert_eq!(parse(&|bytes| bytes.push(0)), Err("bytes after the routes"));
    }

    /// The same for a frame header: its number, its words, and payloads as long as the words.
    #[test]
    fn each_check_of_a_frame_header() {
        let parse = |number: u32, change: &dyn Fn(&mut Frame)| {
            let mut frame = Frame::encode(&Raw, &[7, 8, 9], &mut Scratch::default(), &mut Vec::new());
            change(&mut frame);
            let mut bytes = Vec::new();
            frame.append_to(number, 5, &mut ExtentHash::new(5), &mut bytes);
            let header = bytes.first_chunk::<FRAME_HEADER_BYTES>().unwrap();
            FrameHeader::parse(header, 1, 5, (FRAME_WORDS as u64 + 3, FRAME_WORDS)).map(|header| header.payload_bytes)
        };
        assert_eq!(parse(1, &|_| {}), Ok(24));
        assert_eq!(parse(1, &|frame| frame.payload.truncate(1)), Ok(1));
        assert_eq!(parse(1, &|frame| frame.payload.push(0)), Err("frame header lengths"));
        assert_eq!(parse(1, &|frame| frame.raw_words = 2), Err("frame header lengths"));
        assert_eq!(parse(1, &|frame| frame.raw_words = 4), Err("frame header lengths"));
        assert_eq!(parse(2, &|_| {}), Err("frame header lengths"));
    }
}
