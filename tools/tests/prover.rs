//! Random formulas put to the prover of trinim-evolve, for words of 32 bits and for integers of any
//! size, and its answers checked by the definition. Half of the formulas are right: a strategy or
//! Grundy value, rewritten by identities. The others have a part that changes for some heaps only.
//!
//! The tests of the prover itself compare words of few bits with all heaps.

use trinim::game::Rule;
use trinim::random::Random;
use trinim_evolve::games::Ordering;
use trinim_evolve::language::{Scope, parse};
use trinim_evolve::proof::{Domain, Proof, Question, Theorem, WORD_BITS};

const FORMULAS: u32 = 120;
/// Heaps that a proved formula is tried on.
const PROBES: u32 = 2_000;

const NIM: Theorem = Theorem::Outcome { most: 1, rule: Rule::Normal };
const MISERE: Theorem = Theorem::Outcome { most: 1, rule: Rule::Misere };
const MOORE: Theorem = Theorem::Outcome { most: 2, rule: Rule::Normal };

/// Theorems with formulas that are right for three heaps in any order.
const RIGHT: [(Theorem, &str); 8] = [
    (Theorem::Grundy, "(a1 xor a2 xor a3)"),
    (Theorem::Grundy, "(((a1 or a2) - (a1 and a2)) xor a3)"),
    (NIM, "(a1 xor a2 xor a3)"),
    (NIM, "((a3 xor a2) - a1)"),
    (MISERE, "if(big, a1 xor a2 xor a3, (a1 xor a2 xor a3) - 1)"),
    (MISERE, "((a1 xor a2 xor a3) - lt(largest, 2))"),
    (MOORE, "((a1 xor a2) or (a2 xor a3))"),
    (MOORE, "if(a1 xor a3, 1, a1 xor a2)"),
];

fn part(random: &mut Random) -> String {
    let heap = |random: &mut Random| format!("a{}", 1 + random.below(3));
    let (one, other) = (heap(random), heap(random));
    match random.below(5) {
        0 => ["63", "1023", "65535", "1048576", "2147483647"][random.index(5)].to_owned(),
        1 => ["n", "largest", "smallest", "sum", "nonempty"][random.index(5)].to_owned(),
        2 => format!("({one} {} {other})", ["+", "-", "and", "or", "xor"][random.index(5)]),
        3 => format!("{}({one}, {other})", ["min", "max", "eq", "lt"][random.index(4)]),
        _ => one,
    }
}

/// Rewrites a formula into another of the same value.
fn rewritten(random: &mut Random, text: &str) -> String {
    let part = part(random);
    match random.below(8) {
        0 => format!("(({text} + {part}) - {part})"),
        1 => format!("(({text} xor {part}) xor {part})"),
        2 => format!("if({part}, {text}, {text})"),
        3 => format!("min({text}, max({text}, {part}))"),
        4 => format!("({text} and ({text} or {part}))"),
        5 => format!("(({text} and {part}) or ({text} and (not {part})))"),
        6 => format!("(({text} * 7) - ({text} * 6))"),
        _ => format!("((0 - {text}) * (n - 4))"),
    }
}

/// Changes a formula, mostly for large heaps only.
fn spoilt(random: &mut Random, text: &str) -> String {
    let (part, power) = (part(random), 1_u64 << (4 + random.below(27)));
    match random.below(5) {
        0 => format!("({text} and {})", power - 1),
        1 => format!("({text} * {power})"),
        2 => format!("min({text}, {power})"),
        3 => format!("if(lt({text}, {power}), {text}, {part})"),
        _ => format!("({text} + ({part} and {power}))"),
    }
}

/// Heaps as adversaries choose them: powers of two and their neighbours, sparse bits, xor 0.
fn probe(random: &mut Random, ordering: Ordering) -> Vec<i64> {
    let heap = |random: &mut Random| {
        let power = 1 << random.below(31);
        let heap = match random.below(5) {
            0 => random.below(4),
            1 => power - random.below(2),
            2 => (1 << 31) - power,
            3 => power | 1 << random.below(31),
            _ => random.below(1 << 31),
        };
        heap as i64
    };
    let mut heaps: Vec<i64> = (0..3).map(|_| heap(random)).collect();
    if random.below(2) == 0 {
        heaps[0] = heaps[1] ^ heaps[2];
    }
    ordering.arrange(&mut heaps);
    heaps
}

/// Regression: constants were folded as words of 32 bits in the other domains, too, so that a wrong
/// formula was proved.
#[test]
fn answers_about_random_formulas_agree_with_the_definition() {
    let (mut random, scope) = (Random::new(1), Scope::heaps(3, None));
    let (mut proved, mut refuted, mut open) = (0, 0, 0);
    for number in 0..FORMULAS {
        let (theorem, text) = RIGHT[random.index(RIGHT.len())];
        let is_right = number % 2 == 0;
        let mut text = text.to_owned();
        for _ in 0..random.below(4) {
            text = rewritten(&mut random, &text);
        }
        text = if is_right { text } else { spoilt(&mut random, &text) };
        let ordering = [Ordering::All, Ordering::Descending, Ordering::Ascending][random.index(3)];
        let formula = parse(&scope, &text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        for domain in [Domain::Words(WORD_BITS), Domain::Integers] {
            let question = Question { formula: &formula, scope: &scope, theorem, ordering, domain };
            match question.prove() {
                Proof::Proved => {
                    let wrong =
                        (0..PROBES).map(|_| probe(&mut random, ordering)).find(|heaps| question.is_wrong(heaps));
                    assert_eq!(wrong, None, "{text} is called right, {domain:?}");
                    proved += 1;
                }
                Proof::Refuted(heaps) => {
                    assert!(!is_right && question.is_wrong(&heaps), "{text}, {domain:?}: {heaps:?}");
                    refuted += 1;
                }
                Proof::Open(_) => open += 1,
            }
        }
    }
    println!("{proved} proved, {refuted} refuted, {open} open");
    assert!(proved > FORMULAS * 9 / 10 && refuted > FORMULAS / 2 && open < FORMULAS / 10);
}
