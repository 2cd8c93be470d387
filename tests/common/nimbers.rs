//! Solves for nimbers.

use super::{Way, scratch};
use pipeline::{Error, Metrics, Options, RealStorage, Storage, footprint_bytes};
use std::sync::Arc;
use tempfile::TempDir;
use trinim::database::{Game, Task, Terms, Values};
use trinim::solve::{Solved, solve};

/// Returns the task of the nimbers of a game.
pub fn task(game: &Game) -> Task<'_> {
    Terms { values: Values::Nimbers, ..Terms::default() }.task(game)
}

/// Returns the options of a way, with the memory that planes take.
pub fn options(game: &Game, way: Way) -> Options {
    let memory_bytes = footprint_bytes(task(game).stream_words(), way.placement, way.threads) + way.spare_bytes;
    Options { memory_bytes, ..way.options(&game.layout) }
}

/// Solves, or continues solving.
pub fn solve_on(game: &Game, way: Way, storage: Arc<dyn Storage>, options: &Options) -> Result<Solved, Error> {
    solve(task(game), way.kernel, &storage, options, &Metrics::default(), &|_| {})
}

/// Solves in a new folder, without syncs: durability has its own tests.
pub fn solved(game: &Game, way: Way) -> TempDir {
    let folder = scratch();
    let storage = Arc::new(RealStorage::create(folder.path()).unwrap().with_syncs(false));
    solve_on(game, way, storage, &options(game, way)).unwrap();
    folder
}
