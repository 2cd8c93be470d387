//! Violations counted, on positions and on the game tree, fast and by the definition.

use proptest::prelude::*;
use trinim_evolve::games::{Game, Graph, Ordering};
use trinim_evolve::language::{OnFault, parse};
use trinim_evolve::search::{Count, Judge, Target, Tree, tree_size, tree_violations, violations};
use trinim_game::Rule;

fn valued(game: &str, rule: Rule, ordering: Ordering, formula: &str) -> (Graph, Vec<i32>) {
    let graph = Game::parse(game).unwrap().graph(rule, ordering).unwrap();
    let formula = parse(&graph.scope, formula).unwrap();
    let column = formula.column(&graph.scope, graph.features(), OnFault::Stop).unwrap();
    (graph, column)
}

#[test]
fn countings_of_the_papers_configuration() {
    for (formula, ordering, positions, edges) in [
        ("a1 xor a2 xor a3 xor a4", Ordering::Descending, 0, 0),
        ("(a1^a2^a3)-a4", Ordering::Descending, 0, 0),
        ("a1^a2^(a3-a4)", Ordering::Descending, 2, 3),
        ("a1-a2+a3-a4", Ordering::Descending, 5, 5),
        ("0", Ordering::Descending, 69, 350),
        ("1", Ordering::Descending, 70, 70),
        ("a1^a2^a3-a4", Ordering::All, 160, 160),
    ] {
        let (graph, column) = valued("nim:4,4,4,4", Rule::Normal, ordering, formula);
        for (count, expected) in [(Count::Position, positions), (Count::Edge, edges)] {
            assert_eq!(violations(&graph, Target::Rules, count, &column).total(), expected, "{formula}");
            assert_eq!(u64::from(Judge::new(&graph, Target::Rules, count).total(&column)), expected, "{formula}");
        }
    }
}

/// Evolution got stuck at a formula that breaks one rule and is wrong at four positions of
/// nine.
#[test]
fn one_broken_rule_may_make_many_positions_wrong() {
    let (graph, column) = valued("nim:2,2", Rule::Misere, Ordering::All, "a1-a2");
    for (count, expected) in [(Count::Position, 1), (Count::Edge, 1), (Count::AllOptions, 1), (Count::Wrong, 4)] {
        assert_eq!(violations(&graph, Target::Rules, count, &column).total(), expected, "{count:?}");
    }
}

const GAMES: [&str; 5] = ["nim:3,2,1", "wythoff:5", "subtraction:2,3:4,3", "subtraction:2,3:13", "moore:2:2,2,2"];

proptest! {
    #[test]
    fn the_fast_count_is_the_slow_one(
        game in proptest::sample::select(GAMES.to_vec()),
        misere in any::<bool>(),
        values in proptest::collection::vec(-1..4, 64),
    ) {
        let rule = if misere { Rule::Misere } else { Rule::Normal };
        let graph = Game::parse(game).unwrap().graph(rule, Ordering::All).unwrap();
        let column: Vec<i32> = values.iter().copied().cycle().take(graph.len()).collect();
        for target in [Target::Rules, Target::Labels, Target::Grundy] {
            for count in [Count::Position, Count::Edge, Count::AllOptions, Count::Wrong] {
                let slow = violations(&graph, target, count, &column).total();
                prop_assert_eq!(u64::from(Judge::new(&graph, target, count).total(&column)), slow);
            }
        }
    }
}

#[test]
fn the_truth_breaks_nothing() {
    for game in GAMES {
        for rule in Rule::ALL {
            let graph = Game::parse(game).unwrap().graph(rule, Ordering::Descending).unwrap();
            let column: Vec<i32> = graph.outcomes().iter().map(|value| i32::from(!value.is_loss())).collect();
            for target in [Target::Rules, Target::Labels] {
                assert_eq!(violations(&graph, target, Count::Edge, &column).total(), 0, "{game}");
            }
            let grundy = violations(&graph, Target::Grundy, Count::Edge, &graph.grundy());
            assert_eq!(grundy.total(), 0);
        }
    }
}

#[test]
fn the_papers_example_has_four() {
    let (graph, column) = valued("nim:2,1", Rule::Normal, Ordering::All, "a1-a2*a1");
    for (count, expected) in [(Count::Position, 4), (Count::Edge, 5), (Count::AllOptions, 2), (Count::Wrong, 3)] {
        assert_eq!(tree_violations(&graph, count, &column).total(), expected, "{count:?}");
    }
}

#[test]
fn counting_agrees_with_the_grown_tree() {
    for (game, formula) in [
        ("nim:2,1", "a1-a2*a1"),
        ("nim:2,2,1", "a1-a2*a3"),
        ("wythoff:3", "a1-a2"),
        ("subtraction:1,2,3:6", "a1 mod 3"),
    ] {
        let (graph, column) = valued(game, Rule::Normal, Ordering::All, formula);
        let tree = Tree::grow(&graph, &column).unwrap();
        assert_eq!(tree.branches.len() as u64, tree_size(&graph));
        let broken = tree.branches.iter().filter(|branch| branch.breach.is_some()).count();
        assert_eq!(tree_violations(&graph, Count::Position, &column).total(), broken as u64, "{game}");
    }
    let (graph, column) = valued("nim:4,4,4,4", Rule::Normal, Ordering::All, "0");
    assert_eq!(Tree::grow(&graph, &column), None);
}
