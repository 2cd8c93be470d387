//! Proofs compared with the definition.

use super::*;
use crate::games::Game;
use crate::int::OnFault;
use crate::parse::parse;
use proptest::prelude::*;
use proptest::sample::select;
use trinim_game::Value;

const NIM: Theorem = Theorem::Outcome { most: 1, rule: Rule::Normal };
const WORDS: Domain = Domain::Words(WORD_BITS);

fn answer(heaps: usize, text: &str, theorem: Theorem, ordering: Ordering) -> Proof {
    answer_in(WORDS, heaps, text, theorem, ordering)
}

fn answer_in(domain: Domain, heaps: usize, text: &str, theorem: Theorem, ordering: Ordering) -> Proof {
    let scope = Scope::heaps(heaps, None);
    Question { formula: &parse(&scope, text).unwrap(), scope: &scope, theorem, ordering, domain }.prove()
}

#[test]
fn strategies_of_nim_are_proved() {
    let right = [
        "a1 xor a2 xor a3 xor a4",
        "(a1^a2^a3)-a4",
        "(a3 xor a4) - (a2 xor a1)",
        "n * (a1 xor a2 xor a3 xor a4) + (a1 - a1)",
        "(a1 or a2) - (a1 and a2) - (a3 + a4 - 2 * (a3 and a4))",
        "-3 * (a1 xor a2) + 3 * (a3 xor a4)",
    ];
    for text in right {
        let factor_four = text.starts_with('n');
        let proof = answer(4, text, NIM, Ordering::All);
        // 4x vanishes for x = 2^30 as well.
        assert_eq!(matches!(proof, Proof::Refuted(_)), factor_four, "{text}: {proof:?}");
        assert_eq!(proof == Proof::Proved, !factor_four, "{text}");
    }
}

#[test]
fn wrong_ones_are_refuted_by_heaps_that_are_wrong() {
    let cases = [
        ("a1^a2^(a3-a4)", Ordering::All),
        ("a1-a2+a3-a4", Ordering::All),
        ("((a2 or a1)-a2)-(a4 xor a3)", Ordering::All),
        ("n * (a1 xor a2 xor a3 xor a4)", Ordering::Descending),
        ("0", Ordering::All),
        ("1", Ordering::Ascending),
    ];
    for (text, ordering) in cases {
        let scope = Scope::heaps(4, None);
        let formula = parse(&scope, text).unwrap();
        let Proof::Refuted(heaps) = answer(4, text, NIM, ordering) else { panic!("{text}") };
        let heaps: Vec<i32> = heaps.into_iter().map(|heap| heap as i32).collect();
        let mut arranged = heaps.clone();
        ordering.arrange(&mut arranged);
        assert_eq!(arranged, heaps, "{text}");
        let value = formula.value(&scope, &heaps, OnFault::Stop).unwrap();
        assert_ne!(value == 0, heaps.iter().fold(0, |xor, heap| xor ^ heap) == 0, "{text}: {heaps:?}");
    }
}

/// The answer once depended on the order of a hash table, and was far from the smallest.
#[test]
fn counterexamples_are_the_smallest() {
    let cases: [(usize, &str, Ordering, &[i64]); 5] = [
        (2, "a2 xor (a1 and 1023)", Ordering::All, &[1024, 0]),
        (2, "a2 xor (a1 and 1023)", Ordering::Ascending, &[1024, 1024]),
        (4, "(a1^a2^a3^a4) and 16777215", Ordering::All, &[0, 0, 0, 1 << 24]),
        (4, "(a1^a2^a3^a4) and 16777215", Ordering::Descending, &[1 << 24, 0, 0, 0]),
        (3, "(a1 or a2) - a3", Ordering::All, &[1, 1, 0]),
    ];
    for (heaps, text, ordering, smallest) in cases {
        assert_eq!(answer(heaps, text, NIM, ordering), Proof::Refuted(smallest.to_vec()), "{text} {ordering:?}");
    }
    for text in ["a1 - a2 + a3", "(a1 and a2) xor a3", "a1 xor a2 xor (a3 and 6)", "(a1 or 5) - (a2 xor a3)"] {
        let scope = Scope::heaps(3, None);
        let formula = parse(&scope, text).unwrap();
        let mut all: Vec<[i32; 3]> = Vec::new();
        (0..16 * 16 * 16).for_each(|code: i32| all.push([code >> 8, code >> 4 & 15, code & 15]));
        all.sort_by_key(|found| (found.iter().max().unwrap().checked_ilog2(), found.iter().sum::<i32>(), *found));
        let wrong = |found: &&[i32; 3]| {
            let value = formula.value(&scope, &found[..], OnFault::Stop).unwrap();
            (value == 0) != (found[0] ^ found[1] ^ found[2] == 0)
        };
        let smallest = all.iter().find(wrong).unwrap().map(i64::from).to_vec();
        assert_eq!(answer(3, text, NIM, Ordering::All), Proof::Refuted(smallest), "{text}");
    }
}

#[test]
fn order_counts() {
    // A difference is zero in any order; the or minus the smaller heap needs the order.
    assert_eq!(answer(2, "a1 - a2", NIM, Ordering::All), Proof::Proved);
    assert_eq!(answer(2, "(a1 or a2) - a2", NIM, Ordering::Descending), Proof::Proved);
    assert!(matches!(answer(2, "(a1 or a2) - a2", NIM, Ordering::All), Proof::Refuted(_)));
    assert!(matches!(answer(2, "(a1 or a2) - a2", NIM, Ordering::Ascending), Proof::Refuted(_)));
}

#[test]
fn grundy_values_need_equality() {
    assert_eq!(answer(3, "a1 xor a2 xor a3", Theorem::Grundy, Ordering::All), Proof::Proved);
    assert_eq!(answer(2, "a1 + a2 - 2*(a1 and a2)", Theorem::Grundy, Ordering::All), Proof::Proved);
    assert!(matches!(answer(2, "a1 - a2", Theorem::Grundy, Ordering::All), Proof::Refuted(_)));
}

#[test]
fn what_cannot_be_decided_is_open() {
    for text in ["(a1 xor a2) * (a1 + 1)", "(a1 xor a2) div -1", "(a1 - a2) mod 3000000", "phi(a1 xor a2)"] {
        assert!(matches!(answer(2, text, NIM, Ordering::All), Proof::Open(_)), "{text}");
    }
}

#[test]
fn misere_nim_is_proved() {
    let misere = Theorem::Outcome { most: 1, rule: Rule::Misere };
    // One heap: only the heap of 1 is lost.
    assert_eq!(answer(1, "a1 - 1", misere, Ordering::All), Proof::Proved);
    assert!(matches!(answer(2, "a1 xor a2", misere, Ordering::All), Proof::Refuted(_)));
    let moore = Theorem::Outcome { most: 2, rule: Rule::Normal };
    assert_eq!(answer(2, "a1 or a2", moore, Ordering::All), Proof::Proved);
    assert_eq!(answer(3, "(a1 xor a2) or (a2 xor a3)", moore, Ordering::All), Proof::Proved);
    assert!(matches!(answer(3, "a1 or a2", moore, Ordering::All), Proof::Refuted(_)));
}

/// Constants were folded as words of 32 bits whatever the domain, so a formula that is wrong for
/// integers was proved.
#[test]
fn constants_are_folded_in_their_domain() {
    let all = Ordering::All;
    for (text, words, integers) in [
        ("(a1 xor a2) * (65536 * 65536)", false, true),
        ("(a1 xor a2) * (65536 * 65536 + 1)", true, true),
        ("(a1 xor a2) * (2147483647 + 2147483647 + 2)", false, true),
        ("a1 xor a2 xor (65536 * 65536)", true, false),
        ("if(lt(2147483647 + 1, 0), a1 xor a2, 0)", true, false),
    ] {
        let is_proved = |domain| answer_in(domain, 2, text, NIM, all) == Proof::Proved;
        assert_eq!((is_proved(WORDS), is_proved(Domain::Integers)), (words, integers), "{text}");
    }
    // In four bits, 64 is 0.
    let scope = Scope::heaps(2, None);
    let formula = parse(&scope, "a1 xor a2 xor min(2147483647, 64)").unwrap();
    let question = Question { formula: &formula, scope: &scope, theorem: NIM, ordering: all, domain: Domain::Words(4) };
    assert_eq!(question.prove() == Proof::Proved, is_right(&question));
}

/// The truth of the theorems against the rules.
#[test]
fn theorems_agree_with_the_rules() {
    for (game, most) in [("nim:3,3,3,3", 1), ("moore:2:3,3,3,3", 2), ("moore:3:3,3,3,3", 3)] {
        for rule in Rule::ALL {
            let graph = Game::parse(game).unwrap().graph(rule, Ordering::All).unwrap();
            for (index, value) in (0..).zip(graph.outcomes()) {
                let position: Vec<i64> = graph.position(index).into_iter().map(i64::from).collect();
                assert_eq!(small::is_loss(&position, most, rule), value == Value::Loss, "{game} {rule} {position:?}");
            }
        }
    }
}

/// All heaps of words of a few bits, tried one by one.
fn is_right(question: &Question<'_>) -> bool {
    let Domain::Words(bits) = question.domain else { panic!("integers have no end") };
    let heaps = question.scope.features.len() as u32;
    let heap_bits = bits - 1;
    (0..1u64 << (heap_bits * heaps)).all(|code| {
        let found: Vec<i64> =
            (0..heaps).map(|heap| (code >> (heap_bits * heap) & ((1 << heap_bits) - 1)) as i64).collect();
        !question.is_wrong(&found)
    })
}

/// Generates formulas of the prover's class; about a third are right.
fn formulas() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        6 => (1..4).prop_map(|heap| format!("a{heap}")),
        1 => (-9..40i32).prop_map(|value| value.to_string()),
        1 => select(vec!["n", "largest", "smallest", "sum", "big", "nonempty"]).prop_map(str::to_owned),
    ];
    let any = leaf.prop_recursive(4, 12, 3, |inner| {
        let two = select(vec!["+", "-", "and", "or", "xor"]);
        let call = select(vec!["min", "max", "eq", "lt"]);
        prop_oneof![
            5 => (inner.clone(), two, inner.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            1 => inner.clone().prop_map(|a| format!("(not {a})")),
            1 => (inner.clone(), -20..20i32).prop_map(|(a, factor)| format!("({a} * {factor})")),
            2 => (inner.clone(), call, inner.clone()).prop_map(|(a, op, b)| format!("{op}({a}, {b})")),
            1 => (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| format!("if({a}, {b}, {c})")),
        ]
    });
    let right = select(vec![
        "a1 xor a2 xor a3",
        "(a1 or a2) - (a1 and a2) - a3",
        "a1 + a2 - 2 * (a1 and a2) - a3",
        "if(lt(a1, a2), (a1 xor a2) - a3, (a2 xor a1) - a3)",
        "max(a1 xor a2, a3) - min(a1 xor a2, a3)",
    ]);
    prop_oneof![
        any.clone(),
        (any.clone(), right.clone()).prop_map(|(any, right)| format!("(({any}) - ({any})) + ({right})")),
        (any.clone(), right.clone()).prop_map(|(any, right)| format!("if({any}, {right}, a1 xor a2 xor a3)")),
        (any, right).prop_map(|(any, right)| format!("({right}) * (({any}) or 1 xor ({any}) and 0)")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn small_words_are_decided_as_all_heaps_say(
        text in formulas(),
        bits in 3..6u32,
        theorem in prop_oneof![
            3 => Just(NIM),
            1 => Just(Theorem::Grundy),
            1 => Just(Theorem::Outcome { most: 2, rule: Rule::Normal }),
            1 => Just(Theorem::Outcome { most: 1, rule: Rule::Misere }),
        ],
        ordering in prop_oneof![2 => Just(Ordering::All), 1 => Just(Ordering::Descending), 1 => Just(Ordering::Ascending)],
    ) {
        let scope = Scope::heaps(3, None);
        let formula = parse(&scope, &text).unwrap();
        let question = Question { formula: &formula, scope: &scope, theorem, ordering, domain: Domain::Words(bits) };
        // Without the heaps of few bits, which would be all.
        let answer = question.columns().and_then(|columns| Search::new(&columns, question.domain).decide());
        match answer {
            Ok(None) => prop_assert!(is_right(&question), "{text} is called right"),
            Ok(Some(wrong)) => {
                prop_assert!(question.is_wrong(&wrong), "{text}: {wrong:?}");
                prop_assert_eq!(Some(wrong), small::counterexample(&question), "{}", text);
            }
            Err(_) => {}
        }
    }
}
