//! One game between a person and the program.
//!
//! A game is its first position and a list of turns; its current position follows from these. Undo
//! moves turns to another list, redo moves them back.
//!
//! # Invariants
//! 1. Every turn is legal in its position, so the list can be replayed.
//! 2. A new turn clears the undone turns.
//! 3. `now` is the position after all turns, so a turn costs the same after any number of others.

use super::answers::{AnswerError, Answers, legal};
use super::level::{self, Level, Reply};
use super::names::{MoveError, Names};
use super::survey::{Choice, Survey, survey};
use std::sync::Arc;
use trinim_game::Value;

/// The player to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Player {
    /// The person at the board.
    Person,
    /// The program.
    Program,
}

impl Player {
    /// Returns the other one.
    #[must_use]
    pub const fn other(self) -> Player {
        match self {
            Player::Person => Player::Program,
            Player::Program => Player::Person,
        }
    }

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            Player::Person => "person",
            Player::Program => "program",
        }
    }
}

/// What happened in a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The player to move took these pieces.
    Take(u64),
    /// The person set up this position and moves next.
    Set(u64),
    /// The players exchanged sides: the other one is to move.
    Swap,
}

/// Where a game stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stand {
    /// The position.
    pub position: u64,
    /// The player to move next.
    pub to_move: Player,
}

impl Stand {
    fn after(self, turn: Turn) -> Stand {
        match turn {
            Turn::Take(taken) => {
                assert_eq!(taken & !self.position, 0, "session, invariant 1: a turn is legal");
                Stand { position: self.position ^ taken, to_move: self.to_move.other() }
            }
            Turn::Set(position) => Stand { position, to_move: Player::Person },
            Turn::Swap => Stand { to_move: self.to_move.other(), ..self },
        }
    }
}

/// What a hint says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The game is over.
    Over,
    /// These moves win.
    Wins {
        /// Those that win soonest; all, if distances are not known.
        soonest: Vec<u64>,
        /// The others.
        later: Vec<u64>,
        /// The moves until the end, if that is known.
        distance: Option<u32>,
    },
    /// Every move loses; this one is hardest to answer, if that is known.
    Lost(Option<Reply>),
    /// No move is known to win, and this many are of unknown value.
    Unknown(usize),
}

/// A game between a person and the program.
pub struct Session {
    answers: Arc<dyn Answers>,
    names: Names,
    first: Stand,
    turns: Vec<Turn>,
    undone: Vec<Turn>,
    now: Stand,
}

impl Session {
    /// Begins a game at a position of the board.
    pub fn new(answers: Arc<dyn Answers>, position: u64, to_move: Player) -> Session {
        let (names, first) = (Names::new(answers.board()), Stand { position, to_move });
        Session { answers, names, first, turns: Vec::new(), undone: Vec::new(), now: first }
    }

    /// Returns the source of values.
    pub fn answers(&self) -> &Arc<dyn Answers> {
        &self.answers
    }

    /// Returns the names of the cells.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Returns how the game began.
    pub fn first(&self) -> Stand {
        self.first
    }

    /// Returns the turns so far.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// Returns each turn with where the game stood before it.
    pub fn history(&self) -> impl Iterator<Item = (Stand, Turn)> {
        self.turns.iter().scan(self.first, |stand, turn| {
            let before = *stand;
            *stand = before.after(*turn);
            Some((before, *turn))
        })
    }

    /// Returns where the game stands.
    pub fn stand(&self) -> Stand {
        self.now
    }

    /// Returns the winner, if the game is over.
    pub fn winner(&self) -> Option<Player> {
        let Stand { position, to_move } = self.stand();
        let is_over = legal(self.answers.board(), position).next().is_none();
        is_over.then(|| match self.answers.rule().empty() {
            Value::Win => to_move,
            Value::Loss => to_move.other(),
        })
    }

    /// Reads a move that is legal now.
    ///
    /// # Errors
    /// Those of [`Names::read`].
    pub fn read(&self, text: &str) -> Result<u64, MoveError> {
        self.names.read(self.answers.board(), self.stand().position, text)
    }

    /// Writes a move.
    pub fn write(&self, taken: u64) -> String {
        self.names.write(self.answers.board(), taken)
    }

    /// Takes pieces for the player to move. Returns false, and changes nothing, if that is not
    /// legal.
    pub fn take(&mut self, taken: u64) -> bool {
        let board = self.answers.board();
        let is_legal = self.stand().position & taken == taken && board.moves().binary_search(&taken).is_ok();
        if is_legal {
            self.push(Turn::Take(taken));
        }
        is_legal
    }

    /// Sets up a position of the board; the person moves next. Returns false, and changes nothing,
    /// if the position has a piece outside the board.
    pub fn set(&mut self, position: u64) -> bool {
        let is_inside = position & !self.answers.board().full() == 0;
        if is_inside {
            self.push(Turn::Set(position));
        }
        is_inside
    }

    /// Exchanges the sides: the other player moves next.
    pub fn swap(&mut self) {
        self.push(Turn::Swap);
    }

    fn push(&mut self, turn: Turn) {
        self.turns.push(turn);
        self.now = self.now.after(turn);
        self.undone.clear();
        let full = self.answers.board().full();
        assert_eq!(self.now.position & !full, 0, "session, invariant 1: a turn is legal");
    }

    /// Takes turns back, up to and including the last one of the person. Returns how many; 0, and
    /// nothing changes, if the person had none.
    pub fn undo(&mut self) -> usize {
        let of_person = |(before, turn): (Stand, Turn)| match turn {
            Turn::Take(_) => before.to_move == Player::Person,
            Turn::Set(_) | Turn::Swap => true,
        };
        let last = self.history().enumerate().filter(|(_, turn)| of_person(*turn)).map(|(index, _)| index).last();
        let Some(last) = last else { return 0 };
        let back = self.turns.split_off(last);
        let number = back.len();
        self.undone.extend(back.into_iter().rev());
        self.now = self.replayed();
        number
    }

    /// Returns the position after all turns.
    fn replayed(&self) -> Stand {
        self.turns.iter().fold(self.first, |stand, turn| stand.after(*turn))
    }

    /// Plays undone turns again, until the person is to move. Returns how many.
    pub fn redo(&mut self) -> usize {
        let mut number = 0;
        while let Some(turn) = self.undone.pop() {
            self.turns.push(turn);
            self.now = self.now.after(turn);
            number += 1;
            if self.stand().to_move == Player::Person {
                break;
            }
        }
        debug_assert_eq!(self.now, self.replayed(), "session, invariant 2: what was undone follows the turns");
        number
    }

    /// Returns all moves with their known values.
    ///
    /// # Errors
    /// Those of [`survey`].
    pub fn survey(&self) -> Result<Survey, AnswerError> {
        survey(&*self.answers, self.stand().position)
    }

    /// Returns advice for the player to move.
    ///
    /// # Errors
    /// Those of [`survey`].
    pub fn hint(&self) -> Result<Hint, AnswerError> {
        let survey = self.survey()?;
        if survey.moves.is_empty() {
            return Ok(Hint::Over);
        }
        if !survey.winning().is_empty() {
            let (soonest, later) = survey.winning().split_at(survey.soonest().len());
            let [soonest, later] = [soonest, later].map(|moves| moves.iter().map(|choice| choice.taken).collect());
            return Ok(Hint::Wins { soonest, later, distance: survey.distance });
        }
        match survey.unknown() {
            0 => Ok(Hint::Lost(level::hardest(&*self.answers, &survey)?)),
            unknown => Ok(Hint::Unknown(unknown)),
        }
    }

    /// Chooses a move for the program; `None` if the game is over.
    ///
    /// # Errors
    /// Those of [`survey`].
    pub fn choose(&self, level: Level, seed: u64) -> Result<Option<Choice>, AnswerError> {
        level::choose(&*self.answers, self.stand().position, level, seed)
    }
}
