//! Boards as data: how a file or a database describes a board that is not a triangle.
//!
//! ```text
//! {"name": "cram:1x3", "cells": [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]], "moves": [[0, 1], [1, 2]]}
//! ```

use super::{Board, BoardError, CELLS_MAX, MOVES_MAX, automorphisms, rows};
use serde::{Deserialize, Serialize};

/// The largest coordinate of a cell, either way.
const COORDINATE_MAX: f64 = 1000.0;
/// The longest name of a board, in bytes.
const NAME_BYTES_MAX: usize = 64;
/// The characters that a name can have besides letters and digits.
const NAME_CHARACTERS: &str = "-_.:";

/// A board as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// The name: a family and a size, or the name in a file.
    pub name: String,
    /// The least pieces that a move takes along a line, if that is more than one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_take: Option<u32>,
    /// The most pieces that a move takes along a line, if that is limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_take: Option<u32>,
    /// The coordinates of each cell: to the right and down, in distances of neighbours.
    pub cells: Vec<[f64; 2]>,
    /// The cells that each move empties, ascending.
    pub moves: Vec<Vec<u8>>,
}

impl Definition {
    /// Returns whether a board may have this name: one that can be part of a folder's.
    pub(super) fn is_name(name: &str) -> bool {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || NAME_CHARACTERS.contains(c);
        (1..=NAME_BYTES_MAX).contains(&name.len()) && name.chars().all(is_plain)
    }

    pub(super) fn check_places(places: &[[f64; 2]]) -> Result<(), BoardError> {
        let fail = |reason: String| Err(BoardError::Definition { reason });
        if !(1..=CELLS_MAX as usize).contains(&places.len()) {
            return fail(format!("{} cells: expected 1 to {CELLS_MAX}", places.len()));
        }
        for (cell, place) in places.iter().enumerate() {
            if !place.iter().all(|number| number.abs() <= COORDINATE_MAX) {
                return fail(format!(
                    "cell {cell} at {place:?}: expected coordinates from -{COORDINATE_MAX} to {COORDINATE_MAX}"
                ));
            }
            if let Some(other) = places[..cell].iter().position(|other| other == place) {
                return fail(format!("cells {other} and {cell} are both at {place:?}"));
            }
        }
        Ok(())
    }

    /// Builds the board.
    ///
    /// # Errors
    /// [`BoardError::Definition`] if the data make no board, with the place.
    pub fn board(self) -> Result<Board, BoardError> {
        let fail = |reason: String| Err(BoardError::Definition { reason });
        if !Definition::is_name(&self.name) {
            return fail(format!(
                "the name {:?}: expected 1 to {NAME_BYTES_MAX} letters, digits and the characters {NAME_CHARACTERS}",
                self.name
            ));
        }
        Definition::check_places(&self.cells)?;
        let Definition { name, min_take, max_take, cells: places, moves: lists } = self;
        let cells = places.len();
        if lists.is_empty() {
            return fail("no move is possible: expected at least one".to_owned());
        }
        if lists.len() > MOVES_MAX {
            return fail(format!("{} moves: expected at most {MOVES_MAX}", lists.len()));
        }
        let mut moves = Vec::new();
        for (number, list) in lists.iter().enumerate() {
            let mut taken = 0_u64;
            for &cell in list {
                if usize::from(cell) >= cells {
                    return fail(format!("move {number} takes cell {cell}: expected cells from 0 to {}", cells - 1));
                }
                if taken >> cell & 1 == 1 {
                    return fail(format!("move {number} takes cell {cell} twice"));
                }
                taken |= 1 << cell;
            }
            if taken == 0 {
                return fail(format!("move {number} takes no cell"));
            }
            moves.push(taken);
        }
        moves.sort_unstable();
        moves.dedup();
        let board = Board {
            name,
            layers: None,
            min_take,
            max_take,
            cells: cells as u32,
            rows: rows::lengths(&places),
            symmetries: automorphisms::symmetries(cells as u32, &moves),
            places,
            moves,
        };
        Ok(board.asserted())
    }
}

impl Board {
    /// Returns the board as data; `None` for triangles, which their layers and the most pieces of a
    /// move define.
    pub fn definition(&self) -> Option<Definition> {
        let list = |taken: &u64| super::super::position::cells(*taken).into_iter().map(|cell| cell as u8).collect();
        self.layers.is_none().then(|| Definition {
            name: self.name.clone(),
            min_take: self.min_take,
            max_take: self.max_take,
            cells: self.places.clone(),
            moves: self.moves.iter().map(list).collect(),
        })
    }
}
