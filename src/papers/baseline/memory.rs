//! The whole board in memory, one position at a time in ascending order: every child of a position
//! is a smaller number.
//!
//! The bitmap has one bit for each position, set for a win. A position is the mask of its pieces in
//! row order, for any layout; at the end the board is divided into the layout's canonical blocks.

use super::{Counters, Run};
use pipeline::{Bitmap, Error, Stage};
use std::ops::Range;
use trinim::database::Game;
use trinim_game::Rule;
use trinim_kernel::bitmap_words;

/// Positions between two checks of the stop flag: some milliseconds.
const STEP: u64 = 1 << 18;

/// Decides a range of positions after all smaller ones. Arguments: moves, wins, range.
type Step = fn(&[u64], &mut [u64], Range<u64>);

/// Returns the words of a bitmap of all positions of a board.
pub(super) fn board_words(cells: u32) -> u64 {
    1 << cells.saturating_sub(6)
}

fn is_win(wins: &[u64], position: u64) -> bool {
    wins[(position >> 6) as usize] >> (position & 63) & 1 == 1
}

fn set_win(wins: &mut [u64], position: u64) {
    wins[(position >> 6) as usize] |= 1 << (position & 63);
}

/// Forward checking: a position is a win if some move leads to a loss. All smaller positions must
/// be decided; the caller marks positions without a move that are wins.
pub fn forward(moves: &[u64], wins: &mut [u64], positions: Range<u64>) {
    for position in positions {
        if moves.iter().any(|cells| position & cells == *cells && !is_win(wins, position ^ cells)) {
            set_win(wins, position);
        }
    }
}

/// Retrograde: a position not yet marked as a win is a loss, and all its parents are wins. All
/// smaller positions must have been visited, and positions without a move that are wins marked.
pub fn retrograde(moves: &[u64], wins: &mut [u64], positions: Range<u64>) {
    for position in positions {
        if !is_win(wins, position) {
            for cells in moves.iter().filter(|cells| position & **cells == 0) {
                set_win(wins, position | cells);
            }
        }
    }
}

/// Decides all positions and publishes the canonical blocks.
pub(super) fn solve(run: &Run<'_>, step: Step) -> Result<(), Error> {
    let _lane = run.metrics.lane(|| "worker 1".to_owned());
    let Game { board, rule, layout } = run.game;
    let mut wins = Bitmap::zeroed(board_words(board.cells()) as usize)?;
    for positions in steps(1 << board.cells()) {
        run.go_on()?;
        let visited = positions.end - positions.start;
        let _time = run.metrics.enter(Stage::Settle);
        // If every single piece can be taken, only the empty position is over.
        if *rule == Rule::Misere && (positions.start == 0 || !board.takes_single_pieces()) {
            let over = positions.clone().filter(|position| board.is_over(*position));
            over.for_each(|position| set_win(wins.words_mut(), position));
        }
        step(board.moves(), wins.words_mut(), positions);
        Counters::add(&run.counters.positions_visited, visited);
    }

    let mut losses = Bitmap::zeroed(bitmap_words(layout.offset_bits()))?;
    for (ordinal, bid) in layout.ordinals().zip(layout.canonical_blocks()) {
        losses.words_mut().fill(0);
        for offsets in steps(1 << layout.offset_bits()) {
            run.go_on()?;
            let _time = run.metrics.enter(Stage::Orient);
            for offset in offsets.filter(|offset| !is_win(wins.words(), layout.join(*bid, *offset))) {
                losses.words_mut()[(offset >> 6) as usize] |= 1 << (offset & 63);
            }
        }
        run.publisher.publish(ordinal, losses.words())?;
        run.metrics.counters.blocks_computed.add(1);
    }
    Ok(())
}

/// Splits the numbers below `end` into ranges of [`STEP`].
fn steps(end: u64) -> impl Iterator<Item = Range<u64>> {
    (0..end).step_by(STEP as usize).map(move |start| start..end.min(start + STEP))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trinim_game::Board;
    use trinim_game::reference;

    #[test]
    fn both_agree_with_the_definition_in_steps_of_any_length() {
        for layers in 1..=5 {
            let board = Board::triangle(layers, None).unwrap();
            let all = 1u64 << board.cells();
            for rule in Rule::ALL {
                let values = reference::values(board.cells(), board.moves(), rule);
                for step in [forward as Step, retrograde] {
                    for length in [all, 1, 77] {
                        let mut wins = vec![0; board_words(board.cells()) as usize];
                        wins[0] = u64::from(rule == Rule::Misere);
                        for start in (0..all).step_by(length as usize) {
                            step(board.moves(), &mut wins, start..all.min(start + length));
                        }
                        let right =
                            |(position, value): (u64, &trinim_game::Value)| is_win(&wins, position) != value.is_loss();
                        assert!((0..).zip(&values).all(right), "{layers} layers, {rule}, steps of {length}");
                    }
                }
            }
        }
    }
}
