//! Games as text.
//!
//! ```text
//! # trinim game
//! board triangle:5
//! rule misere
//! start 1/11/111/1111/11111
//! first person
//! take c1-c3
//! set 1/11/000/0000/00000
//! swap
//! ```
//!
//! A board from a file has its identity after its name. The turns alternate from `first` on; after
//! `set` the person moves, and `swap` gives the turn to the other player. Empty lines and lines
//! that begin with `#` are ignored.

use super::answers::Answers;
use super::session::{Player, Session, Turn};
use std::fmt::Write;
use std::sync::Arc;
use trinim_game::text::{bare, is_blank};
use trinim_game::{Board, Takes, position};
use xxhash_rust::xxh3::xxh3_64;

/// The first line of every transcript.
pub const SIGNATURE: &str = "# trinim game";

/// Returns the name of a board in transcripts and in the server's answers.
pub fn board_name(board: &Board) -> String {
    let least = board.min_take().map_or(String::new(), |take| format!(",least:{take}"));
    let take = board.max_take().map_or(String::new(), |take| format!(",take:{take}"));
    format!("{}{least}{take}", board.name())
}

/// Returns the identity of a board from a file, in transcripts and in the server's answers: a hash
/// of its cells and moves, because two files can use one name. `None` if the name identifies it.
pub fn board_identity(board: &Board) -> Option<String> {
    let takes = Takes { least: board.min_take(), most: board.max_take() };
    let is_named = board.layers().is_some() || Board::named(board.name(), takes).is_ok_and(|named| named == *board);
    // Both zeros are one coordinate.
    let places = board.places().iter().flatten().map(|at| (at + 0.0).to_bits());
    let bytes = places.chain(board.moves().iter().copied()).flat_map(u64::to_le_bytes);
    (!is_named).then(|| format!("{:016x}", xxh3_64(&bytes.collect::<Vec<u8>>())))
}

/// Returns the name of a board in a transcript.
fn named(board: &Board) -> String {
    board_identity(board).map_or_else(|| board_name(board), |identity| format!("{} {identity}", board_name(board)))
}

/// Writes a game.
pub fn write(session: &Session) -> String {
    let answers = &**session.answers();
    let (board, first) = (answers.board(), session.first());
    let mut text = format!(
        "{SIGNATURE}\nboard {}\nrule {}\nstart {}\nfirst {}\n",
        named(board),
        answers.rule(),
        position::rows(board, first.position),
        first.to_move.name()
    );
    for turn in session.turns() {
        // Writing into memory never fails.
        let _ = match turn {
            Turn::Take(taken) => writeln!(text, "take {}", session.write(*taken)),
            Turn::Set(set) => writeln!(text, "set {}", position::rows(board, *set)),
            Turn::Swap => writeln!(text, "swap"),
        };
    }
    text
}

/// Reads a game on the board and under the rule of `answers`.
///
/// # Errors
/// [`TranscriptError`] with the line.
pub fn read(answers: &Arc<dyn Answers>, text: &str) -> Result<Session, TranscriptError> {
    let (board, rule) = (answers.board(), answers.rule());
    if text.lines().map(bare).find(|line| !line.is_empty()) != Some(SIGNATURE) {
        return Err(TranscriptError { line: 1, reason: format!("expected {SIGNATURE:?}") });
    }
    let is_said = |line: &str| !line.is_empty() && !line.starts_with('#');
    let lines = (1..).zip(text.lines().map(bare)).filter(|(_, line)| is_said(line));
    let (mut start, mut session): (_, Option<Session>) = (None, None);
    let (mut board_named, mut rule_named, mut last) = (false, false, 1);
    for (line, said) in lines {
        last = line;
        let wrong = |reason: String| TranscriptError { line, reason };
        let (word, rest) = said.split_once(is_blank).map_or((said, ""), |(word, rest)| (word, bare(rest)));
        let read = |text: &str| position::parse(board, text).map_err(|error| wrong(error.to_string()));
        match (word, &mut session) {
            ("board", None) if rest == named(board) => board_named = true,
            ("board", None) => return Err(wrong(format!("the game is on {rest:?}, not on {:?}", named(board)))),
            ("rule", None) if rest == rule.name() => rule_named = true,
            ("rule", None) => return Err(wrong(format!("the game has rule {rest:?}, not {:?}", rule.name()))),
            ("start", None) => start = Some(read(rest)?),
            ("first", None) => {
                let players = [Player::Person, Player::Program];
                let player = players.into_iter().find(|player| player.name() == rest);
                let player = player.ok_or_else(|| wrong("expected person or program".to_owned()))?;
                let (Some(start), true, true) = (start, board_named, rule_named) else {
                    return Err(wrong("expected board, rule and start before first".to_owned()));
                };
                session = Some(Session::new(answers.clone(), start, player));
            }
            ("take", Some(session)) => {
                let taken = session.read(rest).map_err(|error| wrong(error.to_string()))?;
                session.take(taken);
            }
            ("set", Some(session)) => {
                let position = read(rest)?;
                session.set(position);
            }
            ("swap", Some(session)) if rest.is_empty() => session.swap(),
            (_, None) => return Err(wrong("expected board, rule, start or first".to_owned())),
            (_, Some(_)) => return Err(wrong("expected take, set or swap".to_owned())),
        }
    }
    session.ok_or(TranscriptError { line: last, reason: "the game ends before it began".to_owned() })
}

/// Why a text is not a game on this board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct TranscriptError {
    line: usize,
    reason: String,
}
