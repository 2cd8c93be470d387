//! The line of play when both sides do their best.

use super::answers::{AnswerError, Answers};
use super::level::hardest;
use super::survey::survey;
use crate::game::Value;

/// One move of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The position before the move.
    pub position: u64,
    /// Its value.
    pub value: Value,
    /// The pieces taken.
    pub taken: u64,
}

/// A line of play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MainLine {
    /// The moves, alternating.
    pub steps: Vec<Step>,
    /// The position after the last move.
    pub end: u64,
    /// Whether the line leads to the end of the game; else the next value is not known, or the
    /// caller stopped.
    pub complete: bool,
}

/// Follows the game from a position: a winner takes the winning move with the smallest mask, a
/// loser the [hardest reply](hardest). Stops early when `stop` returns true, which is asked before
/// each move.
///
/// # Errors
/// Those of [`survey`].
pub fn main_line(answers: &dyn Answers, start: u64, mut stop: impl FnMut() -> bool) -> Result<MainLine, AnswerError> {
    let mut line = MainLine { steps: Vec::new(), end: start, complete: false };
    loop {
        let position = line.end;
        if stop() {
            return Ok(line);
        }
        let here = survey(answers, position)?;
        if here.moves.is_empty() {
            line.complete = true;
            return Ok(line);
        }
        let taken = match (here.value, here.winning()) {
            (Some(Value::Win), [first, ..]) => Some(first.taken),
            (Some(Value::Loss), _) if here.unknown() == 0 => hardest(answers, &here)?.map(|reply| reply.taken),
            _ => None,
        };
        let (Some(value), Some(taken)) = (here.value, taken) else { return Ok(line) };
        line.steps.push(Step { position, value, taken });
        line.end = position ^ taken;
    }
}
