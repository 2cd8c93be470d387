//! The bytes of a book and of its parts: header, frames, index.

use super::super::{DatabaseError, Game, block::number};
use super::order::BookOrder;
use pipeline::storage::MemoryFile;
use pipeline::{BlockId, Damage, Expected, StorageFile};
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: [u8; 8] = *b"TRINIMBO";
const VERSION: u32 = 1;
/// Length of the header, in bytes.
pub const HEADER_BYTES: usize = 128;
/// Length of an index row, in bytes.
const ROW_BYTES: usize = 32;
/// Losses of a full frame.
pub const FRAME_LOSSES: usize = 1 << 16;
/// Most frames of a book: their index takes 128 MiB.
const FRAMES_MAX: u64 = 1 << 22;
/// Most bytes of a number in a frame: seven bits of 63 each.
const NUMBER_BYTES: usize = 9;
const ZSTD_LEVEL: i32 = 3;

/// Returns the name of the part of a canonical block inside the `db` folder.
pub fn part_file_name(block: BlockId) -> String {
    format!("{:06}.part", block.0)
}

/// The subject of a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookHead {
    /// The block if this is the part of one.
    pub part: Option<BlockId>,
    /// Pieces of a position, at least.
    pub pieces: u32,
    /// Cells of the board.
    pub cells: u32,
    /// XXH3-64 of board and rule.
    pub identity: u64,
}

impl BookHead {
    /// Returns the head of a game's book, or of the part of a block.
    pub fn new(game: &Game, pieces: u32, part: Option<BlockId>) -> BookHead {
        BookHead { part, pieces, cells: game.board.cells(), identity: game.rules_identity() }
    }

    /// Returns the most empty cells of a position in the book.
    pub fn empties_at_most(&self) -> u32 {
        self.cells.saturating_sub(self.pieces)
    }
}

/// Encodes a book frame by frame.
pub struct BookEncoder {
    head: BookHead,
    at: u64,
    losses: u64,
    /// The last number of the last frame.
    last: Option<u64>,
    index: Vec<u8>,
    digest: blake3::Hasher,
}

impl BookEncoder {
    /// Starts an empty book; its first frame follows the header.
    pub fn new(head: BookHead) -> BookEncoder {
        let (index, digest) = (Vec::new(), blake3::Hasher::new());
        BookEncoder { head, at: HEADER_BYTES as u64, losses: 0, last: None, index, digest }
    }

    /// Returns the offset of the next frame, or of the index after the last one.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Encodes the next frame: [`FRAME_LOSSES`] ascending numbers, or fewer in the last one.
    pub fn frame(&mut self, numbers: &[u64]) -> Vec<u8> {
        let ascends = numbers.is_sorted_by(|one, next| one < next) && numbers.first().copied() > self.last;
        assert!(ascends, "book, invariant 2: numbers ascend strictly through the whole file");
        assert!(self.losses.is_multiple_of(FRAME_LOSSES as u64), "book, invariant 3: all frames but the last are full");
        self.last = numbers.last().copied();
        let mut gaps = Vec::with_capacity(numbers.len() * 2);
        for pair in numbers.windows(2) {
            let mut gap = pair[1] - pair[0] - 1;
            while gap >= 0x80 {
                gaps.push(gap as u8 | 0x80);
                gap >>= 7;
            }
            gaps.push(gap as u8);
        }
        let stored = zstd::bulk::compress(&gaps, ZSTD_LEVEL).expect("the memory of a frame");
        let first = numbers.first().copied().unwrap_or_default();
        for field in [first, self.at, stored.len() as u64, xxh3_64(&stored)] {
            self.index.extend_from_slice(&field.to_le_bytes());
        }
        for number in numbers {
            self.digest.update(&number.to_le_bytes());
        }
        self.losses += numbers.len() as u64;
        self.at += stored.len() as u64;
        stored
    }

    /// Returns the header and the index, which follows the last frame.
    pub fn finish(self) -> (Vec<u8>, Vec<u8>) {
        let BookEncoder { head, at, losses, index, digest, .. } = self;
        let mut header = Vec::with_capacity(HEADER_BYTES);
        header.extend_from_slice(&MAGIC);
        let part = head.part.map_or(0, |block| block.0 + 1);
        for field in [VERSION, part, head.pieces, head.cells] {
            header.extend_from_slice(&field.to_le_bytes());
        }
        let frames = (index.len() / ROW_BYTES) as u64;
        for field in [head.identity, losses, frames, at, xxh3_64(&index)] {
            header.extend_from_slice(&field.to_le_bytes());
        }
        header.extend_from_slice(digest.finalize().as_bytes());
        header.extend_from_slice(&[0; 24]);
        let hash = xxh3_64(&header);
        header.extend_from_slice(&hash.to_le_bytes());
        (header, index)
    }

    /// Encodes a whole book of ascending numbers.
    pub fn whole(head: BookHead, numbers: &[u64]) -> Vec<u8> {
        let mut encoder = BookEncoder::new(head);
        let frames: Vec<u8> = numbers.chunks(FRAME_LOSSES).flat_map(|numbers| encoder.frame(numbers)).collect();
        let (header, index) = encoder.finish();
        [header, frames, index].concat()
    }
}

/// The place of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRow {
    /// The first number in it.
    pub first: u64,
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Length in the file, in bytes.
    pub stored_bytes: u64,
    hash: u64,
}

/// The header and index of a book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookIndex {
    /// The subject of the book.
    pub head: BookHead,
    /// Losses in it.
    pub losses: u64,
    /// BLAKE3 of all numbers as little-endian words.
    pub digest: [u8; 32],
    /// A row for each frame.
    pub frames: Vec<FrameRow>,
    /// Above all numbers.
    end: u64,
}

impl BookIndex {
    /// Reads header and index of a file, and checks them against the expected subject and the
    /// length of the file. Returns their bytes, too.
    ///
    /// # Errors
    /// [`DatabaseError::Version`], [`DatabaseError::Corrupt`], [`DatabaseError::Io`].
    pub fn with_bytes(
        file: &dyn StorageFile,
        head: &BookHead,
        order: &BookOrder,
    ) -> Result<(BookIndex, [u8; HEADER_BYTES], Vec<u8>), DatabaseError> {
        let (path, mut header) = (&file.path(), [0; HEADER_BYTES]);
        file.read_exact_at(&mut header, 0)?;
        let file_bytes = file.length()?;
        let corrupt = |at: usize, damage: Damage| Err(DatabaseError::corrupt(path, at as u64, damage));
        let u32_at = |at| u32::from_le_bytes(number(&header, at));
        let u64_at = |at| u64::from_le_bytes(number(&header, at));
        if header[..8] != MAGIC {
            return corrupt(0, "not a book".into());
        }
        if u64_at(120) != xxh3_64(&header[..120]) {
            return corrupt(0, "the hash of the header is wrong".into());
        }
        if u32_at(8) != VERSION {
            let (found, supported) = (u32_at(8).into(), VERSION.into());
            return Err(DatabaseError::Version { path: path.into(), found, supported });
        }
        let part = head.part.map_or(0, |block| block.0 + 1);
        let fields = [(12, "part", part), (16, "least pieces", head.pieces), (20, "cells", head.cells)];
        for (at, of, expected) in fields {
            if u32_at(at) != expected {
                let (expected, found) = (Expected::Exactly(expected.into()), u32_at(at).into());
                return corrupt(at, Damage::Number { of, expected, found });
            }
        }
        if u64_at(24) != head.identity {
            return corrupt(24, "a book of another board or rule".into());
        }
        let [losses, frames, index_at] = [32, 40, 48].map(u64_at);
        let positions = order.positions(head.empties_at_most());
        if losses > positions {
            let damage = Damage::Number { of: "losses", expected: Expected::AtMost(positions), found: losses };
            return corrupt(32, damage);
        }
        let wanted = losses.div_ceil(FRAME_LOSSES as u64).min(FRAMES_MAX);
        if frames != wanted {
            let damage = Damage::Number { of: "frames", expected: Expected::Exactly(wanted), found: frames };
            return corrupt(40, damage);
        }
        let index_bytes = frames * ROW_BYTES as u64;
        if index_at < HEADER_BYTES as u64 || index_at.checked_add(index_bytes) != Some(file_bytes) {
            let expected = Expected::Exactly(index_at.saturating_add(index_bytes));
            return Err(DatabaseError::corrupt(path, None, Damage::Length { expected, found: file_bytes }));
        }
        let mut index = vec![0; index_bytes as usize];
        file.read_exact_at(&mut index, index_at)?;
        let corrupt = |at: u64, what: &'static str| Err(DatabaseError::corrupt(path, at, what));
        if xxh3_64(&index) != u64_at(56) {
            return corrupt(index_at, "the hash of the index is wrong");
        }
        let row = |row: &[u8; ROW_BYTES]| {
            let [first, offset, stored_bytes, hash] = [0, 8, 16, 24].map(|at| u64::from_le_bytes(number(row, at)));
            FrameRow { first, offset, stored_bytes, hash }
        };
        let frames: Vec<FrameRow> = index.as_chunks::<ROW_BYTES>().0.iter().map(row).collect();
        let mut at = HEADER_BYTES as u64;
        let most = zstd::zstd_safe::compress_bound(FRAME_LOSSES * NUMBER_BYTES) as u64;
        for (row, place) in frames.iter().zip((index_at..).step_by(ROW_BYTES)) {
            if row.offset != at || row.stored_bytes > most {
                return corrupt(place, "a frame is not where the last one ends, or is too long");
            }
            at += row.stored_bytes;
        }
        let ascends = frames.is_sorted_by(|one, next| one.first < next.first);
        if at != index_at || !ascends || frames.last().is_some_and(|last| last.first >= positions) {
            return corrupt(index_at, "the frames do not fill the file in ascending order");
        }
        let digest = number(&header, 64);
        Ok((BookIndex { head: *head, losses, digest, frames, end: positions }, header, index))
    }

    /// Reads header and index of a file.
    ///
    /// # Errors
    /// Those of [`BookIndex::with_bytes`].
    pub fn open(file: &dyn StorageFile, head: &BookHead, order: &BookOrder) -> Result<BookIndex, DatabaseError> {
        BookIndex::with_bytes(file, head, order).map(|(index, ..)| index)
    }

    /// Reads the index of a whole file in memory.
    ///
    /// # Errors
    /// Those of [`BookIndex::open`].
    pub fn read(path: &Path, file: &[u8], head: &BookHead, order: &BookOrder) -> Result<BookIndex, DatabaseError> {
        BookIndex::open(&MemoryFile::new(path, file), head, order)
    }

    /// Returns the frame that would hold a number; `None` before the first.
    pub fn frame_of(&self, number: u64) -> Option<usize> {
        debug_assert!(self.frames.is_sorted_by_key(|row| row.first), "book, invariant 2: numbers ascend");
        self.frames.partition_point(|row| row.first <= number).checked_sub(1)
    }

    /// Decodes the numbers of a frame from its stored bytes.
    ///
    /// # Errors
    /// [`DatabaseError::Corrupt`].
    pub fn decode(&self, path: &Path, frame: usize, stored: &[u8]) -> Result<Vec<u64>, DatabaseError> {
        let row = self.frames[frame];
        let corrupt = |what: &'static str| DatabaseError::corrupt(path, row.offset, what);
        if xxh3_64(stored) != row.hash {
            return Err(corrupt("the hash of a frame is wrong"));
        }
        let before = frame as u64 * FRAME_LOSSES as u64;
        assert!(before < self.losses, "book, invariant 3: all frames but the last are full");
        let count = (self.losses - before).min(FRAME_LOSSES as u64) as usize;
        let end = self.frames.get(frame + 1).map_or(self.end, |next| next.first);
        let gaps = zstd::bulk::decompress(stored, count * NUMBER_BYTES).map_err(|_| corrupt("a frame is not zstd"))?;
        let mut numbers = Vec::with_capacity(count);
        numbers.push(row.first);
        let (mut last, mut gap, mut shift) = (row.first, 0_u64, 0);
        for byte in gaps {
            if shift > 56 {
                return Err(corrupt("a gap of more than 63 bits"));
            }
            gap |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                let next = last.checked_add(gap).and_then(|sum| sum.checked_add(1)).filter(|next| *next < end);
                last = next.ok_or_else(|| corrupt("a number beyond the end of its frame"))?;
                numbers.push(last);
                (gap, shift) = (0, 0);
            }
        }
        if numbers.len() != count || shift != 0 {
            return Err(corrupt("another number of losses than the header says"));
        }
        Ok(numbers)
    }

    /// Decodes a frame of a whole file in memory.
    ///
    /// # Errors
    /// [`DatabaseError::Corrupt`].
    pub fn decode_in(&self, path: &Path, frame: usize, file: &[u8]) -> Result<Vec<u64>, DatabaseError> {
        let row = self.frames[frame];
        self.decode(path, frame, &file[row.offset as usize..(row.offset + row.stored_bytes) as usize])
    }
}
