//! Whether a plan fits memory and disk, and why not.

use super::{PlacementPlan, Plan, Request, placement_plan};
use crate::amount::{binary, binary_up, grouped};
use crate::layout::CANONICAL_BLOCKS_MAX;

/// Codecs whose logs take little space, the densest of large blocks first.
pub const DENSE_CODECS: [&str; 2] = ["rows-huffman", "gaps"];

/// A reason to refuse a solve before it starts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Not even one worker fits the memory budget.
    #[error(
        "a budget of {} is too small: blocks of {} need {}",
        binary(*budget_bytes),
        binary(*block_bytes),
        binary_up(*needed_bytes)
    )]
    Memory {
        /// Smallest sufficient budget, in bytes.
        needed_bytes: u64,
        /// The budget, in bytes.
        budget_bytes: u64,
        /// Bytes of one bitmap.
        block_bytes: u64,
    },
    /// The board does not fit the memory budget as a whole.
    #[error(
        "a budget of {} is too small: the whole board in memory needs {}",
        binary(*budget_bytes),
        binary_up(*needed_bytes)
    )]
    Board {
        /// Smallest sufficient budget, in bytes.
        needed_bytes: u64,
        /// The budget, in bytes.
        budget_bytes: u64,
    },
    /// The disk is too full for logs and database.
    #[error("about {} of disk space is needed, {} is free", binary_up(*needed_bytes), binary(*free_bytes))]
    Disk {
        /// Estimated need, in bytes.
        needed_bytes: u64,
        /// Free space, in bytes.
        free_bytes: u64,
    },
    /// The layout has more blocks than a run may have.
    #[error(
        "a layout with {} blocks to evaluate is too fine: expected at most {}",
        grouped(*found),
        grouped(CANONICAL_BLOCKS_MAX)
    )]
    Blocks {
        /// Canonical blocks of the layout.
        found: u64,
    },
}

impl Plan {
    /// Returns this plan if its peak takes at most this many bytes of disk or the codec is given.
    /// Otherwise returns the plan for the first of [`DENSE_CODECS`] whose peak does, or for the one
    /// with the lowest peak if none does: left to itself, `auto` chooses by speed alone.
    pub fn within(self, request: Request<'_>, disk_bytes: u64) -> Plan {
        match self.codec_within(request, disk_bytes).0 {
            codec if codec == self.codec => self,
            codec => self.with(Request { codec, ..request }),
        }
    }

    /// Returns the codec of [`Plan::within`], and the peak on disk of a solve of this request with
    /// it; `u64::MAX` if no worker fits the memory.
    pub fn codec_within<'a>(&self, request: Request<'a>, disk_bytes: u64) -> (&'a str, u64) {
        let dense = DENSE_CODECS.iter().copied().filter(|_| request.codec == "auto");
        let codecs = [request.codec].into_iter().chain(dense);
        let peak = |codec| self.costs(Request { codec, ..request }).map_or(u64::MAX, |costs| costs.disk_peak_bytes);
        let mut least = (request.codec, u64::MAX);
        for codec in codecs {
            let peak_bytes = peak(codec);
            least = if peak_bytes < least.1 { (codec, peak_bytes) } else { least };
            if peak_bytes <= disk_bytes {
                break;
            }
        }
        least
    }

    /// Returns the costs of another request alone; `None` if no worker fits its memory.
    fn costs(&self, request: Request<'_>) -> Option<PlacementPlan> {
        let (memory, reads) = self.memory(request);
        (memory.workers > 0).then(|| placement_plan(request, &self.shape, &memory, &reads))
    }

    /// Compares the plan with the memory budget and with the disk space that it may take.
    ///
    /// # Errors
    /// Returns [`PlanError::Memory`] or [`PlanError::Disk`] if something does not fit.
    pub fn check(&self, free_bytes: u64) -> Result<(), PlanError> {
        if self.memory.workers == 0 {
            return Err(PlanError::Memory {
                needed_bytes: self.memory.least_bytes,
                budget_bytes: self.memory.budget_bytes,
                block_bytes: self.block_bytes,
            });
        }
        let needed_bytes = self.chosen().disk_peak_bytes;
        if needed_bytes > free_bytes {
            return Err(PlanError::Disk { needed_bytes, free_bytes });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::request;
    use super::*;
    use crate::database::Keep;
    use trinim_game::Board;

    /// A solve of nine layers filled a disk on which it fits with another codec.
    #[test]
    fn auto_gives_way_to_a_codec_that_fits_the_disk() {
        let board = Board::triangle(9, None).unwrap();
        let memory_bytes = 2 << 30;
        let asked = Request { keep: Keep::usual(&board), memory_bytes, ..request(&board) };
        let auto = Plan::suggested(asked, None);
        let peak = |plan: &Plan| plan.chosen().disk_peak_bytes;
        let dense = auto.with(Request { codec: "rows-huffman", ..asked });
        assert!(peak(&dense) < peak(&auto));
        let chosen = |disk_bytes| auto.clone().within(asked, disk_bytes);
        assert_eq!(chosen(peak(&auto)), auto);
        assert_eq!(chosen(peak(&auto) - 1), dense);
        assert_eq!(chosen(peak(&dense)), dense);
        // A refusal named what auto needs without giving way.
        let least = DENSE_CODECS.map(|codec| peak(&auto.with(Request { codec, ..asked }))).into_iter().min();
        assert_eq!(Some(peak(&chosen(0))), least);
        let given = Request { codec: "zstd1", ..asked };
        let plan = auto.with(given);
        assert_eq!(plan.clone().within(given, 0), plan);
    }
}
