//! The counts of a solved board, which `trinim stats` and the server report.

use crate::cli::summary::Summary;
use crate::database::census::PieceCount;
use crate::database::{Database, Keep, LayerCount};
use crate::game::position::cells;
use schemars::JsonSchema;
use serde::Serialize;

pub const SCHEMA: &str = "trinim.stats/1";

/// What `trinim stats` prints.
#[derive(Serialize, JsonSchema)]
pub struct Report<'a> {
    #[serde(flatten)]
    pub summary: Summary,
    /// Legal moves of the full board.
    first_moves: usize,
    /// Winning moves of the full board, each a list of cell indices; all of them, not only up to
    /// symmetry.
    winning_first_moves: Vec<Vec<u32>>,
    /// The book, if one is kept.
    pub book: Option<BookReport>,
    /// One row for each number of pieces, from 0.
    pub by_pieces: &'a [PieceCount],
    /// One row for each smaller board, with the positions whose rows below are empty, and one for
    /// the whole board; null if they were not counted, as in a database.
    pub by_layers: Option<&'a [LayerCount]>,
}

/// The book, if one is kept.
#[derive(Serialize, JsonSchema)]
pub struct BookReport {
    /// Fewest pieces of a position in it.
    pub pieces: u32,
    /// Canonical losses in it.
    pub losses: u64,
    /// Length of its file.
    pub bytes: u64,
}

/// Returns the winning moves of the full board.
pub fn winning(database: &Database) -> anyhow::Result<Vec<u64>> {
    Ok(database.probe(database.board().full())?.winning_moves())
}

pub fn report<'a>(database: &'a Database, winning: &[u64]) -> anyhow::Result<Report<'a>> {
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
pub fn json(database: &Database) -> anyhow::Result<String> {
    Ok(terminal::schema::tagged(SCHEMA, &report(database, &winning(database)?)?)?)
}
