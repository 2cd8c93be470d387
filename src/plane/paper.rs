//! The paper's algorithm V.
//!
//! This is \[Ver10\] section 17, step by step, with the paper's number of Newton steps. Where these
//! are too few, V mistakes a wrong point for a loss and throws a won game away; the smallest case
//! is (378, 611). Two things are added. The program asks V nothing at (0, 0), where V would call
//! itself the winner. At (1, 2), where it has no move, it takes one from the longer heap.

use super::newton::paper_steps;
use super::number;
use super::point::{Kind, Move, Point};
use super::ratio::Ratio;
use dashu_int::UBig;
use trinim_game::random::Random;

/// Returns `⌈log10 m⌉`, for `m` from 1.
pub(super) fn logarithm(m: &UBig) -> usize {
    if m.is_one() { 0 } else { number::length(&(m - 1u8)) }
}

/// Returns the paper's approximation of φ for a point with difference `m`, which must not be 0.
fn ratio(m: &UBig) -> Ratio {
    Ratio::newton(paper_steps(logarithm(m)))
}

/// Returns whether V takes the player to move for lost.
pub fn gives_up(point: &Point) -> bool {
    let m = point.difference();
    !m.is_zero() && ratio(&m).a(&m) == *point.short()
}

/// Returns the move of V in normal play, `None` only at the end. V tosses a coin at points it takes
/// for lost.
///
/// ```
/// use trinim_game::random::Random;
/// use trinim_plane::{paper, point::{Kind, Move, Point}};
///
/// let taken = paper::choose(&Point::new(378u32, 611u32), &mut Random::new(0));
/// assert_eq!(taken, Some(Move::new(Kind::Both, 2u32))); // the right one is both 1
/// ```
pub fn choose(point: &Point, random: &mut Random) -> Option<Move> {
    let m = point.difference();
    // At equal heaps V needs no ratio.
    let ratio = if m.is_zero() { Ratio::newton(0) } else { ratio(&m) };
    choose_with(point, &ratio, random)
}

/// Returns the move of V with another approximation of φ.
pub fn choose_with(point: &Point, ratio: &Ratio, random: &mut Random) -> Option<Move> {
    if point.is_end() {
        return None;
    }
    let (short, long, m) = (point.short(), point.long(), point.difference());
    if m.is_zero() {
        return Some(Move::new(Kind::Both, short.clone()));
    }
    let a = ratio.a(&m);
    if a == *short {
        let most = if *long > UBig::from(3u8) { 2 } else { 1 };
        return Some(Move::new(Kind::Long, random.below(most) + 1));
    }
    if a < *short {
        return Some(Move::new(Kind::Both, short - a));
    }
    let k = ratio.first_a(short);
    if ratio.a(&k) == *short {
        // a_m is above S = a_k, so k is below m.
        return Some(Move::new(Kind::Long, m - k));
    }
    let i = ratio.first_b(short);
    Some(Move::new(Kind::Long, long - ratio.a(&i)))
}
