//! Sources of values: a database, a table in memory, and positions solved on demand.

use crate::database::{Database, DatabaseError, Evaluation, Game, Probe};
use crate::solve::parts::{DISTANCE_PIECES_MAX, PartError, PartSolver};
use parking_lot::Mutex;
use std::sync::Arc;
use trinim_game::{Board, Rule, Value};
use trinim_kernel::bitmap_words;

/// A source of values of positions of a board under a rule.
///
/// A source need not know all values. For others, [`Answers::value`] returns
/// [`AnswerError::Unknown`], and [`Answers::probe`] counts the moves that lead to them in
/// `moves_not_kept`.
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

    /// Returns what is known of positions whose pieces are all in `position`.
    ///
    /// # Errors
    /// Those of [`Answers::value`], but for unknown values.
    fn evaluate(&self, position: u64, parts: &[u64]) -> Result<Vec<Option<Evaluation>>, AnswerError> {
        debug_assert!(parts.iter().all(|part| part & !position == 0), "pieces outside {position:#x}");
        parts.iter().map(|part| Ok(known(self.value(*part))?.map(Evaluation::from))).collect()
    }

    /// Returns what is known of a position, without its children.
    ///
    /// # Errors
    /// Those of [`Answers::value`].
    fn alone(&self, position: u64) -> Result<Probe, AnswerError> {
        let found = self.evaluate(position, &[position])?.pop().flatten();
        let found = found.map_or_else(|| self.value(position).map(Evaluation::from), Ok)?;
        Ok(Probe::alone(position, found))
    }

    /// Returns the value of a position and of all its children, as far as they are known.
    ///
    /// # Errors
    /// Those of [`Answers::value`].
    fn probe(&self, position: u64) -> Result<Probe, AnswerError> {
        let Probe { value, nimber, distance, .. } = self.alone(position)?;
        let child = |child| Ok::<_, AnswerError>(self.evaluate(child, &[child])?.pop().flatten());
        Probe::gather(self.board(), position, Evaluation { value, nimber, distance }, child)
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
pub fn known<T>(value: Result<T, AnswerError>) -> Result<Option<T>, AnswerError> {
    match value {
        Ok(value) => Ok(Some(value)),
        Err(AnswerError::Unknown { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The source does not hold this value.
    #[error("the value of this position is not known: {limits}")]
    Unknown {
        /// The values that the source holds.
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

    fn evaluate(&self, _: u64, parts: &[u64]) -> Result<Vec<Option<Evaluation>>, AnswerError> {
        parts.iter().map(|part| known(Database::evaluate(self, *part).map_err(AnswerError::from))).collect()
    }

    fn probe(&self, position: u64) -> Result<Probe, AnswerError> {
        Ok(Database::probe(self, position)?)
    }
}

/// The values of all positions of a board, in memory. Each canonical block, by ordinal, has a
/// bitmap with one bit a position, 1 for a loss, as in the files of the database. Seven layers take
/// 32 MiB or less.
pub struct Table {
    game: Game,
    blocks: Vec<Vec<u64>>,
}

impl Table {
    /// Reads all values of a database, whose files are not needed afterwards.
    ///
    /// # Errors
    /// [`DatabaseError::NotKept`] unless every value was kept; those of [`Database::bitmap`].
    pub fn load(database: &Database) -> Result<Table, DatabaseError> {
        let layout = database.layout();
        let words = bitmap_words(layout.offset_bits());
        let read = |block| {
            let mut bitmap = vec![0; words];
            database.bitmap(block, &mut bitmap).map(|()| bitmap)
        };
        let blocks = layout.ordinals().map(read).collect::<Result<_, _>>()?;
        Ok(Table { game: database.game().clone(), blocks })
    }
}

impl Answers for Table {
    fn board(&self) -> &Board {
        &self.game.board
    }

    fn rule(&self) -> Rule {
        self.game.rule
    }

    fn value(&self, position: u64) -> Result<Value, AnswerError> {
        assert_eq!(position & !self.game.board.full(), 0, "position outside the board");
        let (block, offset) = self.game.layout.locate(position);
        Ok(Value::from_loss(self.blocks[block.index()][(offset / 64) as usize] >> (offset % 64) & 1 == 1))
    }
}

/// Answers for a board: those of a source, if there is one, completed by a [`PartSolver`] for
/// positions that have few enough pieces. It adds values, distances to the end and nimbers that the
/// source does not know. One position is solved at a time.
///
/// An answer does not depend on earlier queries: either the position has few enough pieces, and it
/// and all its children are solved, or all values come from the source.
pub struct OnTheSpot {
    board: Board,
    rule: Rule,
    source: Option<Arc<dyn Answers>>,
    solver: Mutex<PartSolver>,
    /// Whether the solver adds nimbers and distances to values that the source has.
    completes: bool,
}

impl OnTheSpot {
    /// Completes a source for the same game, if there is one.
    ///
    /// # Panics
    /// Panics if the source is for another game.
    pub fn new(source: Option<Arc<dyn Answers>>, solver: PartSolver) -> OnTheSpot {
        let (board, rule) = (solver.board().clone(), solver.rule());
        if let Some(source) = &source {
            assert!(source.board() == &board && source.rule() == rule, "the source is for another game");
        }
        OnTheSpot { board, rule, source, solver: Mutex::new(solver), completes: true }
    }

    /// Solves only positions whose value the source does not know, and adds no nimbers or distances
    /// to the others.
    #[must_use]
    pub fn sparing(self) -> OnTheSpot {
        OnTheSpot { completes: false, ..self }
    }

    /// Returns the answer of the solver; `None` if a position has too many pieces.
    fn solved<T>(&self, read: impl FnOnce(&mut PartSolver) -> Result<T, PartError>) -> Result<Option<T>, AnswerError> {
        match read(&mut self.solver.lock()) {
            Ok(found) => Ok(Some(found)),
            Err(PartError::TooMany { .. }) => Ok(None),
            Err(error) => Err(AnswerError::Solve(error)),
        }
    }

    fn unknown(&self, position: u64) -> AnswerError {
        let error = self.solver.lock().too_many(position);
        AnswerError::Unknown { limits: error.to_string() }
    }
}

impl Answers for OnTheSpot {
    fn board(&self) -> &Board {
        &self.board
    }

    fn rule(&self) -> Rule {
        self.rule
    }

    fn value(&self, position: u64) -> Result<Value, AnswerError> {
        let kept = self.source.as_ref().map(|source| known(source.value(position))).transpose()?.flatten();
        match kept {
            Some(value) => Ok(value),
            None => self.solved(|solver| solver.value(position))?.ok_or_else(|| self.unknown(position)),
        }
    }

    fn evaluate(&self, position: u64, parts: &[u64]) -> Result<Vec<Option<Evaluation>>, AnswerError> {
        let mut found = match &self.source {
            Some(source) => source.evaluate(position, parts)?,
            None => vec![None; parts.len()],
        };
        let is_small = self.completes && position.count_ones() <= DISTANCE_PIECES_MAX;
        if found.iter().all(|found| found.is_some_and(|found| found.distance.is_some() || !is_small)) {
            return Ok(found);
        }
        let solved = self.solved(|solver| solver.evaluate(position, parts))?;
        for (found, solved) in found.iter_mut().zip(solved.iter().flatten()) {
            *found = Some(found.map_or(*solved, |found| found.or(*solved)));
        }
        Ok(found)
    }

    fn probe(&self, position: u64) -> Result<Probe, AnswerError> {
        let kept = self.source.as_ref().map(|source| known(source.probe(position))).transpose()?.flatten();
        match kept {
            Some(mut kept) if kept.moves_not_kept == 0 => {
                if self.completes {
                    self.solved(|solver| solver.complete(&mut kept))?;
                }
                Ok(kept)
            }
            kept => {
                let solved = self.solved(|solver| solver.probe(position))?;
                solved.or(kept).ok_or_else(|| self.unknown(position))
            }
        }
    }
}
