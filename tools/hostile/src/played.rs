//! Games of `trinim play` as text.

use crate::choice;
use std::sync::Arc;
use trinim::game::{Board, Rule, Value};
use trinim::play::answers::legal;
use trinim::play::session::Turn;
use trinim::play::{AnswerError, Answers, Session, transcript};

/// A board without any value.
struct Unsolved {
    board: Board,
    rule: Rule,
}

impl Answers for Unsolved {
    fn board(&self) -> &Board {
        &self.board
    }

    fn rule(&self) -> Rule {
        self.rule
    }

    fn value(&self, _position: u64) -> Result<Value, AnswerError> {
        Err(AnswerError::Unknown { limits: "nothing is solved".to_owned() })
    }
}

/// A transcript on the board whose size is in the first byte: it is rejected, or is a legal game
/// that survives writing and reading.
pub fn played(bytes: &[u8]) {
    let (size, rest) = choice(bytes);
    let board = Board::triangle(1 + u32::from(size % 10), None).expect("1 to 10 layers");
    let answers: Arc<dyn Answers> = Arc::new(Unsolved { board, rule: Rule::ALL[usize::from(size / 128)] });
    let text = String::from_utf8_lossy(rest);
    let Ok(session) = transcript::read(&answers, &text) else { return };
    for (stand, turn) in session.history() {
        if let Turn::Take(taken) = turn {
            assert!(legal(answers.board(), stand.position).any(|legal| legal == taken), "{text}");
        }
    }
    let same = |other: &Session| (other.turns() == session.turns(), other.stand() == session.stand());
    let again = transcript::read(&answers, &transcript::write(&session)).expect("what was written");
    assert_eq!(same(&again), (true, true), "{text}");
    assert_eq!(again.winner(), session.winner(), "{text}");
}
