//! The first point of a game.
//!
//! \[Ver10\] (49) asks for `L ≥ (e - 1) S ≥ Q` with a level Q. As e - 1 is above φ, the first
//! player wins such a point, except at the small losses (1, 2) and (4, 7), which also satisfy it.
//! Therefore `Q > 4 (e - 1)`, and for whole levels `Q ≥ 7`.

use super::point::Point;
use dashu_int::UBig;
use trinim_game::random::Random;

/// The smallest level: the next whole number above `4 (e - 1) = 6.87..`.
pub const LEVEL_MIN: u64 = 7;
/// The greatest level.
pub const LEVEL_MAX: u64 = 1 << 48;

/// Returns `⌈(e - 1) s⌉`, from sums of `1 / k!` that continue until the rest cannot matter.
fn stretched(s: &UBig) -> UBig {
    // sum / factorial is 1/1! + .. + 1/k!; the rest of e - 1 is less than 1 / (k k!), and e is
    // irrational.
    let (mut sum, mut factorial) = (UBig::ONE, UBig::ONE);
    for k in 2u32.. {
        sum = sum * k + 1u8;
        factorial *= k;
        let low = (&sum * s) / &factorial;
        let high = (&sum * s + s) / &factorial;
        if low == high {
            return if s.is_zero() { low } else { low + 1u8 };
        }
    }
    UBig::ZERO
}

/// Returns whether a game of this level may start at a point.
pub fn is_allowed(point: &Point, level: u64) -> bool {
    let stretched = stretched(point.short());
    // (e - 1) S is irrational unless S is 0, so it is at least Q exactly if its ceiling is more
    // than Q.
    *point.long() >= stretched && stretched > UBig::from(level)
}

/// Returns a random first point of a level from [`LEVEL_MIN`] to [`LEVEL_MAX`].
pub fn point(level: u64, random: &mut Random) -> Point {
    let level = level.clamp(LEVEL_MIN, LEVEL_MAX);
    let mut short = UBig::from(level / 5 * 3 + random.below(level));
    // 3/5 (e - 1) is above 1, so only the rounding of small levels needs this.
    while stretched(&short) <= UBig::from(level) {
        short += 1u8;
    }
    let long = stretched(&short) + random.below(2 * level);
    Point::new(short, long)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stretch_is_that_of_e() {
        // e - 1 = 1.71828182845904523536...
        for (s, expected) in
            [(0u64, 0u64), (1, 2), (4, 7), (7, 13), (1000, 1719), (1_000_000_000_000, 1_718_281_828_460)]
        {
            assert_eq!(stretched(&s.into()), expected.into(), "{s}");
        }
        let large = UBig::from(10u8).pow(40);
        assert!(stretched(&large).to_string().starts_with("171828182845904523536028747135266249775"));
    }

    #[test]
    fn first_points_keep_to_the_level() {
        let mut random = Random::new(5);
        for level in [7, 8, 14, 1000, LEVEL_MAX] {
            for _ in 0..200 {
                assert!(is_allowed(&point(level, &mut random), level));
            }
        }
        assert!(is_allowed(&Point::new(4u8, 7u8), 6) && !is_allowed(&Point::new(4u8, 7u8), 7));
    }
}
