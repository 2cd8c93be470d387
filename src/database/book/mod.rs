//! The book: the values of all positions with at least a given number of pieces, in one file that
//! does not depend on the layout. `FORMAT.md` specifies its bytes.
//!
//! A book lists the losses among the *canonical* positions, one of each class under the board's
//! symmetries ([`order::canonical`]), as ascending numbers ([`BookOrder`]), in frames of 65,536.
//!
//! # Invariants
//! 1. The bytes are a pure function of board, rule, least pieces and losses.
//! 2. Every frame has its own hash; so do the header and the index. Numbers ascend strictly through
//!    the whole file.
//! 3. All frames but the last are full, and none is empty. Lengths are checked against the file
//!    before any allocation.
//!
//! # Cost
//! A lookup in a cached frame is a binary search of two lists; otherwise it reads and decodes a
//! frame, about 70 KB and a millisecond.

mod file;
pub mod order;
mod reader;

pub use file::{BookEncoder, BookHead, BookIndex, FRAME_LOSSES, HEADER_BYTES, part_file_name};
pub use order::BookOrder;
pub use reader::{Account, Book};

/// Name of the book inside the `db` folder.
pub const BOOK: &str = "book";
