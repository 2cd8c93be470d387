//! Log entries and their frames, as bytes.
//!
//! An *entry* is what one finished block sends: to one target (placement *dedicated*) or to all of them (*shared*). It is a header, which
//! lists the *routes* (target, orientation, operations), followed by frames, each an independently encoded part of the loss stream.
//! Every byte is specified in `FORMAT.md`.
//!
//! # Invariants
//! 1. A header is valid only in its own place: its hash covers a salt made of run id, log file and offset, so an entry that was misdirected,
//!    copied or left over from another run fails.
//! 2. Lengths are bounded before anything is allocated.
//! 3. The extent hash in the journal covers the entry header and every frame header in order, and each frame header holds its payload's hash:
//!    a lost, doubled or stale frame shows.
//!
//! # Not here
//! File access (reader, writer) and the meaning of operations (workload).

use crate::ids::{BlockId, RunId};
use crate::log::codec::{self, Codec, FRAME_WORDS, Scratch};
use crate::workload::{Edge, Workload};
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_64_with_seed};

const ENTRY_MAGIC: [u8; 4] = *b"TLEN";
const FRAME_MAGIC: [u8; 4] = *b"TLFR";
const VERSION: u16 = 1;

/// Length of the fixed part of an entry header, in bytes.
pub const ENTRY_FIXED_BYTES: usize = 48;
/// Length of a frame header, in bytes.
pub const FRAME_HEADER_BYTES: usize = 40;
/// Entries start at multiples of this in their file, so that no later write touches a sector with committed bytes.
pub const ENTRY_ALIGNMENT: u64 = 4096;
/// Bound on the routes of one entry, in bytes.
pub const ROUTES_BYTES_MAX: usize = 64 << 20;

/// Where an entry stands: the salt of its hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Run that wrote it.
    pub run_id: RunId,
    /// Target (dedicated) or source (shared) that names the log file.
    pub bucket: BlockId,
    /// Whether the file is a shared segment.
    pub shared: bool,
    /// Generation in the log file's name.
    pub file_generation: u64,
    /// Offset of the entry in the file, in bytes.
    pub offset: u64,
}

impl Place {
    fn salt(&self) -> u64 {
        #[cfg(any(test, simulated))]
        if crate::omitted::omits(crate::omitted::Rule::Salt) {
            return 0;
        }
        let mut bytes = [0u8; 40];
        bytes[..16].copy_from_slice(&self.run_id.0.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.bucket.0.to_le_bytes());
        bytes[20] = u8::from(self.shared);
        bytes[24..32].copy_from_slice(&self.file_generation.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.offset.to_le_bytes());
        xxh3_64(&bytes)
    }
}

/// One use of an entry: for which target, how turned, by which operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Target block.
    pub target: BlockId,
    /// Orientation the target needs; of a dedicated entry the frames are turned already.
    pub orientation: u8,
    /// Restriction of the edge; of a dedicated entry it has been applied already.
    pub restriction: u64,
    /// The workload's operations.
    pub operations: Vec<u64>,
}

impl Route {
    /// The route of an edge.
    pub fn of(edge: &Edge) -> Route {
        Route {
            target: edge.target,
            orientation: edge.orientation,
            restriction: edge.restriction,
            operations: edge.operations.to_vec(),
        }
    }

    /// Whether this is the route of `edge`.
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
    /// Block whose loss stream this is.
    pub source: BlockId,
    /// Whether the frames are in the source's own orientation, for every route (shared), or turned for the one route (dedicated).
    pub shared: bool,
    /// Words of the whole stream.
    pub stream_words: u64,
    /// Number of frames that follow.
    pub frames: u32,
    /// The uses of the entry.
    pub routes: Vec<Route>,
}

/// Fixed part of an entry header, parsed; the routes follow it.
#[derive(Clone, Copy, Debug)]
pub struct EntryFixed {
    /// Length of the routes, in bytes.
    pub routes_bytes: usize,
    routes: u32,
    source: BlockId,
    shared: bool,
    stream_words: u64,
    frames: u32,
    routes_hash: u64,
    /// Hash of the fixed part; it covers the routes' hash and the salt.
    pub hash: u64,
}

fn differ(found: u64, expected: u64) -> bool {
    #[cfg(any(test, simulated))]
    if crate::omitted::omits(crate::omitted::Rule::LogHashes) {
        return false;
    }
    found != expected
}

/// Number of frames of a stream of `words` words.
pub fn frames_of(words: u64) -> u32 {
    words.div_ceil(FRAME_WORDS as u64) as u32
}

/// Bytes from which a reader takes fixed-width little-endian numbers; every take checks the length.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, tail) = self.0.split_first_chunk::<N>()?;
        self.0 = tail;
        Some(*head)
    }

    fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

impl EntryHeader {
    /// The header of what block `source` of a workload sends along `routes`.
    pub fn new(workload: &dyn Workload, source: BlockId, shared: bool, routes: Vec<Route>) -> EntryHeader {
        let stream_words = workload.stream_words() as u64;
        EntryHeader { source, shared, stream_words, frames: frames_of(stream_words), routes }
    }

    /// The whole entry as bytes for its place, and the hash of its extent.
    pub fn with_frames(&self, frames: &[Frame], place: &Place) -> (Vec<u8>, u64) {
        let (mut bytes, entry_hash) = self.to_bytes(place);
        let mut hash = ExtentHash::new(entry_hash);
        for (index, frame) in frames.iter().enumerate() {
            frame.append_to(index as u32, entry_hash, &mut hash, &mut bytes);
        }
        (bytes, hash.value())
    }

    /// The header as bytes for its place, and its hash.
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
        bytes.extend_from_slice(&[u8::from(self.shared), 0]);
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

    /// Parses the fixed part; the error says what is wrong.
    pub fn parse_fixed(bytes: &[u8; ENTRY_FIXED_BYTES], place: &Place) -> Result<EntryFixed, &'static str> {
        let (body, _) = bytes.split_at(ENTRY_FIXED_BYTES - 8);
        let expected = xxh3_64_with_seed(body, place.salt());
        let mut fields = Fields(bytes);
        let parsed = (|| {
            let magic = fields.array::<4>()?;
            let version = fields.u16()?;
            let kind = fields.u8()?;
            fields.u8()?;
            let source = BlockId(fields.u32()?);
            let frames = fields.u32()?;
            let stream_words = fields.u64()?;
            let routes = fields.u32()?;
            let routes_bytes = fields.u32()? as usize;
            let routes_hash = fields.u64()?;
            let hash = fields.u64()?;
            let shared = kind != 0;
            Some((
                magic,
                version,
                EntryFixed { routes_bytes, routes, source, shared, stream_words, frames, routes_hash, hash },
            ))
        })();
        let Some((magic, version, fixed)) = parsed else { return Err("entry header too short") };
        if magic != ENTRY_MAGIC {
            return Err("entry magic");
        }
        if differ(fixed.hash, expected) {
            return Err("entry header hash");
        }
        if version != VERSION {
            return Err("entry version");
        }
        if fixed.routes_bytes > ROUTES_BYTES_MAX || fixed.frames != frames_of(fixed.stream_words) {
            return Err("entry header lengths");
        }
        Ok(fixed)
    }

    /// Parses the routes that follow a fixed part.
    pub fn parse_routes(fixed: &EntryFixed, bytes: &[u8]) -> Result<EntryHeader, &'static str> {
        if differ(xxh3_64(bytes), fixed.routes_hash) {
            return Err("routes hash");
        }
        let mut fields = Fields(bytes);
        let mut routes = Vec::new();
        for _ in 0..fixed.routes {
            let route = (|| {
                let target = BlockId(fields.u32()?);
                let orientation = fields.u8()?;
                fields.array::<3>()?;
                let restriction = fields.u64()?;
                let count = fields.u64()?;
                let (masks, rest) = fields.0.split_at_checked(usize::try_from(count).ok()?.checked_mul(8)?)?;
                fields.0 = rest;
                let operations = masks.as_chunks::<8>().0.iter().map(|mask| u64::from_le_bytes(*mask)).collect();
                Some(Route { target, orientation, restriction, operations })
            })();
            routes.push(route.ok_or("routes too short")?);
        }
        if !fields.0.is_empty() {
            return Err("bytes behind the routes");
        }
        Ok(EntryHeader {
            source: fixed.source,
            shared: fixed.shared,
            stream_words: fixed.stream_words,
            frames: fixed.frames,
            routes,
        })
    }
}

/// One encoded frame, not yet placed.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Codec tag, [`codec::ZERO`] for a frame of zeros.
    pub codec: u8,
    /// Words it decodes to.
    pub raw_words: u32,
    /// Encoded bytes.
    pub payload: Vec<u8>,
    payload_hash: u64,
}

impl Frame {
    /// Encodes up to [`FRAME_WORDS`] words; a payload that would be larger than the raw words is stored raw.
    pub fn encode(codec: &dyn Codec, words: &[u64], scratch: &mut Scratch, bytes: &mut Vec<u8>) -> Frame {
        bytes.clear();
        let mut tag = codec::encode_frame(codec, words, bytes, scratch);
        if bytes.len() > words.len() * 8 {
            bytes.clear();
            tag = codec::encode_frame(&codec::Raw, words, bytes, scratch);
        }
        let payload_hash = xxh3_64(bytes);
        Frame { codec: tag, raw_words: words.len() as u32, payload: bytes.as_slice().to_vec(), payload_hash }
    }

    /// Length in the file, header included.
    pub fn stored_bytes(&self) -> usize {
        FRAME_HEADER_BYTES + self.payload.len()
    }

    /// Appends header and payload for the frame with number `index` of an entry, and adds the header to the extent hash.
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
    /// Words it decodes to.
    pub raw_words: usize,
    /// Length of the payload.
    pub payload_bytes: usize,
    payload_hash: u64,
    /// Hash of the header.
    pub hash: u64,
}

impl FrameHeader {
    /// Parses the header of frame `index` of the entry with hash `entry_hash` and `stream_words` words.
    pub fn parse(
        bytes: &[u8; FRAME_HEADER_BYTES],
        index: u32,
        entry_hash: u64,
        stream_words: u64,
    ) -> Result<FrameHeader, &'static str> {
        let (body, _) = bytes.split_at(FRAME_HEADER_BYTES - 8);
        let expected = xxh3_64_with_seed(body, entry_hash);
        let mut fields = Fields(bytes);
        let parsed = (|| {
            let magic = fields.array::<4>()?;
            let codec = fields.u8()?;
            fields.array::<3>()?;
            let found = fields.u32()?;
            let raw_words = fields.u32()? as usize;
            let payload_bytes = usize::try_from(fields.u64()?).ok()?;
            let payload_hash = fields.u64()?;
            let hash = fields.u64()?;
            Some((magic, found, FrameHeader { codec, raw_words, payload_bytes, payload_hash, hash }))
        })();
        let Some((magic, found, header)) = parsed else { return Err("frame header too short") };
        if magic != FRAME_MAGIC {
            return Err("frame magic");
        }
        if differ(header.hash, expected) {
            return Err("frame header hash");
        }
        let begin = u64::from(index) * FRAME_WORDS as u64;
        let raw_words = stream_words.saturating_sub(begin).min(FRAME_WORDS as u64);
        if found != index || header.raw_words as u64 != raw_words || header.payload_bytes > header.raw_words * 8 {
            return Err("frame header lengths");
        }
        Ok(header)
    }

    /// Whether the payload is the one that was written.
    pub fn fits(&self, payload: &[u8]) -> bool {
        !differ(xxh3_64(payload), self.payload_hash)
    }
}

/// Hash over the header hashes of one extent, in order.
pub struct ExtentHash(Xxh3);

impl ExtentHash {
    /// Starts with the hash of the entry header.
    pub fn new(entry_hash: u64) -> ExtentHash {
        let mut hash = ExtentHash(Xxh3::new());
        hash.add(entry_hash);
        hash
    }

    /// Adds one frame header's hash.
    pub fn add(&mut self, header_hash: u64) {
        self.0.update(&header_hash.to_le_bytes());
    }

    /// The hash so far.
    pub fn value(&self) -> u64 {
        self.0.digest()
    }
}
