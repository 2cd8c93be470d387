//! Lower bounds on the positions and options of a game, known before its graph is built.
//!
//! Exploring 2^26 options takes ten seconds; where counting is possible, a game beyond the limits
//! is refused at once. In Nim, Wythoff's game and Moore's Nim any smaller heaps can be reached. If
//! every ordering counts, each tuple is a position, each of its moves an option, and both numbers
//! are exact. If one ordering represents all, they are lower bounds: at most n! tuples of n heaps
//! are one position, and at most n!² pairs of them one option.

use super::graph::{Excess, OPTIONS_MAX, Ordering, POSITIONS_MAX};
use super::{Game, Moves};

impl Game {
    /// Rejects games that would take long to reach a limit.
    pub(super) fn check_size(&self, ordering: Ordering, positions_max: usize) -> Result<(), Excess> {
        if let Moves::Subtraction(_) = self.moves {
            return Ok(());
        }
        let (positions, options) = self.least(ordering);
        let within = |count: u128, limit: usize, what| {
            if count > limit as u128 { Err((limit, what)) } else { Ok(()) }
        };
        within(positions, positions_max, "positions")?;
        // The moves of one position of Moore's Nim lead to all of them, and are listed at once.
        if let Moves::Moore(_) = self.moves {
            within(self.least(Ordering::All).0, POSITIONS_MAX, "positions")?;
        }
        within(options, OPTIONS_MAX, "options")
    }

    /// Returns lower bounds of the positions and options.
    fn least(&self, ordering: Ordering) -> (u128, u128) {
        let tuples = self.heaps.iter().fold(1, |count: u128, heap| count.saturating_mul(*heap as u128 + 1));
        let orderings = if ordering == Ordering::All { 1 } else { (1..=self.heaps.len() as u128).product() };
        (tuples.div_ceil(orderings), self.options_of_all().div_ceil(orderings * orderings))
    }

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

/// Lists all tuples of heaps, starting with the given ones.
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
            for ordering in [Ordering::All, Ordering::Descending] {
                let graph = game.graph(Rule::Normal, ordering).unwrap();
                let ((positions, options), counted) = (game.least(ordering), (graph.len(), graph.options_total()));
                assert!(positions <= counted.0 as u128 && options <= counted.1 as u128, "{text} {ordering:?}");
                let is_exact = (positions, options) == (counted.0 as u128, counted.1 as u128);
                assert!(is_exact || ordering != Ordering::All, "{text}");
            }
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
