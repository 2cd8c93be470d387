//! Values that no source has, solved when they are asked for.

use super::answers::{AnswerError, Answers, known};
use crate::database::Probe;
use crate::game::{Board, Rule, Value};
use crate::solve::parts::{PartError, PartSolver};
use parking_lot::Mutex;
use std::sync::Arc;

/// Answers for a board: those of a source, if there is one, and those of a [`PartSolver`] for
/// positions that have few enough pieces. One position is solved at a time.
///
/// What is known of a position does not depend on what was asked before: either it has few enough
/// pieces, and it and all its children are solved, or all values are those of the source.
pub struct OnTheSpot {
    board: Board,
    rule: Rule,
    source: Option<Arc<dyn Answers>>,
    solver: Mutex<PartSolver>,
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
        OnTheSpot { board, rule, source, solver: Mutex::new(solver) }
    }

    /// Solves a position and returns the values of some with a part of its pieces; `None` if it has
    /// too many.
    fn solved<T>(
        &self,
        position: u64,
        read: impl FnOnce(&mut PartSolver) -> Result<T, PartError>,
    ) -> Result<Option<T>, AnswerError> {
        let mut solver = self.solver.lock();
        match solver.solve(position).and_then(|()| read(&mut solver)) {
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
            None => self.solved(position, |solver| solver.value(position))?.ok_or_else(|| self.unknown(position)),
        }
    }

    fn values(&self, position: u64, parts: &[u64]) -> Result<Vec<Option<Value>>, AnswerError> {
        let solved = self.solved(position, |solver| {
            parts.iter().map(|part| solver.value(*part).map(Some)).collect::<Result<Vec<_>, _>>()
        })?;
        match (solved, &self.source) {
            (Some(values), _) => Ok(values),
            (None, Some(source)) => source.values(position, parts),
            (None, None) => Ok(vec![None; parts.len()]),
        }
    }

    fn probe(&self, position: u64) -> Result<Probe, AnswerError> {
        match (self.solved(position, |solver| solver.probe(position))?, &self.source) {
            (Some(probe), _) => Ok(probe),
            (None, Some(source)) => source.probe(position),
            (None, None) => Err(self.unknown(position)),
        }
    }
}
