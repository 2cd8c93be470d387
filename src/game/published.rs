//! The published results on Triangular Nim: the home of every figure of the papers that results are
//! compared with.
//!
//! The boards have 1 to 9 layers, without a limit on the pieces of a move. The values of the start
//! are from \[SWLK12\] table 5. The misère counts and rates are from \[LWS09\] table 4-1, for up to
//! eight layers; the rate of nine layers is from the text of \[SWLK12\]. Rates are stored as
//! printed, because their digits say how precisely they can be compared. Normal play has no
//! published counts. The winning first moves (\[SWLK12\] figures 7, 8, 11 and 12) and the values of
//! its figure 13 are printed only as pictures.
//!
//! # Invariants
//! 1. The published wins and losses of a board add up to its positions, and their rate rounds to
//!    the published one.

use crate::{Rule, Value};

/// Boards with a published value of the start: 1 to this many layers.
pub const LAYERS: u32 = 9;

/// Published counts of a whole board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Positions that the player to move wins.
    pub wins: u64,
    /// Positions that the player to move loses.
    pub losses: u64,
}

/// A published share of losses among all positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// The rate in per cent, with the printed digits.
    pub percent: &'static str,
}

impl Rate {
    /// Returns whether a share from 0 to 1, rounded to the printed digits, equals this one.
    pub fn agrees(self, share: f64) -> bool {
        let decimals = self.percent.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        format!("{:.decimals$}", share * 100.0) == self.percent
    }
}

/// Normal, misère.
const STARTS: [(Value, Value); LAYERS as usize] = {
    use Value::{Loss, Win};
    [(Win, Loss), (Loss, Win), (Win, Loss), (Win, Win), (Win, Loss), (Win, Win), (Win, Win), (Win, Win), (Win, Win)]
};

const MISERE_COUNTS: [Counts; 8] = [
    Counts { wins: 1, losses: 1 },
    Counts { wins: 5, losses: 3 },
    Counts { wins: 50, losses: 14 },
    Counts { wins: 882, losses: 142 },
    Counts { wins: 28_866, losses: 3_902 },
    Counts { wins: 1_908_063, losses: 189_089 },
    Counts { wins: 248_938_933, losses: 19_496_523 },
    Counts { wins: 64_595_197_284, losses: 4_124_279_452 },
];

const MISERE_PERCENT: [&str; LAYERS as usize] = ["50", "37.5", "21.9", "13.9", "11.9", "9", "7.3", "6", "5.0"];

fn row<T: Copy>(table: &[T], layers: u32) -> Option<T> {
    table.get((layers as usize).checked_sub(1)?).copied()
}

/// Returns the published value of the full board.
pub fn start(layers: u32, rule: Rule) -> Option<Value> {
    row(&STARTS, layers).map(|(normal, misere)| if rule == Rule::Normal { normal } else { misere })
}

/// Returns the published counts.
pub fn counts(layers: u32, rule: Rule) -> Option<Counts> {
    (rule == Rule::Misere).then(|| row(&MISERE_COUNTS, layers)).flatten()
}

/// Returns the published share of losses.
pub fn rate(layers: u32, rule: Rule) -> Option<Rate> {
    (rule == Rule::Misere).then(|| row(&MISERE_PERCENT, layers)).flatten().map(|percent| Rate { percent })
}

/// Losses of normal play by layers, from one layer: our results, each confirmed by `trinim verify`.
const NORMAL: [u64; 8] = [1, 2, 14, 149, 3_663, 185_802, 19_765_963, 4_257_746_765];

/// Returns the known loss count of a triangle without a take limit; the misère counts are the
/// published ones.
pub fn losses(layers: u32, rule: Rule) -> Option<u64> {
    match rule {
        Rule::Misere => counts(layers, rule).map(|counts| counts.losses),
        Rule::Normal => NORMAL.get(layers.checked_sub(1)? as usize).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Board, reference};

    #[test]
    fn the_published_figures_agree_among_themselves() {
        for layers in 1..=8 {
            let counts = counts(layers, Rule::Misere).unwrap();
            let positions = 1_u64 << (layers * (layers + 1) / 2);
            assert_eq!(counts.wins + counts.losses, positions);
            assert!(rate(layers, Rule::Misere).unwrap().agrees(counts.losses as f64 / positions as f64), "{layers}");
        }
        assert_eq!(start(9, Rule::Normal), Some(Value::Win));
        for layers in [0, 10] {
            assert_eq!((start(layers, Rule::Normal), start(layers, Rule::Misere)), (None, None));
            assert_eq!((counts(layers, Rule::Misere), rate(layers, Rule::Misere)), (None, None));
        }
        assert_eq!((counts(5, Rule::Normal), rate(5, Rule::Normal)), (None, None));
    }

    #[test]
    fn rates_are_compared_in_the_digits_printed() {
        let nine = rate(9, Rule::Misere).unwrap();
        assert!(nine.agrees(0.0503) && nine.agrees(0.0498));
        assert!(!nine.agrees(0.0507) && !nine.agrees(0.0476));
    }

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
