//! A position with all its moves.

use trinim_game::{Board, Value};

/// What is known of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// The value for the player to move.
    pub value: Value,
    /// The nimber, if it is known.
    pub nimber: Option<u32>,
    /// The distance to the end, in moves, if it is known.
    pub distance: Option<u32>,
}

impl Evaluation {
    /// Returns this with what only another source of the same value knows.
    #[must_use]
    pub fn or(self, other: Evaluation) -> Evaluation {
        let (nimber, distance) = (self.nimber.or(other.nimber), self.distance.or(other.distance));
        Evaluation { nimber, distance, ..self }
    }
}

impl From<Value> for Evaluation {
    /// From a value without numbers.
    fn from(value: Value) -> Evaluation {
        Evaluation { value, nimber: None, distance: None }
    }
}

/// A child of a probed position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child {
    /// The pieces taken.
    pub taken: u64,
    /// The position after the move.
    pub position: u64,
    /// The value for the player who moves there; a loss makes the move a winning one.
    pub value: Value,
    /// The nimber of the position after the move, if it is known.
    pub nimber: Option<u32>,
    /// The moves that are left after the move, if they are known.
    pub distance: Option<u32>,
}

/// A probed position with all its moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The position.
    pub position: u64,
    /// The value for the player to move.
    pub value: Value,
    /// The nimber, if it is known.
    pub nimber: Option<u32>,
    /// The distance to the end, in moves, if it is known.
    pub distance: Option<u32>,
    /// The children: winning moves first, those that win soonest before others, then those that
    /// lose latest, and then by ascending mask of the pieces taken.
    pub children: Vec<Child>,
    /// Number of moves to positions whose values were not kept and do not follow.
    pub moves_not_kept: u64,
}

/// Completes the values of the children of a position from its own value: every move of a loss
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
    /// Returns what is known of a position, without its children.
    pub fn alone(position: u64, found: impl Into<Evaluation>) -> Probe {
        let Evaluation { value, nimber, distance } = found.into();
        Probe { position, value, nimber, distance, children: Vec::new(), moves_not_kept: 0 }
    }

    /// Returns the moves that win, by the pieces taken, in the order of the children.
    pub fn winning_moves(&self) -> Vec<u64> {
        self.children.iter().filter(|child| child.value.is_loss()).map(|child| child.taken).collect()
    }

    fn sort(&mut self) {
        self.children.sort_by_key(|child| {
            let moves = child.distance.unwrap_or(0);
            match child.value {
                Value::Loss => (false, moves, child.taken),
                Value::Win => (true, u32::MAX - moves, child.taken),
            }
        });
    }

    /// Adds what another source knows of the same position and of its children.
    pub fn add(&mut self, other: &Probe) {
        (self.nimber, self.distance) = (self.nimber.or(other.nimber), self.distance.or(other.distance));
        for child in &mut self.children {
            if let Some(found) = other.children.iter().find(|found| found.taken == child.taken) {
                (child.nimber, child.distance) = (child.nimber.or(found.nimber), child.distance.or(found.distance));
            }
        }
        self.sort();
    }

    /// Gathers the children of a position with the result `found`. `look_up` returns the result of
    /// a child, or `None` if it is not kept; its value is then [inferred](infer) where it follows.
    ///
    /// # Errors
    /// Those of `look_up`.
    pub fn gather<E>(
        board: &Board,
        position: u64,
        found: impl Into<Evaluation>,
        mut look_up: impl FnMut(u64) -> Result<Option<Evaluation>, E>,
    ) -> Result<Probe, E> {
        let mut probe = Probe::alone(position, found);
        let moves: Vec<u64> = board.moves().iter().copied().filter(|mask| position & mask == *mask).collect();
        let found = moves.iter().map(|taken| look_up(position ^ taken)).collect::<Result<Vec<_>, E>>()?;
        let mut values: Vec<Option<Value>> = found.iter().map(|found| found.map(|found| found.value)).collect();
        infer(probe.value, &mut values);
        for ((taken, value), found) in moves.into_iter().zip(values).zip(found) {
            match value {
                Some(value) => {
                    let Evaluation { nimber, distance, .. } = found.unwrap_or(value.into());
                    probe.children.push(Child { taken, position: position ^ taken, value, nimber, distance });
                }
                None => probe.moves_not_kept += 1,
            }
        }
        probe.sort();
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
