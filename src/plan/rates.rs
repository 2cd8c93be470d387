//! Measured constants: the one home of every speed and ratio in an estimate.
//!
//! All are for one worker on a 2-core, 2.3 GHz machine with AVX-512, 20 November 2026, from
//! `trinim solve --layers 8 --log-placement shared --codec rows-bytes --json` with two workers on
//! an idle machine: `stages_s`, divided by the bytes that passed through each stage (659 loads
//! decoded, 398 edges turned, 798 applied, 104 blocks of 16 MiB). They are bytes of *raw bitmap* a
//! second unless they say otherwise; a byte has eight positions.

/// Speeds of one worker thread, in raw bytes a second.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Rates {
    /// Decoding log frames.
    pub decode_bytes_per_second: f64,
    /// Turning a stream into another orientation.
    pub orient_bytes_per_second: f64,
    /// Applying the operations of one edge.
    pub apply_bytes_per_second: f64,
    /// Settling a block.
    pub settle_bytes_per_second: f64,
    /// Counting, hashing and encoding a block for the database.
    pub publish_bytes_per_second: f64,
    /// Encoding a stream for the logs.
    pub encode_bytes_per_second: f64,
    /// Writing or reading files, stored bytes a second, all threads together.
    pub device_bytes_per_second: f64,
}

/// The rates of the machine above, with logs in the codecs that `auto` chose.
pub const MEASURED: Rates = Rates {
    decode_bytes_per_second: 3.8e9,
    orient_bytes_per_second: 4.4e9,
    apply_bytes_per_second: 9.5e9,
    settle_bytes_per_second: 1.4e9,
    publish_bytes_per_second: 350e6,
    encode_bytes_per_second: 1.4e9,
    device_bytes_per_second: 600e6,
};

/// Returns the kernel time for one position in nanoseconds: settling, and applying the edges into
/// it. For reports.
pub fn kernel_ns_per_position(rates: &Rates, edges_per_block: f64) -> f64 {
    let seconds_per_byte = 1.0 / rates.settle_bytes_per_second + edges_per_block / rates.apply_bytes_per_second;
    seconds_per_byte / 8.0 * 1e9
}

/// Returns the work of settling, publishing and encoding a block, in edges decoded, turned and
/// applied.
pub fn block_weight(rates: &Rates) -> f64 {
    let block = 1.0 / rates.settle_bytes_per_second
        + 1.0 / rates.publish_bytes_per_second
        + 1.0 / rates.encode_bytes_per_second;
    let edge =
        1.0 / rates.decode_bytes_per_second + 1.0 / rates.orient_bytes_per_second + 1.0 / rates.apply_bytes_per_second;
    block / edge
}

/// Returns the database bits per position. Small boards compress less, because their corners are
/// most of the board.
pub fn database_bits_per_position(layers: u32) -> f64 {
    match layers {
        ..=4 => 1.0,
        5 => 0.6,
        6 => 0.4,
        7 => 0.2,
        _ => 0.116,
    }
}

/// Returns the log bits per position in the codec of this name. `auto` counts as `rows-bytes`, its
/// choice on a fast device.
pub fn log_bits_per_position(layers: u32, codec: &str) -> f64 {
    let small = if layers < 8 { 0.1 } else { 0.0 };
    match codec {
        _ if layers <= 4 => 1.0,
        "raw" => 1.0,
        "zstd1" | "zstd3" | "gaps" | "rows-zstd1" => 0.14 + small,
        "rows" => 0.48 + small,
        _ => 0.22 + small,
    }
}

/// Bytes of manifest, checksums and file-system rounding for one canonical block of a database.
pub const DATABASE_BYTES_PER_BLOCK: u64 = 4096;

/// Bytes of folder and journal of a run, besides logs and database.
pub const FOLDER_BYTES: u64 = 4 << 20;

/// The speed of reading a bitmap back from the file of its block, in raw bytes a second on one
/// thread: the 1.7 GB of eight layers take 3 s on two threads, as the page of the verifier says.
pub const RECALL_BYTES_PER_SECOND: f64 = 300e6;
