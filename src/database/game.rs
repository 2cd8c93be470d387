//! A game, the subject of a solution: a board, a rule, and a layout that divides the positions.
//!
//! A game belongs to the database rather than to `crate::game`: its [parameters](Game::parameters)
//! are written into files (`FORMAT.md` has their bytes), and a layout is built from a board.

use crate::game::{Board, BoardError, Cell, Rule};
use crate::layout::{CANONICAL_BLOCKS_MAX, Layout};
use xxhash_rust::xxh3::xxh3_64;

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

    /// Returns the named parameters that determine a solution, in the order used in files.
    pub fn parameters(&self) -> Vec<(String, String)> {
        let cells = |cells: &[u8]| cells.iter().map(u8::to_string).collect::<Vec<_>>().join(",");
        vec![
            ("layers".into(), self.board.layers().to_string()),
            ("rule".into(), self.rule.name().into()),
            ("max-take".into(), self.board.max_take().map_or("none".into(), |take| take.to_string())),
            ("bid-cells".into(), cells(self.layout.bid_cells())),
            ("offset-cells".into(), cells(self.layout.offset_cells())),
        ]
    }

    /// Returns the game with these [parameters](Game::parameters), which may be among others;
    /// `None` unless this program would write the same values.
    pub fn from_parameters(given: &[(String, String)]) -> Option<Game> {
        let value = |name: &str| given.iter().find(|pair| pair.0 == name).map(|pair| pair.1.as_str());
        let max_take = match value("max-take")? {
            "none" => None,
            number => Some(number.parse().ok()?),
        };
        let board = Board::triangle(value("layers")?.parse().ok()?, max_take).ok()?;
        let rule = value("rule")?.parse().ok()?;
        let indices = value("bid-cells")?.split(',').filter(|index| !index.is_empty());
        let cells = indices.map(|index| Some(Cell::from_index(u32::from(index.parse::<u8>().ok()?))));
        let layout = Layout::new(&board, &cells.collect::<Option<Vec<_>>>()?).ok()?;
        if layout.canonical_blocks().len() as u64 > CANONICAL_BLOCKS_MAX {
            return None;
        }
        let game = Game { board, rule, layout };
        let same = game.parameters().iter().all(|(name, wanted)| value(name) == Some(wanted));
        same.then_some(game)
    }

    /// Returns the short number of this game that every block file carries.
    pub fn identity(&self) -> u64 {
        xxh3_64(self.parameters_text().as_bytes())
    }

    /// Returns the short number of board and rule, whatever the layout, that a book carries.
    pub fn rules_identity(&self) -> u64 {
        let lines = self.parameters().into_iter().filter(|(name, _)| !name.ends_with("-cells"));
        xxh3_64(lines.map(|(name, value)| format!("{name}={value}\n")).collect::<String>().as_bytes())
    }

    /// Returns the digest of a solution in hexadecimal: BLAKE3 of the parameters as text and of
    /// `blocks`, the BLAKE3 of every canonical block's bitmap by ordinal. It depends on the game
    /// alone, not on the strategy.
    pub fn solution_digest<'a>(&self, blocks: impl Iterator<Item = &'a [u8; 32]>) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"trinim solution 1\n").update(self.parameters_text().as_bytes());
        for digest in blocks {
            hasher.update(digest);
        }
        hasher.finalize().to_hex().to_string()
    }

    fn parameters_text(&self) -> String {
        self.parameters().into_iter().map(|(name, value)| format!("{name}={value}\n")).collect()
    }
}
