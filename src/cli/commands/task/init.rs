//! `trinim task init`: says what is solved in a store.

use super::store;
use super::usage;
use crate::cli::face::exit::Exit;
use crate::cli::face::output::{Out, counted};
use crate::cli::words::args::{self, BidCells, JsonArgs, MemoryArgs, Size};
use crate::cli::words::board::RequiredBoard;
use crate::cli::words::keep::{self, AuditChoice, KeepChoice};
use crate::cli::words::summary::board;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use trinim::database::{Audit, Game, Keep, Terms};
use trinim::game::Rule;
use trinim::layout::Layout;
use trinim::plan;
use trinim::task;

const EXAMPLES: &str = "\
Examples:
  trinim task init --store k5 --layers 5 --block-bits 11
  trinim task init --store k5 --layers 5 --block-bits 11    again: nothing changes
  trinim task init --store k4 --layers 4 --keep counts      blocks go when nothing needs them

The store is a new or empty folder, or one that was begun for the same solve; for another, the exit code is 65.";

/// Begin a solve on many machines: say in a store what is solved
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct InitArgs {
    /// Store: a folder that all machines share, or s3://BUCKET/PREFIX; trinim task init begins it
    #[arg(long, value_name = "STORE")]
    store: String,

    #[command(flatten)]
    board: RequiredBoard,

    /// Whoever takes the last piece loses (misere) or wins (normal)
    #[arg(long, help_heading = "Game", value_name = "RULE", value_parser = args::rule(), default_value = "misere")]
    rule: Rule,

    /// What is kept: database, every value; counts, only counts and winning first moves [default:
    /// database]
    #[arg(long, help_heading = "Output", value_name = "WHAT", value_parser = keep::parse)]
    keep: Option<KeepChoice>,

    /// Audit: compare so many positions of each block with their children while these pass by, 1
    /// to 10000, drawn with a seed if one follows; 0 for none [default: none, and from nine layers
    /// on six million positions in all]
    #[arg(long, help_heading = "Output", value_name = "N[:SEED]", value_parser = keep::parse_audit)]
    audit: Option<AuditChoice>,

    #[command(flatten)]
    memory: MemoryArgs,

    /// Cells that name the block, like "(1,0)(1,1)", or none [default: chosen from board and
    /// memory]
    #[arg(long, help_heading = "Expert", value_name = "CELLS", value_parser = args::cells, conflicts_with = "block_bits")]
    bid_cells: Option<BidCells>,

    /// Largest number of offset bits of a block; 1 to 40 [default: chosen from board and memory]
    #[arg(long, help_heading = "Expert", value_name = "BITS", value_parser = args::block_bits)]
    block_bits: Option<u32>,

    #[command(flatten)]
    json: JsonArgs,
}

/// What `trinim task init` prints.
#[derive(Serialize, JsonSchema)]
pub struct Report {
    /// The store.
    store: String,
    /// False if it was begun before, for the same solve.
    is_new: bool,
    /// Name of the board: `triangle:7`, `rect:6x6`, or what a file says.
    board: String,
    /// Layers of the triangle; null: another board.
    layers: Option<u32>,
    /// Whether who takes the last piece wins (`normal`) or loses (`misere`).
    #[schemars(with = "trinim::game::Rule")]
    rule: &'static str,
    /// Fewest pieces a move takes along a line; null: 1.
    min_take: Option<u32>,
    /// Most pieces a move may take; null: no limit.
    max_take: Option<u32>,
    /// `database` or `counts`.
    keep: Keep,
    /// Indices of the cells that name the block.
    bid_cells: Vec<u8>,
    /// All blocks.
    blocks: u64,
    /// Blocks that are computed.
    canonical_blocks: u32,
    /// A block has 2^`offset_bits` positions.
    offset_bits: u32,
    /// Bitmap of a block.
    block_bytes: u64,
}

/// Runs the subcommand.
pub fn run(args: InitArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let board_of = args.board.solvable()?;
    let keep = match args.keep {
        None => Keep::Database,
        Some(KeepChoice::Exactly(keep @ (Keep::Database | Keep::Counts))) => keep,
        Some(_) => {
            return Err(usage(
                "--keep: a store keeps no book".to_owned(),
                "--keep database keeps every value, --keep counts only counts and winning first moves",
            ));
        }
    };
    let layout = match (&args.bid_cells, args.block_bits) {
        (Some(cells), _) => Layout::new(&board_of, &cells.0)?,
        (None, Some(bits)) => Layout::suggested(&board_of, bits),
        (None, None) => plan::choose_layout(&board_of, args.memory.bytes()),
    };
    let game = Game { board: board_of, rule: args.rule, layout };
    let audit = args.audit.map_or_else(|| Audit::usual(&game), |AuditChoice(audit)| audit);
    let terms = Terms { keep, audit, ..Terms::default() };
    let store = store::create(&args.store)?;
    let task = terms.task(&game);
    let is_new = task::init(&*store, task)?;
    let layout = &game.layout;
    let report = Report {
        store: args.store,
        is_new,
        board: game.board.name().to_owned(),
        layers: game.board.layers(),
        rule: args.rule.name(),
        min_take: game.board.min_take(),
        max_take: game.board.max_take(),
        keep,
        bid_cells: layout.bid_cells().to_vec(),
        blocks: layout.blocks(),
        canonical_blocks: task.blocks(),
        offset_bits: layout.offset_bits(),
        block_bytes: 8 * task.stream_words() as u64,
    };
    if args.json.json {
        out.json("trinim.task.init/1", &report)?;
        return Ok(Exit::Done);
    }
    let state = if report.is_new { "new" } else { "begun before, for the same solve" };
    let blocks = counted(report.canonical_blocks.into(), "block");
    out.table(&[
        ("store", format!("{}, {state}", report.store)),
        ("board", board(&game.board, report.rule)),
        ("blocks", format!("{blocks} of 2^{} positions, {} each", report.offset_bits, Size(report.block_bytes))),
        ("kept", keep.limits()),
    ])?;
    Ok(Exit::Done)
}
