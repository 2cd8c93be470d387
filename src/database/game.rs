//! A game, the subject of a solution: a board, a rule, and a layout that divides the positions.
//!
//! A game belongs to the database rather than to `trinim_game`, because files contain its
//! [parameters](Game::parameters) (`FORMAT.md` has their bytes).

use super::Values;
use crate::layout::{CANONICAL_BLOCKS_MAX, CELLS_MAX, Layout};
use trinim_game::{Board, BoardError, Definition, Rule};
use xxhash_rust::xxh3::xxh3_64;

/// Most cells of a board whose database is kept by default, about 15 GB.
pub(super) const DATABASE_CELLS_MAX: u32 = 40;

/// The parts of a problem that determine the bytes of a solution.
///
/// ```
/// use trinim::database::Game;
/// use trinim::game::Rule;
///
/// let game = Game::triangle(5, Rule::Misere, 12)?;
/// assert_eq!(game.layout.offset_bits(), 12);
/// let again = Game::from_parameters(&game.parameters()).expect("parameters of this program");
/// assert_eq!(again.identity(), game.identity());
/// # Ok::<(), trinim::game::BoardError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Game {
    /// The board.
    pub board: Board,
    /// Who wins at the end.
    pub rule: Rule,
    /// The division of the positions into blocks.
    pub layout: Layout,
}

impl Game {
    /// Builds Triangular Nim on `layers` layers, in the best known layout with blocks of at most
    /// `2^offset_bits_at_most` positions ([`Layout::suggested`]).
    ///
    /// # Errors
    /// [`BoardError`] if no board has this number of layers.
    pub fn triangle(layers: u32, rule: Rule, offset_bits_at_most: u32) -> Result<Game, BoardError> {
        let board = Board::triangle(layers, None)?;
        let layout = Layout::suggested(&board, offset_bits_at_most);
        Ok(Game { board, rule, layout })
    }

    /// Builds the game on any board, in the best known layout with blocks of at most
    /// `2^offset_bits_at_most` positions ([`Layout::suggested`]).
    pub fn on(board: Board, rule: Rule, offset_bits_at_most: u32) -> Game {
        let layout = Layout::suggested(&board, offset_bits_at_most);
        Game { board, rule, layout }
    }

    /// Returns the named parameters that determine a solution, in the order used in files.
    pub fn parameters(&self) -> Vec<(String, String)> {
        let cells = |cells: &[u8]| cells.iter().map(u8::to_string).collect::<Vec<_>>().join(",");
        let rule = ("rule".into(), self.rule.name().into());
        let layout = [
            ("bid-cells".into(), cells(self.layout.bid_cells())),
            ("offset-cells".into(), cells(self.layout.offset_cells())),
        ];
        let board = match (self.board.definition(), self.board.layers()) {
            (Some(definition), _) => {
                let text = serde_json::to_string(&definition).expect("a board has only numbers, strings and lists");
                vec![("board".into(), text), rule]
            }
            (None, layers) => vec![
                ("layers".into(), layers.map_or(String::new(), |layers| layers.to_string())),
                rule,
                ("max-take".into(), self.board.max_take().map_or("none".into(), |take| take.to_string())),
            ],
        };
        board.into_iter().chain(layout).collect()
    }

    /// Returns the game with these [parameters](Game::parameters), which may be among others;
    /// `None` unless this program would write the same values.
    pub fn from_parameters(given: &[(String, String)]) -> Option<Game> {
        let value = |name: &str| given.iter().find(|pair| pair.0 == name).map(|pair| pair.1.as_str());
        let board = match value("board") {
            Some(text) => serde_json::from_str::<Definition>(text).ok()?.board().ok()?,
            None => {
                let max_take = match value("max-take")? {
                    "none" => None,
                    number => Some(number.parse().ok()?),
                };
                Board::triangle(value("layers")?.parse().ok()?, max_take).ok()?
            }
        };
        if board.cells() > CELLS_MAX {
            return None;
        }
        let rule = value("rule")?.parse().ok()?;
        let indices = value("bid-cells")?.split(',').filter(|index| !index.is_empty());
        let cells = indices.map(|index| index.parse::<u8>().ok());
        let layout = Layout::from_cells(&board, &cells.collect::<Option<Vec<_>>>()?).ok()?;
        if layout.canonical_blocks().len() as u64 > CANONICAL_BLOCKS_MAX {
            return None;
        }
        let game = Game { board, rule, layout };
        let same = game.parameters().iter().all(|(name, wanted)| value(name) == Some(wanted));
        same.then_some(game)
    }

    /// Returns the short number of this game that every block file of wins and losses carries.
    pub fn identity(&self) -> u64 {
        xxh3_64(self.parameters_text(Values::Outcomes).as_bytes())
    }

    /// Returns the short number of board and rule that a book carries; no layout is in it.
    pub fn rules_identity(&self) -> u64 {
        xxh3_64(self.rules_text().as_bytes())
    }

    /// Returns the parameters of board and rule as lines.
    pub(super) fn rules_text(&self) -> String {
        let lines = self.parameters().into_iter().filter(|(name, _)| !name.ends_with("-cells"));
        lines.map(|(name, value)| format!("{name}={value}\n")).collect()
    }

    /// Returns the parameters of a solution for these values as lines, as they go into digests.
    pub(super) fn parameters_text(&self, values: Values) -> String {
        let all = self.parameters().into_iter().chain(values.parameter());
        all.map(|(name, value)| format!("{name}={value}\n")).collect()
    }
}
