//! The order of the positions in a book: by the number of empty cells, then by their mask.
//!
//! A mask of `e` empty cells has its rank among all sets of `e` cells (combinatorial number
//! system): the sum of `binomial(cell, place)` over the empty cells in ascending order, with places
//! from 1. The *number* of a position is that rank plus the number of sets with fewer cells. It
//! does not depend on the layout.

use trinim_game::Board;

/// The numbers of all positions of a board.
#[derive(Clone, Debug)]
pub struct BookOrder {
    cells: u32,
    full: u64,
    /// `choose[n][k]` is the binomial coefficient.
    choose: Vec<Vec<u64>>,
    /// The number of the first position by its empty cells; at the end, of all positions.
    starts: Vec<u64>,
}

impl BookOrder {
    /// Prepares the order for a board.
    pub fn new(board: &Board) -> BookOrder {
        let cells = board.cells() as usize;
        let mut choose = vec![vec![0_u64; cells + 2]; cells + 1];
        for n in 0..=cells {
            choose[n][0] = 1;
            for k in 1..=n {
                choose[n][k] = choose[n - 1][k - 1] + choose[n - 1][k];
            }
        }
        let mut starts = vec![0];
        for empties in 0..=cells {
            starts.push(starts[empties] + choose[cells][empties]);
        }
        BookOrder { cells: board.cells(), full: board.full(), choose, starts }
    }

    /// Returns the number of positions with at most this many empty cells.
    pub fn positions(&self, empties_at_most: u32) -> u64 {
        self.starts[empties_at_most.min(self.cells) as usize + 1]
    }

    /// Returns the number of a position.
    pub fn number(&self, position: u64) -> u64 {
        let mut empties = self.full & !position;
        let mut place = 0;
        let mut rank = 0;
        while empties != 0 {
            place += 1;
            rank += self.choose[empties.trailing_zeros() as usize][place];
            empties &= empties - 1;
        }
        self.starts[place] + rank
    }

    /// Returns the position with a number; the inverse of [`BookOrder::number`].
    ///
    /// # Panics
    /// If the board has fewer positions.
    pub fn position(&self, number: u64) -> u64 {
        let count = self.starts.partition_point(|start| *start <= number) - 1;
        assert!(count <= self.cells as usize, "position {number} of a board of {} cells", self.cells);
        let mut rank = number - self.starts[count];
        let mut empties = 0;
        for place in (1..=count).rev() {
            let cell = (0..self.cells as usize).rev().find(|cell| self.choose[*cell][place] <= rank).unwrap_or(0);
            rank -= self.choose[cell][place];
            empties |= 1_u64 << cell;
        }
        self.full & !empties
    }
}

/// Returns the image of a position under the board's symmetries that represents them all in a book:
/// the one with the smallest mask of empty cells, and so with the largest mask of pieces.
pub fn canonical(board: &Board, position: u64) -> u64 {
    board.symmetries().iter().map(|symmetry| symmetry.apply(position)).max().unwrap_or(position)
}

/// Returns the number of positions that a canonical one represents.
pub fn orbit_size(board: &Board, position: u64) -> u64 {
    let fixing = board.symmetries().iter().filter(|symmetry| symmetry.apply(position) == position).count();
    debug_assert!(board.symmetries().len().is_multiple_of(fixing), "board, invariant 2: the symmetries are a group");
    (board.symmetries().len() / fixing) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_a_bijection_in_the_order_of_masks() {
        for layers in 1..=5 {
            let board = Board::triangle(layers, None).unwrap();
            let order = BookOrder::new(&board);
            let mut by_number: Vec<u64> = (0..=board.full()).collect();
            by_number.sort_by_key(|position| (board.full() & !position).count_ones());
            by_number.sort_by_key(|position| ((board.full() & !position).count_ones(), board.full() & !position));
            for (number, position) in (0..).zip(by_number) {
                assert_eq!(order.number(position), number);
                assert_eq!(order.position(number), position);
            }
            assert_eq!(order.positions(board.cells()), 1 << board.cells());
            assert_eq!((order.positions(0), order.number(board.full())), (1, 0));
        }
    }

    #[test]
    fn large_boards_have_numbers_for_all() {
        let board = Board::triangle(10, None).unwrap();
        let order = BookOrder::new(&board);
        assert_eq!(order.number(0), (1 << 55) - 1);
        for position in [0, 1, board.full(), board.full() ^ 0b1011, 0x55_5555_5555_5555 & board.full()] {
            assert_eq!(order.position(order.number(position)), position);
        }
    }

    #[test]
    fn orbits_add_up_to_all_positions() {
        for layers in 1..=4 {
            let board = Board::triangle(layers, None).unwrap();
            let canonical = (0..=board.full()).filter(|position| canonical(&board, *position) == *position);
            assert_eq!(canonical.map(|position| orbit_size(&board, position)).sum::<u64>(), 1 << board.cells());
        }
    }
}
