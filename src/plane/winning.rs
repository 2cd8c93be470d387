//! Who wins a point, and by which moves.
//!
//! The losses of normal play are `w_n = (a_n, b_n)`. The losses of attrition, where the player who
//! reaches (0, 0) loses (misère play), are (0, 1), (2, 2) and `w_n` from `n = 2` (\[Ver10\] section
//! 21). Each number is in exactly one loss and each difference belongs to exactly one loss. A win
//! therefore has at most three winning moves: along the diagonal to the loss of the same
//! difference, and to the partner of either heap.

use super::heaps::{Kind, Move, Point};
use super::sequence;
use dashu_int::UBig;
use trinim_game::{Rule, Value};

/// Amounts tried for the move out of a loss.
const DELAYS: u8 = 4;

/// Returns the short heap of the one loss whose heaps differ by `difference`.
fn short_of(rule: Rule, difference: &UBig) -> UBig {
    match rule {
        Rule::Misere if difference.is_zero() => UBig::from(2u8),
        Rule::Misere if difference.is_one() => UBig::ZERO,
        _ => sequence::a(difference),
    }
}

/// Returns the number that makes a loss with `x`.
fn partner(rule: Rule, x: &UBig) -> UBig {
    match (rule, u8::try_from(x)) {
        (Rule::Misere, Ok(0)) => UBig::ONE,
        (Rule::Misere, Ok(1)) => UBig::ZERO,
        (Rule::Misere, Ok(2)) => UBig::from(2u8),
        _ => sequence::partner(x),
    }
}

/// Returns the value of a point for the player to move.
pub fn value(rule: Rule, point: &Point) -> Value {
    Value::from_loss(short_of(rule, &point.difference()) == *point.short())
}

/// Returns the index of a loss in the sequence of losses, `None` for a win. In attrition (0, 1) has
/// index 0 and (2, 2) index 1.
pub fn index(rule: Rule, point: &Point) -> Option<UBig> {
    let difference = point.difference();
    value(rule, point).is_loss().then(|| match rule {
        Rule::Misere if difference.is_zero() => UBig::ONE,
        Rule::Misere if difference.is_one() => UBig::ZERO,
        _ => difference,
    })
}

/// Returns all winning moves: at most one of each kind, none for a loss. Equal heaps count as one
/// heap, the long one.
///
/// ```
/// use trinim_game::Rule;
/// use trinim_plane::{heaps::{Kind, Move, Point}, winning};
///
/// let moves = winning::moves(Rule::Normal, &Point::new(2_718_282u32, 3_141_593u32));
/// assert_eq!(moves, [Move::new(Kind::Both, 2_033_351u32), Move::new(Kind::Short, 776_671u32)]);
/// ```
pub fn moves(rule: Rule, point: &Point) -> Vec<Move> {
    let (short, long) = (point.short(), point.long());
    let mut moves = Vec::new();
    let target = short_of(rule, &point.difference());
    if target == *short {
        return moves;
    }
    if target < *short {
        moves.push(Move::new(Kind::Both, short - target));
    }
    let target = partner(rule, short);
    if target < *long {
        moves.push(Move::new(Kind::Long, long - target));
    }
    if short != long {
        let target = partner(rule, long);
        if target < *short {
            moves.push(Move::new(Kind::Short, short - target));
        }
    }
    moves
}

/// Returns the move out of a loss that makes the reply hardest: it leaves one winning reply if any
/// small move does, and takes as little as possible. `None` at the end.
pub fn delay(rule: Rule, point: &Point) -> Option<Move> {
    let mut best = None;
    let kinds = [Kind::Long, Kind::Short, Kind::Both];
    for step in (1..=DELAYS).flat_map(|amount| kinds.map(|kind| Move::new(kind, amount))) {
        let Some(after) = point.after(&step) else { continue };
        // A move that ends the game comes last.
        let replies = if after.is_end() { usize::MAX } else { moves(rule, &after).len() };
        if replies == 1 {
            return Some(step);
        }
        if best.as_ref().is_none_or(|(fewest, _)| replies < *fewest) {
            best = Some((replies, step));
        }
    }
    best.map(|(_, step)| step)
}
