//! What tests of probes and of proofs begin with: the law of a game by its text, and a formula over
//! its heaps.

use crate::formula::Formula;
use crate::games::Game;
use crate::law::Law;
use crate::parse::parse;
use crate::scope::Scope;
use crate::score::Target;
use trinim_game::Rule;

/// Reads a game and a formula for its outcome.
pub(super) fn case(game: &str, rule: Rule, formula: &str) -> (Law, Scope, Formula) {
    let game = Game::parse(game).unwrap();
    let scope = Scope::heaps(game.heaps().unwrap().len(), None);
    let formula = parse(&scope, formula).unwrap();
    (Law::of(&game, rule, Target::Rules).unwrap(), scope, formula)
}
