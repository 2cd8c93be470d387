//! Scores of sets, line by line.
//!
//! By Burnside's lemma ([`crate::layout::burnside`]) the updates of a set are `1/|G|` times the sum
//! over symmetries `g` and traces `D` of `2^(cycles - cycles that D meets)`. A trace of several
//! cells lies in one line, and the cycles that it meets depend only on that line. So a table,
//! indexed by the pattern of BID cells in the line, gives the sum over the traces of a line:
//!
//! ```text
//! updates = 1/|G| * sum over g of 2^cycles * (b / 2 + sum over lines of the line's weight of g)
//! weight of g = sum over runs D of two and more BID cells in the line of 2^-(cycles that D meets)
//! ```
//!
//! A single cell lies in three lines and meets one cycle: it counts once, as `1/2`. Weights are
//! integers in units of `2^-10`: a line has at most ten cells.

use trinim_game::{Board, Cell, LAYERS_MAX, Symmetry};

/// Weights are in units of `2^-UNIT_BITS`.
pub(super) const UNIT_BITS: u32 = LAYERS_MAX;

/// The weight of a trace of one cell.
const SINGLE: u64 = 1 << (UNIT_BITS - 1);

/// The lines of a board and the weights of their patterns.
pub(super) struct Scores {
    max_take: u32,
    /// The cells of each line from end to end.
    pub(super) lines: Vec<Vec<u8>>,
    /// The start of each line's patterns in the tables.
    pub(super) starts: Vec<usize>,
    /// For each cell, its lines and its bit in their patterns.
    pub(super) places: Vec<Vec<(usize, usize)>>,
}

impl Scores {
    /// Returns the lines of a triangle; of another board, none.
    pub(super) fn new(board: &Board) -> Scores {
        let mut lines: Vec<Vec<u8>> = Vec::new();
        let cells: Vec<Cell> = (0..board.cells()).map(Cell::from_index).collect();
        let layers = board.layers().unwrap_or(0);
        let directions: [fn(&Cell) -> u8; 3] = [|cell| cell.row, |cell| cell.col, |cell| cell.row - cell.col];
        for line_of in directions {
            for line in 0..layers as u8 {
                lines.push(cells.iter().filter(|cell| line_of(cell) == line).map(|cell| cell.index() as u8).collect());
            }
        }
        let mut places = vec![Vec::new(); cells.len()];
        for (line, cells) in lines.iter().enumerate() {
            for (bit, &cell) in cells.iter().enumerate() {
                places[usize::from(cell)].push((line, 1 << bit));
            }
        }
        let patterns = |lines: &[Vec<u8>]| lines.iter().map(|line| 1 << line.len()).sum::<usize>();
        let starts = (0..lines.len()).map(|line| patterns(&lines[..line])).collect();
        Scores { max_take: board.max_take().unwrap_or(layers), lines, starts, places }
    }

    /// Returns the weight of every pattern of every line under a symmetry.
    pub(super) fn weights(&self, symmetry: &Symmetry) -> Vec<u32> {
        let patterns = |line: &Vec<u8>| 0..1usize << line.len();
        self.lines.iter().flat_map(|line| patterns(line).map(|pattern| self.weight(symmetry, line, pattern))).collect()
    }

    fn weight(&self, symmetry: &Symmetry, line: &[u8], pattern: usize) -> u32 {
        let chosen: Vec<usize> = (0..line.len()).filter(|bit| pattern >> bit & 1 == 1).collect();
        let mut weight = 0;
        for (first, &from) in chosen.iter().enumerate() {
            for last in first + 1..chosen.len() {
                if (chosen[last] - from) as u32 >= self.max_take {
                    break;
                }
                let met: std::collections::BTreeSet<u8> =
                    chosen[first..=last].iter().map(|&bit| smallest_of_cycle(symmetry, line[bit])).collect();
                weight += 1 << (UNIT_BITS - met.len() as u32);
            }
        }
        weight
    }

    /// Returns the updates of a set of `bits` cells from each symmetry's number of cycles and sum
    /// of weights over the lines.
    pub(super) fn updates(bits: u32, sums: impl ExactSizeIterator<Item = (u32, u64)>) -> u128 {
        let order = sums.len() as u64;
        let singles = u64::from(bits) * SINGLE;
        let sum = sums.map(|(cycles, weights)| u128::from(singles + weights) << cycles).sum::<u128>() >> UNIT_BITS;
        // Dividing short numbers takes a fraction of the time, and nearly all are short.
        u64::try_from(sum).map_or_else(|_| sum / u128::from(order), |sum| u128::from(sum / order))
    }
}

fn smallest_of_cycle(symmetry: &Symmetry, cell: u8) -> u8 {
    let next = |&cell: &u8| Some(symmetry.image()[usize::from(cell)]);
    // No cycle of a triangle's symmetries is longer than three.
    std::iter::successors(Some(cell), next).take(3).min().unwrap_or(cell)
}
