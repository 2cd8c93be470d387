//! Proofs compared with the definition.

use super::*;
use crate::language::parse;
use proptest::prelude::*;
use proptest::sample::select;

const NIM: Theorem = Theorem::Outcome { most: 1, rule: Rule::Normal };

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
        // Without the heaps of few bits, which would already be all.
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
