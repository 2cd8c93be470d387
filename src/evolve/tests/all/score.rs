//! Violations counted, on positions and on the game tree, fast and by the definition.

use proptest::prelude::*;
use trinim_evolve::games::{Game, Graph, Ordering};
use trinim_evolve::language::{OnFault, parse};
use trinim_evolve::search::{Count, Judge, Target, Tree, tree_size, tree_violations, violations};
use trinim_game::Rule;

fn counted(game: &str, ordering: Ordering, count: Count, formula: &str) -> u64 {
    let graph = Game::parse(game).unwrap().graph(Rule::Normal, ordering).unwrap();
    let formula = parse(&graph.scope, formula).unwrap();
    let column = formula.column(&graph.scope, graph.features(), OnFault::Stop).unwrap();
    let slow = violations(&graph, Target::Rules, count, &column).total();
    assert_eq!(u64::from(Judge::new(&graph, Target::Rules, count).total(&column)), slow);
    slow
}

#[test]
fn countings_of_the_papers_configuration() {
    let cases = [
        ("a1 xor a2 xor a3 xor a4", 0, 0),
        ("(a1^a2^a3)-a4", 0, 0),
        ("a1^a2^(a3-a4)", 2, 3),
        ("a1-a2+a3-a4", 5, 5),
        ("0", 69, 350),
        ("1", 70, 70),
    ];
    for (formula, positions, edges) in cases {
        let count = |count| counted("nim:4,4,4,4", Ordering::Descending, count, formula);
        assert_eq!((count(Count::Position), count(Count::Edge)), (positions, edges), "{formula}");
    }
    let all = |count| counted("nim:4,4,4,4", Ordering::All, count, "a1^a2^a3-a4");
    assert_eq!((all(Count::Position), all(Count::Edge)), (160, 160));
}

/// Evolution got stuck at a formula that breaks one rule and is wrong at four positions of
/// nine.
#[test]
fn one_broken_rule_may_make_many_positions_wrong() {
    let graph = Game::parse("nim:2,2").unwrap().graph(Rule::Misere, Ordering::All).unwrap();
    let formula = parse(&graph.scope, "a1-a2").unwrap();
    let column = formula.column(&graph.scope, graph.features(), OnFault::Stop).unwrap();
    let counts = [(Count::Position, 1), (Count::Edge, 1), (Count::AllOptions, 1), (Count::Wrong, 4)];
    for (count, expected) in counts {
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

fn example(game: &str, formula: &str) -> (Graph, Vec<i32>) {
    let graph = Game::parse(game).unwrap().graph(Rule::Normal, Ordering::All).unwrap();
    let formula = parse(&graph.scope, formula).unwrap();
    let column = formula.column(&graph.scope, graph.features(), OnFault::Stop).unwrap();
    (graph, column)
}

#[test]
fn the_papers_example_has_four() {
    let (graph, column) = example("nim:2,1", "a1-a2*a1");
    for (count, expected) in [(Count::Position, 4), (Count::Edge, 5), (Count::AllOptions, 2), (Count::Wrong, 3)] {
        assert_eq!(tree_violations(&graph, count, &column).total(), expected, "{count:?}");
    }
    let tree = Tree::grow(&graph, &column).unwrap();
    let broken = tree.branches.iter().filter(|branch| branch.breach.is_some());
    let labels: Vec<String> = broken.map(|branch| graph.label(branch.position)).collect();
    assert_eq!(labels, ["(2,1)", "(1,1)", "(0,1)", "(0,1)"]);
    let text = tree.text(|branch| {
        let class = if branch.is_loss { "P" } else { "N" };
        format!("{} {class}", graph.label(branch.position))
    });
    let expected = "(2,1) P\n|- (2,0) N\n|  |- (1,0) N\n|  |  `- (0,0) P\n|  `- (0,0) P\n|- (1,1) P\n\
                    |  |- (1,0) N\n|  |  `- (0,0) P\n|  `- (0,1) P\n|     `- (0,0) P\n`- (0,1) P\n   `- (0,0) P\n";
    assert_eq!(text, expected);
}

#[test]
fn counting_agrees_with_the_grown_tree() {
    for (game, formula) in [("nim:2,2,1", "a1-a2*a3"), ("wythoff:3", "a1-a2"), ("subtraction:1,2,3:6", "a1 mod 3")] {
        let (graph, column) = example(game, formula);
        let tree = Tree::grow(&graph, &column).unwrap();
        assert_eq!(tree.branches.len() as u64, tree_size(&graph));
        let broken = tree.branches.iter().filter(|branch| branch.breach.is_some()).count();
        assert_eq!(tree_violations(&graph, Count::Position, &column).total(), broken as u64, "{game}");
    }
    let (graph, column) = example("nim:4,4,4,4", "0");
    assert_eq!(Tree::grow(&graph, &column), None);
}
