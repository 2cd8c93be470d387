//! Loss counts that are known, for whoever measures or checks whole solves.

use crate::published;
use crate::rule::Rule;

/// Losses of normal play by layers, from one layer on: ours, each confirmed by `trinim verify`.
const NORMAL: [u64; 8] = [1, 2, 14, 149, 3_663, 185_802, 19_765_963, 4_257_746_765];

/// The losses of the triangle of so many layers without a limit to the pieces of a move, where they are known: misère play as published.
pub fn losses(layers: u32, rule: Rule) -> Option<u64> {
    match rule {
        Rule::Misere => published::counts(layers, rule).map(|counts| counts.losses),
        Rule::Normal => NORMAL.get(layers.checked_sub(1)? as usize).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::reference;

    #[test]
    fn small_boards_have_the_losses_of_the_definition() {
        for layers in 1..=5 {
            let board = Board::triangle(layers, None).unwrap();
            for rule in [Rule::Misere, Rule::Normal] {
                let values = reference::values(board.cells(), board.moves(), rule);
                let count = values.iter().filter(|value| value.is_loss()).count();
                assert_eq!(losses(layers, rule), Some(count as u64), "{layers} {rule}");
            }
        }
        assert_eq!((losses(0, Rule::Misere), losses(9, Rule::Normal)), (None, None));
    }
}
