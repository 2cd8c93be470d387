//! `trinim stats`: counts of a solved board and the winning first moves.

use super::args::{DatabaseArgs, JsonArgs};
use super::exit::Exit;
use super::output::{self, Out, grouped};
use clap::Args;
use serde::Serialize;
use std::io::Write;
use trinim::database::Database;
use trinim::database::census::PieceCount;
use trinim::game::Board;
use trinim::game::Value;
use trinim::game::position::cells;

const EXAMPLES: &str = "\
Examples:
  trinim stats trinim-k7-misere
  trinim stats trinim-k7-misere --json
  trinim stats trinim-k7-misere --csv > k7.csv      positions and losses by number of pieces";

/// Count the wins and losses of a solved board
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct StatsArgs {
    #[command(flatten)]
    database: DatabaseArgs,

    #[command(flatten)]
    json: JsonArgs,

    /// Report the counts by number of pieces as CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    layers: u32,
    rule: &'a str,
    max_take: Option<u32>,
    positions: u64,
    wins: u64,
    losses: u64,
    loss_rate: f64,
    start: String,
    digest: &'a str,
    winning_first_moves: Vec<Vec<u32>>,
    by_pieces: &'a [PieceCount],
    bid_cells: &'a [u8],
    blocks: u64,
    canonical_blocks: u64,
}

/// Runs the subcommand.
pub fn run(args: StatsArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let database = Database::open(&args.database.folder)?;
    let manifest = database.manifest();
    let census = &manifest.census;
    if args.csv {
        writeln!(out, "pieces,positions,losses")?;
        for PieceCount { pieces, positions, losses } in &census.by_pieces {
            writeln!(out, "{pieces},{positions},{losses}")?;
        }
        return Ok(Exit::Done);
    }
    let board = database.board();
    let start = database.probe(board.full())?;
    let winning: Vec<u64> =
        start.children.iter().filter(|child| child.value == Value::Loss).map(|child| child.taken).collect();
    let report = Report {
        layers: manifest.layers,
        rule: &manifest.rule,
        max_take: manifest.max_take,
        positions: census.positions(),
        wins: census.wins(),
        losses: census.losses(),
        loss_rate: census.loss_rate(),
        start: start.value.to_string(),
        digest: &manifest.digest,
        winning_first_moves: winning.iter().map(|mask| cells(*mask)).collect(),
        by_pieces: &census.by_pieces,
        bid_cells: &manifest.bid_cells,
        blocks: database.layout().blocks(),
        canonical_blocks: database.layout().canonical_blocks().len() as u64,
    };
    if args.json.json {
        out.json(&report)?
    } else {
        print(&report, board, start.value, &winning, out)?
    }
    Ok(Exit::Done)
}

fn print(report: &Report<'_>, board: &Board, start: Value, winning: &[u64], out: &mut Out) -> anyhow::Result<()> {
    let take = report.max_take.map_or(String::new(), |take| format!(", at most {take} pieces a move"));
    let rows = [
        ("board", format!("{} layers, {}{take}", report.layers, report.rule)),
        ("positions", grouped(report.positions)),
        ("wins", grouped(report.wins)),
        ("losses", format!("{} ({:.4} %)", grouped(report.losses), report.loss_rate * 100.0)),
        ("start", format!("{} for the player to move", out.paint.value(start))),
        ("digest", report.digest.to_owned()),
    ];
    out.table(&rows)?;

    writeln!(out, "\n{:>6}  {:>20}  {:>18}  {:>8}", "pieces", "positions", "losses", "loss %")?;
    for row in report.by_pieces {
        let share = row.losses as f64 / row.positions as f64 * 100.0;
        let (positions, losses) = (grouped(row.positions), grouped(row.losses));
        writeln!(out, "{:>6}  {positions:>20}  {losses:>18}  {share:>8.3}", row.pieces)?;
    }

    // One picture for all images of a move under the symmetries of the board.
    let classes = board.classes(winning);
    let (all, kinds) = (winning.len(), classes.len());
    writeln!(out, "\nwinning first moves: {all} of {}, {kinds} up to symmetry", board.moves().len())?;
    let pictures: Vec<(String, Vec<String>)> = classes
        .into_iter()
        .map(|(taken, images)| {
            (format!("{} like", images.len()), output::picture(board, board.full(), taken, out.paint))
        })
        .collect();
    output::side_by_side(out, 2 * board.layers() as usize - 1, &pictures)?;
    Ok(())
}
