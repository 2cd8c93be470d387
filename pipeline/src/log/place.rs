//! Log files, extents and places: where log entries are.
//!
//! # Invariants
//! 1. A [`Place`] is the salt of the hashes of an entry and its frames' headers, so an entry that
//!    was misdirected, copied or left over from another run fails its checks.
//! 2. Nothing outside the [`Extent`]s of finished blocks is ever read as log.

use crate::ids::{BlockId, RunId};
use xxhash_rust::xxh3::xxh3_64;

/// Folder of the log files.
pub const LOGS: &str = "logs";
/// Alignment of entries in their file, in bytes, so that no later write touches a sector with
/// committed bytes.
pub const ENTRY_ALIGNMENT: u64 = 4096;

/// Where the log entries of a block go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Placement {
    /// One copy per target, in the target's own orientation and bucket, which is read sequentially.
    #[default]
    Dedicated,
    /// One copy per source, to which the buckets of all targets refer. Writes the fewest bytes.
    Shared,
}

impl Placement {
    /// Returns the byte that encodes the placement in headers and records.
    pub(crate) fn byte(self) -> u8 {
        u8::from(self == Placement::Shared)
    }

    /// Decodes the flag that [`Placement::byte`] writes.
    pub(crate) fn from_flag(is_shared: bool) -> Placement {
        if is_shared { Placement::Shared } else { Placement::Dedicated }
    }
}

/// A log file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogFile {
    /// Whether its entries are for one target or for all of them.
    pub placement: Placement,
    /// Target of dedicated entries; source of shared ones.
    pub bucket: BlockId,
    /// Generation that created the file.
    pub generation: u64,
}

impl LogFile {
    /// Returns the name relative to the run folder.
    ///
    /// ```
    /// use trinim_pipeline::{BlockId, LogFile, Placement};
    /// let dedicated = LogFile { placement: Placement::Dedicated, bucket: BlockId(10), generation: 3 };
    /// assert_eq!(dedicated.name(), "logs/0000000a.g3");
    /// assert_eq!(LogFile { placement: Placement::Shared, ..dedicated }.name(), "logs/s0000000a.g3");
    /// ```
    pub fn name(&self) -> String {
        let prefix = match self.placement {
            Placement::Dedicated => "",
            Placement::Shared => "s",
        };
        format!("{LOGS}/{prefix}{:08x}.g{}", self.bucket.0, self.generation)
    }

    /// Returns the log file of this name, without its folder.
    pub fn from_name(name: &str) -> Option<LogFile> {
        let (bucket, generation) = name.split_once(".g")?;
        let shared = bucket.strip_prefix('s');
        let file = LogFile {
            placement: Placement::from_flag(shared.is_some()),
            bucket: BlockId(u32::from_str_radix(shared.unwrap_or(bucket), 16).ok()?),
            generation: generation.parse().ok()?,
        };
        (file.name().strip_prefix(LOGS)?.strip_prefix('/')? == name).then_some(file)
    }
}

/// A range of a log file that holds one entry: the updates of one source block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Extent {
    /// The file.
    pub file: LogFile,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub length: u64,
    /// Hash of the entry ([`ExtentHash`](crate::log::frame::ExtentHash)), compared on reading.
    pub hash: u64,
    /// Block that sent the updates.
    pub source: BlockId,
}

impl Extent {
    /// Returns the offset after the last byte.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.length)
    }
}

/// Where an entry is: the salt of its hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Run that wrote the entry.
    pub run_id: RunId,
    /// The log file.
    pub file: LogFile,
    /// Offset of the entry in the file, in bytes.
    pub offset: u64,
}

impl Place {
    pub(super) fn salt(&self) -> u64 {
        let mut bytes = [0u8; 40];
        bytes[..16].copy_from_slice(&self.run_id.0.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.file.bucket.0.to_le_bytes());
        bytes[20] = self.file.placement.byte();
        bytes[24..32].copy_from_slice(&self.file.generation.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.offset.to_le_bytes());
        xxh3_64(&bytes)
    }
}
