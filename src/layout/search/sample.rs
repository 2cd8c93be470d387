//! A local search among unions of orbits.
//!
//! It starts at a random union, moves to the best union that differs in one exchange until none is
//! better, and restarts until it has examined the requested number. An exchange removes one orbit
//! and adds orbits with as many cells: one of the same size or two of half the size, or the
//! reverse. The search proves nothing.

use super::Limit;
use super::walk::{Orbits, Union};
use trinim_game::random::Random;

/// Offers as many unions of `bits` cells with their updates as the limit allows. At least one such
/// union must exist.
pub(super) fn some(orbits: &Orbits<'_>, bits: u32, limit: Limit, offer: &mut impl FnMut(u64, u128)) {
    let mut random = Random::new(limit.seed);
    let mut left = limit.sets;
    while left > 0 {
        // A failed start also counts, so that the loop ends.
        left -= 1;
        let Some(mut union) = start(orbits, bits, &mut random) else { continue };
        let mut updates = orbits.updates(&union);
        offer(union.set, updates);
        loop {
            let mut best: Option<(u128, Vec<usize>)> = None;
            for exchange in exchanges(orbits, &union) {
                if left == 0 {
                    return;
                }
                left -= 1;
                apply(orbits, &mut union, &exchange);
                let exchanged = orbits.updates(&union);
                offer(union.set, exchanged);
                apply(orbits, &mut union, &exchange);
                if exchanged < best.as_ref().map_or(updates, |best| best.0) {
                    best = Some((exchanged, exchange));
                }
            }
            let Some((better, exchange)) = best else { break };
            apply(orbits, &mut union, &exchange);
            updates = better;
        }
    }
}

fn apply(orbits: &Orbits<'_>, union: &mut Union, exchange: &[usize]) {
    for &orbit in exchange {
        orbits.toggle(union, &orbits.orbits[orbit]);
    }
}

/// Returns a union of orbits in random order, as many as fit.
fn start(orbits: &Orbits<'_>, bits: u32, random: &mut Random) -> Option<Union> {
    let mut order: Vec<usize> = (0..orbits.orbits.len()).collect();
    random.shuffle(&mut order);
    let mut union = orbits.empty();
    let mut left = bits;
    for orbit in order.into_iter().map(|index| &orbits.orbits[index]) {
        if orbit.cells <= left {
            orbits.toggle(&mut union, orbit);
            left -= orbit.cells;
        }
    }
    (left == 0).then_some(union)
}

/// Returns the orbits to toggle, for every exchange.
fn exchanges(orbits: &Orbits<'_>, union: &Union) -> Vec<Vec<usize>> {
    let all = 0..orbits.orbits.len();
    let (inside, outside): (Vec<usize>, Vec<usize>) =
        all.partition(|&orbit| union.set & orbits.orbits[orbit].mask != 0);
    let cells = |orbit: usize| orbits.orbits[orbit].cells;
    let mut exchanges = Vec::new();
    for (ones, others) in [(&inside, &outside), (&outside, &inside)] {
        for &one in ones {
            for (index, &first) in others.iter().enumerate() {
                // An exchange of one for one turns up from both sides; keep it once.
                if cells(first) == cells(one) && std::ptr::eq(ones, &inside) {
                    exchanges.push(vec![one, first]);
                }
                let second = others[index + 1..].iter().filter(|&&second| cells(first) + cells(second) == cells(one));
                exchanges.extend(second.map(|&second| vec![one, first, second]));
            }
        }
    }
    exchanges
}
