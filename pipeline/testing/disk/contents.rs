//! A file of the simulated disk: its visible contents, its safe contents, and the effect of a power
//! cut on the writes in between.

use std::sync::Arc;

use super::super::random::Random;
use super::SECTOR_BYTES;

/// What a power cut does to the changes that are not safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Lost,
    Kept,
    /// The first changes are kept.
    Prefix,
    /// Each change is kept, lost or torn independently.
    Mixed,
}

/// Number of a handle; the handles of later processes have greater numbers.
pub(super) type Handle = u64;

/// A change of the contents of a file.
#[derive(Clone, Debug)]
pub(super) enum Write {
    Bytes(usize, Arc<[u8]>),
    Length(usize),
}

impl Write {
    pub(super) fn apply(&self, contents: &mut Vec<u8>) {
        match self {
            Self::Bytes(start, bytes) => {
                let end = start + bytes.len();
                if contents.len() < end {
                    contents.resize(end, 0);
                }
                contents[*start..end].copy_from_slice(bytes);
            }
            Self::Length(length) => contents.resize(*length, 0),
        }
    }

    /// Applies the write as a power cut in the middle of it leaves it.
    fn tear(&self, contents: &mut Vec<u8>, random: &mut Random) {
        let Self::Bytes(start, bytes) = self else {
            return;
        };
        let end = start + bytes.len();
        if contents.len() < end && random.coin() {
            contents.resize(end, 0);
        }
        let sectors = start / SECTOR_BYTES..end.div_ceil(SECTOR_BYTES);
        for sector in sectors {
            let whole = sector * SECTOR_BYTES..(sector + 1) * SECTOR_BYTES;
            let part = whole.start.max(*start)..whole.end.min(end);
            match random.below(3) {
                0 => {}
                1 => Self::Bytes(part.start, bytes[part.start - start..part.end - start].into()).apply(contents),
                _ => {
                    let last = whole.end.min(contents.len());
                    for byte in contents.get_mut(whole.start..last).unwrap_or_default() {
                        *byte = random.bits() as u8;
                    }
                }
            }
        }
    }
}

/// A file. Copies of a disk share its parts until one of them changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    pub(super) cached: Arc<Vec<u8>>,
    pub(super) safe: Arc<Vec<u8>>,
    /// Writes that are not safe, each with its handle.
    pub(super) pending: Vec<(Write, Handle)>,
    /// Whether writes were marked clean without being safe, so that the cache holds more than a
    /// sync can save.
    pub(super) diverged: bool,
}

impl Contents {
    pub(super) fn settled(bytes: Vec<u8>) -> Self {
        let bytes = Arc::new(bytes);
        Self { cached: Arc::clone(&bytes), safe: bytes, pending: Vec::new(), diverged: false }
    }

    pub(super) fn save(&mut self, write: &Write) {
        write.apply(Arc::make_mut(&mut self.safe));
    }

    /// Returns the range of a random sector, cut at the end of the file; `None` in an empty file.
    pub(super) fn sector(&self, random: &mut Random) -> Option<std::ops::Range<usize>> {
        let sectors = self.cached.len().div_ceil(SECTOR_BYTES);
        let start = (sectors > 0).then(|| random.index(sectors) * SECTOR_BYTES)?;
        Some(start..(start + SECTOR_BYTES).min(self.cached.len()))
    }

    /// Returns contents that a power cut can leave.
    pub(super) fn after(&self, fate: Fate, random: &mut Random) -> Contents {
        if self.pending.is_empty() {
            let safe = Arc::clone(&self.safe);
            return Contents { cached: Arc::clone(&safe), safe, pending: Vec::new(), diverged: false };
        }
        let mut contents = Vec::clone(&self.safe);
        for (write, _) in &self.pending {
            match (fate, random.below(4)) {
                (Fate::Lost, _) => {}
                (Fate::Kept, _) | (_, 0) => write.apply(&mut contents),
                (_, 1) => {}
                // The new length without the data.
                (_, 2) => {
                    if let Write::Bytes(start, bytes) = write {
                        let end = start + bytes.len();
                        contents.resize(contents.len().max(end), 0);
                    }
                }
                _ => write.tear(&mut contents, random),
            }
        }
        Contents::settled(contents)
    }
}
