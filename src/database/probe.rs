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
    /// Number of moves to positions whose values were not kept and do not follow.
    pub moves_not_kept: u64,
}

/// Completes what is known of the children of a position from its own value: every move of a loss
/// leads to a win, and if all children of a win but one are wins, that one is a loss. Returns how
/// many values it added.
pub fn infer(value: Value, children: &mut [Option<Value>]) -> usize {
    let unknown = children.iter().filter(|child| child.is_none()).count();
    let inferred = match value {
        Value::Loss => Value::Win,
        Value::Win if unknown == 1 && !children.contains(&Some(Value::Loss)) => Value::Loss,
        Value::Win => return 0,
    };
    for child in children {
        child.get_or_insert(inferred);
    }
    unknown
}

impl Probe {
    /// Gathers the children of a position, whose own value and nimber are `found`. `look_up`
    /// returns those of a child, or `None` if they are not kept; its value is then
    /// [inferred](infer) where it follows.
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
        let moves: Vec<u64> = board.moves().iter().copied().filter(|mask| position & mask == *mask).collect();
        let found = moves.iter().map(|taken| look_up(position ^ taken)).collect::<Result<Vec<_>, E>>()?;
        let mut values: Vec<Option<Value>> = found.iter().map(|found| found.map(|(value, _)| value)).collect();
        infer(value, &mut values);
        for ((taken, value), found) in moves.into_iter().zip(values).zip(found) {
            match value {
                Some(value) => {
                    let nimber = found.and_then(|(_, nimber)| nimber);
                    probe.children.push(Child { taken, position: position ^ taken, value, nimber });
                }
                None => probe.moves_not_kept += 1,
            }
        }
        probe.children.sort_by_key(|child| (child.value == Value::Win, child.taken));
        Ok(probe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Value::{Loss, Win};

    #[test]
    fn children_are_inferred_where_the_parent_leaves_no_choice() {
        let of = |value, children: &[Option<Value>]| {
            let mut children = children.to_vec();
            (infer(value, &mut children), children)
        };
        assert_eq!(of(Loss, &[None, Some(Win), None]), (2, vec![Some(Win); 3]));
        assert_eq!(of(Win, &[Some(Win), None]), (1, vec![Some(Win), Some(Loss)]));
        for children in [&[][..], &[None, None], &[Some(Loss), None], &[Some(Win), None, None], &[Some(Loss)]] {
            assert_eq!(of(Win, children), (0, children.to_vec()), "{children:?}");
        }
        assert_eq!(of(Loss, &[]), (0, vec![]));
    }
}
