//! The types of the answers, field by field.

use schemars::JsonSchema;
use serde::Serialize;
use trinim::database::Keep;
use trinim::game::position::{cells, rows};
use trinim::game::{Board, Rule, Value};
use trinim::play::level::{self, Level};
use trinim::play::names::{Names, ends, places, takes};
use trinim::play::report::ProbeReport;
use trinim::play::survey::Choice;
use trinim::play::transcript::{board_identity, board_name};
use trinim::play::{AnswerError, Answers};

/// A game, as answers name it.
#[derive(Serialize, JsonSchema)]
pub struct GameName {
    /// The name of the board.
    board: String,
    /// The rule.
    rule: Rule,
}

impl GameName {
    pub fn new(answers: &dyn Answers) -> GameName {
        GameName { board: board_name(answers.board()), rule: answers.rule() }
    }
}

/// A probed position with its game.
#[derive(Serialize, JsonSchema)]
pub struct Position {
    /// The game.
    #[serde(flatten)]
    game: GameName,
    /// What is known.
    #[serde(flatten)]
    probed: ProbeReport,
    /// The smallest image of the position under the symmetries of the board.
    canonical: String,
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

/// The move that the program plays.
#[derive(Serialize, JsonSchema)]
pub struct Reply {
    /// The game.
    #[serde(flatten)]
    game: GameName,
    /// The position before the move.
    position: String,
    /// How well the program plays.
    level: Level,
    /// The seed of its choices.
    seed: u64,
    /// The move; null if no move is left.
    r#move: Option<ReplyMove>,
}

/// A move that the program plays.
#[derive(Serialize, JsonSchema)]
pub struct ReplyMove {
    /// The cells it takes.
    cells: Vec<u32>,
    /// The move as players write it.
    name: String,
    /// The position after it.
    child: String,
    /// The value of that for the opponent; null if it is not known.
    value: Option<Value>,
    /// Moves that are left after it; null if they are not known.
    distance: Option<u32>,
    /// Whether the program guessed, because the value is not known.
    guess: bool,
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
#[derive(Serialize, JsonSchema)]
pub struct Boards {
    /// Each board under each rule.
    pub boards: Vec<BoardReport>,
}

/// A board under a rule, with all that a drawing needs.
#[derive(Serialize, JsonSchema)]
pub struct BoardReport {
    /// The game.
    #[serde(flatten)]
    game: GameName,
    /// A hash of the cells and moves of a board from a file, as two files can give one name; null
    /// where the name says which board it is. With it as a parameter, a request is answered for
    /// this board only.
    identity: Option<String>,
    /// What is kept: `database` (every value), `book:PIECES` (positions with at least so many
    /// pieces) or `counts`.
    keep: Keep,
    /// Positions of this many pieces or fewer are solved on the spot; null: none, or all values are
    /// kept.
    spot_pieces: Option<u32>,
    /// What a move takes and who wins, in two sentences.
    rules: String,
    /// Fewest pieces of a move; null: one.
    min_take: Option<u32>,
    /// Most pieces of a move; null: no limit.
    max_take: Option<u32>,
    /// The full board.
    start: String,
    /// By index; neighbours on a line are 1 apart, y grows downwards.
    cells: Vec<CellPlace>,
    /// The cells of every move.
    moves: Vec<Vec<u32>>,
    /// The symmetries of the board, the identity first: for each cell the one that it goes to.
    symmetries: Vec<Vec<u8>>,
}

/// A cell of a drawing.
#[derive(Serialize, JsonSchema)]
pub struct CellPlace {
    /// As players write it.
    name: String,
    /// To the right, in distances of neighbours.
    x: f64,
    /// Downwards.
    y: f64,
}

impl BoardReport {
    /// Describes the board of a source.
    pub fn new(answers: &dyn Answers, keep: Keep, spot_pieces: Option<u32>) -> BoardReport {
        let board = answers.board();
        // More digits would not show in a drawing.
        let round = |length: f64| (length * 1e4).round() / 1e4;
        let named = Names::new(board);
        let named = named.all().iter().zip(places(board));
        BoardReport {
            game: GameName::new(answers),
            identity: board_identity(board),
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

/// Says in two sentences what a move takes and who wins.
fn sentences(board: &Board, rule: Rule) -> String {
    let sentence = |text: &str| format!("{}{}.", text[..1].to_uppercase(), &text[1..]);
    format!("{} {}", sentence(&takes(board)), sentence(ends(board, rule)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trinim::game::Takes;

    #[test]
    fn rules_are_those_of_the_board() {
        let said = |name: &str, takes: Takes, rule| sentences(&Board::named(name, takes).unwrap(), rule);
        let takes = |least, most| Takes { least: Some(least), most };
        assert_eq!(
            said("triangle:3", takes(1, None), Rule::Misere),
            "Take one or more neighbouring pieces of one line. Whoever takes the last piece loses."
        );
        assert_eq!(
            said("triangle:3", takes(1, Some(1)), Rule::Normal),
            "Take one piece of one line. Whoever takes the last piece wins."
        );
        assert_eq!(
            said("triangle:4", takes(2, Some(3)), Rule::Normal),
            "Take 2 to 3 neighbouring pieces of one line. Whoever cannot move loses."
        );
        assert_eq!(
            said("cram:3x4", takes(1, None), Rule::Misere),
            "Take exactly 2 neighbouring pieces of one line. Whoever cannot move wins."
        );
    }
}
