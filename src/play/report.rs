//! Answers as programs read them: what `trinim probe --json` and the server's paths print, field by
//! field.

use super::answers::{AnswerError, Answers};
use super::level::{self, Level, main_line};
use super::names::{Names, places, sentences};
use super::survey::Choice;
use super::transcript::board_name;
use crate::database::{Keep, Probe};
use serde::Serialize;
use trinim_game::position::{cells, hex, rows};
use trinim_game::{Board, Outcome, Rule, Value};

/// A game, as answers name it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GameName {
    /// The name of the board.
    pub board: String,
    /// The rule.
    pub rule: Rule,
}

impl GameName {
    fn new(answers: &dyn Answers) -> GameName {
        GameName { board: board_name(answers.board()), rule: answers.rule() }
    }
}

/// A position with its value and all its moves.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbeReport {
    /// Rows from the top, as in `1/01/110`; with `error`: the text as given.
    pub position: String,
    /// The same as a mask, cell 0 in the lowest bit.
    pub hex: String,
    /// `win` or `loss` for the player to move.
    pub value: Value,
    /// `N` for a win, `P` for a loss.
    pub outcome: Outcome,
    /// Nimber of the position; null unless the folder has nimbers, or it was solved on the spot, in
    /// normal play, in components of at most 26 pieces.
    pub nimber: Option<u32>,
    /// Moves until the end of the game, if the winner hurries and the loser delays; null unless the
    /// folder has distances, or they were counted on the spot, of at most 22 pieces.
    pub distance: Option<u32>,
    /// All legal moves whose values are known: winning ones first, the soonest before others, then
    /// losing ones, the latest first, and then by ascending mask.
    pub moves: Vec<MoveReport>,
    /// Legal moves to positions whose values are not known.
    pub moves_not_kept: u64,
}

/// A move of a probed position.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MoveReport {
    /// Indices of the pieces taken.
    pub cells: Vec<u32>,
    /// The position after the move.
    pub child: String,
    /// Value of the child, for the player who moves there: `loss` marks a winning move.
    pub value: Value,
    /// Nimber of the child.
    pub nimber: Option<u32>,
    /// Moves that are left after this one.
    pub distance: Option<u32>,
}

impl ProbeReport {
    /// Writes a probed position of a board.
    pub fn new(board: &Board, probe: &Probe) -> ProbeReport {
        let moves = probe.children.iter().map(|child| MoveReport {
            cells: cells(child.taken),
            child: rows(board, child.position),
            value: child.value,
            nimber: child.nimber,
            distance: child.distance,
        });
        ProbeReport {
            position: rows(board, probe.position),
            hex: hex(probe.position),
            value: probe.value,
            outcome: probe.value.outcome(),
            nimber: probe.nimber,
            distance: probe.distance,
            moves: moves.collect(),
            moves_not_kept: probe.moves_not_kept,
        }
    }
}

/// A probed position with its game.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Position {
    /// The game.
    #[serde(flatten)]
    pub game: GameName,
    /// What is known.
    #[serde(flatten)]
    pub probed: ProbeReport,
    /// The smallest image of the position under the symmetries of the board.
    pub canonical: String,
}

impl Position {
    /// Probes a position.
    ///
    /// # Errors
    /// Those of [`Answers::probe`].
    pub fn probe(answers: &dyn Answers, position: u64) -> Result<Position, AnswerError> {
        let board = answers.board();
        let images = board.symmetries().iter().map(|symmetry| symmetry.apply(position));
        Ok(Position {
            game: GameName::new(answers),
            probed: ProbeReport::new(board, &answers.probe(position)?),
            canonical: rows(board, images.min().unwrap_or(position)),
        })
    }
}

/// The game from a position when both sides do their best.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line {
    /// The game.
    #[serde(flatten)]
    pub game: GameName,
    /// The position at the start.
    pub position: String,
    /// The moves: a winner takes the first winning one, a loser that after which the fewest answers
    /// win; where distances are known, the winner hurries and the loser delays.
    pub moves: Vec<LineMove>,
    /// The position after the last move.
    pub end: String,
    /// Whether no move is left; else the next value is not known, or the time was over.
    pub complete: bool,
}

/// A move of a line.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineMove {
    /// The position before the move.
    pub position: String,
    /// Its value.
    pub value: Value,
    /// The cells that the move takes.
    pub cells: Vec<u32>,
    /// The move as players write it.
    pub name: String,
}

impl Line {
    /// Follows the [main line](main_line) until `stop` returns true.
    ///
    /// # Errors
    /// Those of [`main_line`].
    pub fn follow(answers: &dyn Answers, position: u64, stop: impl FnMut() -> bool) -> Result<Line, AnswerError> {
        let (board, names) = (answers.board(), Names::new(answers.board()));
        let line = main_line(answers, position, stop)?;
        let moves = line.steps.iter().map(|step| LineMove {
            position: rows(board, step.position),
            value: step.value,
            cells: cells(step.taken),
            name: names.write(board, step.taken),
        });
        Ok(Line {
            game: GameName::new(answers),
            position: rows(board, position),
            moves: moves.collect(),
            end: rows(board, line.end),
            complete: line.complete,
        })
    }
}

/// The move that the program plays.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reply {
    /// The game.
    #[serde(flatten)]
    pub game: GameName,
    /// The position before the move.
    pub position: String,
    /// How well the program plays.
    pub level: Level,
    /// The seed of its choices.
    pub seed: u64,
    /// The move; null if no move is left.
    pub r#move: Option<ReplyMove>,
}

/// A move that the program plays.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplyMove {
    /// The cells it takes.
    pub cells: Vec<u32>,
    /// The move as players write it.
    pub name: String,
    /// The position after it.
    pub child: String,
    /// The value of that for the opponent; null if it is not known.
    pub value: Option<Value>,
    /// Moves that are left after it; null if they are not known.
    pub distance: Option<u32>,
    /// Whether the program guessed, because the value is not known.
    pub guess: bool,
}

impl Reply {
    /// [Chooses](level::choose) a move.
    ///
    /// # Errors
    /// Those of [`level::choose`].
    pub fn choose(answers: &dyn Answers, position: u64, level: Level, seed: u64) -> Result<Reply, AnswerError> {
        let board = answers.board();
        let step = |Choice { taken, after, distance }| ReplyMove {
            cells: cells(taken),
            name: Names::new(board).write(board, taken),
            child: rows(board, position ^ taken),
            value: after,
            distance,
            guess: after.is_none(),
        };
        Ok(Reply {
            game: GameName::new(answers),
            position: rows(board, position),
            level,
            seed,
            r#move: level::choose(answers, position, level, seed)?.map(step),
        })
    }
}

/// The boards that there are answers for.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Boards {
    /// Each board under each rule.
    pub boards: Vec<BoardReport>,
}

/// A board under a rule, with all that a drawing needs.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoardReport {
    /// The game.
    #[serde(flatten)]
    pub game: GameName,
    /// What is kept: `database` (every value), `book:PIECES` (positions with at least so many
    /// pieces) or `counts`.
    pub keep: Keep,
    /// Positions of this many pieces or fewer are solved on the spot; null: none, or all values are
    /// kept.
    pub spot_pieces: Option<u32>,
    /// What a move takes and who wins, in two sentences.
    pub rules: String,
    /// Fewest pieces of a move; null: one.
    pub min_take: Option<u32>,
    /// Most pieces of a move; null: no limit.
    pub max_take: Option<u32>,
    /// The full board.
    pub start: String,
    /// By index; neighbours on a line are 1 apart, y grows downwards.
    pub cells: Vec<CellPlace>,
    /// The cells of every move.
    pub moves: Vec<Vec<u32>>,
    /// The symmetries of the board, the identity first: for each cell the one that it goes to.
    pub symmetries: Vec<Vec<u8>>,
}

/// A cell of a drawing.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellPlace {
    /// As players write it.
    pub name: String,
    /// To the right, in distances of neighbours.
    pub x: f64,
    /// Downwards.
    pub y: f64,
}

impl BoardReport {
    /// Describes the board of a source.
    pub fn new(answers: &dyn Answers, keep: Keep, spot_pieces: Option<u32>) -> BoardReport {
        let board = answers.board();
        // Drawings need no more digits.
        let round = |length: f64| (length * 1e4).round() / 1e4;
        let named = Names::new(board);
        let named = named.all().iter().zip(places(board));
        BoardReport {
            game: GameName::new(answers),
            keep,
            spot_pieces,
            rules: sentences(board, answers.rule()),
            min_take: board.min_take(),
            max_take: board.max_take(),
            start: rows(board, board.full()),
            cells: named
                .map(|(name, place)| CellPlace { name: name.clone(), x: round(place.x), y: round(place.y) })
                .collect(),
            moves: board.moves().iter().map(|mask| cells(*mask)).collect(),
            symmetries: board.symmetries().iter().map(|symmetry| symmetry.image().to_vec()).collect(),
        }
    }
}
