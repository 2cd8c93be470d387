//! `trinim stats`: counts of a solved board and the winning first moves.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Write;
use terminal::exit::Exit;
use terminal::output::{Out, counted, grouped};
use trinim::cli::args::{JsonArgs, Size};
use trinim::cli::solved::SolvedArgs;
use trinim::cli::summary::{Summary, draw_moves, up_to_symmetry};
use trinim::database::census::PieceCount;
use trinim::database::{Database, Keep, LayerCount};
use trinim::game::Board;
use trinim::game::position::cells;

const SCHEMA: &str = "trinim.stats/1";

const EXAMPLES: &str = "\
Examples:
  trinim stats trinim-k7-misere
  trinim stats trinim-k7-misere --json
  trinim stats --layers 9 --rule normal             what is built in of nine layers
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

/// What `trinim stats` prints.
#[derive(Serialize, JsonSchema)]
pub struct Report<'a> {
    #[serde(flatten)]
    summary: Summary,
    /// Legal moves of the full board.
    first_moves: usize,
    /// Winning moves of the full board, each a list of cell indices; all of them, not only up to
    /// symmetry.
    winning_first_moves: Vec<Vec<u32>>,
    /// The book, if one is kept.
    book: Option<BookReport>,
    /// One row for each number of pieces, from 0.
    by_pieces: &'a [PieceCount],
    /// One row for each smaller board, whose positions are those with empty rows below, and for the
    /// whole; null if they were not counted, as in a database.
    by_layers: Option<&'a [LayerCount]>,
}

/// The book, if one is kept.
#[derive(Serialize, JsonSchema)]
struct BookReport {
    /// Least pieces of a position in it.
    pieces: u32,
    /// Canonical losses in it.
    losses: u64,
    /// Length of its file.
    bytes: u64,
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

/// Returns the winning moves of the full board.
fn winning(database: &Database) -> anyhow::Result<Vec<u64>> {
    Ok(database.probe(database.board().full())?.winning_moves())
}

fn report<'a>(database: &'a Database, winning: &[u64]) -> anyhow::Result<Report<'a>> {
    let manifest = database.manifest();
    Ok(Report {
        summary: Summary::new(manifest, database.game()),
        first_moves: database.board().moves().len(),
        book: match (manifest.keep, database.book()?) {
            (Keep::Book { pieces }, Some(book)) => {
                Some(BookReport { pieces, losses: book.losses(), bytes: book.file_bytes() })
            }
            _ => None,
        },
        winning_first_moves: winning.iter().map(|mask| cells(*mask)).collect(),
        by_pieces: &manifest.census.by_pieces,
        by_layers: manifest.by_layers.as_deref(),
    })
}

/// Returns the report as JSON on one line.
#[cfg(feature = "serve")]
pub fn json(database: &Database) -> anyhow::Result<String> {
    Ok(terminal::schema::tagged(SCHEMA, &report(database, &winning(database)?)?)?)
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
