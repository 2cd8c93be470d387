//! Checks of formulas, and proofs compared with the definition. `golden/session.txt` has formulas
//! that are proved, refuted or left open.

use trinim_evolve::games::{Game, Ordering};
use trinim_evolve::language::{OnFault, Scope, golden, parse};
use trinim_evolve::proof::{Domain, HeldOut, Law, Proof, Question, Theorem, TrueValue, WORD_BITS};
use trinim_evolve::search::Target;
use trinim_game::{Rule, Value};

/// The formula is perfect on the 70 sorted positions.
#[test]
fn perfect_on_seventy_positions_is_not_enough() {
    let graph = Game::parse("nim:4,4,4,4").unwrap().graph(Rule::Normal, Ordering::All).unwrap();
    let formula = parse(&graph.scope, "((a2 or a1)-a2)-(a4 xor a3)").unwrap();
    let column = formula.column(&graph.scope, graph.features(), OnFault::Stop).unwrap();
    let both = column.iter().zip(graph.outcomes());
    assert_eq!((both.filter(|(value, truth)| (**value == 0) != truth.is_loss()).count(), graph.len()), (98, 625));
}

/// From heaps of B only every second heap can be reached; the others went unchecked.
#[test]
fn every_heap_is_checked_and_not_only_those_in_reach() {
    let game = Game::parse("subtraction:2:6,6").unwrap();
    for ordering in [Ordering::All, Ordering::Descending, Ordering::Ascending] {
        let held = HeldOut::new(&game, Rule::Normal, Target::Rules, ordering, Some(21)).unwrap();
        assert_eq!(held.positions(), 22 * 22, "{ordering:?}");
        let formula = parse(&game.scope(), "(a1 and 2) - (a2 and 2)").unwrap();
        assert!(held.standing(&formula, OnFault::Stop).is_strategy(), "{ordering:?}");
    }
}

#[test]
fn a_range_that_is_too_large_gives_way_to_a_smaller_one() {
    let held = |game: &str, most| {
        HeldOut::new(&Game::parse(game).unwrap(), Rule::Normal, Target::Rules, Ordering::Descending, most)
    };
    for game in ["nim:60,60,60", "nim:6,6,6,6", "wythoff:400"] {
        let held = held(game, None).unwrap_or_else(|error| panic!("{game}: {error}"));
        assert!(held.heap_max.is_none() == (held.positions() == 0), "{game}");
    }
    let error = held("nim:40,40", Some(1500)).err().unwrap().to_string();
    assert!(error.contains("has more than 1048576 positions"), "{error}");
    let error = held("nim:4,2", Some(3)).err().unwrap().to_string();
    assert!(error.contains("heaps up to 4 or more, not 3"), "{error}");
    assert!(held("nim:4,2", Some(4)).is_ok());
}

#[test]
fn laws_say_what_the_graph_says() {
    let games = [
        "nim:9,4,5",
        "nim:7,7",
        "moore:2:5,4,5",
        "moore:3:3,3,3,3",
        "wythoff:60",
        "subtraction:1,2,3:40",
        "subtraction:2,5,7:9,30",
        // Far beyond the period.
        "subtraction:2,5,7:500",
        "subtraction:3,4:300",
    ];
    for text in games {
        let game = Game::parse(text).unwrap();
        for rule in Rule::ALL {
            let graph = game.graph_of_all(rule, Ordering::All, 10_000).unwrap();
            let Some(law) = Law::for_game(&game, rule, Target::Rules) else {
                assert!(rule == Rule::Misere && game.heaps.len() > 1, "{text}");
                continue;
            };
            for (index, value) in (0..).zip(graph.outcomes().iter().copied()) {
                let heaps = graph.position(index);
                assert_eq!(law.expected(&heaps), TrueValue::Outcome(value), "{text} {rule}: {heaps:?}");
            }
        }
        let Some(law) = Law::for_game(&game, Rule::Normal, Target::Grundy) else { continue };
        let graph = game.graph_of_all(Rule::Normal, Ordering::All, 10_000).unwrap();
        let values = (0..).zip(graph.grundy());
        assert!(values.fold(true, |all, (index, value)| {
            all && law.expected(&graph.position(index)) == TrueValue::Grundy(value)
        }));
    }
    for text in ["moore:2:4,4,4", "wythoff:9"] {
        assert_eq!(Law::for_game(&Game::parse(text).unwrap(), Rule::Normal, Target::Grundy), None, "{text}");
    }
}

/// x = ⌊nφ⌋ exactly if x² − xn − n² <= 0 < (x + 1)² − (x + 1)n − n².
#[test]
fn wythoffs_law_is_exact_up_to_the_largest_heap() {
    let is_floor = |x: i128, n: i128| {
        let sign = |x: i128| x * x - x * n - n * n;
        sign(x) <= 0 && sign(x + 1) > 0
    };
    for n in (0..40u32).chain([28_657, 102_334_155, 433_494_437, 820_265_625]) {
        for nudge in [-1, 0, 1] {
            let short = (golden(n) as i32 + nudge).max(0);
            let long = short + n as i32;
            let loss = is_floor(short.into(), n.into());
            let misere = match (short, long) {
                (0, 1) | (2, 2) => true,
                (0, 0) | (1, 2) => false,
                _ => loss,
            };
            for (rule, loss) in [(Rule::Normal, loss), (Rule::Misere, misere)] {
                let expected = TrueValue::Outcome(Value::from_loss(loss));
                assert_eq!(Law::Wythoff(rule).expected(&[long, short]), expected, "{rule} {short} {long}");
            }
        }
    }
}

/// Made-up formulas: right in every ordering of the heaps, in their own, or in none; for words, for
/// integers, or for both; with and without a theorem. A proof is about one ordering.
#[test]
fn standings_and_theorems_are_of_one_ordering() {
    use Ordering::{All, Ascending, Descending};
    let wythoff = "phi(largest - smallest) - smallest";
    for (game, rule, own, text, word, ordering, theorems) in [
        ("nim:4,4", Rule::Normal, Descending, "a1 xor a2", "proved", Some(All), Some([true, true])),
        ("nim:4,4", Rule::Normal, Ascending, "a1 xor a2", "proved", Some(All), Some([true, true])),
        ("nim:4,4", Rule::Normal, All, "a1 - a2", "proved", Some(All), Some([true, true])),
        ("nim:4,4", Rule::Normal, Descending, "a1 and not a2", "proved", Some(Descending), Some([true, true])),
        ("nim:4,4", Rule::Normal, Ascending, "a2 and not a1", "proved", Some(Ascending), Some([true, true])),
        ("nim:4,4", Rule::Normal, Ascending, "a1 and not a2", "refuted", None, Some([false, false])),
        ("nim:4,4", Rule::Normal, All, "a1 and not a2", "refuted", None, Some([false, false])),
        ("nim:4,4", Rule::Misere, Descending, "a1 xor a2", "refuted", None, Some([false, false])),
        // Right on every position that is checked, but not for all of them.
        ("nim:4,4", Rule::Normal, Descending, "4 * (a1 xor a2)", "refuted", None, Some([false, true])),
        ("nim:4,4", Rule::Normal, Ascending, "(a1 xor a2) and 2147483647", "proved", Some(All), Some([true, false])),
        ("nim:4,4", Rule::Normal, All, "(a1 xor a2) and 65535", "refuted", None, Some([false, false])),
        ("wythoff:5", Rule::Normal, Descending, "phi(a1 - a2) - a2", "proved", Some(Descending), None),
        ("wythoff:5", Rule::Normal, Ascending, "phi(a2 - a1) - a1", "proved", Some(Ascending), None),
        ("wythoff:5", Rule::Normal, Ascending, "phi(a1 - a2) - a2", "refuted", None, None),
        ("wythoff:5", Rule::Normal, Ascending, wythoff, "proved", Some(All), None),
        ("wythoff:5", Rule::Misere, Ascending, wythoff, "refuted", None, None),
        ("subtraction:1:3,3", Rule::Normal, Descending, "(a1 + a2) and 1", "proved", Some(All), None),
        ("subtraction:1:3,3", Rule::Misere, Descending, "(a1 + a2 + 1) and 1", "checked", Some(All), None),
    ] {
        let game = Game::parse(game).unwrap();
        let held = HeldOut::new(&game, rule, Target::Rules, own, Some(9)).unwrap();
        let formula = parse(&game.scope(), text).unwrap();
        let standing = held.standing(&formula, OnFault::Stop);
        let story = format!("{text} in {game}, {rule}, {own:?}: {standing:?}");
        assert_eq!(
            (standing.word(), standing.ordering(), standing.is_strategy()),
            (word, ordering, ordering.is_some()),
            "{story}"
        );
        let found = held.theorems(&formula, &standing);
        assert_eq!(found.as_ref().map(|found| found.ordering), theorems.map(|_| ordering.unwrap_or(own)), "{story}");
        let are_proved = found.map(|found| [found.words, found.integers].map(|proof| proof == Proof::Proved));
        assert_eq!(are_proved, theorems, "{story}");
    }
}

/// The answer once depended on the order of a hash table, and was far from the smallest.
#[test]
fn counterexamples_are_the_smallest() {
    let scope = Scope::heaps(3, None);
    for text in ["a1 - a2 + a3", "(a1 and a2) xor a3", "a1 xor a2 xor (a3 and 6)", "(a1 or 5) - (a2 xor a3)"] {
        let formula = parse(&scope, text).unwrap();
        let mut all: Vec<[i32; 3]> = Vec::new();
        (0..16 * 16 * 16).for_each(|code: i32| all.push([code >> 8, code >> 4 & 15, code & 15]));
        all.sort_by_key(|found| (found.iter().max().unwrap().checked_ilog2(), found.iter().sum::<i32>(), *found));
        let wrong = |found: &&[i32; 3]| {
            let value = formula.value(&scope, &found[..], OnFault::Stop).unwrap();
            (value == 0) != (found[0] ^ found[1] ^ found[2] == 0)
        };
        let smallest = all.iter().find(wrong).unwrap().map(i64::from).to_vec();
        assert_eq!(prove(&scope, text, Domain::Words(WORD_BITS)), Proof::Refuted(smallest), "{text}");
    }
}

/// In four bits 2147483647 is -1 and 64 is 0.
#[test]
fn constants_are_folded_in_their_domain() {
    let found = prove(&Scope::heaps(2, None), "a1 xor a2 xor min(2147483647, 64)", Domain::Words(4));
    assert!(matches!(found, Proof::Refuted(_)), "{found:?}");
}

fn prove(scope: &Scope, text: &str, domain: Domain) -> Proof {
    let theorem = Theorem::Outcome { most: 1, rule: Rule::Normal };
    Question { formula: &parse(scope, text).unwrap(), scope, theorem, ordering: Ordering::All, domain }.prove()
}
