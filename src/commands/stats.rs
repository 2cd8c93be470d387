//! `trinim stats`: counts of a solved board and the winning first moves.

use clap::Args;
use std::io::Write;
use terminal::exit::Exit;
use terminal::output::{Out, counted, grouped};
use trinim::cli::args::{JsonArgs, Size};
use trinim::cli::solved::SolvedArgs;
use trinim::cli::stats::{Report, SCHEMA, report, winning};
use trinim::cli::summary::{draw_moves, up_to_symmetry};
use trinim::database::Database;
use trinim::database::census::PieceCount;
use trinim::game::Board;

const EXAMPLES: &str = "\
Examples:
  trinim stats trinim-k7-misere
  trinim stats trinim-k7-misere --json
  trinim stats --layers 9 --rule normal             the built-in results of nine layers
  trinim stats trinim-k7-misere --csv > k7.csv      positions and losses by number of pieces";

/// Count the wins and losses of a solved board
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct StatsArgs {
    #[command(flatten)]
    solved: SolvedArgs,

    #[command(flatten)]
    json: JsonArgs,

    /// Report the counts by number of pieces as CSV
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    csv: bool,
}

pub fn run(args: StatsArgs, out: &mut Out) -> anyhow::Result<Exit> {
    args.solved.read(out, |database, out| show(&args, &database, out))
}

fn show(args: &StatsArgs, database: &Database, out: &mut Out) -> anyhow::Result<Exit> {
    if args.csv {
        let census = &database.manifest().census;
        writeln!(out, "pieces,positions,losses")?;
        for PieceCount { pieces, positions, losses } in &census.by_pieces {
            writeln!(out, "{pieces},{positions},{losses}")?;
        }
        return Ok(Exit::Done);
    }
    let winning = winning(database)?;
    let report = report(database, &winning)?;
    args.json.report(SCHEMA, &report, out, |report, out| print(report, database.board(), &winning, out))
}

fn print(report: &Report<'_>, board: &Board, winning: &[u64], out: &mut Out) -> anyhow::Result<()> {
    let mut rows = report.summary.rows(out.paint);
    rows.extend(report.summary.only());
    if let Some(book) = &report.book {
        let losses = counted(book.losses, "canonical P-position");
        rows.push((
            "book",
            format!("{losses} of positions with at least {} pieces, {}", book.pieces, Size(book.bytes)),
        ));
    }
    out.table(&rows)?;

    writeln!(out, "\n{:>6}  {:>20}  {:>18}  {:>8}", "pieces", "positions", "losses", "loss %")?;
    for row in report.by_pieces {
        let share = row.losses as f64 / row.positions as f64 * 100.0;
        let (positions, losses) = (grouped(row.positions), grouped(row.losses));
        writeln!(out, "{:>6}  {positions:>20}  {losses:>18}  {share:>8.3}", row.pieces)?;
    }

    if let Some(rows) = report.by_layers {
        writeln!(out, "\n{:>6}  {:>20}  {:>18}   (the rows below are empty)", "layers", "positions", "losses")?;
        for row in rows {
            writeln!(out, "{:>6}  {:>20}  {:>18}", row.layers, grouped(row.positions), grouped(row.losses))?;
        }
    }

    if let Some(rows) = &report.summary.by_nimber {
        writeln!(out, "\n{:>6}  {:>20}  {:>8}", "nimber", "positions", "%")?;
        for row in rows {
            let share = row.positions as f64 / report.summary.positions as f64 * 100.0;
            writeln!(out, "{:>6}  {:>20}  {share:>8.3}", row.nimber, grouped(row.positions))?;
        }
    }

    if let Some(rows) = &report.summary.by_distance {
        writeln!(out, "\n{:>8}  {:>20}  {:>20}   (moves until the end)", "distance", "wins", "losses")?;
        for row in rows {
            writeln!(out, "{:>8}  {:>20}  {:>20}", row.distance, grouped(row.wins), grouped(row.losses))?;
        }
    }

    let alike = up_to_symmetry(board, board.full(), winning);
    writeln!(out, "\nwinning first moves: {} of {}{alike}", winning.len(), board.moves().len())?;
    draw_moves(board, board.full(), winning, out)?;
    Ok(())
}
