//! The game of `solve` and `plan`, and how it is solved.

use crate::cli::words::args::{
    BidCells, CodecName, LogPlacement, Size, block_bits, cells, codec, duration, memory, rule, threads,
};
use crate::cli::words::board::RequiredBoard;
use crate::cli::words::keep::{self, KeepChoice};
use clap::Args;
use std::time::Duration;
use trinim::game::Rule;

/// The game and its division into blocks, for `solve` and `plan`.
#[derive(Clone, Args)]
pub struct GameArgs {
    #[command(flatten)]
    pub board: RequiredBoard,

    /// Whoever takes the last piece loses (misere) or wins (normal)
    #[arg(long, help_heading = "Game", value_name = "RULE", value_parser = rule(), default_value = "misere")]
    pub rule: Rule,

    /// What is kept: database, every value; book or book:PIECES, the values of positions with at
    /// least so many pieces, usually all but 8; counts, only counts and winning first moves
    /// [default: as the folder was begun, else database, and book from nine layers on]
    #[arg(long, help_heading = "Output", value_name = "WHAT", value_parser = keep::parse)]
    pub keep: Option<KeepChoice>,

    /// Memory budget for the whole program, like 256MiB, 1GiB, 2GB, or 50% of this machine's
    #[arg(long, help_heading = "Resources", value_name = "SIZE", value_parser = memory, default_value = "1GiB")]
    pub memory: Size,

    /// Threads, 0 for all; fewer run if the memory is too small for all
    #[arg(long, help_heading = "Resources", value_name = "N", value_parser = threads, default_value = "0")]
    pub threads: usize,

    /// Where logs go; with a database, its blocks take the place of shared logs
    #[arg(long, help_heading = "Expert", value_name = "PLACEMENT", value_enum, default_value_t = LogPlacement::Auto)]
    pub log_placement: LogPlacement,

    /// Codec of the logs: auto measures the run's own data; where the disk is small, it takes a
    /// dense one; or a name: raw, zstd1, zstd3, gaps, rows, ...
    #[arg(long, help_heading = "Expert", value_name = "CODEC", value_parser = codec(), default_value = "auto")]
    pub codec: CodecName,

    /// Cells that name the block, like "(1,0)(1,1)", or none [default: chosen from board and
    /// memory]
    #[arg(long, help_heading = "Expert", value_name = "CELLS", value_parser = cells, conflicts_with = "block_bits")]
    pub bid_cells: Option<BidCells>,

    /// Largest number of offset bits of a block; 1 to 40 [default: chosen from board and memory]
    #[arg(long, help_heading = "Expert", value_name = "BITS", value_parser = block_bits)]
    pub block_bits: Option<u32>,

    /// Time between checkpoints, like 500ms, 5s, 1m: a kill loses at most this much work
    #[arg(long, help_heading = "Expert", value_name = "TIME", value_parser = duration, default_value = "5s")]
    pub commit_interval: Duration,
}
