//! A game of two players, with its transcript.
//!
//! A transcript consists of lines of words: the heading `# trinim plane game`; `goal`, `flips`,
//! `start` and `first` with their values; then one line a turn, with the player, `flip` if the goal
//! changed before the move, the kind of the move and its amount. `resigns` in place of a move ends
//! the game.
//!
//! # Invariants
//! 1. Reading a transcript plays every turn again; the first turn that breaks the rules is an error
//!    with its line.
//! 2. A rejected turn changes nothing.
//! 3. A game needs memory proportional to its transcript: earlier points are recomputed on demand.

use super::goals::{self, Condition};
use super::heaps::{self, Kind, Move, MoveError, NumberError, Point};
use super::{paper, winning};
use dashu_int::UBig;
use std::fmt;
use trinim_game::random::Random;
use trinim_game::{Rule, Value};

const HEADING: &str = "# trinim plane game";

/// A player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Player {
    /// The user; the paper's Hugo.
    Human,
    /// The program; the paper's Cora.
    Program,
}

impl Player {
    /// Returns the opponent.
    pub const fn other(self) -> Player {
        match self {
            Player::Human => Player::Program,
            Player::Program => Player::Human,
        }
    }

    /// Returns `human` or `program`.
    pub const fn name(self) -> &'static str {
        match self {
            Player::Human => "human",
            Player::Program => "program",
        }
    }

    fn parse(text: &str) -> Option<Player> {
        [Player::Human, Player::Program].into_iter().find(|player| player.name() == text)
    }
}

/// How the program chooses its moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// A winning move wherever one exists.
    Exact,
    /// The paper's algorithm V, which plays the normal goal only.
    Paper,
}

/// One turn as played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The player who moved.
    pub player: Player,
    /// Whether the goal changed before the move.
    pub flips: bool,
    /// The move.
    pub step: Move,
    /// The point before the move.
    pub from: Point,
    /// The point after it.
    pub to: Point,
    /// The goal before a flip.
    pub rule: Rule,
}

impl Turn {
    /// Returns the value, before the move, for the player who moved.
    pub fn value_before(&self) -> Value {
        winning::value(self.rule, &self.from)
    }

    /// Returns whether the turn left a won point for one that the opponent wins.
    pub fn gives_away(&self) -> bool {
        let rule = if self.flips { goals::other(self.rule) } else { self.rule };
        self.value_before() == Value::Win && winning::value(rule, &self.to) == Value::Win
    }
}

/// A turn that breaks the rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The heaps are not large enough.
    #[error(transparent)]
    Move(#[from] MoveError),
    /// No flips are left.
    #[error("the goal can no longer be changed")]
    NoFlips,
    /// The condition does not hold.
    #[error("the goal can be changed only where L ≥ S + 2 ≥ 7")]
    NotHere,
    /// The game is over.
    #[error("the game is over")]
    Over,
}

/// A text that is not a transcript.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct TranscriptError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub reason: String,
}

/// A game up to the current turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    start: (Point, Rule, Player, u32),
    point: Point,
    rule: Rule,
    to_move: Player,
    flips_left: u32,
    turns: Vec<(bool, Move)>,
    resigned: Option<Player>,
}

impl Game {
    /// Creates a game that starts here; the goal can change `flips` times in all, before a move.
    pub fn new(point: Point, rule: Rule, first: Player, flips: u32) -> Game {
        let start = (point.clone(), rule, first, flips);
        Game { start, point, rule, to_move: first, flips_left: flips, turns: Vec::new(), resigned: None }
    }

    /// Returns the heaps.
    pub fn point(&self) -> &Point {
        &self.point
    }

    /// Returns the goal in force.
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// Returns the player to move.
    pub fn to_move(&self) -> Player {
        self.to_move
    }

    /// Returns the turns so far, by playing them again.
    pub fn turns(&self) -> impl Iterator<Item = Turn> + '_ {
        let (point, rule, first, flips) = self.start.clone();
        let mut game = Game::new(point, rule, first, flips);
        // Each was legal when it was played.
        self.turns.iter().map_while(move |(flips, step)| game.play(*flips, step.clone()).ok())
    }

    /// Returns the winner, once the game is over.
    pub fn winner(&self) -> Option<Player> {
        let at_the_end = || match self.rule {
            Rule::Normal => self.to_move.other(),
            Rule::Misere => self.to_move,
        };
        self.resigned.map(Player::other).or_else(|| self.point.is_end().then(at_the_end))
    }

    /// Checks that the player to move may change the goal first.
    ///
    /// # Errors
    /// Returns [`TurnError::NoFlips`] or [`TurnError::NotHere`] if not.
    pub fn may_flip(&self) -> Result<(), TurnError> {
        match self.flips_left {
            0 => Err(TurnError::NoFlips),
            _ if !Condition::Paper.holds(&self.point) => Err(TurnError::NotHere),
            _ => Ok(()),
        }
    }

    /// Plays a turn.
    ///
    /// # Errors
    /// Returns a [`TurnError`] and changes nothing if the turn breaks the rules or the game is
    /// over.
    pub fn play(&mut self, flips: bool, step: Move) -> Result<Turn, TurnError> {
        if self.winner().is_some() {
            return Err(TurnError::Over);
        }
        if flips {
            self.may_flip()?;
        }
        let to = self.point.after(&step)?;
        let from = std::mem::replace(&mut self.point, to.clone());
        let turn = Turn { player: self.to_move, flips, step, from, to, rule: self.rule };
        self.turns.push((flips, turn.step.clone()));
        if flips {
            self.rule = goals::other(self.rule);
            self.flips_left -= 1;
        }
        self.to_move = self.to_move.other();
        Ok(turn)
    }

    /// Resigns for the player to move.
    pub fn resign(&mut self) {
        if self.winner().is_none() {
            self.resigned = Some(self.to_move);
        }
    }

    /// Returns the program's move, `None` once the game is over. The program never changes the
    /// goal, because that never helps.
    pub fn choose(&self, strategy: Strategy, random: &mut Random) -> Option<Move> {
        match (self.winner(), strategy) {
            (Some(_), _) => None,
            (None, Strategy::Paper) => paper::choose(&self.point, random),
            (None, Strategy::Exact) => {
                let mut winning = winning::moves(self.rule, &self.point);
                match winning.len() {
                    0 => winning::random_delay(self.rule, &self.point, random),
                    several => Some(winning.swap_remove(random.index(several))),
                }
            }
        }
    }

    /// Parses a transcript.
    ///
    /// # Errors
    /// Returns a [`TranscriptError`] for the first line that is wrong.
    pub fn parse(text: &str) -> Result<Game, TranscriptError> {
        let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let mut last = 1;
        let mut header = |expected: &str| -> Result<(usize, String), TranscriptError> {
            let (line, text) = lines.next().map_or((last, ""), |(line, text)| (line, text.trim()));
            last = line;
            match text.strip_prefix(expected) {
                Some(rest) => Ok((line, rest.trim().to_owned())),
                None => Err(TranscriptError { line, reason: format!("expected {expected:?}") }),
            }
        };
        header(HEADING)?;
        let (line, name) = header("goal ")?;
        let expected = || "expected goal normal or goal attrition".to_owned();
        let rule = goals::parse(&name).ok_or_else(|| TranscriptError { line, reason: expected() })?;
        let (line, flips) = header("flips ")?;
        let flips =
            flips.parse().map_err(|_| TranscriptError { line, reason: "expected a number of flips".to_owned() })?;
        let (line, start) = header("start ")?;
        let heaps: Vec<_> = start.split_whitespace().map(heaps::digits).collect();
        let point = match &heaps[..] {
            [Ok(one), Ok(other)] => Point::new(one.clone(), other.clone()),
            _ => return Err(TranscriptError { line, reason: "expected two whole numbers".to_owned() }),
        };
        let (line, first) = header("first ")?;
        let expected = || "expected human or program".to_owned();
        let first = Player::parse(&first).ok_or_else(|| TranscriptError { line, reason: expected() })?;
        let mut game = Game::new(point, rule, first, flips);
        for (line, text) in lines {
            game.repeat(text).map_err(|reason| TranscriptError { line, reason })?;
        }
        Ok(game)
    }

    /// Plays one line of a transcript.
    fn repeat(&mut self, text: &str) -> Result<(), String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (player, words) = words.split_first().ok_or("expected a turn")?;
        if *player != self.to_move.name() {
            return Err(format!("expected a turn of {}", self.to_move.name()));
        }
        if words == ["resigns"] {
            if self.winner().is_some() {
                return Err(TurnError::Over.to_string());
            }
            self.resign();
            return Ok(());
        }
        let (flips, step) = parse_turn(words, heaps::digits)?;
        self.play(flips, step).map(|_| ()).map_err(|error| error.to_string())
    }
}

/// Parses a turn: an optional `flip`, then a kind and an amount, which `number` parses.
///
/// # Errors
/// Returns a text that says what was expected.
pub fn parse_turn(words: &[&str], number: fn(&str) -> Result<UBig, NumberError>) -> Result<(bool, Move), String> {
    let (flips, words) = match words {
        ["flip", rest @ ..] => (true, rest),
        all => (false, all),
    };
    let [kind, amount] = words else {
        return Err("expected short, long or both and how many, like: both 3".to_owned());
    };
    let kind = Kind::ALL.into_iter().find(|one| one.name().starts_with(&kind.to_ascii_lowercase()));
    let kind = kind.ok_or("expected short, long or both and how many, like: both 3")?;
    let amount = number(amount).map_err(|error| error.to_string())?;
    Ok((flips, Move { kind, amount }))
}

impl fmt::Display for Game {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (point, rule, first, flips) = &self.start;
        writeln!(f, "{HEADING}\ngoal {}\nflips {flips}", goals::name(*rule))?;
        writeln!(f, "start {} {}\nfirst {}", point.short(), point.long(), first.name())?;
        let mut player = *first;
        for (flips, step) in &self.turns {
            writeln!(f, "{} {}{step}", player.name(), if *flips { "flip " } else { "" })?;
            player = player.other();
        }
        self.resigned.map_or(Ok(()), |player| writeln!(f, "{} resigns", player.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_is_the_game() {
        let mut game = Game::new(Point::new(9u8, 12u8), Rule::Normal, Player::Human, 1);
        let mut random = Random::new(4);
        assert_eq!(
            game.play(false, Move::new(Kind::Short, 10u8)).unwrap_err().to_string(),
            "10 cannot be taken from the short heap: expected 1 to 9"
        );
        assert_eq!(
            game.play(false, Move::new(Kind::Short, 0u8)).unwrap_err().to_string(),
            "0 cannot be taken from the short heap: expected 1 to 9"
        );
        assert_eq!(game.turns().count(), 0);
        game.play(true, Move::new(Kind::Short, 1u8)).unwrap();
        assert_eq!((game.rule(), game.may_flip()), (Rule::Misere, Err(TurnError::NoFlips)));
        while let Some(step) = game.choose(Strategy::Exact, &mut random) {
            game.play(false, step).unwrap();
        }
        assert_eq!(game.play(false, Move::new(Kind::Long, 1u8)), Err(TurnError::Over));
        assert_eq!(Game::parse(&game.to_string()), Ok(game.clone()));
        let turns: Vec<Turn> = game.turns().collect();
        assert!(turns.windows(2).all(|pair| pair[0].to == pair[1].from && pair[0].player != pair[1].player));
        assert!(turns[0].flips && turns[1].rule == Rule::Misere && turns.last().unwrap().to.is_end());
        let mut other = Game::new(Point::new(9u8, 12u8), Rule::Misere, Player::Program, 0);
        other.resign();
        assert_eq!(other.winner(), Some(Player::Human));
        assert_eq!(Game::parse(&other.to_string()), Ok(other));
    }

    #[test]
    fn who_wins_at_the_end() {
        for (rule, winner) in [(Rule::Normal, Player::Human), (Rule::Misere, Player::Program)] {
            let mut game = Game::new(Point::new(3u8, 3u8), rule, Player::Human, 0);
            assert_eq!(game.winner(), None);
            game.play(false, Move::new(Kind::Both, 3u8)).unwrap();
            assert_eq!(game.winner(), Some(winner));
        }
        // Over before it begins: the program would have moved last.
        assert_eq!(Game::new(Point::new(0u8, 0u8), Rule::Normal, Player::Human, 0).winner(), Some(Player::Program));
    }

    #[test]
    fn wrong_transcripts_name_their_line() {
        let good = "# trinim plane game\ngoal normal\nflips 0\nstart 3 4\nfirst human\n";
        let cases = [
            ("", 1, "expected \"# trinim plane game\""),
            ("# trinim plane game\ngoal win\n", 2, "expected goal normal or goal attrition"),
            ("# trinim plane game\ngoal normal\n", 2, "expected \"flips \""),
            (&good.replace("3 4", "3 -4"), 4, "expected two whole numbers"),
            (&good.replace("3 4", "3 2^2"), 4, "expected two whole numbers"),
            (&good.replace("human", "nobody"), 5, "expected human or program"),
            (&format!("{good}program both 1\n"), 6, "expected a turn of human"),
            (&format!("{good}human both 1\nhuman both 1\n"), 7, "expected a turn of program"),
            (&format!("{good}human both 4\n"), 6, "4 cannot be taken from both heaps: expected 1 to 3"),
            (&format!("{good}human flip both 1\n"), 6, "the goal can no longer be changed"),
            (&format!("{good}human up 1\n"), 6, "expected short, long or both and how many, like: both 3"),
            (&format!("{good}human resigns\nprogram both 1\n"), 7, "expected a turn of human"),
        ];
        for (text, line, reason) in cases {
            assert_eq!(Game::parse(text), Err(TranscriptError { line, reason: reason.to_owned() }), "{text}");
        }
    }

    /// V throws the won game (378, 611) away against perfect play; the exact strategy never does.
    #[test]
    fn v_loses_where_the_exact_strategy_wins() {
        for (strategy, winner) in [(Strategy::Exact, Player::Program), (Strategy::Paper, Player::Human)] {
            let mut game = Game::new(Point::new(378u16, 611u16), Rule::Normal, Player::Program, 0);
            let mut random = Random::new(11);
            while game.winner().is_none() {
                let strategy = if game.to_move() == Player::Program { strategy } else { Strategy::Exact };
                let step = game.choose(strategy, &mut random).unwrap();
                game.play(false, step).unwrap();
            }
            assert_eq!(game.winner(), Some(winner));
            assert_eq!(game.turns().next().unwrap().gives_away(), strategy == Strategy::Paper);
        }
    }
}
