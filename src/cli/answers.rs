//! The sources of values that `play` and `serve` ask: a folder, what is built in, or a small board
//! that is solved for the occasion.

use super::board::{arguments, default_folder};
use super::exit::{Refused, Stopped};
use super::output::Out;
use super::signals::Signals;
use super::summary::board_words;
use std::path::Path;
use std::sync::Arc;
use trinim::database::{Access, BuiltIn, Database, Values};
use trinim::game::{Board, Rule};
use trinim::play::{AnswerError, Answers, Table};
use trinim::{Game, Solve};

/// Boards with so many cells or fewer are solved for the occasion: 2^28 positions, in about half a
/// second.
pub const CELLS_AT_ONCE: u32 = 28;
/// Memory of such a solve.
const MEMORY_BYTES: u64 = 256 << 20;
/// Most bits of an offset in such a solve.
pub const BLOCK_BITS: u32 = 22;

/// Opens the database in a folder, with a cache of about `cache_bytes` bytes.
///
/// # Errors
/// Those of [`Database::open`].
pub fn in_folder(folder: &Path, cache_bytes: usize) -> anyhow::Result<Arc<dyn Answers>> {
    Ok(Arc::new(Database::open_with(folder, Access::Read, cache_bytes)?))
}

/// Finds answers without a folder: solves a small board, or opens what is built in.
///
/// # Errors
/// [`Refused`] if the board is too large and nothing is built in; those of the solve.
pub fn without_folder(board: Board, rule: Rule, out: &Out) -> anyhow::Result<Arc<dyn Answers>> {
    let plain = board.layers().filter(|_| board.max_take().is_none());
    if let Some(built_in) = plain.and_then(|layers| BuiltIn::of(layers, rule)) {
        return Ok(Arc::new(Database::open_built_in(built_in)?));
    }
    if board.cells() > CELLS_AT_ONCE {
        let what =
            board.layers().map_or_else(|| format!("--board {}", board.name()), |layers| format!("--layers {layers}"));
        let message = format!("{what}: too large to be solved at once, and not built in");
        let hint = format!(
            "trinim solve {} solves it; then name the folder: trinim play {}",
            arguments(&board, rule),
            default_folder(&board, rule, Values::Outcomes)
        );
        return Err(Refused::new(message, hint).into());
    }
    let game = Game::on(board, rule, BLOCK_BITS);
    Ok(Arc::new(at_once(&game, |database| Ok(Table::of(database)?), out)?))
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
        error => Refused::new(error.to_string(), "a folder that keeps every value knows it").into(),
    }
}
