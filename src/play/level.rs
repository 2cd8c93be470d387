//! How the program chooses its moves.
//!
//! A level is a rate of slips: the share of moves, in thousandths, that are drawn from all legal
//! ones. The other moves are the best known: a move that wins soonest; without one, a move of
//! unknown value; in a lost position the [hardest reply](hardest), or any move if that is not
//! known. Towards the end of the game no level slips.

use super::answers::{AnswerError, Answers};
use super::survey::{Choice, Survey, survey};
use serde::Serialize;
use std::fmt;
use std::str::FromStr;
use trinim_game::Value;
use trinim_game::random::Random;

/// How well the program plays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Never gives a won game away.
    #[default]
    Perfect,
    /// Slips in one of four moves while more than ten pieces are left.
    Club,
    /// Slips in two of three moves while more than four pieces are left.
    Beginner,
}

impl Level {
    /// All levels, the best first.
    pub const ALL: [Level; 3] = [Level::Perfect, Level::Club, Level::Beginner];

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Perfect => "perfect",
            Level::Club => "club",
            Level::Beginner => "beginner",
        }
    }

    /// Returns how many of a thousand moves are drawn from all moves with this many pieces left.
    const fn slips(self, pieces: u32) -> u64 {
        match self {
            Level::Club if pieces > 10 => 250,
            Level::Beginner if pieces > 4 => 667,
            _ => 0,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error for a text that names no level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown level {text:?}: expected perfect, club or beginner")]
pub struct ParseLevelError {
    text: String,
}

impl FromStr for Level {
    type Err = ParseLevelError;

    fn from_str(text: &str) -> Result<Level, ParseLevelError> {
        let found = Level::ALL.into_iter().find(|level| level.name() == text);
        found.ok_or_else(|| ParseLevelError { text: text.to_owned() })
    }
}

/// Chooses the program's move; `None` if no move is left. It is a guess if the value after it is
/// not known.
///
/// # Errors
/// Those of [`survey`].
pub fn choose(answers: &dyn Answers, position: u64, level: Level, seed: u64) -> Result<Option<Choice>, AnswerError> {
    let survey = survey(answers, position)?;
    if survey.moves.is_empty() {
        return Ok(None);
    }
    let drawn = |random: &mut Random, from: &[Choice]| Some(from[random.index(from.len())]);
    // Mixed, so that the positions of a game draw independent numbers.
    let mut random = Random::new(seed ^ Random::new(position).bits());
    if random.below(1000) < level.slips(position.count_ones()) {
        return Ok(drawn(&mut random, &survey.moves));
    }
    let (winning, unknown) = (survey.soonest(), &survey.moves[survey.moves.len() - survey.unknown()..]);
    if let Some(best) = [winning, unknown].into_iter().find(|best| !best.is_empty()) {
        return Ok(drawn(&mut random, best));
    }
    match hardest(answers, &survey)? {
        Some(reply) => Ok(survey.moves.iter().find(|choice| choice.taken == reply.taken).copied()),
        None => Ok(drawn(&mut random, &survey.moves)),
    }
}

/// A move from a lost position, with what the opponent needs to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The pieces taken.
    pub taken: u64,
    /// The answers that are known to win for the opponent.
    pub winning_answers: usize,
    /// All answers of the opponent.
    pub answers: usize,
    /// The moves that are left after this one, if that is known.
    pub distance: Option<u32>,
}

/// Returns the losing move that delays the end longest, where distances are known; among equals the
/// one after which the fewest answers win, then the one that leaves most answers, then the smallest
/// mask. `None` if no move loses, or if not all answers are known.
///
/// # Errors
/// Those of [`survey`].
///
/// # Cost
/// One look-up for each pair of a move and an answer: 60,000 for the full board of eight layers.
pub fn hardest(answers: &dyn Answers, lost: &Survey) -> Result<Option<Reply>, AnswerError> {
    let mut best: Option<Reply> = None;
    if lost.inferred > 0 {
        return Ok(None);
    }
    let losing = || lost.moves.iter().filter(|choice| choice.after == Some(Value::Win));
    // The first delays longest.
    let longest = losing().next().and_then(|choice| choice.distance);
    for choice in losing().take_while(|choice| choice.distance == longest) {
        let next = survey(answers, lost.position ^ choice.taken)?;
        if next.unknown() > 0 {
            return Ok(None);
        }
        let Choice { taken, distance, .. } = *choice;
        let reply = Reply { taken, winning_answers: next.winning().len(), answers: next.moves.len(), distance };
        let rank = |reply: &Reply| (reply.winning_answers, usize::MAX - reply.answers, reply.taken);
        if best.is_none_or(|best| rank(&reply) < rank(&best)) {
            best = Some(reply);
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of pieces at which the pages say that a level begins to slip.
    #[test]
    fn levels_slip_above_their_numbers_of_pieces() {
        let slips = |level: Level, pieces: [u32; 2]| pieces.map(|pieces| level.slips(pieces));
        assert_eq!(slips(Level::Club, [10, 11]), [0, 250]);
        assert_eq!(slips(Level::Beginner, [4, 5]), [0, 667]);
        assert_eq!(slips(Level::Perfect, [0, 64]), [0, 0]);
    }
}
