//! Defaults that follow from board and memory: block size, log placement and codec.

use crate::database::{Audit, Values};
use crate::layout::Layout;
use pipeline::codec::{Codec, Rows};
use pipeline::{Footprint, Placement};
use trinim_game::Board;
use trinim_kernel::bitmap_words;

/// Memory reserved for the program itself: code, stacks, codec contexts, journal, block graph. The
/// engine gets the rest of the budget.
pub const PROGRAM_BYTES: u64 = 32 << 20;

/// Returns the default placement of the logs. Up to seven layers each target has a copy, in a
/// bucket that a worker reads from front to back. Shared logs are some hundredths of a second
/// faster there. From eight layers on, copies would take a multiple of the disk; `trinim plan`
/// prints both. Nimbers are many bitmaps a block, so they use shared logs at any size. So does an
/// audit, which needs streams that are not oriented.
pub fn default_placement(layers: u32, values: Values, audit: Audit) -> Placement {
    match layers <= 7 && values.is_outcomes() && !audit.is_some() {
        true => Placement::Dedicated,
        false => Placement::Shared,
    }
}

/// Returns the default codec of the logs: up to seven layers the fast `rows-bytes`, and from eight
/// layers on `rows-huffman`, whose logs are half as large.
pub fn default_codec(layers: u32) -> &'static dyn Codec {
    if layers <= 7 { &Rows::BYTES } else { &Rows::HUFFMAN }
}

/// Returns the most offset bits of a block that pay off: larger blocks leave the caches and save
/// few edges.
fn offset_bits_at_most(layers: u32) -> u32 {
    match layers {
        ..=6 => 21,
        7 => 22,
        8 => 27,
        9 => 30,
        _ => 31,
    }
}

/// The most offset bits that pay off for nimbers, whose planes a core's own cache then holds.
const NIMBER_OFFSET_BITS_AT_MOST: u32 = 22;

/// Layers from which a solve takes so long that its memory is weighed, and the size of its blocks
/// does not follow the memory.
pub const WEIGHED_LAYERS: u32 = 9;

/// Cells of the smallest board for which this machine is measured before a solve. A smaller one
/// takes so little time that it is not estimated.
pub const TIMED_CELLS: u32 = 40;

/// Returns the layout for a board and a memory budget of the whole program: the largest of the
/// well-measured block sizes that leaves room for two workers with shared logs, or for one worker
/// for boards of [`WEIGHED_LAYERS`]. Smaller blocks have ten times the edges there, and memory only
/// decides how many streams are held. If not even the smallest fits, returns that one, and
/// [`Plan::check`](super::Plan::check) refuses it.
pub fn choose_layout(board: &Board, memory_bytes: u64) -> Layout {
    choose_layout_for(board, Values::Outcomes, memory_bytes)
}

/// Returns the layout for these values, as [`choose_layout`] does for wins and losses.
pub fn choose_layout_for(board: &Board, values: Values, memory_bytes: u64) -> Layout {
    Layout::suggested(board, choose_offset_bits(board, values, memory_bytes))
}

pub(super) fn choose_offset_bits(board: &Board, values: Values, memory_bytes: u64) -> u32 {
    let largest = offset_bits_at_most(board.size_in_layers()).min(board.cells());
    let largest = if values.is_outcomes() { largest } else { largest.min(NIMBER_OFFSET_BITS_AT_MOST) };
    // With more BID cells the graph costs more than the blocks.
    let smallest = board.cells().saturating_sub(18).max(1).min(largest);
    let words = |bits: u32| values.planes(board) * bitmap_words(bits);
    let workers = if board.size_in_layers() < WEIGHED_LAYERS { 2 } else { 1 };
    let footprint = |bits: u32| Footprint::new(words(bits), Placement::Shared);
    let fits = |bits: &u32| footprint(*bits).bytes(workers) <= engine_bytes(memory_bytes);
    (smallest..=largest).rev().find(fits).unwrap_or(smallest)
}

/// Returns the engine's part of a memory budget.
pub fn engine_bytes(memory_bytes: u64) -> u64 {
    memory_bytes.saturating_sub(PROGRAM_BYTES)
}
