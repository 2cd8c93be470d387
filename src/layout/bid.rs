//! The number of a block among all blocks.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The BID bits of a block, bit 0 being the BID cell with the lowest index.
///
/// Every block has one, canonical or not. The engine numbers only the canonical blocks:
/// [`Layout::bid`](super::Layout::bid) and [`Layout::canonical`](super::Layout::canonical) lead
/// from one number to the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Bid(pub u32);

impl Bid {
    /// Returns the number of pieces on BID cells.
    pub fn pieces(self) -> u32 {
        self.0.count_ones()
    }
}

impl fmt::Display for Bid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
