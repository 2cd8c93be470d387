//! What a solution is a solution of: a board, a rule, and a layout that divides the positions.
//!
//! A game lies with the database, not with the board: its [parameters](Game::parameters) are written into files
//! (FORMAT.md has their bytes), and a layout is made of a board, so `crate::game` cannot know it.

use crate::game::{Board, BoardError, Cell, Rule};
use crate::layout::Layout;
use xxhash_rust::xxh3::xxh3_64;

/// Everything that decides the bytes of a solution.
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
    /// How the positions of this board are divided into blocks.
    pub layout: Layout,
}

impl Game {
    /// Triangular Nim on `layers` layers, in the best known layout whose blocks have at most
    /// `2^offset_bits_at_most` positions ([`Layout::suggested`]).
    ///
    /// # Errors
    /// [`BoardError`] for a number of layers that no board has.
    pub fn triangle(layers: u32, rule: Rule, offset_bits_at_most: u32) -> Result<Game, BoardError> {
        let board = Board::triangle(layers, None)?;
        let layout = Layout::suggested(&board, offset_bits_at_most);
        Ok(Game { board, rule, layout })
    }

    /// The named parameters that decide a solution, in the order in which files have them.
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

    /// The game with these [parameters](Game::parameters), which may have others beside them; `None` unless this
    /// program would write the same.
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
        let game = Game { board, rule, layout };
        let same = game.parameters().iter().all(|(name, wanted)| value(name) == Some(wanted));
        same.then_some(game)
    }

    /// The short number of this game that every block file carries.
    pub fn identity(&self) -> u64 {
        xxh3_64(self.parameters_text().as_bytes())
    }

    /// Digest of a solution, hex: BLAKE3 of the parameters as text and of `blocks`, the BLAKE3 of every canonical
    /// block's bitmap by ordinal. A game has one such digest, whatever way it was solved.
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
