//! Proofs by theorems about a game, for formulas that cannot be decided bit by bit.
//!
//! All are exact for heaps up to 2^31 − 1 and integers of 32 bits that wrap. Where the values of
//! heaps repeat, `residues` shows that the formula repeats as well and compares one period of both.
//! The other case is Wythoff's game: whether a formula is equivalent to ⌊φ·(L − S)⌋ − S, with S the
//! smaller heap and L the larger one.
//!
//! Wythoff 1907: the player to move loses exactly if S = ⌊φ·(L − S)⌋. Every term is written as a
//! combination of S, L, the first heap, ⌊φ·(L − S)⌋ and 1 with factors modulo 2^32; sums,
//! differences and products with constants keep that form. The formula is right if it is ⌊φ·(L −
//! S)⌋ − S times an odd number, because an odd number times x vanishes modulo 2^32 only with x, or
//! if it is `A xor B` and A − B is. ⌊φ·(L − S)⌋ is less than 2^32, so it wraps to a negative number
//! where it exceeds every heap, and is never mistaken for S.

use super::residues;
use crate::games::Ordering;
use crate::language::{Formula, Op, Scope, Term, Terminal, simplify};
use crate::proof::{Answer, Case, Law};
use trinim_game::Rule;

/// Decides whether a formula is right for all heaps of a game whose law is not decided bit by bit.
pub(super) fn settle(case: &Case<'_>) -> Answer {
    let open = |reason: &str| Answer::Open(reason.to_owned());
    match case.law {
        Law::Bits(_) => open("the game is decided bit by bit"),
        Law::Wythoff(Rule::Normal) => wythoff(case.formula, case.scope, case.ordering),
        Law::Wythoff(Rule::Misere) => open("no formula of misère play is compared with Wythoff's theorem"),
        Law::Repeats { period, .. } => residues::settle(case, period),
    }
}

type Combination = [i32; 5];

const SMALL: Combination = [1, 0, 0, 0, 0];
const LARGE: Combination = [0, 1, 0, 0, 0];
const FIRST: Combination = [0, 0, 1, 0, 0];
const GOLDEN: Combination = [0, 0, 0, 1, 0];

fn times(a: Combination, factor: i32) -> Combination {
    a.map(|part| part.wrapping_mul(factor))
}

fn plus(a: Combination, b: Combination) -> Combination {
    std::array::from_fn(|part| a[part].wrapping_add(b[part]))
}

fn minus(a: Combination, b: Combination) -> Combination {
    plus(a, times(b, -1))
}

fn constant(value: i32) -> Combination {
    [0, 0, 0, 0, value]
}

fn as_constant(a: Combination) -> Option<i32> {
    (a[..4] == [0; 4]).then_some(a[4])
}

fn wythoff(formula: &Formula, scope: &Scope, ordering: Ordering) -> Answer {
    let [first, second] = match ordering {
        Ordering::Descending => [LARGE, SMALL],
        Ordering::Ascending => [SMALL, LARGE],
        Ordering::All => [FIRST, minus(plus(SMALL, LARGE), FIRST)],
    };
    let formula = simplify(formula);
    let mut terms: Vec<Option<Combination>> = Vec::new();
    for term in formula.terms() {
        let combination = match *term {
            Term::Terminal(terminal) => match terminal {
                Terminal::Feature(0) => Some(first),
                Terminal::Feature(1) => Some(second),
                Terminal::Smallest => Some(SMALL),
                Terminal::Largest => Some(LARGE),
                Terminal::Sum => Some(plus(SMALL, LARGE)),
                Terminal::Number | Terminal::Constant(_) => Some(constant(scope.value(terminal, &[]))),
                _ => None,
            },
            Term::Apply(op, args) => {
                let [a, b, _] = args.map(|arg| terms.get(usize::from(arg)).copied().flatten());
                match (op, a, b) {
                    (Op::Add, Some(a), Some(b)) => Some(plus(a, b)),
                    (Op::Sub, Some(a), Some(b)) => Some(minus(a, b)),
                    (Op::Mul, Some(a), Some(b)) => match (as_constant(a), as_constant(b)) {
                        (_, Some(factor)) => Some(times(a, factor)),
                        (Some(factor), _) => Some(times(b, factor)),
                        _ => None,
                    },
                    (Op::Not, Some(a), _) => Some(minus(constant(-1), a)),
                    (Op::Phi, Some(a), _) if a == minus(LARGE, SMALL) => Some(GOLDEN),
                    (Op::Min, Some(a), Some(b)) if are_heaps(a, b, [first, second]) => Some(SMALL),
                    (Op::Max, Some(a), Some(b)) if are_heaps(a, b, [first, second]) => Some(LARGE),
                    _ => None,
                }
            }
        };
        terms.push(combination);
    }
    let vanishes_with = match formula.terms().last() {
        // Both vanish exactly where the two are equal.
        Some(Term::Apply(Op::Xor, [a, b, _])) => {
            let [a, b] = [a, b].map(|arg| terms[usize::from(*arg)]);
            a.zip(b).map(|(a, b)| minus(a, b))
        }
        _ => terms.last().copied().flatten(),
    };
    match vanishes_with {
        Some(found) if found[3] & 1 == 1 && found == times(minus(GOLDEN, SMALL), found[3]) => Answer::Right(
            "Wythoff's theorem: the player to move loses exactly if the smaller heap is the floor of the golden \
             ratio times the difference, and only there the formula is 0"
                .to_owned(),
        ),
        _ => Answer::Open("the formula is not recognised as Wythoff's phi(larger - smaller) - smaller".to_owned()),
    }
}

fn are_heaps(a: Combination, b: Combination, heaps: [Combination; 2]) -> bool {
    let [one, other] = heaps;
    [[a, b], [b, a]].iter().any(|pair| *pair == [one, other] || *pair == [SMALL, LARGE])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::parse;

    fn is_right(text: &str, ordering: Ordering) -> bool {
        let scope = Scope::heaps(2, None);
        matches!(wythoff(&parse(&scope, text).unwrap(), &scope, ordering), Answer::Right(_))
    }

    #[test]
    fn wythoffs_formula_is_recognised_in_its_forms() {
        for text in [
            "phi(a2-a1)-a1",
            "a1 xor phi(a2 - a1)",
            "phi(a2-a1) + (a2-a1) - a2",
            "3 * a1 - 3 * phi(largest - smallest)",
            "(phi(sum - 2*a1) - a1) * -7",
            "not (a1 - phi(a2 - min(a1, a2)) - 1)",
        ] {
            assert!(is_right(text, Ordering::Ascending), "{text}");
            assert!(!is_right(text, Ordering::Descending) || !text.contains('a'), "{text}");
            assert!(!is_right(text, Ordering::All), "{text}");
        }
        assert!(is_right("phi(max(a1, a2) - min(a2, a1)) - smallest", Ordering::All));
        assert!(is_right("phi(a1 + a2 - 2 * smallest) - smallest", Ordering::All));
        assert!(is_right("phi(a1-a2)-a2", Ordering::Descending));
    }

    #[test]
    fn others_are_not() {
        for text in [
            "2 * (phi(a2-a1)-a1)",
            "phi(a2-a1)-a2",
            "phi(a1-a2)-a1",
            "phi(a2-a1+1)-a1",
            "(phi(a2-a1) xor a1) + 1",
            "phi(a2-a1)-a1 + (a1 - a2)",
            "a1 and phi(a2 - a1)",
            "0",
        ] {
            assert!(!is_right(text, Ordering::Ascending), "{text}");
        }
    }
}
