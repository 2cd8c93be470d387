//! Measured constants: the home of every speed and ratio in an estimate.
//!
//! `tools/rates.py` measures them: it compares `stages_s` of a plan with those of the solve after
//! it (`benches/record/2026-11-27-nine-layers.md`). They hold for one of two workers on a 2-core
//! machine with AVX-512, in bytes of *raw bitmap* a second unless stated otherwise; a byte has
//! eight positions. Where a restriction leaves part of a stream, only that part counts. Decoding
//! includes the time that workers waited for the reader.
//!
//! Blocks of 16 MiB: medians of five solves of eight layers, with a database, and with counts, 256
//! MiB and `rows-huffman`; and eight layers with an audit of all (1.24 GB/s, times the gain of 28
//! November 2026). Blocks of 128 MiB, which no cache holds: nine layers without options. The time
//! of decoding has a part for raw bytes and one for stored bytes, divided as on 22 November 2026:
//! streams of 0.076 bits a position took 0.24 ns a raw byte, streams of 0.13 bits 0.34 ns.

use crate::database::{Keep, Values};
use pipeline::log::frame::{LONG_FRAME_WORDS, frame_words};
use trinim_game::Board;

/// Speeds of one worker thread, in raw bytes a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Decoding log frames, apart from what depends on their stored bytes.
    pub decode_bytes_per_second: f64,
    /// Orienting a stream.
    pub orient_bytes_per_second: f64,
    /// Applying the operations of one edge.
    pub apply_bytes_per_second: f64,
    /// Settling a block.
    pub settle_bytes_per_second: f64,
    /// Counting, hashing and encoding a block for the database.
    pub publish_bytes_per_second: f64,
    /// Encoding a stream for the logs.
    pub encode_bytes_per_second: f64,
    /// Orienting or marking a stream for the witness, or comparing a block.
    pub audit_bytes_per_second: f64,
    /// Reading log frames that are in memory, and decoding them: stored bytes a second, on top of
    /// the time for raw bytes.
    pub fetch_bytes_per_second: f64,
    /// Writing or reading files, stored bytes a second, all threads together.
    pub device_bytes_per_second: f64,
}

/// The rates for blocks that a cache holds, at least in part, with a database.
const SMALL: Rates = Rates {
    decode_bytes_per_second: 10.2e9,
    orient_bytes_per_second: 4.48e9,
    apply_bytes_per_second: 5.66e9,
    settle_bytes_per_second: 1.37e9,
    publish_bytes_per_second: 739e6,
    encode_bytes_per_second: 1.01e9,
    audit_bytes_per_second: 1570e6,
    fetch_bytes_per_second: 463e6,
    device_bytes_per_second: 600e6,
};

/// The rates for larger blocks. In these runs, none was encoded for a database: that rate is the
/// rate of smaller blocks times the ratio of 22 November 2026.
const LARGE: Rates = Rates {
    decode_bytes_per_second: 10.3e9,
    orient_bytes_per_second: 3.55e9,
    apply_bytes_per_second: 4.53e9,
    settle_bytes_per_second: 1.24e9,
    publish_bytes_per_second: 633e6,
    encode_bytes_per_second: 954e6,
    fetch_bytes_per_second: 467e6,
    ..SMALL
};

/// Bytes of the smallest of the larger blocks.
const LARGE_BYTES: u64 = 64 << 20;

/// The speed of counting and hashing a block that is not encoded for the database, for blocks of
/// both sizes.
const SUMMARISE_BYTES_PER_SECOND: [f64; 2] = [2.97e9, 1.94e9];

/// Returns the rates of a solve that keeps this, in blocks of this many bytes.
pub fn for_blocks(keep: Keep, block_bytes: u64) -> Rates {
    let is_large = block_bytes >= LARGE_BYTES;
    let rates = if is_large { LARGE } else { SMALL };
    match keep {
        Keep::Database => rates,
        Keep::Book { .. } | Keep::Counts => {
            Rates { publish_bytes_per_second: SUMMARISE_BYTES_PER_SECOND[usize::from(is_large)], ..rates }
        }
    }
}

/// Growth of the stored bits a position for each offset bit less than in the measured block: 7
/// layers in blocks of 2^13 instead of 2^22 positions (logs: 2^18), rounded up.
const DATABASE_GROWTH: f64 = 1.13;
const LOG_GROWTH: f64 = 1.13;
/// The growth for nine layers in `rows-huffman`: 47.2 GiB at the peak of a misère solve in blocks
/// of 2^27 positions, where the figure for blocks of 2^30 gives 39.1 (23 November 2026).
const LARGE_LOG_GROWTH: f64 = 1.065;

/// The offset bits of the blocks that the ratios were measured on.
fn measured_offset_bits(layers: u32) -> u32 {
    match layers {
        ..=4 => 0,
        5 => 15,
        6 => 21,
        7 => 22,
        8 => 27,
        _ => 30,
    }
}

fn growth(rate: f64, layers: u32, offset_bits: u32) -> f64 {
    rate.powi(measured_offset_bits(layers).saturating_sub(offset_bits) as i32)
}

/// Returns the database bits per position in blocks of this many offset bits. Small boards compress
/// less, because their corners are most of the board.
pub fn database_bits_per_position(values: Values, layers: u32, offset_bits: u32) -> f64 {
    match values {
        Values::Outcomes => {}
        Values::Nimbers | Values::Remoteness => return number_bits_per_position(layers, offset_bits),
    }
    let measured = match layers {
        ..=4 => 1.0,
        5 => 0.48,
        6 => 0.29,
        7 => 0.217,
        8 => 0.114,
        // The same bytes as the logs below.
        _ => 0.127,
    };
    (measured * growth(DATABASE_GROWTH, layers, offset_bits)).min(1.05)
}

/// Returns the database bits per position with nimbers (23 November 2026): 3.10 at eight layers in
/// blocks of 2^21 positions, 2.78 at seven in 2^22 and 3.25 in 2^18. Distances take as much (25
/// November 2026): 3.07, 2.74 and 3.44.
fn number_bits_per_position(layers: u32, offset_bits: u32) -> f64 {
    let (measured, measured_offset_bits) = match layers {
        ..=5 => (4.1, 15),
        6 => (3.0, 21),
        7 => (2.8, 22),
        _ => (3.15, 21),
    };
    measured * 1.05_f64.powi(measured_offset_bits - offset_bits as i32).max(1.0)
}

/// Returns the planes of a block that are not empty.
pub fn planes_at_work(values: Values, board: &Board) -> f64 {
    match values {
        Values::Outcomes => 1.0,
        Values::Nimbers | Values::Remoteness => f64::from(board.cells()) * 0.6,
    }
}

impl Rates {
    /// Returns the rates of a processor and memory that are this many times as fast, with the same
    /// device.
    pub fn at_speed(self, speed: f64) -> Rates {
        let Rates { device_bytes_per_second, .. } = self;
        let fetch_bytes_per_second = self.fetch_bytes_per_second * speed;
        Rates { fetch_bytes_per_second, device_bytes_per_second, ..self.for_planes(1.0 / speed) }
    }

    /// Returns the rates for blocks of this many bitmaps, counted in bytes of one.
    pub fn for_planes(self, planes: f64) -> Rates {
        let Rates { fetch_bytes_per_second, device_bytes_per_second, .. } = self;
        Rates {
            decode_bytes_per_second: self.decode_bytes_per_second / planes,
            orient_bytes_per_second: self.orient_bytes_per_second / planes,
            apply_bytes_per_second: self.apply_bytes_per_second / planes,
            settle_bytes_per_second: self.settle_bytes_per_second / planes,
            publish_bytes_per_second: self.publish_bytes_per_second / planes,
            encode_bytes_per_second: self.encode_bytes_per_second / planes,
            audit_bytes_per_second: self.audit_bytes_per_second / planes,
            fetch_bytes_per_second,
            device_bytes_per_second,
        }
    }
}

/// Returns the log bits per position in the codec of this name, in blocks of this many offset bits.
///
/// Nine layers in `rows-huffman` take 0.117 in long frames, 90.0 GB of a misère solve (27 November
/// 2026); in others 0.127, by 2,210 live logs of an unfinished one after 3,291 of 5,728 blocks (22
/// November 2026).
pub fn log_bits_per_position(layers: u32, offset_bits: u32, codec: &str) -> f64 {
    let measured = match (layers, codec) {
        (..=4, _) | (_, "raw") => return 1.01,
        (5 | 6, "rows-bytes") => 0.5,
        (5 | 6, _) => 0.25,
        (7, "zstd1") => 0.193,
        (7, "rows-huffman") => 0.239,
        (7, _) => 0.404,
        (9.., "rows-huffman") if frame_words(1 << offset_bits >> 6) == LONG_FRAME_WORDS => 0.117,
        (9.., "rows-huffman") => 0.127,
        (_, "zstd1") => 0.143,
        (_, "rows-huffman") => 0.113,
        _ => 0.22,
    };
    let rate = if layers >= 9 && codec == "rows-huffman" { LARGE_LOG_GROWTH } else { LOG_GROWTH };
    (measured * growth(rate, layers, offset_bits)).min(1.03)
}

/// The most bytes of a book for each position with enough pieces: a sixth of these positions is
/// canonical, 7 % of them are losses, and a loss takes a byte. Books of few empty cells are
/// smaller: 0.0056 at seven layers with 18 pieces or more, 0.0038 at eight with 28 (22 November
/// 2026).
pub const BOOK_BYTES_PER_POSITION: f64 = 0.012;

/// Bytes of one canonical block in the lists of a database, `manifest.json` and `SUMS`.
pub const DATABASE_BYTES_PER_BLOCK: u64 = 256;

/// Bytes of `FORMAT`, `LOCK` and the like in a run folder.
pub const FOLDER_BYTES: u64 = 64 << 10;

/// Bytes of journal and manifest of a run for one canonical block, both copies.
pub const FOLDER_BYTES_PER_BLOCK: u64 = 2048;

/// Bytes of memory that the system provides without delay. Beyond these, a virtual machine whose
/// host reclaims free memory is slow at the first touch. Eight layers with 640 MiB were not delayed
/// (23 November 2026); nine layers took 18 s of processor time for their first 8 GiB (26 November
/// 2026), 15 to 20 s in four solves.
pub const READY_BYTES: u64 = 640 << 20;
/// The speed at which a thread gets memory beyond [`READY_BYTES`].
pub const FRESH_BYTES_PER_SECOND: f64 = 400e6;

/// The speed of reading a bitmap back from the file of its block, in raw bytes a second on one
/// thread: `trinim check --depth full` decodes and hashes the 1.7 GB of eight layers in 0.94 s of
/// processor time (22 November 2026).
pub const RECALL_BYTES_PER_SECOND: f64 = 1.5e9;
