//! Formulas and names of games, as `trinim-evolve` reads them.

use crate::choice;
use trinim::game::Rule;
use trinim_evolve::export::{Language, export};
use trinim_evolve::games::{Game, Graph, Ordering};
use trinim_evolve::language::{OnFault, Scope, parse, simplify};

/// Limit on the positions of a game that is built.
const POSITIONS_MAX: usize = 500;

/// A formula over as many heaps as the first byte says: it survives writing and parsing, and keeps
/// its values when simplified.
pub fn formula(bytes: &[u8]) {
    let (first, rest) = choice(bytes);
    let heaps = 1 + usize::from(first % 12);
    let scope = Scope::heaps(heaps, (first > 127).then_some(3));
    let Ok(formula) = parse(&scope, &String::from_utf8_lossy(rest)) else { return };
    assert_eq!(parse(&scope, &formula.text(&scope)).as_ref(), Ok(&formula));
    let simple = simplify(&formula);
    assert!(simple.size() <= formula.size());
    for step in 0..8i32 {
        let position: Vec<i32> =
            (0..heaps as i32).map(|heap| step.wrapping_mul(0x9e37_79b1u32 as i32) >> heap).collect();
        for on_fault in [OnFault::Stop, OnFault::Numerator] {
            let value = formula.value(&scope, &position, on_fault);
            assert_eq!(simple.value(&scope, &position, on_fault).ok(), value.ok());
        }
    }
    for language in [Language::Python, Language::Latex] {
        assert!(!export(&formula, &scope, language, OnFault::Stop).is_empty());
    }
}

/// The name of a game, built if it is small.
pub fn game(bytes: &[u8]) {
    let (first, rest) = choice(bytes);
    let Ok(game) = Game::parse(&String::from_utf8_lossy(rest)) else { return };
    assert_eq!(Game::parse(&game.to_string()).as_ref(), Ok(&game));
    let ordering = [Ordering::All, Ordering::Descending, Ordering::Ascending][usize::from(first % 3)];
    let rule = if first > 127 { Rule::Misere } else { Rule::Normal };
    if let Ok(graph) = game.graph_within(rule, ordering, POSITIONS_MAX) {
        is_sound(&graph);
    }
}

/// Checks that options are below their parents and that the Grundy value is 0 exactly where the
/// player to move loses.
fn is_sound(graph: &Graph) {
    assert!((graph.start as usize) < graph.len());
    for index in 0..graph.len() as u32 {
        assert!(graph.options(index).iter().all(|option| *option < index));
        assert!(!graph.label(index).is_empty());
    }
    if graph.rule == Rule::Normal {
        let outcomes = graph.outcomes();
        assert!(graph.grundy().iter().zip(outcomes).all(|(value, outcome)| (*value == 0) == outcome.is_loss()));
    }
}
