//! Boards and the reference solver against published figures.

use proptest::prelude::*;
use trinim::game::Rule;
use trinim::game::published;
use trinim::game::reference;
use trinim::game::{Board, Cell};

fn triangle(layers: u32) -> Board {
    Board::triangle(layers, None).unwrap()
}

/// Two cells are on a line if a row, a column or a diagonal holds both; a move is a gapless part of
/// one line.
#[test]
fn moves_are_the_gapless_parts_of_lines() {
    for layers in 1..=10 {
        for max_take in [None, Some(1), Some(2), Some(3), Some(20)] {
            let board = Board::triangle(layers, max_take).unwrap();
            let cells: Vec<Cell> = (0..board.cells()).map(Cell::from_index).collect();
            let lines: [fn(&Cell) -> u8; 3] = [|cell| cell.row, |cell| cell.col, |cell| cell.row - cell.col];
            let mut expected = Vec::new();
            for line in lines {
                for number in 0..layers as u8 {
                    let on_line: Vec<&Cell> = cells.iter().filter(|cell| line(cell) == number).collect();
                    for first in 0..on_line.len() {
                        for last in first..on_line.len().min(first + max_take.unwrap_or(20) as usize) {
                            expected.push(on_line[first..=last].iter().map(|cell| cell.mask()).sum::<u64>());
                        }
                    }
                }
            }
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(board.moves(), expected);
            if max_take.is_none_or(|most| most >= layers) {
                assert_eq!(board.moves().len() as u32, layers * layers * (layers + 1) / 2);
            }
        }
    }
}

#[test]
fn symmetries_are_a_group_and_keep_the_moves() {
    for layers in 1..=10 {
        for max_take in [None, Some(3)] {
            let board = Board::triangle(layers, max_take).unwrap();
            let symmetries = board.symmetries();
            assert_eq!(symmetries.len(), if layers == 1 { 1 } else { 6 });
            assert!(symmetries[0].is_identity());
            for one in symmetries {
                assert!(one.compose(&one.inverse()).is_identity());
                assert!(symmetries.contains(&one.inverse()));
                for other in symmetries {
                    let both = one.compose(other);
                    assert_eq!(symmetries.iter().filter(|&symmetry| *symmetry == both).count(), 1);
                    let position = 0x5bd1_e995_9d1b_a3c7 & board.full();
                    assert_eq!(both.apply(position), one.apply(other.apply(position)));
                }
                let mut moves: Vec<u64> = board.moves().iter().map(|&cells| one.apply(cells)).collect();
                moves.sort_unstable();
                assert_eq!(moves, board.moves());
            }
        }
    }
}

/// The definition gives the published counts of misère play and values of the start, for one to six
/// layers.
#[test]
fn published_counts_and_values_are_met() {
    for layers in 1..=6 {
        let board = triangle(layers);
        let values = reference::values(board.cells(), board.moves(), Rule::Misere);
        let losses = values.iter().filter(|value| value.is_loss()).count() as u64;
        assert_eq!(published::counts(layers, Rule::Misere).map(|counts| counts.losses), Some(losses));
        assert_eq!(values.last().copied(), published::start(layers, Rule::Misere));
        let values = reference::values(board.cells(), board.moves(), Rule::Normal);
        assert_eq!(values.last().copied(), published::start(layers, Rule::Normal));
    }
}

/// The schoolyard game: five layers, at most three pieces a move, and the player who takes the last
/// piece loses.
#[test]
fn the_schoolyard_game_is_won_by_nine_openings() {
    let board = Board::triangle(5, Some(3)).unwrap();
    let values = reference::values(board.cells(), board.moves(), Rule::Misere);
    assert_eq!(values.iter().filter(|value| value.is_loss()).count(), 4_272);
    let openings = reference::winning_moves(board.moves(), Rule::Misere, board.full());
    let cells = [0u64, 3, 4, 5, 7, 8, 10, 12, 14];
    assert_eq!(openings, cells.map(|cell| 1 << cell));
}

#[test]
fn the_ways_to_ask_agree() {
    for layers in 1..=4 {
        let board = triangle(layers);
        for rule in Rule::ALL {
            let values = reference::values(board.cells(), board.moves(), rule);
            for position in 0..=board.full() {
                let value = values[position as usize];
                assert_eq!(reference::value_of(board.moves(), rule, position), value);
                let winning = reference::winning_moves(board.moves(), rule, position);
                assert_eq!(winning.is_empty(), value.is_loss() || position == 0);
                if rule == Rule::Normal {
                    assert_eq!(reference::grundy(board.moves(), position) == 0, value.is_loss());
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Sparse positions of large boards, which no table can hold: Sprague and Grundy against plain
    /// search.
    #[test]
    fn grundy_values_tell_the_losses_of_sparse_positions(layers in 5u32..=10, one: u64, two: u64) {
        let board = triangle(layers);
        let mut position = board.full() & one & two;
        while position.count_ones() > 12 {
            position &= position - 1;
        }
        let loss = reference::value_of(board.moves(), Rule::Normal, position).is_loss();
        prop_assert_eq!(reference::grundy(board.moves(), position) == 0, loss);
        for rule in Rule::ALL {
            let value = reference::value_of(board.moves(), rule, position);
            for symmetry in board.symmetries() {
                prop_assert_eq!(reference::value_of(board.moves(), rule, symmetry.apply(position)), value);
            }
        }
    }
}
