//! Parts of a board: the pieces of a position as a board of their own.

use super::definition::Definition;
use super::{Board, BoardError};

/// The pieces of a position as a board. A game from that position reaches only this board.
#[derive(Clone, Debug)]
pub struct Part {
    /// The board whose cells are the pieces, in the order of their cells.
    pub board: Board,
    /// The pieces on the whole board.
    pub pieces: u64,
    cells: Vec<u8>,
}

impl Part {
    /// Returns a position of the whole board as a position of the part, if its pieces are among
    /// those of the part.
    pub fn inside(&self, position: u64) -> Option<u64> {
        let bits = self.cells.iter().enumerate();
        let inside = bits.fold(0, |mask, (bit, cell)| mask | (position >> cell & 1) << bit);
        (position & !self.pieces == 0).then_some(inside)
    }

    /// Returns the position of the whole board that this position of the part is.
    pub fn outside(&self, position: u64) -> u64 {
        let bits = self.cells.iter().enumerate();
        bits.fold(0, |mask, (bit, cell)| mask | (position >> bit & 1) << cell)
    }
}

impl Board {
    /// Returns the pieces of a position as a board of their own, with the moves that they allow.
    ///
    /// # Errors
    /// [`BoardError::Definition`] if the position allows no move.
    pub fn part(&self, position: u64) -> Result<Part, BoardError> {
        let cells: Vec<u8> = (0..self.cells as u8).filter(|cell| position >> cell & 1 == 1).collect();
        let bit = |cell: u32| cells.iter().position(|other| u32::from(*other) == cell).map(|bit| bit as u8);
        let possible = self.moves.iter().filter(|taken| position & **taken == **taken);
        let list = |taken: &u64| (0..self.cells).filter(|cell| taken >> cell & 1 == 1).filter_map(bit).collect();
        let definition = Definition {
            // Not made from the name of the whole, which may be as long as a name can be.
            name: "part".to_owned(),
            min_take: None,
            max_take: None,
            cells: cells.iter().map(|cell| self.places[usize::from(*cell)]).collect(),
            moves: possible.map(list).collect(),
        };
        Ok(Part { board: definition.board()?, pieces: position, cells })
    }

    /// Returns the components of a position, as masks: no move takes pieces of two of them. A piece
    /// that no move takes is a component of its own.
    pub fn components(&self, position: u64) -> Vec<u64> {
        let mut components: Vec<u64> =
            (0..self.cells).map(|cell| position & 1 << cell).filter(|bit| *bit != 0).collect();
        for taken in self.moves.iter().filter(|taken| position & **taken == **taken) {
            let (met, apart): (Vec<u64>, Vec<u64>) = components.iter().partition(|part| **part & taken != 0);
            components = apart;
            components.push(met.into_iter().fold(0, |all, part| all | part));
        }
        components.sort_unstable();
        components
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Takes;

    /// A part has the moves of the whole that its pieces allow; positions go to and fro; components
    /// are what no move connects, by the definition: closed under moves, and none is two such sets.
    #[test]
    fn parts_have_the_moves_of_the_whole() {
        for (name, least) in [("triangle:3", None), ("triangle:3", Some(2)), ("rect:2x3", Some(3)), ("cram:2x3", None)]
        {
            let board = Board::named(name, Takes { least, most: None }).unwrap();
            for position in 0..=board.full() {
                let allowed: Vec<u64> = board.moves().iter().copied().filter(|taken| taken & !position == 0).collect();
                let components = board.components(position);
                assert_eq!(components.iter().fold(0, |all, part| all ^ part), position);
                for part in &components {
                    assert!(allowed.iter().all(|taken| taken & !part == 0 || taken & part == 0));
                    let alone = part & part.wrapping_neg();
                    let reached = (0..board.cells()).fold(alone, |reached, _| {
                        allowed.iter().filter(|taken| *taken & reached != 0).fold(reached, |all, taken| all | taken)
                    });
                    assert_eq!(reached, *part, "{name} {position:b}");
                }
                if allowed.is_empty() {
                    assert!(board.part(position).is_err());
                    continue;
                }
                let part = board.part(position).unwrap();
                assert_eq!(part.pieces, position);
                assert_eq!(part.board.cells(), position.count_ones());
                let mut moves: Vec<u64> = part.board.moves().iter().map(|taken| part.outside(*taken)).collect();
                moves.sort_unstable();
                let mut expected = allowed.clone();
                expected.sort_unstable();
                assert_eq!(moves, expected, "{name} {position:b}");
                assert!(part.board.moves().iter().all(|taken| part.inside(part.outside(*taken)) == Some(*taken)));
                let others = board.full() & !position;
                assert_eq!(part.inside(others), (others == 0).then_some(0));
            }
        }
    }
}
