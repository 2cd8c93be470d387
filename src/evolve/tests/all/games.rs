//! The graphs of games compared with facts from other sources.

use trinim_evolve::games::{Game, GameError, Graph, Ordering};
use trinim_evolve::language::Op;
use trinim_game::{Rule, Value};

fn graph(text: &str, rule: Rule, ordering: Ordering) -> Graph {
    Game::parse(text).unwrap().graph(rule, ordering).unwrap()
}

/// Checks every position of a graph against a rule for losses.
fn check(text: &str, rule: Rule, ordering: Ordering, is_loss: impl Fn(&[i32]) -> bool) {
    let graph = graph(text, rule, ordering);
    for (index, value) in (0..).zip(graph.outcomes().iter().copied()) {
        let position = graph.position(index);
        assert_eq!(value, Value::from_loss(is_loss(&position)), "{text} {rule}: {position:?}");
    }
}

const ORDERINGS: [Ordering; 3] = [Ordering::All, Ordering::Descending, Ordering::Ascending];

#[test]
fn sizes_are_those_of_the_paper() {
    for (text, all, sorted) in [("nim:4,4,4,4", 625, 70), ("nim:2,1", 6, 5), ("wythoff:10", 121, 66)] {
        let sizes = ORDERINGS.map(|ordering| graph(text, Rule::Normal, ordering).len());
        assert_eq!(sizes, [all, sorted, sorted], "{text}");
    }
    let paper = graph("nim:4,4,4,4", Rule::Normal, Ordering::Descending);
    assert_eq!((paper.options_total(), paper.label(paper.start).as_str()), (350, "(4,4,4,4)"));
}

#[test]
fn nim_is_boutons() {
    let xor = |heaps: &[i32]| heaps.iter().fold(0, |xor, heap| xor ^ heap);
    for ordering in ORDERINGS {
        check("nim:5,3,4,6", Rule::Normal, ordering, |heaps| xor(heaps) == 0);
        check("nim:5,3,4,6", Rule::Misere, ordering, |heaps| (xor(heaps) == 0) == heaps.iter().any(|heap| *heap > 1));
        let graph = graph("nim:5,3,4", Rule::Normal, ordering);
        assert!((0..).zip(graph.grundy()).all(|(index, value)| value == xor(&graph.position(index))));
    }
}

#[test]
fn subtraction_is_periodic() {
    check("subtraction:{1,2,3}:40", Rule::Normal, Ordering::All, |heaps| heaps[0] % 4 == 0);
    check("subtraction:3,1,2:40", Rule::Misere, Ordering::All, |heaps| heaps[0] % 4 == 1);
    check("subtraction:1,2,3:12,12", Rule::Normal, Ordering::Descending, |heaps| heaps[0] % 4 == heaps[1] % 4);
    // A heap of 1 has no move when only 2 and 3 may be taken.
    check("subtraction:2,3:20", Rule::Normal, Ordering::All, |heaps| heaps[0] % 5 < 2);
}

#[test]
fn wythoffs_losses_are_the_golden_pairs() {
    let pairs: Vec<(i32, i32)> = (0..40)
        .map(|index: i32| {
            let low = Op::Phi.apply([index, 0, 0]).unwrap();
            (low, low + index)
        })
        .collect();
    assert_eq!(pairs[..4], [(0, 0), (1, 2), (3, 5), (4, 7)]);
    let is_pair = |heaps: &[i32]| pairs.contains(&(heaps[0].min(heaps[1]), heaps[0].max(heaps[1])));
    for ordering in ORDERINGS {
        check("wythoff:40", Rule::Normal, ordering, is_pair);
        check("wythoff:30,40", Rule::Misere, ordering, |heaps| {
            match (heaps[0].min(heaps[1]), heaps[0].max(heaps[1])) {
                (0, 1) | (2, 2) => true,
                (0, 0) | (1, 2) => false,
                _ => is_pair(heaps),
            }
        });
    }
}

#[test]
fn moores_nim_is_moores() {
    let bits_vanish = |heaps: &[i32], most: u32| {
        (0..8).all(|bit| heaps.iter().map(|heap| (heap >> bit & 1) as u32).sum::<u32>() % (most + 1) == 0)
    };
    for most in 1..=3u32 {
        for ordering in ORDERINGS {
            let text = format!("moore:{most}:4,3,5,4");
            check(&text, Rule::Normal, ordering, |heaps| bits_vanish(heaps, most));
            check(&text, Rule::Misere, ordering, |heaps| {
                let ones = heaps.iter().sum::<i32>() as u32;
                if heaps.iter().all(|heap| *heap <= 1) { ones % (most + 1) == 1 } else { bits_vanish(heaps, most) }
            });
        }
    }
    let (nim, moore) = ("nim:4,4,4,4", "moore:1:4,4,4,4");
    let [mut nim, moore] = [nim, moore].map(|text| graph(text, Rule::Normal, Ordering::All));
    nim.scope = moore.scope.clone();
    assert_eq!(moore, nim);
}

#[test]
fn large_games_are_refused() {
    let moore = Game::parse("moore:12:9,9,9,9,9,9,9,9,9,9,9,9").unwrap();
    assert!(matches!(moore.graph(Rule::Normal, Ordering::Descending), Err(GameError::TooLarge(..))));
    for text in ["nim:1000000", "nim:3,11586", "wythoff:1,11586", "moore:1:11586"] {
        let error = Game::parse(text).unwrap().graph(Rule::Normal, Ordering::All).unwrap_err();
        assert!(error.to_string().contains("has more than 67108864 options"), "{error}");
    }
    for text in ["nim:40,40,40,40", "subtraction:1:60,60,60", "moore:4:20,20,20,20"] {
        let error = Game::parse(text).unwrap().graph_within(Rule::Normal, Ordering::All, 10_000).unwrap_err();
        assert!(error.to_string().contains("has more than 10000 positions"), "{error}");
    }
}
