//! How many positions and options a game has at least, known before its graph is built.
//!
//! To explore 2^26 options takes ten seconds; a game beyond the limits is refused at once where
//! counting is possible. In Nim, Wythoff's game and Moore's Nim any smaller heaps can be reached:
//! if every ordering counts, each tuple is a position and each of its moves an option of its own,
//! and both numbers are exact. Otherwise they are lower bounds: a position has as many options as
//! its largest heap has pieces.

use super::graph::{OPTIONS_MAX, Ordering, POSITIONS_MAX, TooLarge};
use super::{Game, Moves};

impl Game {
    /// Rejects games that would take long to reach a limit.
    pub(super) fn check_size(&self, ordering: Ordering, positions_max: usize) -> Result<(), TooLarge> {
        let (positions, options) = match (&self.moves, ordering) {
            (Moves::Subtraction(_), _) => return Ok(()),
            (_, Ordering::All) => (positions(&self.heaps), self.options_of_all()),
            _ => ordered(&self.heaps),
        };
        let within = |count: u128, limit: usize, what| {
            if count > limit as u128 { Err(TooLarge { limit, what }) } else { Ok(()) }
        };
        within(positions, positions_max, "positions")?;
        within(options, OPTIONS_MAX, "options")?;
        // The moves of one position lead to all of them, and are listed in one go.
        match self.moves {
            Moves::Moore(_) => within(self::positions(&self.heaps), POSITIONS_MAX, "positions"),
            _ => Ok(()),
        }
    }

    /// Counts the options of all tuples of heaps.
    fn options_of_all(&self) -> u128 {
        let most = if let Moves::Moore(most) = self.moves { most } else { 1 };
        // ways[k] counts the pairs of a tuple and a choice of k of its heaps with fewer pieces for
        // each of these.
        let mut ways = vec![1u128];
        for heap in self.heaps.iter().map(|heap| *heap as u128) {
            let mut next = vec![0u128; (ways.len() + 1).min(most + 1)];
            for (chosen, ways) in ways.iter().enumerate() {
                next[chosen] = next[chosen].saturating_add(ways.saturating_mul(heap + 1));
                if let Some(next) = next.get_mut(chosen + 1) {
                    *next = next.saturating_add(ways.saturating_mul(heap * (heap + 1) / 2));
                }
            }
            ways = next;
        }
        let from_heaps = ways[1..].iter().fold(0, |sum: u128, ways| sum.saturating_add(*ways));
        let diagonal = match (&self.moves, &self.heaps[..]) {
            // The sum of min(a, b) over all pairs: how many pairs have both above 0, above 1, ..
            (Moves::Wythoff, [one, other]) => {
                let (short, long) = ((*one).min(*other) as u128, (*one).max(*other) as u128);
                (0..short).map(|above| (short - above) * (long - above)).sum()
            }
            _ => 0,
        };
        from_heaps.saturating_add(diagonal)
    }
}

/// Counts all tuples of heaps.
fn positions(heaps: &[i32]) -> u128 {
    heaps.iter().fold(1, |count: u128, heap| count.saturating_mul(*heap as u128 + 1))
}

/// Returns lower bounds of the positions and options if one ordering of the heaps stands for all;
/// once a bound exceeds its limit it grows no further.
fn ordered(heaps: &[i32]) -> (u128, u128) {
    let least = heaps.iter().copied().min().unwrap_or(0) as u128;
    let most = heaps.iter().copied().max().unwrap_or(0) as u128;
    // One heap alone: every number of pieces up to the largest, and every smaller one from there.
    let (mut positions, mut options) = (most + 1, most * (most + 1) / 2);
    // All heaps up to the smallest: those with this largest heap are as many as there are multisets
    // of the others.
    let others = heaps.len().saturating_sub(1) as u128;
    let (mut multisets, mut positions_below, mut options_below) = (1u128, 0u128, 0u128);
    for largest in 0..=least {
        positions_below += multisets;
        options_below += multisets * largest;
        if positions_below > POSITIONS_MAX as u128 && options_below > OPTIONS_MAX as u128 {
            break;
        }
        multisets = multisets * (largest + 1 + others) / (largest + 1);
    }
    positions = positions.max(positions_below);
    options = options.max(options_below);
    (positions, options)
}

/// Lists all tuples of heaps, that of the given ones first.
pub(super) fn tuples(heaps: &[i32]) -> impl Iterator<Item = Vec<i32>> {
    let mut next = Some(heaps.to_vec());
    let most = heaps.to_vec();
    std::iter::from_fn(move || {
        let tuple = next.take()?;
        let mut following = tuple.clone();
        for (heap, most) in following.iter_mut().zip(&most).rev() {
            if *heap > 0 {
                *heap -= 1;
                next = Some(following);
                break;
            }
            *heap = *most;
        }
        Some(tuple)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use trinim_game::Rule;

    #[test]
    fn sizes_are_known_before_the_graph() {
        let games =
            "nim:4,4,4 nim:5,2 nim:7 wythoff:9 wythoff:3,8 moore:2:3,3,3 moore:2:4,2,3 moore:3:2,2,2".split(' ');
        for text in games {
            let game = Game::parse(text).unwrap();
            let all = game.graph(Rule::Normal, Ordering::All).unwrap();
            let counted = (positions(&game.heaps), game.options_of_all());
            assert_eq!(counted, (all.len() as u128, all.options_total() as u128), "{text}");
            let one = game.graph(Rule::Normal, Ordering::Descending).unwrap();
            let (positions, options) = ordered(&game.heaps);
            assert!(positions <= one.len() as u128 && options <= one.options_total() as u128, "{text}");
        }
    }

    /// Wythoff's game up to 1,000 was explored for ten seconds before it was refused.
    #[test]
    fn too_large_games_are_refused_without_exploring() {
        for text in ["wythoff:1000", "nim:1000,1000", "moore:2:120,120,120", "nim:90,90,90,90,90"] {
            for ordering in [Ordering::All, Ordering::Descending] {
                let game = Game::parse(text).unwrap();
                assert!(game.check_size(ordering, POSITIONS_MAX).is_err(), "{text} {ordering:?}");
            }
        }
    }

    #[test]
    fn tuples_are_all_of_them() {
        let listed: Vec<Vec<i32>> = tuples(&[2, 0, 1]).collect();
        assert_eq!(listed, [[2, 0, 1], [2, 0, 0], [1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 0, 0]]);
        assert_eq!(tuples(&[3, 4]).collect::<std::collections::HashSet<_>>().len(), 20);
    }
}
