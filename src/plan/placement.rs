//! The cost of each log placement: bytes, and seconds by stage.

use super::rates::{self, Rates};
use super::shape::{Passes, Reads, Shape, StageSeconds};
use super::{MemoryPlan, Scenario, placement_name};
use crate::database::book::BookOrder;
use crate::database::{Keep, Values};
use pipeline::Placement;
use pipeline::log::place::ENTRY_ALIGNMENT;
use pipeline::storage::ALLOTMENT_BYTES;

/// Factor for alignment, bytes in flight and the like on top of the measured log volume.
const LOG_MARGIN: f64 = 1.05;

/// The costs of one placement of the logs.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlacementPlan {
    /// `shared` or `dedicated`.
    pub placement: &'static str,
    /// Log bytes written; 0 if the blocks of the database replace the logs.
    pub log_bytes_written: u64,
    /// Bytes read of logs, or of the blocks in their place.
    pub log_bytes_read: u64,
    /// Log bytes on disk at the peak.
    pub log_bytes_peak: u64,
    /// Bytes on disk at the peak, logs and database.
    pub disk_peak_bytes: u64,
    /// Estimated time, in seconds.
    pub seconds: f64,
    /// Estimated seconds of the workers.
    pub stages_s: StageSeconds,
}

/// Returns the bytes of a finished run: published blocks, lists, journal and manifest.
///
/// At the end of a solve, a book takes its space twice: as a whole, and in parts in their own
/// files.
pub(super) fn kept_bytes(scenario: Scenario<'_>, shape: &Shape) -> u64 {
    let Scenario { board, values, keep, .. } = scenario;
    let bits = rates::database_bits_per_position(values, board.size_in_layers(), shape.offset_bits);
    let block_bits = (1u64 << shape.offset_bits) as f64 * bits;
    let block_bytes = match keep {
        Keep::Database => ((block_bits / 8.0) as u64).next_multiple_of(ALLOTMENT_BYTES),
        Keep::Book { pieces } => {
            let positions = BookOrder::new(board).positions(board.cells().saturating_sub(pieces));
            let book_bytes = positions as f64 * rates::BOOK_BYTES_PER_POSITION;
            (2.0 * book_bytes / shape.canonical_blocks as f64) as u64 + ALLOTMENT_BYTES
        }
        Keep::Counts => 0,
    };
    let others = rates::DATABASE_BYTES_PER_BLOCK + rates::FOLDER_BYTES_PER_BLOCK;
    shape.canonical_blocks * (block_bytes + others) + rates::FOLDER_BYTES
}

pub(super) fn placement_plan(
    scenario: Scenario<'_>,
    shape: &Shape,
    memory: &MemoryPlan,
    reads: &[Reads],
) -> PlacementPlan {
    let database_bytes = kept_bytes(scenario, shape);
    let planes = rates::planes_at_work(scenario.values, scenario.board);
    let size = scenario.board.size_in_layers();
    let bits = match scenario.values {
        Values::Outcomes => rates::log_bits_per_position(size, shape.offset_bits, scenario.codec.name()),
        // The same streams in much the same code.
        values => rates::database_bits_per_position(values, size, shape.offset_bits),
    };
    let raw = (1u64 << shape.offset_bits) as f64 / 8.0;
    let entry = ((raw * bits) as u64).max(1).next_multiple_of(ENTRY_ALIGNMENT) as f64 * LOG_MARGIN;
    // Targets read the published blocks of their sources, and nothing else is written.
    let is_published = scenario.placement == Placement::Shared && scenario.keep.is_database();
    let block_bytes = database_bytes as f64 / shape.canonical_blocks as f64;
    let entry = if is_published { block_bytes } else { entry };
    let rates = rates::for_blocks(scenario.keep, shape.raw_bytes() as u64).for_planes(planes);
    let rates = if is_published { Rates { encode_bytes_per_second: f64::INFINITY, ..rates } } else { rates };
    let workers = memory.workers.max(1) as f64;
    let times = shape.seconds_of(reads, &rates, entry);
    let (edges, blocks, orientations) = (shape.edges as f64, shape.canonical_blocks as f64, shape.orientations as f64);
    let (copies, reads, live, passes) = match scenario.placement {
        Placement::Shared => {
            // Without a walk, no stream is taken to be held.
            let from_files = reads.iter().map(|read| u64::from(read.loads)).sum::<u64>();
            let loads = if reads.is_empty() { shape.loads } else { from_files };
            let mut passes = if times.is_empty() { shape.passes_at_most(entry) } else { Passes::default() };
            shape.passes(reads, entry).for_each(|block| passes += block);
            // The last block sends nothing.
            (blocks - 1.0, loads as f64, shape.peak_shared_streams as f64, passes)
        }
        Placement::Dedicated => {
            let (oriented, encoded, fetched) = (orientations, orientations, edges * entry);
            let passes = Passes { decoded: edges, oriented, applied: edges, blocks, encoded, fetched, audited: 0.0 };
            (edges, edges, shape.peak_dedicated_streams as f64, passes)
        }
    };
    let audited = scenario.audit.of(shape.canonical_blocks) as f64 / blocks;
    let passes = Passes { audited: audited * (passes.oriented + passes.applied + passes.blocks), ..passes };
    let stages = |speed: f64| passes.seconds(&rates.at_speed(speed), shape.raw_bytes());
    let (written, read) = (if is_published { 0.0 } else { entry * copies }, entry * reads);
    let fresh = memory.used_bytes.saturating_sub(rates::READY_BYTES) as f64 / rates::FRESH_BYTES_PER_SECOND;
    let device_seconds = (written + read) / rates.device_bytes_per_second;
    let seconds = |speed: f64| (stages(speed).sum() / workers).max(device_seconds) + fresh / workers;
    // The commit after their last target deletes logs, so those written in between wait, too: at
    // the recorded speed, so that the same plan asks for the same disk at any time. The database
    // grows while the logs do, and is not complete when they take most.
    let delay = (scenario.commit_interval.as_secs_f64() / seconds(1.0)).min(1.0);
    let [peak, both] = if is_published {
        [0.0, database_bytes as f64]
    } else if times.is_empty() {
        let logs = (entry * live + written * delay).min(written);
        [logs, logs + database_bytes as f64]
    } else {
        // Dedicated logs come and go in about the rhythm of shared ones.
        shape.peaks(scenario.placement, [entry, block_bytes], &times, delay * times.iter().sum::<f64>())
    };
    PlacementPlan {
        placement: placement_name(scenario.placement),
        log_bytes_written: written as u64,
        log_bytes_read: read as u64,
        log_bytes_peak: peak as u64,
        disk_peak_bytes: (both as u64).max(database_bytes),
        seconds: seconds(scenario.speed),
        stages_s: stages(scenario.speed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Audit;
    use crate::plan::Plan;
    use crate::plan::tests::with_memory;
    use trinim_game::Board;

    /// A plan names the time of each stage, of which a solve reports what it took.
    #[test]
    fn the_stages_make_up_the_time() {
        let [part, half] = ["1%", "50%"].map(|share| share.parse().unwrap());
        for (layers, speed, audit) in [
            (7, 0.5, Audit::None),
            (8, 2.0, Audit::All),
            (9, 1.0, Audit::None),
            (9, 1.0, Audit::All),
            (9, 1.0, part),
            (10, 1.0, half),
        ] {
            let board = Board::triangle(layers, None).unwrap();
            let scenario = Scenario { speed, audit, keep: Keep::Counts, ..with_memory(&board, 8 << 30) };
            let plan = Plan::suggested(scenario, None);
            for placement in plan.placements {
                let PlacementPlan { stages_s, log_bytes_written, log_bytes_read, seconds, .. } = placement;
                let StageSeconds { decode, orient, apply, settle, publish, encode, audit } = stages_s;
                assert_eq!(audit > 0.0, scenario.audit != Audit::None, "{layers}");
                let stages = [decode, orient, apply, settle, publish, encode, audit];
                // Nothing is decoded if every stream is held.
                assert!(stages[1..6].iter().all(|seconds| *seconds > 0.0), "{layers}: {stages:?}");
                let device = (log_bytes_written + log_bytes_read) as f64
                    / rates::for_blocks(Keep::Counts, 1).device_bytes_per_second;
                let fresh =
                    plan.memory.used_bytes.saturating_sub(rates::READY_BYTES) as f64 / rates::FRESH_BYTES_PER_SECOND;
                let workers = plan.memory.workers as f64;
                let expected = (stages.iter().sum::<f64>() / workers).max(device) + fresh / workers;
                assert!((seconds - expected).abs() < 1e-6 * expected, "{layers}: {seconds} {expected}");
            }
        }
    }
}
