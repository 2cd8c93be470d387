//! Headers of log entries, as bytes.
//!
//! An *entry* is what one finished block sends: to one target (placement *dedicated*) or to all of
//! them (*shared*). A header lists the *routes* (target, orientation, operations); the frames
//! follow, each an independently encoded part of the stream. `FORMAT.md` specifies every byte.
//!
//! # Invariants
//! 1. A header is valid only in its own [`Place`].
//! 2. Lengths are bounded before anything is allocated.

use super::frame::{Fields, differ, frames_of};
use super::place::{Place, Placement};
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

impl Route {
    /// Returns the route of an edge.
    pub fn of(edge: &Edge) -> Route {
        Route {
            target: edge.target,
            orientation: edge.orientation,
            restriction: edge.restriction,
            operations: edge.operations.to_vec(),
        }
    }

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
            let placement = Placement::of_flag(kind != 0);
            Some((
                magic,
                version,
                EntryFixed { routes_bytes, routes, source, placement, stream_words, frames, routes_hash, hash },
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
    ///
    /// # Errors
    /// Returns the name of the field that is wrong.
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
