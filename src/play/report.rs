//! A position in machine-readable form, as `trinim probe --json` and the server print it, field by
//! field.

use crate::database::Probe;
use serde::Serialize;
use trinim_game::position::{cells, hex, rows};
use trinim_game::{Board, Outcome, Value};

/// What `trinim probe --brief` prints of a position, on one line: without the moves.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Brief {
    /// Rows from the top, as in `1/01/110`; with `error`: the text as given.
    pub position: String,
    /// The same as a mask, cell 0 in the lowest bit.
    pub hex: String,
    /// `win` or `loss` for the player to move.
    pub value: Value,
    /// `N` for a win, `P` for a loss.
    pub outcome: Outcome,
    /// Nimber of the position; null unless the folder has nimbers, or the position was solved on
    /// the spot in normal play, with components of at most 26 pieces.
    pub nimber: Option<u32>,
    /// Moves until the end of the game, if the winner hurries and the loser delays; null unless the
    /// folder has distances, or the position has at most 22 pieces and was solved on the spot.
    pub distance: Option<u32>,
}

/// A position with its value and all its moves.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbeReport {
    /// The position itself.
    #[serde(flatten)]
    pub position: Brief,
    /// All legal moves with known values: winning moves first, the soonest win first; then losing
    /// moves, the latest loss first; ties by ascending mask.
    pub moves: Vec<MoveReport>,
    /// Legal moves to positions whose values are not known.
    pub moves_not_kept: u64,
}

/// A move of a probed position.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MoveReport {
    /// Indices of the pieces taken.
    pub cells: Vec<u32>,
    /// The position after the move.
    pub child: String,
    /// Value of the child, for the player who moves there: `loss` marks a winning move.
    pub value: Value,
    /// Nimber of the child.
    pub nimber: Option<u32>,
    /// Moves left after this one.
    pub distance: Option<u32>,
}

impl Brief {
    /// Writes a probed position of a board without its moves.
    pub fn new(board: &Board, probe: &Probe) -> Brief {
        let Probe { position, value, nimber, distance, .. } = *probe;
        let (outcome, hex) = (value.outcome(), hex(position));
        Brief { position: rows(board, position), hex, value, outcome, nimber, distance }
    }
}

impl ProbeReport {
    /// Writes a probed position of a board.
    pub fn new(board: &Board, probe: &Probe) -> ProbeReport {
        let moves = probe.children.iter().map(|child| MoveReport {
            cells: cells(child.taken),
            child: rows(board, child.position),
            value: child.value,
            nimber: child.nimber,
            distance: child.distance,
        });
        let position = Brief::new(board, probe);
        ProbeReport { position, moves: moves.collect(), moves_not_kept: probe.moves_not_kept }
    }
}
