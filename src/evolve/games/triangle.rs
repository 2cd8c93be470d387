//! Triangular Nim as a game to find formulas for.
//!
//! Boards of up to [`LAYERS_MAX`] layers, with at most 2^10 positions, played by the moves of
//! [`trinim_game::board`]. The features are the cells (1 with a piece, 0 without), or the numbers
//! of pieces in all lines of the three directions, computed from the cells. In a canonical ordering
//! the largest (descending) or smallest (ascending) image under the symmetries of the board stands
//! for all images.

use super::{GameError, part};
use crate::graph::{Graph, Moves, Ordering, TooLarge};
use crate::scope::Scope;
use std::fmt;
use trinim_game::Rule;
use trinim_game::position;
use trinim_game::{Board, Cell};

/// Limit on the layers.
pub const LAYERS_MAX: u32 = 4;

/// The features that formulas see of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Features {
    /// Each cell, `c0` at the apex.
    Cells,
    /// The pieces of each line: rows `r1..`, and the two slanting directions `s1..` and `u1..`.
    Lines,
}

/// Triangular Nim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Triangle {
    /// Number of layers.
    pub layers: u32,
    /// The features.
    pub features: Features,
}

impl Triangle {
    pub(super) fn parse(layers: &str, features: &str) -> Result<Triangle, GameError> {
        let wrong = |what, text, expected: &str| part("triangular", what, text, expected.to_owned());
        let parsed = layers.parse().ok().filter(|layers| (1..=LAYERS_MAX).contains(layers));
        let layers =
            parsed.ok_or_else(|| wrong("layers", layers, &format!("a number of layers from 1 to {LAYERS_MAX}")))?;
        let features = match features {
            "cells" => Features::Cells,
            "rows" => Features::Lines,
            other => return Err(wrong("features", other, "cells or rows")),
        };
        Ok(Triangle { layers, features })
    }

    fn board(&self) -> Board {
        let board = Board::triangle(self.layers, None);
        board.unwrap_or_else(|error| unreachable!("{} layers were accepted: {error}", self.layers))
    }

    pub(super) fn graph(&self, rule: Rule, ordering: Ordering, positions_max: usize) -> Result<Graph, TooLarge> {
        let board = self.board();
        let cells = board.cells() as usize;
        let names = (0..cells).map(|cell| format!("c{cell}")).collect();
        let scope = Scope { features: names, parameter: None };
        let moves = OnBoard { game: self, board: &board, ordering };
        let graph = Graph::explore(&moves, scope, rule, [vec![1; cells]], positions_max)?;
        let label = |index: u32| position::rows(&board, mask(&graph.position(index)));
        let labels = (0..graph.len() as u32).map(label).collect();
        let graph = graph.labelled(labels);
        Ok(match self.features {
            Features::Cells => graph,
            Features::Lines => {
                let (names, lines) = lines(self.layers);
                let count = |line: &u64, index: u32| (mask(&graph.position(index)) & line).count_ones() as i32;
                let column = |line| (0..graph.len() as u32).map(|index| count(line, index)).collect();
                let features = lines.iter().map(column).collect();
                graph.described(Scope { features: names, parameter: None }, features)
            }
        })
    }

    /// Returns the masks of the positions of [`super::Game::graph`], in its order, for comparison
    /// with a database.
    ///
    /// # Errors
    /// [`TooLarge`], as there.
    pub fn masks(&self, ordering: Ordering) -> Result<Vec<u64>, TooLarge> {
        let cells = Triangle { layers: self.layers, features: Features::Cells };
        let graph = cells.graph(Rule::Normal, ordering, usize::MAX)?;
        Ok((0..graph.len() as u32).map(|index| mask(&graph.position(index))).collect())
    }
}

fn mask(position: &[i32]) -> u64 {
    position.iter().rev().fold(0, |mask, cell| mask << 1 | u64::from(*cell != 0))
}

/// Returns the names and masks of all lines.
fn lines(layers: u32) -> (Vec<String>, Vec<u64>) {
    let layers = layers as u8;
    let cells = || (0..layers).flat_map(|row| (0..=row).map(move |col| (row, col)));
    let mut names = Vec::new();
    let mut masks = Vec::new();
    for (letter, line_of) in [('r', 0), ('s', 1), ('u', 2)] {
        for line in 0..layers {
            let on = |(row, col): &(u8, u8)| [*row, *col, row - col][line_of] == line;
            names.push(format!("{letter}{}", line + 1));
            masks.push(cells().filter(on).fold(0, |mask, (row, col)| mask | Cell::new(row, col).mask()));
        }
    }
    (names, masks)
}

struct OnBoard<'a> {
    game: &'a Triangle,
    board: &'a Board,
    ordering: Ordering,
}

impl Moves for OnBoard<'_> {
    fn name(&self) -> String {
        self.game.to_string()
    }

    fn options(&self, position: &[i32], found: &mut dyn FnMut(&[i32])) {
        let from = mask(position);
        for taken in self.board.moves().iter().filter(|taken| from & **taken == **taken) {
            let left = from ^ taken;
            let cells: Vec<i32> = (0..position.len()).map(|cell| (left >> cell & 1) as i32).collect();
            found(&cells);
        }
    }

    fn arrange(&self, position: &mut [i32]) {
        let images = self.board.symmetries().iter().map(|symmetry| symmetry.apply(mask(position)));
        let image = match self.ordering {
            Ordering::All => return,
            Ordering::Descending => images.max(),
            Ordering::Ascending => images.min(),
        };
        let image = image.unwrap_or_else(|| mask(position));
        position.iter_mut().enumerate().for_each(|(cell, piece)| *piece = (image >> cell & 1) as i32);
    }
}

impl fmt::Display for Triangle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let features = if self.features == Features::Lines { ":rows" } else { "" };
        write!(f, "triangular:{}{features}", self.layers)
    }
}
