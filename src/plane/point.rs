//! Points and moves.
//!
//! A point is two heaps, the shorter one first. A move takes one or more from one heap, or the same
//! number from both.

use dashu_int::UBig;
use std::fmt;

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

    /// Returns the point after a move.
    ///
    /// # Errors
    /// Returns a [`MoveError`] if the heaps do not allow the move.
    pub fn after(&self, step: &Move) -> Result<Point, MoveError> {
        let Move { kind, amount } = step;
        let most = self.most(*kind);
        if amount.is_zero() || amount > most {
            return Err(MoveError { kind: *kind, amount: amount.clone(), most: most.clone() });
        }
        Ok(match kind {
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

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.name(), self.amount)
    }
}

/// A move that the point does not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{amount} cannot be taken from {}: expected {}", of(*.kind), range(.most))]
pub struct MoveError {
    /// The heaps of the move.
    pub kind: Kind,
    /// The requested amount.
    pub amount: UBig,
    /// The most that the move can take.
    pub most: UBig,
}

fn of(kind: Kind) -> &'static str {
    match kind {
        Kind::Short => "the short heap",
        Kind::Long => "the long heap",
        Kind::Both => "both heaps",
    }
}

fn range(most: &UBig) -> String {
    match most {
        most if most.is_zero() => "another kind of move, nothing is left for this one".to_owned(),
        most if most.is_one() => "1".to_owned(),
        most => format!("1 to {most}"),
    }
}
