//! Orders of blocks as text.
//!
//! ```text
//! # trinim block order
//! # layers 9
//! # BID cells (0,0)(2,1)(3,0)
//! # 2231 of 5728 blocks live at the peak
//! 0
//! 1
//! 4
//! ```
//!
//! Lines that begin with `#` are comments, but the first line and those of layers and BID cells are
//! required, before the first block; a board that is not a triangle has `# board rect:5x6` in place
//! of the layers, and its BID cells by index, `0,4,9`. Every other line that is not blank is the
//! BID of a canonical block in decimal; bit 0 is the BID cell with the lowest index. Every
//! canonical block is listed once, after all blocks that update it.

use super::{Bid, Layout, OrderError};
use pipeline::BlockId;
use std::fmt::Write;
use trinim_game::Cell;

/// The first line.
const TITLE: &str = "# trinim block order";
const LAYERS: &str = "# layers ";
const BOARD: &str = "# board ";
const BID_CELLS: &str = "# BID cells ";

/// Formats the order as text for [`parse`].
pub fn to_text(layout: &Layout, order: &[BlockId]) -> String {
    let peak = layout.peak_live_blocks(order);
    let (of_board, board) = board(layout);
    let mut text = format!(
        "{TITLE}\n{of_board}{board}\n{BID_CELLS}{}\n# {peak} of {} blocks live at the peak\n",
        bid_cells(layout),
        order.len()
    );
    for &ordinal in order {
        let bid = layout.bid(ordinal);
        writeln!(text, "{bid}").expect("a string takes everything");
    }
    text
}

/// Returns the start of the line that names the board, and the rest of it.
fn board(layout: &Layout) -> (&'static str, String) {
    layout.layers().map_or_else(|| (BOARD, layout.board().to_owned()), |layers| (LAYERS, layers.to_string()))
}

/// Lists the BID cells: by row and column on a triangle, else by index.
fn bid_cells(layout: &Layout) -> String {
    match (layout.bid_cells(), layout.layers()) {
        ([], _) => "none".to_owned(),
        (cells, Some(_)) => cells.iter().map(|&cell| Cell::from_index(cell.into()).to_string()).collect(),
        (cells, None) => cells.iter().map(u8::to_string).collect::<Vec<_>>().join(","),
    }
}

/// Parses the order in `text` and returns the layout with it.
///
/// # Errors
/// Returns an [`OrderFileError`] with the line and what is wrong there.
pub fn parse(text: &str, layout: Layout) -> Result<Layout, OrderFileError> {
    let fail = |line: usize, reason: String| Err(OrderFileError { line, reason });
    let lines = || (1..).zip(text.lines());
    if text.lines().next().map(str::trim_end) != Some(TITLE) {
        return fail(1, format!("expected {TITLE:?}"));
    }
    let first_block = lines().find(|(_, line)| is_block(line)).map_or(usize::MAX, |(number, _)| number);
    for (start, expected) in [board(&layout), (BID_CELLS, bid_cells(&layout))] {
        let header = lines().take_while(|(number, _)| *number < first_block);
        let found = header.filter_map(|(number, line)| Some((number, line.strip_prefix(start)?.trim()))).next();
        match found {
            Some((_, found)) if found == expected => {}
            Some((number, found)) => {
                let name = start.trim_start_matches('#').trim();
                return fail(number, format!("the order is for {name} {found:?}, the solve has {expected}"));
            }
            None => return fail(1, format!("no line \"{start}..\" before the first block")),
        }
    }
    let mut order = Vec::with_capacity(layout.canonical.len());
    let mut line_of = vec![0; layout.canonical.len()];
    for (number, line) in lines().filter(|(_, line)| is_block(line)) {
        let line = line.trim();
        let Some(bid) = line.parse::<u32>().ok().filter(|bid| u64::from(*bid) < layout.blocks()) else {
            let shown: String = line.chars().take(40).collect();
            return fail(number, format!("{shown:?}: expected a BID from 0 to {}", layout.blocks() - 1));
        };
        let bid = Bid(bid);
        let smallest = layout.canonical_bid(bid);
        if smallest != bid {
            return fail(number, format!("block {bid} is not canonical: block {smallest} stands for it"));
        }
        let ordinal = layout.ordinal(bid);
        if std::mem::replace(&mut line_of[ordinal.index()], number) != 0 {
            return fail(number, OrderError::Repeated { bid }.to_string());
        }
        order.push(ordinal);
    }
    let last = text.lines().count();
    let canonical = layout.canonical.clone();
    layout.with_order(order).map_err(|error| {
        let line = match &error {
            OrderError::NotTopological { target, .. } => {
                canonical.binary_search(target).map_or(last, |ordinal| line_of[ordinal])
            }
            _ => last,
        };
        OrderFileError { line, reason: error.to_string() }
    })
}

fn is_block(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with('#')
}

/// A reason why a text is not an order of a layout's blocks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct OrderFileError {
    /// The line, from 1; the last line if something is missing.
    pub line: usize,
    /// What was found and what was expected.
    pub reason: String,
}
