//! The reference solver: slow and obvious, the definition that all fast code is tested against.
//!
//! It takes the moves as a slice of masks and depends on no board, layout or kernel. Positions are
//! masks over the cells; a table of values has one [`Value`] for every position, indexed by the
//! mask.
//!
//! [`values`] tries every move in every position: up to `2^cells * moves` steps and one byte for
//! each position. Six layers (21 cells) take under a second; seven layers take two hundred times
//! the work, and 256 MiB. [`value_of`] and [`winning_moves`] visit the subsets of one position and
//! suit positions of up to about twenty pieces. [`grundy`] does the same for each connected
//! component. It is the only function that uses a theorem (Sprague and Grundy), which makes it an
//! independent oracle. [`nimbers`] computes the same numbers for a whole board by their definition,
//! [`distances`] the number of moves left.

use crate::Rule;
use crate::Value;
use std::collections::HashMap;

/// Returns the values of all positions on `cells` cells, indexed by position. Slow; meant for up to
/// 21 cells, six layers.
///
/// Every move must be nonempty and inside the cells.
///
/// ```
/// use trinim_game::Board;
/// use trinim_game::{Rule, reference};
///
/// let board = Board::triangle(4, None)?;
/// let values = reference::values(board.cells(), board.moves(), Rule::Misere);
/// assert_eq!(values.iter().filter(|value| value.is_loss()).count(), 142);
/// # Ok::<(), trinim_game::BoardError>(())
/// ```
pub fn values(cells: u32, moves: &[u64], rule: Rule) -> Vec<Value> {
    let mut values: Vec<Value> = Vec::new();
    // A child is numerically smaller, so its value is known.
    for position in 0..1u64 << cells {
        let mut reached = children(moves, position).peekable();
        let is_over = reached.peek().is_none();
        let loss = !reached.any(|child| values[child as usize].is_loss());
        values.push(if is_over { rule.empty() } else { Value::from_loss(loss) });
    }
    values
}

/// Returns the value of one position. Slow: visits every position that can be reached from it.
pub fn value_of(moves: &[u64], rule: Rule, position: u64) -> Value {
    value_remembered(moves, rule, position, &mut HashMap::new())
}

/// Returns the moves from `position` to a loss of the opponent, in the order of `moves`; none if
/// the position is a loss. As slow as [`value_of`]. The empty position has no move, even if it is a
/// win.
pub fn winning_moves(moves: &[u64], rule: Rule, position: u64) -> Vec<u64> {
    let mut known = HashMap::new();
    let legal = moves.iter().copied().filter(|taken| position & taken == *taken);
    legal.filter(|taken| value_remembered(moves, rule, position ^ taken, &mut known).is_loss()).collect()
}

fn value_remembered(moves: &[u64], rule: Rule, position: u64, known: &mut HashMap<u64, Value>) -> Value {
    if let Some(&value) = known.get(&position) {
        return value;
    }
    let mut reached = children(moves, position).peekable();
    let is_over = reached.peek().is_none();
    let loss = !reached.any(|child| value_remembered(moves, rule, child, known).is_loss());
    let value = if is_over { rule.empty() } else { Value::from_loss(loss) };
    known.insert(position, value);
    value
}

/// Returns the children of a position, without duplicates because the moves are distinct.
pub fn children(moves: &[u64], position: u64) -> impl Iterator<Item = u64> {
    moves.iter().filter(move |&&taken| position & taken == taken).map(move |taken| position ^ taken)
}

/// Returns the Grundy value of a position under normal play: it is 0 exactly if the position is a
/// loss.
///
/// Two pieces are connected if one move could take both. A move takes pieces of one component, so a
/// position is the sum of its components and its Grundy value the XOR of theirs (Sprague 1935,
/// Grundy 1939). Slow, but it works on a board of any size if each component has at most about
/// twenty pieces.
pub fn grundy(moves: &[u64], position: u64) -> u32 {
    grundy_remembered(moves, position, &mut HashMap::new())
}

fn grundy_remembered(moves: &[u64], position: u64, known: &mut HashMap<u64, u32>) -> u32 {
    components(moves, position).into_iter().fold(0, |sum, component| sum ^ component_grundy(moves, component, known))
}

fn component_grundy(moves: &[u64], component: u64, known: &mut HashMap<u64, u32>) -> u32 {
    if let Some(&grundy) = known.get(&component) {
        return grundy;
    }
    let mut reached: Vec<u32> =
        children(moves, component).map(|child| grundy_remembered(moves, child, known)).collect();
    reached.sort_unstable();
    reached.dedup();
    // The least number not reached (mex).
    let grundy = (0..).zip(&reached).take_while(|(number, reached)| number == *reached).count() as u32;
    known.insert(component, grundy);
    grundy
}

/// Returns the Grundy values of all positions on `cells` cells under normal play, indexed by
/// position, by definition: each is the least number that no child has. As slow as [`values`].
pub fn nimbers(cells: u32, moves: &[u64]) -> Vec<u8> {
    let mut nimbers: Vec<u8> = Vec::with_capacity(1 << cells);
    for position in 0..1u64 << cells {
        // A child is numerically smaller, so its number is known.
        let reached = children(moves, position).fold(0_u64, |seen, child| seen | 1 << nimbers[child as usize]);
        nimbers.push(reached.trailing_ones() as u8);
    }
    nimbers
}

/// Returns the distances to the end of all positions on `cells` cells, indexed by position, by
/// definition: the number of moves left if the winner hurries and the loser delays. A position
/// without a move has 0, another win one more than the least of its losing children, a loss one
/// more than the largest of its children, which are wins. As slow as [`values`].
pub fn distances(cells: u32, moves: &[u64], rule: Rule) -> Vec<u8> {
    let values = values(cells, moves, rule);
    let mut distances: Vec<u8> = Vec::with_capacity(1 << cells);
    for position in 0..1u64 << cells {
        let children = || children(moves, position).map(|child| child as usize);
        let longest = children().map(|child| distances[child]).max();
        let shortest = children().filter(|child| values[*child].is_loss()).map(|child| distances[child]).min();
        distances.push(shortest.or(longest).map_or(0, |child| child + 1));
    }
    distances
}

/// Returns the connected components of a position as masks.
fn components(moves: &[u64], position: u64) -> Vec<u64> {
    let mut components = Vec::new();
    let mut rest = position;
    while rest != 0 {
        let mut component = rest & rest.wrapping_neg();
        loop {
            let legal = moves.iter().filter(|&taken| position & taken == *taken && component & taken != 0);
            let wider = legal.fold(component, |wider, taken| wider | taken);
            if wider == component {
                break;
            }
            component = wider;
        }
        components.push(component);
        rest &= !component;
    }
    components
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three cells in a line, every run a move: simple enough to solve by hand.
    const LINE: [u64; 6] = [0b001, 0b010, 0b100, 0b011, 0b110, 0b111];

    #[test]
    fn a_line_of_three_by_hand() {
        use Value::{Loss, Win};
        assert_eq!(values(3, &LINE, Rule::Normal), [Loss, Win, Win, Win, Win, Loss, Win, Win]);
        assert_eq!(values(3, &LINE, Rule::Misere), [Win, Loss, Loss, Win, Loss, Win, Win, Win]);
        assert_eq!(winning_moves(&LINE, Rule::Normal, 0b111), [0b010, 0b111]);
        assert_eq!(winning_moves(&LINE, Rule::Misere, 0b111), [0b011, 0b110]);
        assert!(winning_moves(&LINE, Rule::Misere, 0).is_empty());
        let grundy: Vec<u32> = (0..8).map(|position| grundy(&LINE, position)).collect();
        assert_eq!(grundy, [0, 1, 1, 2, 1, 0, 2, 3]);
        assert_eq!(nimbers(3, &LINE), [0, 1, 1, 2, 1, 0, 2, 3]);
        assert_eq!(distances(3, &LINE, Rule::Normal), [0, 1, 1, 1, 1, 2, 1, 1]);
        // One piece is lost at once, everything else is won by leaving one.
        assert_eq!(distances(3, &LINE, Rule::Misere), [0, 1, 1, 2, 1, 2, 2, 2]);
    }

    #[test]
    fn pieces_that_no_move_joins_are_components() {
        assert_eq!(components(&LINE, 0b111), [0b111]);
        assert_eq!(components(&LINE, 0b101), [0b001, 0b100]);
        assert!(components(&LINE, 0).is_empty());
    }
}
