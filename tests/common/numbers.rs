//! Solves for nimbers and distances.

use super::{Way, scratch};
use pipeline::{Error, Footprint, Metrics, Options, RealStorage, Storage};
use std::sync::Arc;
use tempfile::TempDir;
use trinim::database::{Game, SolveSpec, Terms, Values};
use trinim::solve::{Solved, solve};

/// Returns the task of the nimbers or distances of a game.
pub fn spec(game: &Game, values: Values) -> SolveSpec<'_> {
    Terms { values, ..Terms::default() }.spec(game)
}

/// Returns the options of a way, with the memory that planes take.
pub fn options(game: &Game, values: Values, way: Way) -> Options {
    let memory_bytes =
        Footprint::new(spec(game, values).stream_words(), way.placement).bytes(way.threads) + way.spare_bytes;
    Options { memory_bytes, ..way.options(&game.layout) }
}

/// Solves, or continues solving.
pub fn solve_on(
    game: &Game,
    values: Values,
    way: Way,
    storage: Arc<dyn Storage>,
    options: &Options,
) -> Result<Solved, Error> {
    solve(spec(game, values), way.kernel, &storage, options, &Metrics::default(), &|_| {})
}

/// Solves in a new folder, without syncs: durability has its own tests.
pub fn solved(game: &Game, values: Values, way: Way) -> TempDir {
    let folder = scratch();
    let storage = Arc::new(RealStorage::create(folder.path()).unwrap().with_syncs(false));
    solve_on(game, values, way, storage, &options(game, values, way)).unwrap();
    folder
}
