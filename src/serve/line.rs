//! The game of two perfect players.

use crate::answer::GameName;
use schemars::JsonSchema;
use serde::Serialize;
use trinim::game::Value;
use trinim::game::position::{cells, rows};
use trinim::play::level::hardest;
use trinim::play::{AnswerError, Answers, Names, survey};

/// The game from a position when both sides do their best.
#[derive(Serialize, JsonSchema)]
pub struct Line {
    /// The game.
    #[serde(flatten)]
    game: GameName,
    /// The position at the start.
    position: String,
    /// The moves: a winner takes the first winning one, a loser that after which the fewest answers
    /// win; where distances are known, the winner hurries and the loser delays.
    moves: Vec<LineMove>,
    /// The position after the last move.
    end: String,
    /// Whether no move is left; else the next value is not known, or the time was over.
    complete: bool,
}

/// A move of a line.
#[derive(Serialize, JsonSchema)]
pub struct LineMove {
    /// The position before the move.
    position: String,
    /// Its value.
    value: Value,
    /// The cells that the move takes.
    cells: Vec<u32>,
    /// The move as players write it.
    name: String,
}

impl Line {
    /// Follows the game from a position: a winner takes the first of the winning moves that win
    /// soonest, a loser the [hardest reply](hardest). Stops early when `stop` returns true, which
    /// is called before each move.
    ///
    /// # Errors
    /// Those of [`survey`].
    pub fn follow(answers: &dyn Answers, start: u64, mut stop: impl FnMut() -> bool) -> Result<Line, AnswerError> {
        let (board, names) = (answers.board(), Names::new(answers.board()));
        let (mut at, mut moves, mut complete) = (start, Vec::new(), false);
        while !stop() {
            let here = survey(answers, at)?;
            if here.moves.is_empty() {
                complete = true;
                break;
            }
            let taken = match (here.value, here.winning()) {
                (Some(Value::Win), [first, ..]) => Some(first.taken),
                (Some(Value::Loss), _) => hardest(answers, &here)?.map(|reply| reply.taken),
                _ => None,
            };
            let (Some(value), Some(taken)) = (here.value, taken) else { break };
            let (position, name) = (rows(board, at), names.write(board, taken));
            moves.push(LineMove { position, value, cells: cells(taken), name });
            at ^= taken;
        }
        Ok(Line { game: GameName::new(answers), position: rows(board, start), moves, end: rows(board, at), complete })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::books::{Book, four};
    use pipeline::Options;
    use std::path::Path;
    use trinim::game::position::parse;
    use trinim::game::{Board, Rule, reference};
    use trinim::kernel::Kernel;
    use trinim::play::OnTheSpot;
    use trinim::solve::parts::{self, PartSolver};

    fn line(answers: &dyn Answers, start: u64) -> Line {
        Line::follow(answers, start, || false).unwrap()
    }

    #[test]
    fn a_line_keeps_the_value_to_the_end() {
        for answers in four() {
            let board = answers.board();
            for start in 0..=board.full() {
                let line = line(&**answers, start);
                assert!(line.complete && line.end == rows(board, 0) && line.position == rows(board, start));
                let mut at = start;
                for (number, step) in line.moves.iter().enumerate() {
                    assert_eq!((parse(board, &step.position), step.value), (Ok(at), answers.value(at).unwrap()));
                    let first = line.moves[0].value == Value::Win;
                    assert_eq!(step.value == Value::Win, first == (number % 2 == 0));
                    at ^= step.cells.iter().fold(0, |taken, cell| taken | 1 << cell);
                }
                assert_eq!(at, 0);
            }
            let mut asked = 0;
            let third = || {
                asked += 1;
                asked == 3
            };
            assert_eq!(Line::follow(&**answers, board.full(), third).unwrap().moves.len(), 2);
            // The line in a book ends at the first unknown position.
            let lines = (3..9).map(|least| line(&Book(answers.clone(), least), board.full()));
            let is_open = |line: &Line| !line.complete && line.end != rows(board, 0) && !line.moves.is_empty();
            assert!(lines.filter(is_open).count() > 0);
        }
    }

    /// Where distances are known, the winner hurries and the loser delays.
    #[test]
    fn a_line_is_as_long_as_the_distance_of_its_start() {
        let board = Board::triangle(4, None).unwrap();
        for rule in Rule::ALL {
            let distances = reference::distances(board.cells(), board.moves(), rule);
            let nowhere = parts::run_in(Path::new("/nonexistent"));
            let solver = PartSolver::new(board.clone(), rule, Kernel::detect(), Options::default(), nowhere);
            let answers = OnTheSpot::new(None, solver);
            for start in (1..=board.full()).step_by(7) {
                let line = line(&answers, start);
                assert_eq!((line.complete, line.moves.len()), (true, distances[start as usize].into()), "{start:#x}");
            }
        }
    }
}
