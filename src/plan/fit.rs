//! Whether a plan fits memory and disk, and the reason if it does not.

use super::{MemoryPlan, PlacementPlan, Plan, Scenario, placement_plan};
use crate::game::amount::{binary, binary_up, grouped};
use pipeline::checkpoint::BLOCKS_AT_MOST;

/// A reason to refuse a solve before it starts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Not even one worker fits the memory budget.
    #[error(
        "a memory budget of {} is too small: the program and blocks of {} need {}",
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
    /// The disk is too full for logs and database.
    #[error("not enough disk space: about {} needed, {} free", binary_up(*needed_bytes), binary(*free_bytes))]
    Disk {
        /// Estimated need, in bytes.
        needed_bytes: u64,
        /// Free space, in bytes.
        free_bytes: u64,
    },
    /// The layout has more blocks than a run may have.
    #[error(
        "the layout has {} blocks to evaluate: expected at most {}",
        grouped(*found),
        grouped(*most)
    )]
    Blocks {
        /// Canonical blocks of the layout.
        found: u64,
        /// The limit.
        most: u64,
    },
}

impl Plan {
    /// Returns the costs of the requested placement.
    pub fn chosen(&self) -> &PlacementPlan {
        let [shared, dedicated] = &self.placements;
        if self.placement == dedicated.placement { dedicated } else { shared }
    }

    /// Returns the peak on disk of another scenario; `None` if no worker fits its memory.
    pub fn peak_bytes(&self, scenario: Scenario<'_>) -> Option<u64> {
        let (memory, reads) = self.memory(scenario);
        (memory.workers > 0).then(|| placement_plan(scenario, &self.shape, &memory, &reads).disk_peak_bytes)
    }

    /// Compares the plan with the memory budget and with the disk space that it may take.
    ///
    /// # Errors
    /// Returns the [`PlanError`] of what does not fit.
    pub fn check(&self, free_bytes: u64) -> Result<(), PlanError> {
        let (found, most) = (self.shape.canonical_blocks, BLOCKS_AT_MOST as u64);
        if found > most {
            return Err(PlanError::Blocks { found, most });
        }
        if self.memory.workers == 0 {
            return Err(PlanError::Memory {
                needed_bytes: self.memory.least_bytes,
                budget_bytes: self.memory.budget_bytes,
                block_bytes: self.block_bytes,
            });
        }
        let MemoryPlan { used_bytes, budget_bytes, .. } = self.memory;
        assert!(used_bytes <= budget_bytes, "plan, invariant 3: {used_bytes} of {budget_bytes} bytes are accepted");
        let needed_bytes = self.chosen().disk_peak_bytes;
        if needed_bytes > free_bytes {
            return Err(PlanError::Disk { needed_bytes, free_bytes });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::scenario;
    use super::*;
    use crate::database::Keep;
    use trinim_game::Board;

    /// However its figures are rounded.
    #[test]
    fn a_plan_has_room_for_what_is_kept() {
        for (layers, bits) in (5..=6).flat_map(|layers| (6..=15).map(move |bits| (layers, bits))) {
            let board = Board::triangle(layers, None).unwrap();
            let plan = Plan::suggested(scenario(&board), Some(bits));
            for keep in Keep::choices(&board) {
                for codec in pipeline::codec::all().iter().copied() {
                    let plan = plan.with(Scenario { keep, codec, ..scenario(&board) });
                    for one in &plan.placements {
                        assert!(one.disk_peak_bytes >= plan.database_bytes, "{layers} {bits} {keep} {}", codec.name());
                        assert!(one.disk_peak_bytes >= one.log_bytes_peak, "{layers} {bits} {keep} {}", codec.name());
                    }
                }
            }
        }
    }
}
