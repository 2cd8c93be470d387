//! The sources of values that `play` asks: a folder, what is built in, and positions solved on the
//! spot.

use crate::cli::face::exit::Refused;
use crate::cli::face::output::Out;
use crate::cli::words::spot::{self, SpotArgs};
use std::path::Path;
use std::sync::Arc;
use trinim::database::{BuiltIn, Database, Keep};
use trinim::game::{Board, Rule};
use trinim::play::{AnswerError, Answers, OnTheSpot};

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
