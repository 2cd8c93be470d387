//! A position with all that is known about it.

use super::answers::{AnswerError, Answers, legal};
use crate::database::infer;
use trinim_game::Value;

/// A legal move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The pieces taken.
    pub taken: u64,
    /// The value after the move for the opponent, if it is known; a loss makes the move a winning
    /// one.
    pub after: Option<Value>,
    /// The moves that are left after this one, if that is known.
    pub distance: Option<u32>,
}

impl Choice {
    /// Returns whether the move is known to win.
    pub fn wins(&self) -> bool {
        self.after == Some(Value::Loss)
    }
}

/// A position with its moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// The position.
    pub position: u64,
    /// Its value for the player to move, if it is known.
    pub value: Option<Value>,
    /// The moves until the end if the winner hurries and the loser delays, if that is known.
    pub distance: Option<u32>,
    /// The moves: winning ones, those that win soonest first; losing ones, those that lose latest
    /// first; then those of unknown value; each by ascending mask.
    pub moves: Vec<Choice>,
    /// Moves whose value only follows from that of the position, without distance or nimber.
    pub inferred: usize,
}

impl Survey {
    /// Returns the moves that are known to win.
    pub fn winning(&self) -> &[Choice] {
        &self.moves[..self.moves.partition_point(Choice::wins)]
    }

    /// Returns the winning moves that win soonest, all if distances are not known.
    pub fn soonest(&self) -> &[Choice] {
        let winning = self.winning();
        &winning[..winning.partition_point(|choice| choice.distance == winning[0].distance)]
    }

    /// Returns the number of moves whose value is not known.
    pub fn unknown(&self) -> usize {
        self.moves.iter().filter(|choice| choice.after.is_none()).count()
    }
}

/// Surveys a position. A value that the source does not hold is derived from the moves if possible:
/// one winning move proves a win, and only losing moves prove a loss. Values of moves are
/// [inferred](infer) from that of the position.
///
/// # Errors
/// Those of [`Answers::evaluate`].
pub fn survey(answers: &dyn Answers, position: u64) -> Result<Survey, AnswerError> {
    let taken: Vec<u64> = legal(answers.board(), position).collect();
    let after: Vec<u64> = taken.iter().map(|taken| position ^ taken).chain([position]).collect();
    let mut found = answers.evaluate(position, &after)?;
    let own = found.pop().flatten();
    let mut values: Vec<Option<Value>> = found.iter().map(|found| found.map(|found| found.value)).collect();
    let concluded = || match &*values {
        [] => Some(answers.rule().empty()),
        values if values.contains(&Some(Value::Loss)) => Some(Value::Win),
        values if !values.contains(&None) => Some(Value::Loss),
        _ => None,
    };
    let value = own.map(|own| own.value).or_else(concluded);
    let inferred = value.map_or(0, |value| infer(value, &mut values));
    let rank = |choice: &Choice| match (choice.after, choice.distance.unwrap_or(0)) {
        (Some(Value::Loss), moves) => (0, moves),
        (Some(Value::Win), moves) => (1, u32::MAX - moves),
        (None, _) => (2, 0),
    };
    let choices = taken.into_iter().zip(values.into_iter().zip(found));
    let mut moves: Vec<Choice> = choices
        .map(|(taken, (after, found))| Choice { taken, after, distance: found.and_then(|found| found.distance) })
        .collect();
    let ascends = moves.is_sorted_by(|one, next| one.taken < next.taken);
    debug_assert!(ascends, "board, invariant 1: the moves are sorted");
    // The sort is stable.
    moves.sort_by_key(rank);
    let distance = own.and_then(|own| own.distance);
    Ok(Survey { position, value, distance, moves, inferred })
}
