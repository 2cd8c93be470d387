//! The sources of values that `play` and `serve` ask: a folder, what is built in, a small board
//! that is solved for the occasion, and positions solved on the spot.

use super::exit::{Refused, Stopped};
use super::output::Out;
use super::signals::Signals;
use super::spot::{self, SpotArgs};
use super::summary::board_words;
use std::path::Path;
use std::sync::Arc;
use trinim::database::{BuiltIn, Database, Keep};
use trinim::game::{Board, Rule};
use trinim::play::{AnswerError, Answers, OnTheSpot};
use trinim::{Game, Solve};

/// Boards with so many cells or fewer are solved for the occasion: 2^28 positions, in about half a
/// second.
pub const CELLS_AT_ONCE: u32 = 28;
/// Memory of such a solve.
const MEMORY_BYTES: u64 = 256 << 20;
/// Most bits of an offset in such a solve.
pub const BLOCK_BITS: u32 = 22;

/// Opens the database in a folder; what it does not keep is solved when it is asked for.
///
/// # Errors
/// Those of [`Database::open`] and [`SpotArgs::solver`].
pub fn in_folder(folder: &Path, spot: &SpotArgs, out: &Out) -> anyhow::Result<Arc<dyn Answers>> {
    let database = Arc::new(Database::open(folder)?);
    if database.manifest().keep == Keep::Database {
        return Ok(database);
    }
    let solver = spot.solver(database.board(), database.rule(), out)?;
    Ok(Arc::new(OnTheSpot::new(Some(database), solver)))
}

/// Answers for a board without a folder: what is built in, and what is solved when it is asked for.
///
/// # Errors
/// Those of [`SpotArgs::solver`], and of a database that is built in.
pub fn without_folder(board: &Board, rule: Rule, spot: &SpotArgs, out: &Out) -> anyhow::Result<Arc<dyn Answers>> {
    let built_in = BuiltIn::of_board(board, rule).map(Database::open_built_in).transpose()?;
    let source = built_in.map(|database| Arc::new(database) as Arc<dyn Answers>);
    Ok(Arc::new(OnTheSpot::new(source, spot.solver(board, rule, out)?)))
}

/// Solves a board in a temporary folder, which is gone afterwards, also after a signal, and returns
/// what `read` takes from the database.
///
/// # Errors
/// [`Stopped`] after a signal; those of the solve and of `read`.
pub fn at_once<T>(game: &Game, read: impl FnOnce(&Database) -> anyhow::Result<T>, out: &Out) -> anyhow::Result<T> {
    out.remark(format_args!("solving {}, {} ..", board_words(game.board.name()), game.rule));
    let signals = Signals::register()?;
    let folder = tempfile::Builder::new().prefix("trinim-play.").tempdir();
    let folder = folder.map_err(|error| pipeline::Error::io("create", std::env::temp_dir(), error))?;
    let options = pipeline::Options { memory_bytes: MEMORY_BYTES, stop: signals.stop.clone(), ..Default::default() };
    let result = match Solve::new(game).options(options).run(folder.path()) {
        Ok(_) => read(&Database::open(folder.path())?),
        Err(pipeline::Error::Interrupted) => Err(Stopped::from_the_start(signals.exit()).into()),
        Err(error) => Err(error.into()),
    };
    drop(folder);
    signals.release();
    if signals.stopped() { Err(Stopped::from_the_start(signals.exit()).into()) } else { result }
}

/// Returns the number that was given where a folder was expected, unless there is such a folder.
pub fn number(folder: &Path) -> Option<u64> {
    if folder.exists() { None } else { folder.to_str()?.parse().ok() }
}

/// Turns the error of an answer into one that has an exit code.
pub fn failed(error: AnswerError) -> anyhow::Error {
    match error {
        AnswerError::Database(error) => error.into(),
        AnswerError::Solve(error) => spot::failed(error),
        error => Refused::new(error.to_string(), "a folder that keeps every value knows it").into(),
    }
}
