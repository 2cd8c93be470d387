//! Formulas on large heaps: points far beyond any graph, with the truth from a theorem.
//!
//! `65536 · (a1 xor a2)` is right for all heaps of less than 65,536, more than any graph holds, and
//! wrong beyond. [`Probes`] holds points where formulas of 32-bit integers tend to fail: powers of
//! two and their neighbours, up to 2^31 − 1, alone, in pairs and beside P-positions of that size;
//! multiples of small heaps; Fibonacci and round numbers; and heaps drawn by a fixed seed. The
//! constants of a formula and their neighbours are probed as well.
//!
//! Passing proves nothing. A failure is a counterexample, which [`shrink`] makes smaller: by fewer
//! pieces, then by lexicographic order.
//!
//! # Invariants
//! 1. The points depend only on law, number of heaps and ordering.
//! 2. The points are sorted by their sum, then lexicographically: the first wrong one is the
//!    smallest of them.

use crate::games::{Ordering, size};
use crate::language::{Formula, Scope, Term, Terminal, golden};
use crate::proof::{Case, Law, Theorem, TrueValue, first_wrong};
use trinim_game::random::Random;

/// Largest heap of a theorem: the largest integer of a formula.
const HEAP_MAX: i32 = i32::MAX;
const SEED: u64 = 20_260;
/// P-positions that are drawn, each with its neighbours.
const DRAWN: usize = 3_000;
/// Limit on the pairs of heaps of each two places.
const PAIRS_MAX: usize = 40_000;

/// Points for a game in one ordering of the heaps, as columns, with the truth of each.
pub(super) struct Probes {
    heaps: Vec<Vec<i32>>,
    expected: Vec<TrueValue>,
}

impl Probes {
    /// Collects the points for positions of `width` heaps.
    pub(super) fn new(law: &Law, width: usize, ordering: Ordering) -> Probes {
        Probes::at(&values(), law, width, ordering)
    }

    fn at(values: &[i32], law: &Law, width: usize, ordering: Ordering) -> Probes {
        let mut points = points(law, width, values);
        points.iter_mut().for_each(|heaps| ordering.arrange(heaps));
        points.sort_by(|one, other| size(one).cmp(&size(other)));
        points.dedup();
        Probes {
            heaps: (0..width).map(|heap| points.iter().map(|point| point[heap]).collect()).collect(),
            expected: points.iter().map(|point| law.expected(point)).collect(),
        }
    }

    pub(super) fn points(&self) -> usize {
        self.expected.len()
    }

    /// Returns heaps for which a formula is wrong, made as small as possible, if it is wrong at one
    /// of the points or near a constant of the formula.
    pub(super) fn wrong(&self, case: &Case<'_>) -> Option<Vec<i32>> {
        let own = || {
            let values = constants(case.formula, case.scope);
            if values.is_empty() {
                return None;
            }
            Probes::at(&values, case.law, case.scope.features.len(), case.ordering).first(case)
        };
        Some(shrink(case, self.first(case).or_else(own)?))
    }

    fn first(&self, case: &Case<'_>) -> Option<Vec<i32>> {
        let first = first_wrong(case.formula, case.scope, &self.heaps, case.on_fault, &self.expected)?;
        Some(self.heaps.iter().map(|column| column[first]).collect())
    }
}

/// Returns the numbers of pieces that are likely to break a formula.
fn values() -> Vec<i32> {
    let mut values: Vec<i64> = (0..=12).collect();
    for bit in 0..=31 {
        values.extend([(1i64 << bit) - 1, 1 << bit, (1 << bit) + 1, 3 << bit, (1 << bit) - 2]);
    }
    let (mut one, mut other) = (1i64, 2i64);
    while other <= i64::from(HEAP_MAX) {
        values.push(other);
        (one, other) = (other, one + other);
    }
    values.extend((1..10).map(|digits| 10i64.pow(digits)));
    values.extend((1..20).map(|power| 3i64.pow(power)));
    values.extend((0..3).map(|less| i64::from(HEAP_MAX) - less));
    sorted(values)
}

/// Returns the constants of a formula with their neighbours and multiples; empty if the other
/// points already have them all.
fn constants(formula: &Formula, scope: &Scope) -> Vec<i32> {
    let known = values();
    let constant = |term: &Term| match term {
        Term::Terminal(terminal @ (Terminal::Constant(_) | Terminal::Parameter | Terminal::Number)) => {
            Some(i64::from(scope.value(*terminal, &[])).abs())
        }
        _ => None,
    };
    let mut found: Vec<i64> = formula.terms().iter().filter_map(constant).collect();
    found.retain(|value| i32::try_from(*value).is_ok_and(|value| known.binary_search(&value).is_err()));
    if found.is_empty() {
        return Vec::new();
    }
    found.truncate(8);
    let near = found.iter().flat_map(|value| {
        [value - 1, *value, value + 1, 2 * value, 3 * value, value / 2, value * value, 0x7fff_ffff / (*value).max(1)]
    });
    sorted(near.chain([0, 1, 2, 3, 1 << 16, 1 << 30, i64::from(HEAP_MAX)]).collect())
}

fn sorted(values: Vec<i64>) -> Vec<i32> {
    let mut values: Vec<i32> =
        values.into_iter().filter_map(|value| i32::try_from(value).ok().filter(|value| *value >= 0)).collect();
    values.sort_unstable();
    values.dedup();
    values
}

fn points(law: &Law, width: usize, values: &[i32]) -> Vec<Vec<i32>> {
    let mut random = Random::new(SEED);
    let mut points = Vec::new();
    sparse(width, values, &mut points);
    multiples(width, values, &mut random, &mut points);
    for round in 0..DRAWN {
        let mut heaps: Vec<i32> = (0..width)
            .map(|_| match round % 3 {
                0 => values[random.index(values.len())],
                1 => (random.bits() & HEAP_MAX as u64) as i32 >> random.below(31),
                _ => values[random.index(values.len())] ^ values[random.index(values.len())],
            })
            .collect();
        points.push(heaps.clone());
        if !complete(law, &mut heaps, &mut random) {
            continue;
        }
        // A P-position, and points one move away from it that must not pass as one.
        points.push(heaps.clone());
        let heap = random.index(width);
        let bit = 1i32 << random.below(31);
        for other in [heaps[heap].checked_add(1), heaps[heap].checked_sub(1), Some(heaps[heap] ^ bit)] {
            if let Some(other) = other.filter(|other| *other >= 0) {
                let mut near = heaps.clone();
                near[heap] = other;
                points.push(near);
            }
        }
    }
    points
}

fn sparse(width: usize, values: &[i32], points: &mut Vec<Vec<i32>>) {
    let places: Vec<(usize, usize)> =
        (0..width).flat_map(|one| (one + 1..width).map(move |other| (one, other))).collect();
    // Every pair if there are few, otherwise those of powers of two and of the largest heap.
    let all = values.len() * values.len() * places.len() <= PAIRS_MAX;
    let paired: Vec<i32> = values
        .iter()
        .copied()
        .filter(|value| all || value & (value - 1).max(0) == 0 || *value == HEAP_MAX)
        .take(if places.len() > 20 { 12 } else { usize::MAX })
        .collect();
    let mut point = |some: &[(usize, i32)]| {
        let mut heaps = vec![0; width];
        some.iter().for_each(|(place, heap)| heaps[*place] = *heap);
        points.push(heaps);
    };
    point(&[]);
    values.iter().for_each(|heap| (0..width).for_each(|place| point(&[(place, *heap)])));
    for (one, other) in places {
        paired.iter().for_each(|left| paired.iter().for_each(|right| point(&[(one, *left), (other, *right)])));
    }
}

fn multiples(width: usize, values: &[i32], random: &mut Random, points: &mut Vec<Vec<i32>>) {
    for &factor in values.iter().filter(|value| **value > 1) {
        for _ in 0..40 {
            let heaps = (0..width).map(|_| factor.checked_mul(random.below(8) as i32));
            points.extend(heaps.collect::<Option<Vec<i32>>>());
        }
    }
}

/// Changes some of the heaps so that the player to move loses; returns false if that is impossible.
fn complete(law: &Law, heaps: &mut [i32], random: &mut Random) -> bool {
    match law {
        Law::Bits(theorem) => {
            let most = match theorem {
                Theorem::Outcome { most, .. } => *most as usize,
                Theorem::Grundy => 1,
            };
            // The last heaps, as many as a move can change, make every column a multiple.
            let (fixed, free) = heaps.split_at_mut(heaps.len() - most);
            free.fill(0);
            for bit in 0..31 {
                let ones = fixed.iter().filter(|heap| **heap >> bit & 1 == 1).count();
                let missing = (most + 1 - ones % (most + 1)) % (most + 1);
                let from = random.index(most);
                (0..missing).for_each(|index| free[(from + index) % most] |= 1 << bit);
            }
            true
        }
        Law::Wythoff(_) => {
            let difference = heaps[0].unsigned_abs();
            let short = golden(difference);
            let long = short + u64::from(difference);
            match (i32::try_from(short), i32::try_from(long)) {
                (Ok(short), Ok(long)) => {
                    let [one, other] = if random.below(2) == 0 { [short, long] } else { [long, short] };
                    heaps.copy_from_slice(&[one, other]);
                    true
                }
                _ => false,
            }
        }
        Law::Repeats { period, .. } => {
            let Some((last, others)) = heaps.split_last_mut() else { return false };
            let wanted = others.iter().fold(0, |xor, heap| xor ^ period.value(*heap));
            let places: Vec<usize> =
                (0..period.values().len()).filter(|place| period.values()[*place] == wanted).collect();
            if places.is_empty() {
                return false;
            }
            let place = places[random.index(places.len())] as i64;
            let rounds = (i64::from(HEAP_MAX) - place) / period.length as i64;
            let far = place + random.below(rounds.max(1) as u64) as i64 * period.length as i64;
            *last = if place < period.start as i64 { place as i32 } else { far as i32 };
            true
        }
    }
}

/// Returns smaller heaps for which the formula is wrong as well, until no step finds any.
pub(super) fn shrink(case: &Case<'_>, mut heaps: Vec<i32>) -> Vec<i32> {
    loop {
        let mut steps = steps(&heaps);
        steps.iter_mut().for_each(|step| case.ordering.arrange(step));
        steps.retain(|step| size(step) < size(&heaps) && case.is_wrong(step));
        let Some(smaller) = steps.into_iter().min_by(|one, other| size(one).cmp(&size(other))) else { return heaps };
        heaps = smaller;
    }
}

/// Lists changes of the heaps that can make them smaller and keep them wrong.
fn steps(heaps: &[i32]) -> Vec<Vec<i32>> {
    let mut steps: Vec<Vec<i32>> = Vec::new();
    let mut change = |places: &[usize], of: &dyn Fn(i32) -> i32| {
        let mut step = heaps.to_vec();
        places.iter().for_each(|place| step[*place] = of(step[*place]).max(0));
        steps.push(step);
    };
    let everywhere: Vec<usize> = (0..heaps.len()).collect();
    let mut groups: Vec<Vec<usize>> = everywhere.iter().map(|place| vec![*place]).collect();
    groups.extend(everywhere.iter().flat_map(|one| (one + 1..heaps.len()).map(move |other| vec![*one, other])));
    groups.push(everywhere);
    for group in &groups {
        change(group, &|_| 0);
        change(group, &|heap| heap / 2);
        change(group, &|heap| heap - 1);
        for bit in 0..31 {
            change(group, &|heap| heap & !(1 << bit));
            change(group, &|heap| heap & !((2i32 << bit).wrapping_sub(1)));
            change(group, &|heap| heap - (1 << bit).min(heap));
        }
    }
    for one in 0..heaps.len() {
        for other in one + 1..heaps.len() {
            let mut step = heaps.to_vec();
            step.swap(one, other);
            steps.push(step);
            // The same sum, and earlier in lexicographic order.
            for bit in 0..31 {
                let part = (1 << bit).min(heaps[one]).min(HEAP_MAX - heaps[other]);
                if part > 0 {
                    let mut step = heaps.to_vec();
                    step[one] -= part;
                    step[other] += part;
                    steps.push(step);
                }
            }
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::OnFault;
    use trinim_game::{Rule, Value};

    fn wrong(game: &str, rule: Rule, ordering: Ordering, text: &str) -> Option<Vec<i32>> {
        let (law, scope, formula) = Law::case(game, rule, text);
        let width = scope.features.len();
        let case = Case { law: &law, formula: &formula, scope: &scope, ordering, on_fault: OnFault::Stop };
        let found = Probes::new(&law, width, ordering).wrong(&case);
        assert_eq!(found, Probes::new(&law, width, ordering).wrong(&case), "{text}");
        found
    }

    #[test]
    fn formulas_that_fail_only_at_large_heaps_are_found() {
        let cases: [(&str, &str, &[i32]); 14] = [
            ("nim:4,4", "65536 * (a1 xor a2)", &[0, 65_536]),
            ("nim:4,4", "a1 * a1 - a2 * a2", &[0, 65_536]),
            ("nim:4,4", "(a1 - a2) * (a1 + a2)", &[0, 65_536]),
            ("nim:4,4,4", "(a1^a2^a3) mod 1073741824", &[0, 0, 1 << 30]),
            ("nim:4,4,4,4", "(a1^a2^a3^a4) and 1048575", &[0, 0, 0, 1 << 20]),
            ("nim:4,4", "(a1 xor a2) div (1 + a1 div 1000003)", &[0, 0]),
            ("nim:4,4", "if(eq(a1, 1234567), 1, a1 - a2)", &[1_234_567, 1_234_567]),
            ("moore:2:4,4,4", "((a1 xor a2) or (a2 xor a3)) and 1073741823", &[0, 0, 1 << 30]),
            ("wythoff:10", "phi(largest - smallest) * phi(largest - smallest) - smallest * smallest", &[0, 0]),
            (
                "wythoff:10",
                "((largest - smallest) * 1618 + (largest - smallest) * 33 div 1000) div 1000 - smallest",
                &[0, 0],
            ),
            ("subtraction:1,2,3:20", "(a1 mod 1000000) mod 4 + a1 div 1000000", &[1_000_000]),
            ("subtraction:1,2,3:9,9", "((a1 xor a2) and 3) * (1 - (a1 or a2) div 536870912)", &[0, 536_870_913]),
            ("nim:4,4,4,4,4,4", "(a1^a2^a3^a4^a5^a6) and 65535", &[0, 0, 0, 0, 0, 65_536]),
            // The smallest one is far from where it is first seen.
            ("nim:3,3", "if(eq(a1+a2, 1000000000), 0, a1^a2)", &[0, 1_000_000_000]),
        ];
        for (game, text, expected) in cases {
            let found = wrong(game, Rule::Normal, Ordering::All, text);
            let Some(heaps) = found else { panic!("{game}: {text}") };
            if expected.iter().any(|heap| *heap > 0) {
                assert_eq!(heaps, expected, "{game}: {text}");
            }
        }
        let misere = "if(big, (a1^a2^a3) and 65535, 1 - (a1^a2^a3))";
        assert_eq!(wrong("nim:3,3,3", Rule::Misere, Ordering::All, misere), Some(vec![0, 0, 65_536]));
        let sorted = wrong("nim:3,3", Rule::Normal, Ordering::Descending, "(a1 xor a2) and 65535");
        assert_eq!(sorted, Some(vec![65_536, 0]));
    }

    #[test]
    fn what_is_right_passes() {
        let cases = [
            ("nim:4,4,4,4", Rule::Normal, "(a1^a2^a3) - a4"),
            ("nim:4,4,4", Rule::Misere, "if(big, a1^a2^a3, 1 - (a1^a2^a3))"),
            ("moore:2:4,4,4", Rule::Normal, "(a1 xor a2) or (a2 xor a3)"),
            ("wythoff:9", Rule::Normal, "phi(largest - smallest) - smallest"),
            ("subtraction:1,2,3:20", Rule::Normal, "a1 mod 4"),
            ("subtraction:1,2,3:20,20", Rule::Normal, "(a1 xor a2) and 3"),
        ];
        for (game, rule, text) in cases {
            assert_eq!(wrong(game, rule, Ordering::All, text), None, "{game}: {text}");
        }
    }

    #[test]
    fn completed_points_are_lost() {
        let mut random = Random::new(3);
        for game in [
            "nim:1,1,1",
            "moore:2:1,1,1,1",
            "moore:3:1,1,1",
            "wythoff:1",
            "subtraction:2,5,7:1,1,1",
            "subtraction:3,4:1,1",
        ] {
            let (law, scope, _) = Law::case(game, Rule::Normal, "0");
            let mut completed = 0;
            for _ in 0..200 {
                let mut heaps: Vec<i32> = scope.features.iter().map(|_| (random.bits() & 0x3fff_ffff) as i32).collect();
                if complete(&law, &mut heaps, &mut random) {
                    completed += 1;
                    assert_eq!(law.expected(&heaps), TrueValue::Outcome(Value::Loss), "{game} {heaps:?}");
                }
            }
            assert!(completed > 100, "{game}: {completed}");
        }
    }
}
