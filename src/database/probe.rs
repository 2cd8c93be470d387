//! A position with all its moves.

use trinim_game::{Board, Value};

/// A child of a probed position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child {
    /// The pieces taken.
    pub taken: u64,
    /// The position after the move.
    pub position: u64,
    /// The value for the player who moves there; a loss makes the move a winning one.
    pub value: Value,
    /// The nimber of the position after the move, if the database has nimbers.
    pub nimber: Option<u32>,
}

/// A probed position with all its moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The position.
    pub position: u64,
    /// The value for the player to move.
    pub value: Value,
    /// The nimber, if the database has nimbers.
    pub nimber: Option<u32>,
    /// The children, winning moves first, then by ascending mask of the pieces taken.
    pub children: Vec<Child>,
    /// Number of moves to positions whose values were not kept.
    pub moves_not_kept: u64,
}

impl Probe {
    /// Gathers the children of a position, whose own value and nimber are `found`. `look_up`
    /// returns those of a child, or `None` if they are not kept.
    ///
    /// # Errors
    /// Those of `look_up`.
    pub fn gather<E>(
        board: &Board,
        position: u64,
        found: (Value, Option<u32>),
        mut look_up: impl FnMut(u64) -> Result<Option<(Value, Option<u32>)>, E>,
    ) -> Result<Probe, E> {
        let (value, nimber) = found;
        let mut probe = Probe { position, value, nimber, children: Vec::new(), moves_not_kept: 0 };
        for taken in board.moves().iter().copied().filter(|mask| position & mask == *mask) {
            let position = position ^ taken;
            match look_up(position)? {
                Some((value, nimber)) => probe.children.push(Child { taken, position, value, nimber }),
                None => probe.moves_not_kept += 1,
            }
        }
        probe.children.sort_by_key(|child| (child.value == Value::Win, child.taken));
        Ok(probe)
    }
}
