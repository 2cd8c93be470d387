//! The needs of one of the papers' ways to solve; see [`crate::solve::baseline`].

use super::{PROGRAM_BYTES, Plan, PlanError, engine_bytes};
use crate::layout::{CANONICAL_BLOCKS_MAX, Layout};
use crate::solve::{Baseline, baseline};

/// Memory and disk of a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaselinePlan {
    /// Workers that fit, at most the requested threads and the blocks; 0 if not even one does.
    pub workers: usize,
    /// Blocks that are evaluated, or cut from the board when it is in memory.
    pub evaluated_blocks: u64,
    /// Bytes on disk at the peak, scratch files and what is kept.
    pub disk_bytes: u64,
    whole_board: bool,
    block_bytes: u64,
    budget_bytes: u64,
    least_bytes: u64,
}

impl BaselinePlan {
    /// Plans a baseline; `plan` is that of the update logs for the same layout.
    ///
    /// # Errors
    /// Returns [`PlanError::Blocks`] if the layout has too many blocks.
    pub fn new(plan: &Plan, layout: &Layout, baseline: Baseline, threads: usize) -> Result<BaselinePlan, PlanError> {
        let scratch_blocks = baseline::scratch_blocks(layout, baseline);
        if scratch_blocks > CANONICAL_BLOCKS_MAX {
            return Err(PlanError::Blocks { found: scratch_blocks });
        }
        let budget_bytes = plan.memory.budget_bytes;
        Ok(BaselinePlan {
            workers: baseline::workers(layout, baseline, engine_bytes(budget_bytes), threads),
            evaluated_blocks: scratch_blocks.max(plan.shape.canonical_blocks),
            disk_bytes: baseline::scratch_bytes(layout, baseline) + plan.database_bytes,
            whole_board: baseline.redundancy().is_none(),
            block_bytes: plan.block_bytes,
            budget_bytes,
            least_bytes: PROGRAM_BYTES + baseline::footprint_bytes(layout, baseline, 1),
        })
    }

    /// Compares the plan with the memory budget and with the disk space that it may take.
    ///
    /// # Errors
    /// Returns [`PlanError::Memory`], [`PlanError::Board`] or [`PlanError::Disk`] if something does
    /// not fit.
    pub fn check(&self, free_bytes: u64) -> Result<(), PlanError> {
        let BaselinePlan { budget_bytes, block_bytes, least_bytes: needed_bytes, .. } = *self;
        match (self.workers, self.whole_board) {
            (0, true) => return Err(PlanError::Board { needed_bytes, budget_bytes }),
            (0, false) => return Err(PlanError::Memory { needed_bytes, budget_bytes, block_bytes }),
            _ => {}
        }
        let needed_bytes = self.disk_bytes;
        if needed_bytes > free_bytes { Err(PlanError::Disk { needed_bytes, free_bytes }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Scenario, tests::scenario};
    use super::*;
    use crate::solve::Redundancy;
    use trinim_game::Board;

    fn plan(memory_bytes: u64, baseline: Baseline) -> (Layout, BaselinePlan) {
        let board = Board::triangle(7, None).unwrap();
        let layout = Layout::suggested(&board, 20);
        let plan = Plan::for_layout(Scenario { memory_bytes, threads: 3, ..scenario(&board) }, &layout).unwrap();
        let planned = BaselinePlan::new(&plan, &layout, baseline, 3).unwrap();
        (layout, planned)
    }

    /// The smallest budget that the error names suffices, and a byte less does not; the same holds
    /// for the disk.
    #[test]
    fn what_is_named_as_the_least_would_do() {
        for baseline in [
            Baseline::Forward,
            Baseline::Retrograde,
            Baseline::BlockPush(Redundancy::Keep),
            Baseline::BlockPull(Redundancy::Remove),
        ] {
            let (layout, refused) = plan(1, baseline);
            assert_eq!(refused.workers, 0);
            let needed_bytes = match refused.check(u64::MAX) {
                Err(PlanError::Memory { needed_bytes, .. }) if baseline.redundancy().is_some() => needed_bytes,
                Err(PlanError::Board { needed_bytes, .. }) if baseline.redundancy().is_none() => needed_bytes,
                other => panic!("{baseline}: {other:?}"),
            };
            let (_, enough) = plan(needed_bytes, baseline);
            assert_eq!(enough.workers, 1);
            assert_eq!(plan(needed_bytes - 1, baseline).1.workers, 0);
            assert_eq!(enough.check(enough.disk_bytes), Ok(()));
            let needed_bytes = enough.disk_bytes;
            let error = PlanError::Disk { needed_bytes, free_bytes: needed_bytes - 1 };
            assert_eq!(enough.check(needed_bytes - 1), Err(error));
            let blocks = if baseline.redundancy() == Some(Redundancy::Keep) {
                layout.blocks()
            } else {
                layout.canonical_blocks().len() as u64
            };
            assert_eq!(enough.evaluated_blocks, blocks);
        }
    }
}
