//! The graphs of games against facts known by other means.

use super::*;
use trinim_game::Value;

fn graph(text: &str, rule: Rule, ordering: Ordering) -> Graph {
    Game::parse(text).unwrap().graph(rule, ordering).unwrap()
}

/// Checks every position of a graph against a rule for losses.
fn check(text: &str, rule: Rule, ordering: Ordering, is_loss: impl Fn(&[i32]) -> bool) {
    let graph = graph(text, rule, ordering);
    for (index, value) in (0..).zip(graph.outcomes()) {
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
            let low = crate::int::Op::Phi.apply([index, 0, 0]).unwrap();
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
    let nim = graph("nim:4,4,4,4", Rule::Normal, Ordering::All);
    let features = nim.features().to_vec();
    let nim = nim.described(Scope::heaps(4, Some(1)), features);
    assert_eq!(graph("moore:1:4,4,4,4", Rule::Normal, Ordering::All), nim);
}

/// The Grundy values of single heaps of an octal game, by recursion over sums of heaps rather than
/// over a graph of positions.
fn octal_values(digits: &[u8], heap_max: usize) -> Vec<i32> {
    let mut values: Vec<i32> = Vec::new();
    for heap in 0..=heap_max {
        let mut reached = Vec::new();
        for (take, digit) in digits.iter().enumerate().take(heap + 1) {
            let left = heap - take;
            if take > 0 && (left == 0 && digit & 1 != 0 || left > 0 && digit & 2 != 0) {
                reached.push(values[left]);
            }
            if digit & 4 != 0 {
                reached.extend((1..left).map(|part| values[part] ^ values[left - part]));
            }
        }
        values.push((0..).find(|value| !reached.contains(value)).unwrap());
    }
    values
}

#[test]
fn octal_games_have_their_known_values() {
    // Kayles, Dawson's Chess and Dawson's Kayles: Winning Ways, chapter 4.
    let known: [(&str, &[u8], &[i32]); 4] = [
        ("0.77", &[0, 7, 7], &[0, 1, 2, 3, 1, 4, 3, 2, 1, 4, 2, 6]),
        ("0.137", &[0, 1, 3, 7], &[0, 1, 1, 2, 0, 3, 1, 1, 0, 3, 3, 2]),
        ("0.07", &[0, 0, 7], &[0, 0, 1, 1, 2, 0, 3, 1, 1, 0, 3, 3]),
        ("4.7", &[4, 7], &[0, 1, 2, 4, 3, 5, 6, 8, 7]),
    ];
    for (code, digits, sequence) in known {
        let values = octal_values(digits, 14);
        if code != "4.7" {
            assert_eq!(values[..sequence.len()], *sequence, "{code}");
        }
        for ordering in ORDERINGS {
            let start = if code == "4.7" { 8 } else { 14 };
            let graph = graph(&format!("octal:{code}:{start}"), Rule::Normal, ordering);
            assert_eq!(graph.label(graph.start).matches(start.to_string().as_str()).count(), 1);
            let sum = |position: Vec<i32>| position.iter().fold(0, |xor, heap| xor ^ values[*heap as usize]);
            for (index, value) in (0..).zip(graph.grundy()) {
                assert_eq!(value, sum(graph.position(index)), "{code}: {}", graph.label(index));
            }
        }
    }
    // Without digits of 4 or more nothing splits: 0.333 is the subtraction game of 1, 2, 3.
    let octal = graph("octal:0.333:9,9", Rule::Normal, Ordering::All);
    let subtraction = graph("subtraction:1,2,3:9,9", Rule::Normal, Ordering::All);
    assert_eq!(octal.outcomes(), subtraction.outcomes());
    assert_eq!(octal.options_total(), subtraction.options_total());
}

#[test]
fn triangular_nim_has_its_losses() {
    // The counts are published: [LWS09] table 4-1.
    for (layers, losses) in [(1, 1), (2, 3), (3, 14), (4, 142)] {
        for features in ["", ":rows"] {
            let text = format!("triangular:{layers}{features}");
            let graph = graph(&text, Rule::Misere, Ordering::All);
            assert_eq!(graph.outcomes().iter().filter(|value| value.is_loss()).count(), losses, "{text}");
            let masks = Triangle { layers, features: TriangleFeatures::Cells }.masks(Ordering::All).unwrap();
            let pieces = |index: u32| match features {
                "" => graph.position(index).iter().sum::<i32>() as u32,
                _ => graph.position(index).iter().take(layers as usize).sum::<i32>() as u32,
            };
            assert!((0..).zip(&masks).all(|(index, mask)| mask.count_ones() == pieces(index)));
        }
    }
    // Up to symmetry there are 20 boards of three layers (Burnside: (64 + 2·4 + 3·16) / 6).
    for ordering in [Ordering::Descending, Ordering::Ascending] {
        assert_eq!(graph("triangular:3", Rule::Misere, ordering).len(), 20);
    }
}

/// A formula found with some heaps is checked on graphs with at least as many features.
#[test]
fn other_heaps_have_no_fewer_features() {
    for text in ["nim:4,4", "octal:0.77:10", "octal:0.333:5,5", "moore:2:3,3", "wythoff:5"] {
        let game = Game::parse(text).unwrap();
        let width = |game: &Game| game.graph(Rule::Normal, Ordering::Descending).unwrap().features().len();
        for most in [0, 1, 11] {
            assert!(width(&game.with_heaps_of(most).unwrap()) >= width(&game), "{text} {most}");
        }
    }
    let octal = Game::parse("octal:0.77:10").unwrap().with_heaps_of(HEAP_MAX).unwrap();
    assert!(octal.graph(Rule::Normal, Ordering::All).unwrap_err().to_string().contains("at most 64 pieces"));
    let moore = Game::parse("moore:12:9,9,9,9,9,9,9,9,9,9,9,9").unwrap();
    assert!(matches!(moore.graph(Rule::Normal, Ordering::Descending), Err(GameError::TooLarge(_))));
}

#[test]
fn texts_are_read_back_and_mistakes_are_named() {
    let games = [
        "nim:4,4,4,4",
        "subtraction:1,2,3:21",
        "wythoff:10,10",
        "moore:2:4,4,4",
        "octal:0.137:10",
        "octal:4.07:5",
        "triangular:3",
        "triangular:4:rows",
    ];
    for text in games {
        assert_eq!(Game::parse(text).unwrap().to_string(), text);
    }
    assert_eq!(Game::parse(" nim: 2 , 1 ").unwrap().to_string(), "nim:2,1");
    let mistakes = [
        ("chess", "unknown game \"chess\""),
        ("chess:8", "unknown game"),
        ("nim:", "heaps \"\""),
        ("nim:-1,2", "integers from 0 to 1000000"),
        ("nim:1.5", "integers from 0"),
        ("nim:1000001", "integers from 0"),
        ("nim:99999999999999999999", "integers from 0"),
        ("nim:1,1,1,1,1,1,1,1,1,1,1,1,1", "1 to 12 integers"),
        ("subtraction:1,2,3", "numbers, a colon and heaps"),
        ("subtraction:0,1:5", "integers from 1"),
        ("wythoff:1,2,3", "1 to 2 integers"),
        ("moore:0:1,2", "from 1 to 2"),
        ("moore:3:1,2", "from 1 to 2"),
        ("octal:0.8:5", "digits from 0 to 7"),
        ("octal:1.7:5", "0. or 4."),
        ("octal:0.77:65", "at most 64 pieces"),
        ("octal:0.77:40,40", "at most 64 pieces"),
        ("triangular:5", "from 1 to 4"),
        ("triangular:3:colours", "cells or rows"),
    ];
    for (text, message) in mistakes {
        let error = Game::parse(text).unwrap_err().to_string();
        assert!(error.contains(message) && !error.contains('\n'), "{text}: {error}");
    }
    assert_eq!(Game::parse("plane:10").unwrap().to_string(), "wythoff:10,10");
    for text in ["nim:1000000", "nim:3,11586", "wythoff:1,11586", "moore:1:11586"] {
        let error = Game::parse(text).unwrap().graph(Rule::Normal, Ordering::All).unwrap_err();
        assert!(error.to_string().contains("has more than 67108864 options"), "{error}");
    }
    for text in ["nim:40,40,40,40", "octal:0.77:60", "moore:4:20,20,20,20"] {
        let error = Game::parse(text).unwrap().graph_within(Rule::Normal, Ordering::All, 10_000).unwrap_err();
        assert!(error.to_string().contains("has more than 10000 positions"), "{error}");
    }
}
