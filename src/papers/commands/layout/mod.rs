//! `trinim papers layout`: how a board is divided into blocks, and what a layout costs.
//!
//! With `--json`, cells are indices, as in the other reports: cell (row, column) has the index
//! `row * (row + 1) / 2 + column`. `plan` reports memory, disk and time of a solve.

pub mod paper;
pub mod search;

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Write;
use terminal::exit::Exit;
use terminal::output::{Out, grouped, padded};
use trinim::cli::args::{BlocksArgs, JsonArgs, Size};
use trinim::cli::board::{BoardArgs, cells_text};
use trinim::layout::{Edge, Layout};
use trinim_game::Board;
use trinim_papers::counts::Counts;

const EXAMPLES: &str = "\
Examples:
  trinim papers layout --layers 8 --bid-cells b1,b2,g1,g7,h2,h7
  trinim papers layout --layers 9 --block-bits 30 --json
  trinim papers layout --paper              show the layouts of [SWLK12], published and computed
  trinim papers layout search --layers 9 --bits 13 --symmetry any

Marked cells are the BID cells, by default those of a solve in 1 GiB. Updates count pairs of a target block and a \
child block; loads count pairs of canonical blocks.";

/// The most updates that `--json` lists without `--edges`.
const EDGES_UNASKED: u64 = 1_000;

/// Show how a board is cut into blocks, and search for better layouts
#[derive(Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct LayoutArgs {
    #[command(subcommand)]
    command: Option<LayoutCommand>,

    #[command(flatten)]
    board: BoardArgs,

    #[command(flatten)]
    blocks: BlocksArgs,

    /// Compare tables and claims of [SWLK12] with computed values; exit code 1 if any differs
    #[arg(long, conflicts_with_all = ["layers", "board", "min_take", "max_take", "bid_cells", "block_bits", "edges"])]
    paper: bool,

    /// List every update between canonical blocks; --json lists up to 1000 by default
    #[arg(long)]
    edges: bool,

    #[command(flatten)]
    json: JsonArgs,
}

#[derive(Subcommand)]
enum LayoutCommand {
    Search(search::SearchArgs),
}

/// What `trinim papers layout` prints.
#[derive(Serialize, JsonSchema)]
pub struct Report {
    /// Indices of the cells whose pieces number the blocks, lowest bit first.
    bid_cells: Vec<u8>,
    #[serde(flatten)]
    counts: Counts,
    /// Symmetries of the board that the cells keep.
    symmetries: usize,
    /// Name of the board: `triangle:7`, `rect:6x6`, or the name in a board file.
    board: String,
    /// Layers of the triangle; null for other boards.
    layers: Option<u32>,
    /// Moves of the full board.
    moves: usize,
    /// A block has 2^`offset_bits` positions.
    offset_bits: u32,
    /// Bitmap of one block.
    block_bytes: u64,
    /// Bitmaps of all canonical blocks.
    total_bytes: u64,
    /// `blocks` over `canonical_blocks`.
    space_factor: f64,
    /// Updates between canonical blocks; null if there are more than 1000 and no `--edges`.
    edges: Option<Vec<EdgeRow>>,
}

/// An update: the losses of the block `child` make positions of `target` wins.
#[derive(Serialize, JsonSchema)]
struct EdgeRow {
    /// BID of the updated block.
    target: u32,
    /// BID of the block whose losses update it.
    child: u32,
    /// BID of the canonical block that represents the child.
    source: u32,
    /// BID cells that the moves take.
    taken: Vec<u8>,
}

/// Lists the updates of all canonical blocks, by target.
fn edges(layout: &Layout) -> Vec<EdgeRow> {
    let cells = layout.bid_cells();
    let row = |edge: Edge| {
        let (target, trace) = (layout.bid(edge.target).0, layout.traces()[edge.trace.0 as usize].bid);
        let taken = (0..).zip(cells).filter(|(bit, _)| trace >> bit & 1 == 1).map(|(_, cell)| *cell).collect();
        EdgeRow { target, child: target ^ trace, source: layout.bid(edge.source).0, taken }
    };
    layout.ordinals().flat_map(|target| layout.edges_into(target)).map(row).collect()
}

pub fn run(args: LayoutArgs, out: &mut Out) -> anyhow::Result<Exit> {
    if let Some(LayoutCommand::Search(search)) = args.command {
        return search::run(search, out);
    }
    if args.paper {
        return paper::run(args.json, out);
    }
    let board = args.board.solvable()?;
    let layout = out.announcing("cutting the board", || args.blocks.layout(&board, 1 << 30))?;
    let counts = out.announcing("counting updates", || Counts::of(&layout));
    let block_bytes = (1u64 << layout.offset_bits()).div_ceil(8);
    let report = Report {
        bid_cells: layout.bid_cells().to_vec(),
        symmetries: layout.symmetries().len(),
        board: board.name().to_owned(),
        layers: board.layers(),
        moves: board.moves().len(),
        offset_bits: layout.offset_bits(),
        block_bytes,
        total_bytes: counts.canonical_blocks * block_bytes,
        space_factor: counts.blocks as f64 / counts.canonical_blocks as f64,
        edges: (args.edges || counts.canonical_updates <= EDGES_UNASKED).then(|| edges(&layout)),
        counts,
    };
    args.json.report("trinim.layout/1", &report, out, |report, out| print(report, &board, args.edges, out))
}

fn print(report: &Report, board: &Board, edges: bool, out: &mut Out) -> anyhow::Result<()> {
    for line in picture(board, &report.bid_cells, out) {
        writeln!(out, "{}", format!("  {line}").trim_end())?;
    }
    writeln!(out, "  X: cells that name the block (BID cells)\n")?;
    let cells = cells_text(board, &report.bid_cells);
    let cells = if cells.is_empty() { "none".to_owned() } else { format!("{}: {cells}", report.bid_cells.len()) };
    let counts = &report.counts;
    let groups = counts.groups.iter().filter(|(_, groups)| **groups > 0);
    let groups: Vec<String> = groups.map(|(size, groups)| format!("{} of {size}", grouped(*groups))).collect();
    let (factor, groups) = (report.space_factor, groups.join(", "));
    let volume = counts.canonical_updates as f64 / counts.blocks as f64;
    let [blocks, updates] = [counts.canonical_blocks, counts.canonical_updates].map(grouped);
    let rows = [
        ("moves", grouped(report.moves as u64)),
        ("BID cells", cells),
        ("symmetries", format!("{} kept", report.symmetries)),
        ("blocks", grouped(counts.blocks)),
        ("canonical blocks", format!("{blocks}, {factor:.3} times fewer; groups: {groups}")),
        ("block", format!("{} (2^{} positions)", Size(report.block_bytes), report.offset_bits)),
        ("all of them", Size(report.total_bytes).to_string()),
        ("updates", format!("{} over all blocks", grouped(counts.updates))),
        ("canonical updates", format!("{updates}, {volume:.2} times all blocks without symmetry")),
        ("canonical loads", grouped(counts.canonical_loads)),
    ];
    out.table(&rows)?;
    for edge in report.edges.iter().flatten().filter(|_| edges) {
        let taken = cells_text(board, &edge.taken);
        let source = if edge.source == edge.child { String::new() } else { format!(", an image of {}", edge.source) };
        writeln!(out, "{} from {}{source}: {taken}", edge.target, edge.child)?;
    }
    Ok(())
}

/// Draws the board with BID cells as `X` and other cells as `.`, padded so that pictures fit side
/// by side.
fn picture(board: &Board, bid_cells: &[impl Copy + Into<u32>], out: &Out) -> Vec<String> {
    let is_bid = |cell: u32| bid_cells.iter().any(|bid| cell == (*bid).into());
    padded(board, |cell| if is_bid(cell) { out.paint.mark("X") } else { out.paint.faint(".") })
}
