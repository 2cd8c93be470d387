//! Sources of values.

use crate::database::{Database, DatabaseError, Probe};
use crate::game::{Board, Rule, Value};
use crate::solve::parts::PartError;

/// Something that knows values of positions of a board under a rule.
///
/// A source may know less than all values: [`Answers::value`] then returns
/// [`AnswerError::Unknown`] for the others, and [`Answers::probe`] counts the moves that lead to
/// such positions in `moves_not_kept`.
pub trait Answers: Send + Sync {
    /// Returns the board.
    fn board(&self) -> &Board;

    /// Returns the rule.
    fn rule(&self) -> Rule;

    /// Returns the value of a position of the board for the player to move.
    ///
    /// # Errors
    /// [`AnswerError::Unknown`] if this source does not know it; [`AnswerError::Database`] if the
    /// files of a database cannot be read or are damaged.
    fn value(&self, position: u64) -> Result<Value, AnswerError>;

    /// Returns the values of positions whose pieces are all in `position`, as far as they are
    /// known.
    ///
    /// # Errors
    /// Those of [`Answers::value`], but for unknown values.
    fn values(&self, position: u64, parts: &[u64]) -> Result<Vec<Option<Value>>, AnswerError> {
        debug_assert!(parts.iter().all(|part| part & !position == 0), "pieces outside {position:#x}");
        parts.iter().map(|part| known(self.value(*part))).collect()
    }

    /// Returns the value of a position and of all its children, as far as they are known.
    ///
    /// # Errors
    /// Those of [`Answers::value`].
    fn probe(&self, position: u64) -> Result<Probe, AnswerError> {
        let value = self.value(position)?;
        Probe::gather(self.board(), position, (value, None), |child| {
            Ok(known(self.value(child))?.map(|value| (value, None)))
        })
    }
}

/// Returns the legal moves of a position, ascending.
pub fn legal(board: &Board, position: u64) -> impl Iterator<Item = u64> {
    board.moves().iter().copied().filter(move |mask| position & mask == *mask)
}

/// Turns the error of an unknown value into `None`.
///
/// # Errors
/// Any other error.
pub fn known(value: Result<Value, AnswerError>) -> Result<Option<Value>, AnswerError> {
    match value {
        Ok(value) => Ok(Some(value)),
        Err(AnswerError::Unknown { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Why a value cannot be told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The source does not hold this value.
    #[error("the value of this position is not known: {limits}")]
    Unknown {
        /// What the source holds.
        limits: String,
    },
    /// The database cannot be read.
    #[error(transparent)]
    Database(DatabaseError),
    /// The position could not be solved.
    #[error(transparent)]
    Solve(PartError),
}

impl From<DatabaseError> for AnswerError {
    fn from(error: DatabaseError) -> AnswerError {
        match &error {
            DatabaseError::NotKept { .. } => AnswerError::Unknown { limits: error.to_string() },
            _ => AnswerError::Database(error),
        }
    }
}

impl Answers for Database {
    fn board(&self) -> &Board {
        Database::board(self)
    }

    fn rule(&self) -> Rule {
        Database::rule(self)
    }

    fn value(&self, position: u64) -> Result<Value, AnswerError> {
        Ok(Database::value(self, position)?)
    }

    fn probe(&self, position: u64) -> Result<Probe, AnswerError> {
        Ok(Database::probe(self, position)?)
    }
}
