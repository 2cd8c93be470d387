//! Heaps of any length, points and moves, and the notation of numbers.
//!
//! A point is two heaps, the shorter one first. A move takes one or more from one heap, or the same
//! number from both. The input is bounded before anything is computed from it, and long numbers are
//! shortened in the middle for display.

use dashu_int::UBig;
use dashu_int::ops::BitTest;
use std::fmt;
use trinim_game::text::bare;

/// The largest number of decimal digits.
pub const DIGITS_MAX: usize = 1_000_000;
/// A number with more bits than this has more than [`DIGITS_MAX`] decimal digits.
const BITS_MAX: usize = 3_321_929;
/// Characters of an invalid text that an error shows.
const SHOWN: usize = 24;

/// A text that is not a number, or too large a number; the text is cut after 24 characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NumberError {
    /// The number has a minus sign.
    #[error("{0} is negative: expected a whole number from 0")]
    Negative(String),
    /// The text is neither digits nor digits with one `^`.
    #[error("{0:?} is not a whole number: expected decimal digits, or a power like 10^1000")]
    Syntax(String),
    /// The number has more than [`DIGITS_MAX`] digits.
    #[error("{0} has too many digits: expected at most {DIGITS_MAX}")]
    TooLong(String),
}

/// Parses decimal digits, or two such numbers with `^` between them.
///
/// ```
/// use trinim_plane::heaps;
///
/// assert_eq!(heaps::parse("10^3"), heaps::parse("1000"));
/// assert!(heaps::parse("-1").is_err() && heaps::parse("10^1000000000000").is_err());
/// ```
///
/// # Errors
/// [`NumberError`], which shows the beginning of the text.
pub fn parse(text: &str) -> Result<UBig, NumberError> {
    let text = bare(text);
    let too_long = || NumberError::TooLong(cut(text));
    let Some((base, exponent)) = text.split_once('^') else { return part(text, text) };
    let (base, exponent) = (part(base, text)?, part(exponent, text)?);
    if exponent.is_zero() || base.is_one() {
        return Ok(UBig::ONE);
    }
    if base.is_zero() {
        return Ok(UBig::ZERO);
    }
    let exponent = usize::try_from(exponent).map_err(|_| too_long())?;
    if (base.bit_len() - 1).saturating_mul(exponent) > BITS_MAX {
        return Err(too_long());
    }
    let value = base.pow(exponent);
    if length(&value) > DIGITS_MAX { Err(too_long()) } else { Ok(value) }
}

/// Parses the digits of one number, a part of the whole text, which an error shows.
fn part(text: &str, whole: &str) -> Result<UBig, NumberError> {
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if text.strip_prefix('-').is_some_and(are_digits) {
        return Err(NumberError::Negative(cut(whole)));
    }
    if !are_digits(text) {
        return Err(NumberError::Syntax(cut(whole)));
    }
    let significant = text.trim_start_matches('0');
    if significant.len() > DIGITS_MAX {
        return Err(NumberError::TooLong(cut(whole)));
    }
    if significant.is_empty() {
        return Ok(UBig::ZERO);
    }
    UBig::from_str_radix(significant, 10).map_err(|_| NumberError::Syntax(cut(whole)))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}..", &text[..end]),
    }
}

/// Returns the number of decimal digits; 0 has one.
pub fn length(value: &UBig) -> usize {
    if value.is_zero() { 1 } else { value.ilog(&UBig::from(10u8)) + 1 }
}

/// Shortens more than 60 digits to both ends and the number of digits.
pub fn brief(text: &str) -> String {
    match text.len() {
        0..=60 => text.to_owned(),
        length => format!("{}..{} ({length} digits)", &text[..30], &text[length - 10..]),
    }
}

/// Formats a whole number with commas between groups of three digits.
pub fn grouped(number: impl ToString) -> String {
    let mut digits = number.to_string();
    let mut place = digits.len();
    while place > 3 {
        place -= 3;
        digits.insert(place, ',');
    }
    digits
}

/// Two heaps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Point {
    short: UBig,
    long: UBig,
}

impl Point {
    /// Creates the point of two heaps, in any order.
    pub fn new(one: impl Into<UBig>, other: impl Into<UBig>) -> Point {
        let (one, other) = (one.into(), other.into());
        if one <= other { Point { short: one, long: other } } else { Point { short: other, long: one } }
    }

    /// Returns the shorter heap, the paper's S.
    pub fn short(&self) -> &UBig {
        &self.short
    }

    /// Returns the longer heap, the paper's L.
    pub fn long(&self) -> &UBig {
        &self.long
    }

    /// Returns L - S, the paper's m.
    pub fn difference(&self) -> UBig {
        &self.long - &self.short
    }

    /// Returns whether both heaps are empty.
    pub fn is_end(&self) -> bool {
        self.long.is_zero()
    }

    /// Returns the most that a move of this kind can take.
    pub fn most(&self, kind: Kind) -> &UBig {
        match kind {
            Kind::Short | Kind::Both => &self.short,
            Kind::Long => &self.long,
        }
    }

    /// Returns the point after a move, `None` if the heaps do not allow it.
    pub fn after(&self, step: &Move) -> Option<Point> {
        let Move { kind, amount } = step;
        if amount.is_zero() || amount > self.most(*kind) {
            return None;
        }
        Some(match kind {
            Kind::Short => Point::new(&self.short - amount, self.long.clone()),
            Kind::Long => Point::new(self.short.clone(), &self.long - amount),
            Kind::Both => Point::new(&self.short - amount, &self.long - amount),
        })
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.short, self.long)
    }
}

/// The heaps that a move takes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The shorter heap.
    Short,
    /// The longer heap.
    Long,
    /// Both heaps.
    Both,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 3] = [Kind::Short, Kind::Long, Kind::Both];

    /// Returns `short`, `long` or `both`.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Short => "short",
            Kind::Long => "long",
            Kind::Both => "both",
        }
    }
}

/// A move.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// The heaps it takes from.
    pub kind: Kind,
    /// How many it takes from each of them; at least 1.
    pub amount: UBig,
}

impl Move {
    /// Creates a move.
    pub fn new(kind: Kind, amount: impl Into<UBig>) -> Move {
        Move { kind, amount: amount.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read() {
        assert_eq!(parse(" 0012 "), Ok(UBig::from(12u8)));
        assert_eq!(parse("2^64"), Ok(UBig::from(1u128 << 64)));
        assert_eq!(parse("0^0"), Ok(UBig::ONE));
        assert_eq!(parse("0^5"), Ok(UBig::ZERO));
        assert_eq!(parse("1^99999999999999999999999"), Ok(UBig::ONE));
        for largest in ["10^999999", "9^1047951"] {
            assert_eq!(length(&parse(largest).unwrap()), DIGITS_MAX, "{largest}");
        }
        for text in ["", "-", "1.5", "1e5", "0x10", "+1", "1 2", "10^", "^3", "2^3^4", "10^-1x", "\u{661}"] {
            assert!(matches!(parse(text), Err(NumberError::Syntax(_))), "{text}");
        }
        for text in ["-1", "10^-1", "-2^3"] {
            assert!(matches!(parse(text), Err(NumberError::Negative(_))), "{text}");
        }
        for text in ["10^1000000", "9^1047952", "2^99999999999999999999999", &"1".repeat(DIGITS_MAX + 1)] {
            let error = parse(text).unwrap_err();
            assert!(matches!(error, NumberError::TooLong(_)), "{text}");
            assert!(error.to_string().len() < 100);
        }
        assert!(parse(&"9".repeat(DIGITS_MAX)).is_ok());
    }

    #[test]
    fn lengths_are_those_of_the_text() {
        for exponent in [0, 1, 17, 38, 39, 40, 100, 1000, 5000] {
            let power = UBig::from(10u8).pow(exponent);
            assert_eq!(length(&power), exponent + 1);
            assert_eq!(length(&(&power - 1u8)), exponent.max(1));
        }
    }
}
