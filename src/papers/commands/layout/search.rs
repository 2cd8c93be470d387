//! `trinim papers layout search`: the BID cells that cause the least work.

use super::picture;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Write;
use terminal::exit::{Exit, Refused};
use terminal::output::{Out, counted, grouped, side_by_side};
use trinim::cli::args::JsonArgs;
use trinim::cli::board::RequiredBoard;
use trinim::cli::summary::board_words;
use trinim::layout::search::Limit;
use trinim_game::{Board, Cell};
use trinim_papers::search::{Found, Request, SymmetryClass, search};

const EXAMPLES: &str = "\
Examples:
  trinim papers layout search --layers 9 --bits 15
  trinim papers layout search --layers 9 --bits 13 --symmetry mirror --top 3
  trinim papers layout search --layers 9 --bits 13 --symmetry any --json

All sets are examined if there are at most --sets of a kind; otherwise a local search takes a sample, and the report \
says that it is not exhaustive. With --symmetry any, a bound may exclude sets without symmetry.";

/// Find the BID cells with the fewest updates between canonical blocks
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct SearchArgs {
    #[command(flatten)]
    board: RequiredBoard,

    /// Number of BID cells, 0 to 24
    #[arg(long, value_name = "B")]
    bits: u32,

    /// Symmetries that the cells must keep
    #[arg(long, value_name = "SYMMETRY", value_enum, default_value = "d3")]
    symmetry: SymmetryClass,

    /// Number of layouts to show
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), default_value = "5")]
    top: u32,

    /// Largest number of sets of a kind to examine
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000_000_000),
          default_value = "100000000")]
    sets: u64,

    /// Seed of the random numbers of a local search
    #[arg(long, value_parser = terminal::values::seed, value_name = "N", default_value = "0")]
    seed: u64,

    #[command(flatten)]
    json: JsonArgs,
}

/// What `trinim papers layout search` prints.
#[derive(Serialize, JsonSchema)]
pub struct Report {
    /// Name of the board: `triangle:7`, `rect:6x6`, or the name in a board file.
    board: String,
    /// Layers of the triangle; null for other boards.
    layers: Option<u32>,
    /// Number of BID cells.
    bits: u32,
    /// Symmetries that the cells must keep: `d3`, `mirror` or `any`.
    symmetry: SymmetryClass,
    #[serde(flatten)]
    found: Found,
}

pub fn run(args: SearchArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let board = args.board.solvable()?;
    let request = Request {
        bits: args.bits,
        kept: args.symmetry,
        top: args.top as usize,
        limit: Limit { sets: args.sets, seed: args.seed },
    };
    let found = out.announcing("searching", || search(&board, &request));
    let hint = "run trinim papers layout search --help to see the limits";
    let found = found.map_err(|error| Refused::new(error, hint))?;
    let report = Report {
        board: board.name().to_owned(),
        layers: board.layers(),
        bits: args.bits,
        symmetry: args.symmetry,
        found,
    };
    args.json.report("trinim.layout.search/1", &report, out, |report, out| print(report, &board, out))
}

fn print(report: &Report, board: &Board, out: &mut Out) -> anyhow::Result<()> {
    let bits = counted(report.bits.into(), "BID cell");
    let Found { exhaustive, looked_at, asymmetric_at_least, sets } = &report.found;
    let looked_at = counted(*looked_at, "set");
    match (sets.is_empty(), exhaustive) {
        (true, true) => writeln!(out, "No set of {bits} keeps these symmetries on {}.", board_words(&report.board))?,
        (true, false) => writeln!(out, "{bits}: the sample found no set with these symmetries; raise --sets.")?,
        (false, true) => writeln!(out, "{bits}: {looked_at} examined, no other set of this kind is better.")?,
        (false, false) => writeln!(out, "{bits}: {looked_at} examined, others may be better.")?,
    }
    if let Some(bound) = asymmetric_at_least {
        writeln!(out, "No set without symmetry has fewer than {} updates.", short(*bound))?;
    }
    writeln!(out)?;
    let ranks: Vec<String> = (1..=sets.len()).map(|rank| rank.to_string()).collect();
    let ranked = || ranks.iter().zip(sets);
    let pictures = ranked()
        .map(|(rank, row)| (format!("{rank}: {}", short(row.canonical_updates)), picture(board, &row.cells, out)));
    let pictures: Vec<(String, Vec<String>)> = pictures.collect();
    side_by_side(out, board, &pictures)?;
    let rows = ranked().map(|(rank, row)| {
        let cells = Cell::list(row.cells.iter().map(|cell| board.cell(*cell)));
        let (updates, blocks) = (short(row.canonical_updates), short(row.canonical_blocks));
        let symmetries = match row.symmetries {
            1 => "no symmetry".to_owned(),
            symmetries => format!("{symmetries} symmetries"),
        };
        (rank.as_str(), format!("{updates} updates, {blocks} canonical blocks, {symmetries}: {cells}"))
    });
    Ok(out.table(&rows.collect::<Vec<_>>())?)
}

/// Formats a number of a report; with at most 24 BID cells it fits.
fn short(number: u128) -> String {
    u64::try_from(number).map_or_else(|_| number.to_string(), grouped)
}
