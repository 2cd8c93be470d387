//! The games for which formulas are sought: those of the paper, with any heaps.
//!
//! A game is a text such as `nim:4,4,4,4`:
//!
//! | text | game |
//! |---|---|
//! | `nim:4,4,4,4` | take any number from one heap |
//! | `subtraction:1,2,3:21` | take 1, 2 or 3 from one heap; one or more heaps after the second colon |
//! | `wythoff:10` or `wythoff:8,13` | take from one of two heaps, or the same from both; `plane:10` is the same |
//! | `moore:2:4,4,4` | take from 1 to 2 heaps at once, any number from each |
//!
//! # Invariants
//! 1. Every accepted text is within the limits named in its error, and prints as a text that parses
//!    to the same game.

mod graph;
mod period;
mod size;

use crate::language::Scope;
pub use graph::{Graph, OPTIONS_MAX, Ordering, POSITIONS_MAX, label};
pub(crate) use graph::{mex, size};
pub use period::Period;
use std::fmt;
use trinim_game::Rule;
use trinim_game::text::bare;

/// Limit on the heaps of a game.
pub const HEAPS_MAX: usize = 12;
/// Limit on the pieces of a heap.
pub const HEAP_MAX: i32 = 1_000_000;

/// A game that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GameError {
    /// The game is unknown, or a part of its text is invalid.
    #[error("{0}")]
    Text(String),
    /// The game has too many positions or options.
    #[error("{0} has more than {1} {2}: expected a smaller game")]
    TooLarge(String, usize, &'static str),
    /// The largest heap to check is smaller than a heap of the game.
    #[error("the largest heap of {0} is {1}: expected a check of heaps up to {1} or more, not {2}")]
    TooSmall(String, i32, i32),
}

/// The moves of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moves {
    /// Nim.
    Nim,
    /// Subtraction game, with the numbers that can be taken, ascending.
    Subtraction(Vec<i32>),
    /// Wythoff's game, Nim on the plane.
    Wythoff,
    /// Moore's Nim, with the number of heaps that a move can take from.
    Moore(usize),
}

/// A game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    /// The moves.
    pub moves: Moves,
    /// The heaps at the start, at least one.
    pub heaps: Vec<i32>,
}

impl Game {
    /// Parses the text of a game.
    ///
    /// # Errors
    /// [`GameError`] with the invalid part and what was expected.
    pub fn parse(text: &str) -> Result<Game, GameError> {
        let unknown = || {
            let expected = "nim:4,4,4,4, subtraction:1,2,3:21, wythoff:10 or moore:2:4,4,4";
            GameError::Text(format!("unknown game {:?}: expected {expected}", shortened(text)))
        };
        let (name, rest) = bare(text).split_once(':').ok_or_else(unknown)?;
        let two = |game: &str, what: &str, expected: &str| {
            rest.split_once(':').ok_or_else(|| part(game, what, rest, expected))
        };
        let heaps = |game, text| numbers(game, "heaps", text, 0, HEAPS_MAX);
        Ok(match name.trim() {
            "nim" => Game { moves: Moves::Nim, heaps: heaps("nim", rest)? },
            "subtraction" => {
                let (set, start) = two("subtraction", "set and heaps", "numbers, a colon and heaps, like 1,2,3:21")?;
                let set = set.trim().trim_start_matches('{').trim_end_matches('}');
                let mut numbers = numbers("subtraction", "set", set, 1, 64)?;
                numbers.sort_unstable();
                numbers.dedup();
                Game { moves: Moves::Subtraction(numbers), heaps: heaps("subtraction", start)? }
            }
            "wythoff" | "plane" => {
                let mut heaps = numbers("wythoff", "heaps", rest, 0, 2)?;
                heaps.resize(2, heaps[0]);
                Game { moves: Moves::Wythoff, heaps }
            }
            "moore" => {
                let (most, start) = two("moore", "heaps", "a number of heaps, a colon and heaps, like 2:4,4,4")?;
                let heaps = heaps("moore", start)?;
                let expected = || format!("a number from 1 to {}, the number of heaps", heaps.len());
                let parsed = most.trim().parse().ok().filter(|most| (1..=heaps.len()).contains(most));
                let most = parsed.ok_or_else(|| part("moore", "heaps of a move", most, &expected()))?;
                Game { moves: Moves::Moore(most), heaps }
            }
            _ => return Err(unknown()),
        })
    }

    /// Returns the largest heap at the start.
    pub fn largest(&self) -> i32 {
        self.heaps.iter().copied().max().unwrap_or(0)
    }

    /// Returns the same game with heaps of `most` pieces each.
    pub fn with_heaps_of(&self, most: i32) -> Game {
        Game { moves: self.moves.clone(), heaps: vec![most; self.heaps.len()] }
    }

    /// Returns the terminals of a formula: the heaps, and the parameter `m` of the rules.
    pub fn scope(&self) -> Scope {
        let parameter = match &self.moves {
            Moves::Subtraction(numbers) => numbers.last().copied(),
            Moves::Moore(most) => Some(*most as i32),
            Moves::Nim | Moves::Wythoff => None,
        };
        Scope::heaps(self.heaps.len(), parameter)
    }

    /// Builds the graph of all positions that can be reached from the start.
    ///
    /// # Errors
    /// [`GameError::TooLarge`] beyond the limits.
    pub fn graph(&self, rule: Rule, ordering: Ordering) -> Result<Graph, GameError> {
        self.graph_within(rule, ordering, POSITIONS_MAX)
    }

    /// The same within a lower limit.
    ///
    /// # Errors
    /// [`GameError::TooLarge`] beyond the limits.
    pub fn graph_within(&self, rule: Rule, ordering: Ordering, positions_max: usize) -> Result<Graph, GameError> {
        self.graph_from([self.heaps.clone()], rule, ordering, positions_max)
    }

    /// Builds the graph of all positions with heaps up to those at the start, including unreachable
    /// ones, and of all that can be reached from these.
    ///
    /// # Errors
    /// [`GameError::TooLarge`] beyond the limits.
    pub fn graph_of_all(&self, rule: Rule, ordering: Ordering, positions_max: usize) -> Result<Graph, GameError> {
        match self.moves {
            Moves::Subtraction(_) => self.graph_from(size::tuples(&self.heaps), rule, ordering, positions_max),
            // If any number can be taken from a heap, all smaller heaps can be reached.
            _ => self.graph_within(rule, ordering, positions_max),
        }
    }

    fn graph_from(
        &self,
        starts: impl IntoIterator<Item = Vec<i32>>,
        rule: Rule,
        ordering: Ordering,
        positions_max: usize,
    ) -> Result<Graph, GameError> {
        let graph = self.check_size(ordering, positions_max).and_then(|()| {
            let options = |position: &[i32], found: &mut dyn FnMut(&[i32])| self.options(position, found);
            Graph::explore(self.scope(), rule, ordering, starts, positions_max, options)
        });
        graph.map_err(|(limit, what)| GameError::TooLarge(self.to_string(), limit, what))
    }

    /// Calls `found` with every position one move away.
    fn options(&self, position: &[i32], found: &mut dyn FnMut(&[i32])) {
        let mut option = position.to_vec();
        match &self.moves {
            Moves::Nim => several_heaps(&mut option, 0, 1, false, found),
            Moves::Moore(most) => several_heaps(&mut option, 0, *most, false, found),
            Moves::Subtraction(numbers) => {
                for index in 0..option.len() {
                    for take in numbers.iter().take_while(|take| **take <= position[index]) {
                        option[index] = position[index] - take;
                        found(&option);
                    }
                    option[index] = position[index];
                }
            }
            Moves::Wythoff => {
                several_heaps(&mut option, 0, 1, false, found);
                for take in 1..=position[0].min(position[1]) {
                    found(&[position[0] - take, position[1] - take]);
                }
            }
        }
    }
}

/// Finds all ways to take from at most `most` of the heaps from `index` on, at least one piece in
/// all.
fn several_heaps(option: &mut [i32], index: usize, most: usize, taken: bool, found: &mut dyn FnMut(&[i32])) {
    if index == option.len() || most == 0 {
        if taken {
            found(option);
        }
        return;
    }
    several_heaps(option, index + 1, most, taken, found);
    let heap = option[index];
    for left in 0..heap {
        option[index] = left;
        several_heaps(option, index + 1, most - 1, true, found);
    }
    option[index] = heap;
}

fn part(game: &str, what: &str, text: &str, expected: &str) -> GameError {
    GameError::Text(format!("game {game}: {what} {:?}: expected {expected}", shortened(text)))
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= 60 { text.to_owned() } else { text.chars().take(60).chain("..".chars()).collect() }
}

/// Parses integers separated by commas, from `least` to [`HEAP_MAX`].
fn numbers(game: &str, what: &str, text: &str, least: i32, most: usize) -> Result<Vec<i32>, GameError> {
    let number = |part: &str| part.trim().parse().ok().filter(|value| (least..=HEAP_MAX).contains(value));
    let values: Option<Vec<i32>> = text.split(',').take(most + 1).map(number).collect();
    let expected = || format!("1 to {most} integers from {least} to {HEAP_MAX}, separated by commas");
    values.filter(|values| values.len() <= most).ok_or_else(|| part(game, what, text, &expected()))
}

impl fmt::Display for Game {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |values: &[i32]| values.iter().map(i32::to_string).collect::<Vec<_>>().join(",");
        match &self.moves {
            Moves::Nim => f.write_str("nim:")?,
            Moves::Subtraction(numbers) => write!(f, "subtraction:{}:", list(numbers))?,
            Moves::Wythoff => f.write_str("wythoff:")?,
            Moves::Moore(most) => write!(f, "moore:{most}:")?,
        }
        f.write_str(&list(&self.heaps))
    }
}
