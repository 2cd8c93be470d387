//! The games that formulas are sought for.
//!
//! A game is a text such as `nim:4,4,4,4`. Positions are heaps unless noted:
//!
//! | text | game |
//! |---|---|
//! | `nim:4,4,4,4` | take any number from one heap |
//! | `subtraction:1,2,3:21` | take 1, 2 or 3 from one heap; one or more heaps after the second colon |
//! | `wythoff:10` or `wythoff:8,13` | take from one of two heaps, or the same from both; `plane:10` is the same |
//! | `moore:2:4,4,4` | take from 1 to 2 heaps at once, any number from each |
//! | `octal:0.137:10` | the octal code says how many a move may take and how many heaps it may leave |
//! | `triangular:3`, `triangular:3:rows` | Triangular Nim with 3 layers; features are the cells, or the pieces in each line |
//! | `dag:FILE` | positions and moves from a file, see [`dag`] |
//!
//! # Invariants
//! 1. Every accepted text is within the limits named in its error, and prints as a text that parses
//!    to the same game.

pub mod dag;
pub mod graph;
mod octal;
pub mod period;
mod size;
mod triangle;

use crate::graph::{Graph, Moves, Ordering, POSITIONS_MAX, TooLarge};
use crate::period::Take;
use crate::scope::Scope;
use octal::Octal;
use std::fmt;
use triangle::Triangle;
pub use triangle::{Features as TriangleFeatures, LAYERS_MAX};
use trinim_game::Rule;

/// Limit on the heaps of a game.
pub const HEAPS_MAX: usize = 12;
/// Limit on the pieces of a heap.
pub const HEAP_MAX: i32 = 1_000_000;

/// A game that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GameError {
    /// The text names no known game.
    #[error(
        "unknown game {text:?}: expected nim:4,4,4,4, subtraction:1,2,3:21, wythoff:10, moore:2:4,4,4, \
         octal:0.137:10, triangular:3 or dag:FILE"
    )]
    Unknown {
        /// The text.
        text: String,
    },
    /// A part of the text is invalid.
    #[error("game {game}: {what} {text:?}: expected {expected}")]
    Part {
        /// The kind of game.
        game: &'static str,
        /// The part.
        what: &'static str,
        /// The text found.
        text: String,
        /// The text expected.
        expected: String,
    },
    /// The game has too many positions or options.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// Heaps that can be split have too many pieces.
    #[error("game octal: heaps {heaps:?}: expected at most {} pieces where heaps can be split", size::PIECES_MAX)]
    Pieces {
        /// The heaps.
        heaps: String,
    },
    /// The largest heap to check is smaller than a heap of the game.
    #[error("the largest heap of {game} is {own}: expected a check of heaps up to {own} or more, not {most}")]
    TooSmall {
        /// The game.
        game: String,
        /// Its largest heap.
        own: i32,
        /// The largest heap to check.
        most: i32,
    },
    /// Larger heaps were requested for a game without heaps.
    #[error("{game} has no heaps: expected a game whose largest heap can be chosen")]
    OneSize {
        /// The game.
        game: String,
    },
}

impl GameError {
    /// Returns whether a smaller game of the same kind may be possible.
    pub const fn is_size(&self) -> bool {
        matches!(self, GameError::TooLarge(_) | GameError::Pieces { .. })
    }
}

/// A game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Game {
    /// Nim.
    Nim {
        /// The heaps at the start.
        heaps: Vec<i32>,
    },
    /// Subtraction game.
    Subtraction {
        /// Numbers that may be taken, ascending.
        numbers: Vec<i32>,
        /// The heaps at the start.
        heaps: Vec<i32>,
    },
    /// Wythoff's game, Nim on the plane.
    Wythoff {
        /// The heaps at the start, two.
        heaps: Vec<i32>,
    },
    /// Moore's Nim.
    Moore {
        /// Number of heaps that a move may take from.
        most: usize,
        /// The heaps at the start.
        heaps: Vec<i32>,
    },
    /// An octal game.
    Octal {
        /// The rules.
        code: Octal,
        /// The heaps at the start.
        heaps: Vec<i32>,
        /// Places for heaps, at least as many as there can ever be.
        places: usize,
    },
    /// Triangular Nim.
    Triangular(Triangle),
    /// Positions from a file.
    File(dag::Dag),
}

impl Game {
    /// Parses the text of a game, except `dag:FILE`: see [`dag::parse`].
    ///
    /// # Errors
    /// [`GameError`] with the invalid part and what was expected.
    pub fn parse(text: &str) -> Result<Game, GameError> {
        let unknown = || GameError::Unknown { text: shortened(text) };
        let (name, rest) = text.trim().split_once(':').ok_or_else(unknown)?;
        let two = |game: &'static str, what: &'static str, expected: &str| {
            rest.split_once(':').ok_or_else(|| part(game, what, rest, expected.to_owned()))
        };
        Ok(match name.trim() {
            "nim" => Game::Nim { heaps: heaps("nim", rest)? },
            "subtraction" => {
                let (set, start) = two("subtraction", "set and heaps", "numbers, a colon and heaps, like 1,2,3:21")?;
                let set = set.trim().trim_start_matches('{').trim_end_matches('}');
                let mut numbers = numbers("subtraction", "set", set, 1, 64)?;
                numbers.sort_unstable();
                numbers.dedup();
                Game::Subtraction { numbers, heaps: heaps("subtraction", start)? }
            }
            "wythoff" | "plane" => {
                let mut heaps = numbers("wythoff", "heaps", rest, 0, 2)?;
                heaps.resize(2, heaps[0]);
                Game::Wythoff { heaps }
            }
            "moore" => {
                let (most, start) = two("moore", "heaps", "a number of heaps, a colon and heaps, like 2:4,4,4")?;
                let heaps = heaps("moore", start)?;
                let expected = || format!("a number from 1 to {}, the number of heaps", heaps.len());
                let parsed = most.trim().parse().ok().filter(|most| (1..=heaps.len()).contains(most));
                Game::Moore { most: parsed.ok_or_else(|| part("moore", "heaps of a move", most, expected()))?, heaps }
            }
            "octal" => {
                let (code, start) = two("octal", "code and heaps", "a code, a colon and heaps, like 0.137:10")?;
                let code = Octal::parse(code.trim())
                    .ok_or_else(|| part("octal", "code", code, "0. or 4. and 1 to 16 digits from 0 to 7".to_owned()))?;
                let heaps = heaps("octal", start)?;
                let places = code.heaps_max(&heaps);
                let game = Game::Octal { code, heaps, places };
                game.check_size(Ordering::All, POSITIONS_MAX)?;
                game
            }
            "triangular" => {
                let (layers, features) = rest.split_once(':').unwrap_or((rest, "cells"));
                Game::Triangular(Triangle::parse(layers.trim(), features.trim())?)
            }
            _ => return Err(unknown()),
        })
    }

    /// Returns the heaps at the start, if the game has heaps.
    pub fn heaps(&self) -> Option<&[i32]> {
        match self {
            Game::Nim { heaps }
            | Game::Subtraction { heaps, .. }
            | Game::Wythoff { heaps }
            | Game::Moore { heaps, .. }
            | Game::Octal { heaps, .. } => Some(heaps),
            Game::Triangular(_) | Game::File(_) => None,
        }
    }

    /// Returns the same game with heaps of `most` pieces each; `None` for games of one size.
    pub fn with_heaps_of(&self, most: i32) -> Option<Game> {
        let mut game = self.clone();
        match &mut game {
            Game::Nim { heaps }
            | Game::Subtraction { heaps, .. }
            | Game::Wythoff { heaps }
            | Game::Moore { heaps, .. }
            | Game::Octal { heaps, .. } => heaps.iter_mut().for_each(|heap| *heap = most),
            Game::Triangular(_) | Game::File(_) => return None,
        }
        if let Game::Octal { code, heaps, places } = &mut game {
            *places = (*places).max(code.heaps_max(heaps));
        }
        Some(game)
    }

    /// Returns whether a move can split a heap in two.
    pub fn splits(&self) -> bool {
        matches!(self, Game::Octal { code, .. } if code.splits())
    }

    /// Returns what a move may take, if it takes from one heap and never splits it, and if not any
    /// number may be taken.
    pub fn takes(&self) -> Option<Vec<Take>> {
        match self {
            Game::Subtraction { numbers, .. } => {
                let take = |number: &i32| Take { pieces: *number as usize, empties: true, leaves: true };
                Some(numbers.iter().map(take).collect())
            }
            Game::Octal { code, .. } => code.takes(),
            _ => None,
        }
    }

    /// Returns the parameter `m` of the rules.
    fn parameter(&self) -> Option<i32> {
        match self {
            Game::Subtraction { numbers, .. } => numbers.last().copied(),
            Game::Moore { most, .. } => Some(*most as i32),
            _ => None,
        }
    }

    /// Builds the graph of all positions that can be reached from the start.
    ///
    /// # Errors
    /// [`GameError::TooLarge`] beyond the limits.
    pub fn graph(&self, rule: Rule, ordering: Ordering) -> Result<Graph, GameError> {
        self.graph_within(rule, ordering, POSITIONS_MAX)
    }

    /// Builds the graph as [`Game::graph`] does, within a lower limit.
    ///
    /// # Errors
    /// [`GameError::TooLarge`] beyond the limits.
    pub fn graph_within(&self, rule: Rule, ordering: Ordering, positions_max: usize) -> Result<Graph, GameError> {
        match self {
            Game::Triangular(triangle) => return Ok(triangle.graph(rule, ordering, positions_max)?),
            Game::File(dag) => return Ok(dag.graph(rule)),
            _ => {}
        }
        self.check_size(ordering, positions_max)?;
        let mut start = self.heaps().unwrap_or_default().to_vec();
        start.resize(self.places(), 0);
        let scope = Scope::heaps(start.len(), self.parameter());
        Ok(Graph::explore(&Ordered { game: self, ordering }, scope, rule, [start], positions_max)?)
    }

    /// Builds the graph of all positions with heaps up to those at the start, whether they can be
    /// reached from there or not, and of all that can be reached from these.
    ///
    /// # Errors
    /// [`GameError::TooLarge`] beyond the limits.
    pub fn graph_of_all(&self, rule: Rule, ordering: Ordering, positions_max: usize) -> Result<Graph, GameError> {
        let Some(heaps) = self.heaps().filter(|_| matches!(self, Game::Subtraction { .. } | Game::Octal { .. })) else {
            // Where any number may be taken from a heap, all smaller heaps can be reached.
            return self.graph_within(rule, ordering, positions_max);
        };
        self.check_size(Ordering::All, positions_max)?;
        let places = self.places();
        let tuples = size::tuples(heaps).map(|mut heaps| {
            heaps.resize(places, 0);
            heaps
        });
        let scope = Scope::heaps(places, self.parameter());
        Ok(Graph::explore(&Ordered { game: self, ordering }, scope, rule, tuples, positions_max)?)
    }

    /// Returns the number of features, at least that of the heaps.
    fn places(&self) -> usize {
        match self {
            Game::Octal { places, .. } => *places,
            _ => self.heaps().unwrap_or_default().len(),
        }
    }
}

struct Ordered<'a> {
    game: &'a Game,
    ordering: Ordering,
}

impl Moves for Ordered<'_> {
    fn name(&self) -> String {
        self.game.to_string()
    }

    fn options(&self, position: &[i32], found: &mut dyn FnMut(&[i32])) {
        let mut option = position.to_vec();
        match self.game {
            Game::Nim { .. } => one_heap(&mut option, found),
            Game::Subtraction { numbers, .. } => {
                for index in 0..option.len() {
                    for take in numbers.iter().take_while(|take| **take <= position[index]) {
                        option[index] = position[index] - take;
                        found(&option);
                    }
                    option[index] = position[index];
                }
            }
            Game::Wythoff { .. } => {
                one_heap(&mut option, found);
                for take in 1..=position[0].min(position[1]) {
                    found(&[position[0] - take, position[1] - take]);
                }
            }
            Game::Moore { most, .. } => several_heaps(&mut option, 0, *most, false, found),
            Game::Octal { code, .. } => code.options(position, found),
            Game::Triangular(_) | Game::File(_) => {}
        }
    }

    fn arrange(&self, position: &mut [i32]) {
        self.ordering.arrange(position);
    }
}

fn one_heap(option: &mut [i32], found: &mut dyn FnMut(&[i32])) {
    for index in 0..option.len() {
        let heap = option[index];
        for left in 0..heap {
            option[index] = left;
            found(option);
        }
        option[index] = heap;
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

fn part(game: &'static str, what: &'static str, text: &str, expected: String) -> GameError {
    GameError::Part { game, what, text: shortened(text), expected }
}

fn list(values: &[i32]) -> String {
    values.iter().map(i32::to_string).collect::<Vec<_>>().join(",")
}

/// Shortens a text for a message.
fn shortened(text: &str) -> String {
    if text.chars().count() <= 60 { text.to_owned() } else { text.chars().take(60).chain("..".chars()).collect() }
}

fn heaps(game: &'static str, text: &str) -> Result<Vec<i32>, GameError> {
    numbers(game, "heaps", text, 0, HEAPS_MAX)
}

/// Parses integers separated by commas, from `least` to [`HEAP_MAX`].
fn numbers(game: &'static str, what: &'static str, text: &str, least: i32, most: usize) -> Result<Vec<i32>, GameError> {
    let expected =
        || part(game, what, text, format!("1 to {most} integers from {least} to {HEAP_MAX}, separated by commas"));
    let values: Option<Vec<i32>> = text
        .split(',')
        .map(|part| part.trim())
        .take(most + 1)
        .map(|part| part.parse().ok().filter(|value| (least..=HEAP_MAX).contains(value)))
        .collect();
    values.filter(|values| values.len() <= most).ok_or_else(expected)
}

impl fmt::Display for Game {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Game::Nim { heaps } => write!(f, "nim:{}", list(heaps)),
            Game::Subtraction { numbers, heaps } => write!(f, "subtraction:{}:{}", list(numbers), list(heaps)),
            Game::Wythoff { heaps } => write!(f, "wythoff:{}", list(heaps)),
            Game::Moore { most, heaps } => write!(f, "moore:{most}:{}", list(heaps)),
            Game::Octal { code, heaps, .. } => write!(f, "octal:{code}:{}", list(heaps)),
            Game::Triangular(triangle) => write!(f, "{triangle}"),
            Game::File(dag) => write!(f, "dag:{}", dag.name()),
        }
    }
}

#[cfg(test)]
mod tests;
