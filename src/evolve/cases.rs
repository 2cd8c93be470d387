//! What tests of probes and of proofs begin with: the law of a game by its text, and a formula over
//! its heaps.

use super::formula::Formula;
use super::games::Game;
use super::law::Law;
use super::parse::parse;
use super::scope::Scope;
use super::score::Target;
use trinim_game::Rule;

/// Reads a game and a formula for its outcome.
pub(super) fn case(game: &str, rule: Rule, formula: &str) -> (Law, Scope, Formula) {
    let game = Game::parse(game).unwrap();
    let scope = Scope::heaps(game.heaps().unwrap().len(), None);
    let formula = parse(&scope, formula).unwrap();
    (Law::of(&game, rule, Target::Rules).unwrap(), scope, formula)
}
