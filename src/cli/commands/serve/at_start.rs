//! Small boards that are solved when the server starts.

use crate::cli::face::exit::{Refused, Stopped};
use crate::cli::face::output::Out;
use crate::cli::face::signals::Signals;
use crate::cli::words::board::arguments;
use crate::cli::words::summary::board_words;
use trinim::database::Database;
use trinim::game::{Board, Rule};
use trinim::{Game, Solve};

/// Boards with so many cells or fewer are solved: 2^28 positions, in about half a second.
const CELLS_MAX: u32 = 28;
/// Memory of such a solve.
const MEMORY_BYTES: u64 = 256 << 20;
/// Most bits of an offset in such a solve.
const BLOCK_BITS: u32 = 22;

/// Solves a small board and returns what `read` takes from its database.
///
/// # Errors
/// [`Refused`] if the board is not small; [`Stopped`] after a signal; those of the solve and of
/// `read`.
pub fn solve<T>(
    board: &Board,
    rule: Rule,
    read: impl FnOnce(&Database) -> anyhow::Result<T>,
    out: &Out,
) -> anyhow::Result<T> {
    if board.cells() > CELLS_MAX {
        let message = format!("{}: too large to be solved at the start", arguments(board, Rule::Misere));
        let hint = format!("trinim solve {} solves it; then name the folder", arguments(board, rule));
        return Err(Refused::new(message, hint).into());
    }
    let game = Game::on(board.clone(), rule, BLOCK_BITS);
    out.remark(format_args!("solving {}, {} ..", board_words(board.name()), rule));
    let signals = Signals::register()?;
    // Gone afterwards, also after a signal.
    let folder = tempfile::Builder::new().prefix("trinim-serve.").tempdir();
    let folder = folder.map_err(|error| pipeline::Error::io("create", std::env::temp_dir(), error))?;
    let options = pipeline::Options { memory_bytes: MEMORY_BYTES, stop: signals.stop.clone(), ..Default::default() };
    let result = match Solve::new(&game).options(options).run(folder.path()) {
        Ok(_) => read(&Database::open(folder.path())?),
        Err(pipeline::Error::Interrupted) => Err(Stopped::from_the_start(signals.exit()).into()),
        Err(error) => Err(error.into()),
    };
    drop(folder);
    signals.release();
    if signals.stopped() { Err(Stopped::from_the_start(signals.exit()).into()) } else { result }
}
