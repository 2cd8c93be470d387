//! Nim on the plane (Wythoff's game), with heaps of any length.
//!
//! \[Ver10\] B. S. Verkhovsky: Winning Strategies and Complexity of Nim-Type Computer Game on
//! Plane. Int. J. Communications, Network and System Sciences 3, 2010.
//!
//! A [point](heaps::Point) is two heaps; a move takes from one of them, or the same number from
//! both. The player who reaches (0, 0) wins (*normal*) or loses (*attrition*, the misère play of
//! [`Rule`](trinim_game::Rule)). A formula gives the losses, so no database is
//! needed.
//!
//! | question | module |
//! |---|---|
//! | what is a point, a move, and how are they written? | [`heaps`] |
//! | which numbers make the losses? | [`sequence`], exactly; [`golden`] as the paper approximates them, and the necessary precision |
//! | who wins, and by which moves? | [`winning`] |
//! | what if the goal changes? | [`goals`] |
//! | which claims of the paper hold? | [`claims`] |
//! | what is true by definition? | [`retrograde`]; [`comparison`] compares the formulas with it |
//! | what does the paper's program do? | [`paper`] |
//!
//! A loss, and the winning moves of a point whose heaps have a thousand digits:
//!
//! ```
//! use trinim_game::{Rule, Value};
//! use trinim_plane::heaps::{self, Point};
//! use trinim_plane::winning;
//!
//! assert_eq!(winning::value(Rule::Normal, &Point::new(1u8, 2u8)), Value::Loss);
//! let point = Point::new(heaps::parse("10^1000")?, heaps::parse("10^999")?);
//! for step in winning::moves(Rule::Normal, &point) {
//!     let after = point.after(&step).ok_or("not a move")?;
//!     assert_eq!(winning::value(Rule::Normal, &after), Value::Loss);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//! 1. Whole numbers decide everything; no code here uses floating point.
//! 2. Where the paper is wrong, the code has its value, marked as the paper's, and the true one.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![warn(unreachable_pub)]

pub mod claims;
pub mod comparison;
pub mod goals;
pub mod golden;
pub mod heaps;
pub mod paper;
pub mod retrograde;
pub mod sequence;
pub mod winning;

/// Heaps of any length.
pub use dashu_int::UBig;
