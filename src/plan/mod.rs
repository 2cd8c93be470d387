//! What a solve needs, before it starts: layout, memory, disk, log volume, time.
//!
//! A [`Plan`] follows from a [`Scenario`]; `trinim plan --json` serialises it. Sizes are bytes,
//! times are seconds on a machine with the speed of the scenario, which [`speed`] measures. The
//! measured constants are in [`rates`]. Callers query the free disk space.
//!
//! # Disk
//! The plan walks the block graph in the order of the solve. Each block adds its streams and its
//! file; a stream is deleted by the first commit after its last target. The walk assumes the latest
//! possible commit; a slower solve commits more often and uses less (`benches/README.md` compares
//! predicted and used disk).
//!
//! # Invariants
//! 1. The layout depends only on board and memory, never on threads, placement or machine, because
//!    the digest of a database depends on its layout.
//! 2. [`Plan::check`] refuses before anything is written. An accepted run can still fill the disk;
//!    it stops safely and can be resumed.
//! 3. A plan with a worker stays within its memory budget, held streams included.

mod choice;
mod fit;
mod placement;
pub mod rates;
mod shape;
pub mod speed;
pub mod work;

pub use choice::{
    PROGRAM_BYTES, TIMED_CELLS, WEIGHED_LAYERS, choose_layout, choose_layout_for, default_codec, default_placement,
    engine_bytes,
};
pub use fit::PlanError;
pub use placement::PlacementPlan;
use placement::{kept_bytes, placement_plan};
pub use shape::{Shape, StageSeconds};

use crate::database::{Audit, Keep, Values};
use crate::layout::{CANONICAL_BLOCKS_MAX, Layout};
use choice::choose_offset_bits;
use pipeline::codec::Codec;
use pipeline::{Footprint, Options, Placement};
use shape::Reads;
use std::sync::Arc;
use std::time::Duration;
use trinim_game::Board;
use trinim_game::Rule;
use trinim_kernel::bitmap_words;

/// The question that a plan answers.
#[derive(Clone, Copy)]
pub struct Scenario<'a> {
    /// The board.
    pub board: &'a Board,
    /// The rule; no figure depends on it.
    pub rule: Rule,
    /// What is computed of each position.
    pub values: Values,
    /// What is kept; the blocks of a database take the place of shared logs.
    pub keep: Keep,
    /// Which blocks are compared with their children.
    pub audit: Audit,
    /// What the solve may take.
    pub resources: Resources,
    /// Placement of logs.
    pub placement: Placement,
    /// Codec of the logs.
    pub codec: &'static dyn Codec,
    /// Time between commits: consumed logs are deleted only after the next one.
    pub commit_interval: Duration,
    /// Speed of this machine, 1 for that of the recorded rates.
    pub speed: f64,
}

impl<'a> Scenario<'a> {
    /// Returns a solve for who wins that keeps the database, with the usual placement and codec, at
    /// the recorded speed.
    pub fn new(board: &'a Board, rule: Rule, resources: Resources) -> Scenario<'a> {
        let (values, keep, audit, layers) = (Values::Outcomes, Keep::Database, Audit::None, board.size_in_layers());
        let (placement, codec) = (default_placement(layers, values, audit), default_codec(layers));
        let (commit_interval, speed) = (Options::default().commit_interval, speed::RECORDED);
        Scenario { board, rule, values, keep, audit, resources, placement, codec, commit_interval, speed }
    }
}

/// What a solve may take of the machine; no result depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Memory of the whole program, in bytes. By default 1 GiB.
    pub memory_bytes: u64,
    /// The most threads, at least 1. By default one for each core.
    pub threads: usize,
    /// The most bytes of the folder of a run. By default `u64::MAX`: no limit.
    pub disk_bytes: u64,
}

impl Default for Resources {
    fn default() -> Resources {
        let Options { memory_bytes, threads, .. } = Options::default();
        Resources { memory_bytes, threads, disk_bytes: u64::MAX }
    }
}

impl Resources {
    /// Returns the usual options of an engine with these threads and its part of the memory.
    pub fn options(self) -> Options {
        Options { memory_bytes: engine_bytes(self.memory_bytes), threads: self.threads, ..Options::default() }
    }
}

/// Memory by part, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryPlan {
    /// The whole budget.
    pub budget_bytes: u64,
    /// Set aside for the program itself.
    pub program_bytes: u64,
    /// The bitmaps and the read-ahead of one worker.
    pub worker_bytes: u64,
    /// The smallest queue between workers and writer.
    pub queue_bytes: u64,
    /// Workers that fit, at most the requested threads and the blocks; 0 if not even one does.
    pub workers: usize,
    /// Most finished streams that stay in memory for their targets.
    pub held_streams: u64,
    /// The memory of these streams.
    pub held_bytes: u64,
    /// The memory of all of these together.
    pub used_bytes: u64,
    /// The smallest budget that suffices for one worker.
    pub least_bytes: u64,
}

/// The needs of a solve.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// Name of the board.
    pub board: String,
    /// Layers of the board, if it is a triangle.
    pub layers: Option<u32>,
    /// Whether taking the last piece wins (`normal`) or loses (`misere`).
    #[cfg_attr(feature = "schema", schemars(with = "trinim_game::Rule"))]
    pub rule: &'static str,
    /// Cells of the board.
    pub cells: u32,
    /// Positions of the board.
    pub positions: u64,
    /// The cut of the board.
    #[serde(flatten)]
    pub shape: Shape,
    /// What the walk of the block graph reads from files.
    #[serde(skip)]
    reads: Arc<[Reads]>,
    /// Bytes of one block's bitmap.
    pub block_bytes: u64,
    /// Name of the codec of the logs.
    pub codec: &'static str,
    /// Log bits per position that the estimates assume.
    pub log_bits_per_position: f64,
    /// Database bits per position that the estimates assume.
    pub database_bits_per_position: f64,
    /// Memory by part.
    pub memory: MemoryPlan,
    /// The requested placement, by name.
    pub placement: &'static str,
    /// Both placements, shared first.
    pub placements: [PlacementPlan; 2],
    /// What is kept.
    pub keep: Keep,
    /// Bytes of what is kept, and of the run around it.
    pub database_bytes: u64,
    /// Speed of this machine in processor time; 1, not measured, for boards that take moments.
    pub speed: f64,
    /// Factor by which other work on this machine slows this work down now; 1 if it is not
    /// measured.
    pub load: f64,
}

/// Returns the name of a placement on the command line and in reports.
pub fn placement_name(placement: Placement) -> &'static str {
    match placement {
        Placement::Shared => "shared",
        Placement::Dedicated => "dedicated",
    }
}

impl Plan {
    /// Plans for the best layout whose blocks have at most `offset_bits_at_most` offset bits, or
    /// for the one of [`choose_layout`]. A layout whose graph is too large to walk is estimated.
    pub fn suggested(scenario: Scenario<'_>, offset_bits_at_most: Option<u32>) -> Plan {
        let Scenario { board, values, resources, .. } = scenario;
        let bits = offset_bits_at_most.unwrap_or_else(|| choose_offset_bits(board, values, resources.memory_bytes));
        Plan::first(scenario, Shape::suggested(board, bits))
    }

    /// Plans for a layout. One whose graph is too large to walk is estimated.
    ///
    /// # Errors
    /// Returns [`PlanError::Blocks`] if the layout has too many blocks.
    pub fn for_layout(scenario: Scenario<'_>, layout: &Layout) -> Result<Plan, PlanError> {
        let found = layout.canonical_blocks().len() as u64;
        if found > CANONICAL_BLOCKS_MAX {
            return Err(PlanError::Blocks { found, most: CANONICAL_BLOCKS_MAX });
        }
        let is_walked = Shape::is_walked(layout.bid_bits());
        let shape =
            if is_walked { Shape::from_layout(layout) } else { Shape::outline(scenario.board, layout.bid_cells()) };
        Ok(Plan::first(scenario, shape))
    }

    /// Plans another scenario for the same board and layout.
    pub fn with(&self, scenario: Scenario<'_>) -> Plan {
        let (memory, reads) = self.memory(scenario);
        Plan::new(scenario, self.shape.clone(), memory, reads)
    }

    /// Returns the memory of another scenario, and what the walk then reads from files.
    fn memory(&self, scenario: Scenario<'_>) -> (MemoryPlan, Arc<[Reads]>) {
        let memory = memory(scenario, &self.shape);
        let is_same = memory.held_streams == self.memory.held_streams;
        let reads = if is_same { self.reads.clone() } else { self.shape.reads(memory.held_streams).into() };
        (memory, reads)
    }

    fn first(scenario: Scenario<'_>, shape: Shape) -> Plan {
        let memory = memory(scenario, &shape);
        let reads = shape.reads(memory.held_streams).into();
        Plan::new(scenario, shape, memory, reads)
    }

    fn new(scenario: Scenario<'_>, shape: Shape, memory: MemoryPlan, reads: Arc<[Reads]>) -> Plan {
        let Scenario { board, rule, values, .. } = scenario;
        let size = board.size_in_layers();
        let of = |placement| placement_plan(Scenario { placement, ..scenario }, &shape, &memory, &reads);
        Plan {
            board: board.name().to_owned(),
            layers: board.layers(),
            rule: rule.name(),
            cells: board.cells(),
            positions: 1 << board.cells(),
            block_bytes: (values.planes(board) * bitmap_words(shape.offset_bits)) as u64 * 8,
            codec: scenario.codec.name(),
            log_bits_per_position: rates::log_bits_per_position(size, shape.offset_bits, scenario.codec.name()),
            database_bits_per_position: rates::database_bits_per_position(values, size, shape.offset_bits),
            memory,
            placement: placement_name(scenario.placement),
            placements: [Placement::Shared, Placement::Dedicated].map(of),
            keep: scenario.keep,
            database_bytes: kept_bytes(scenario, &shape),
            speed: scenario.speed,
            load: 1.0,
            shape,
            reads,
        }
    }
}

fn memory(scenario: Scenario<'_>, shape: &Shape) -> MemoryPlan {
    let words = scenario.values.planes(scenario.board) * bitmap_words(shape.offset_bits);
    let auditors = scenario.audit.auditors(words);
    let footprint = Footprint { auditors, ..Footprint::new(words, scenario.placement) };
    let queue_bytes = footprint.bytes(0);
    let worker_bytes = footprint.bytes(1) - queue_bytes;
    let Resources { memory_bytes: budget_bytes, threads, .. } = scenario.resources;
    let available = engine_bytes(budget_bytes).saturating_sub(queue_bytes);
    let workers = (available / worker_bytes).min(shape.canonical_blocks) as usize;
    let workers = workers.min(threads);
    let held_streams = footprint.held_streams(workers, engine_bytes(budget_bytes));
    let held_streams = held_streams.min(shape.peak_shared_streams);
    let held_bytes = held_streams * words as u64 * 8;
    let used_bytes = PROGRAM_BYTES + queue_bytes + held_bytes + worker_bytes * workers as u64;
    assert!(workers == 0 || used_bytes <= budget_bytes, "plan, invariant 3: {used_bytes} of {budget_bytes} bytes");
    MemoryPlan {
        budget_bytes,
        program_bytes: PROGRAM_BYTES,
        worker_bytes,
        queue_bytes,
        workers,
        held_streams,
        held_bytes,
        used_bytes,
        least_bytes: PROGRAM_BYTES + queue_bytes + worker_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn scenario(board: &Board) -> Scenario<'_> {
        with_memory(board, 1 << 30)
    }

    pub(super) fn with_memory(board: &Board, memory_bytes: u64) -> Scenario<'_> {
        let resources = Resources { memory_bytes, threads: 2, ..Resources::default() };
        Scenario { placement: Placement::Shared, ..Scenario::new(board, Rule::Misere, resources) }
    }

    #[test]
    fn every_board_has_a_plan_and_small_ones_pass() {
        for layers in 1..=10 {
            let board = Board::triangle(layers, None).unwrap();
            let plan = Plan::suggested(with_memory(&board, 2 << 30), None);
            assert_eq!(plan.positions, 1 << board.cells());
            assert_eq!(plan.shape.bid_bits + plan.shape.offset_bits, board.cells());
            assert!(plan.memory.used_bytes <= 2 << 30, "{layers}");
            // Only tasks have so many blocks.
            let blocks = PlanError::Blocks { found: 2_804_480, most: 1 << 20 };
            let expected = if layers == 10 { Err(blocks) } else { Ok(()) };
            assert_eq!(plan.check(u64::MAX), expected, "{layers}");
            assert!(plan.check(0).is_err(), "{layers}");
        }
    }

    #[test]
    fn the_layout_shrinks_with_the_memory_and_then_is_refused() {
        let board = Board::triangle(8, None).unwrap();
        let bits = |mebibytes: u64| choose_layout(&board, mebibytes << 20).offset_bits();
        assert_eq!(bits(1024), 27);
        assert_eq!(bits(256), 27);
        assert!(bits(100) < 27);
        let plan = Plan::suggested(with_memory(&board, 32 << 20), None);
        assert!(matches!(plan.check(u64::MAX), Err(PlanError::Memory { .. })));
    }

    /// Keeping the counts alone takes hardly more disk than the logs at their peak. A database in
    /// whose place no logs are written takes no more than itself.
    #[test]
    fn counts_need_the_disk_of_the_logs() {
        for layers in 6..=10 {
            let board = Board::triangle(layers, None).unwrap();
            let plan = Plan::suggested(scenario(&board), None);
            let [whole, book, least] = [Keep::Database, Keep::book(&board), Keep::Counts]
                .map(|keep| plan.with(Scenario { keep, ..scenario(&board) }));
            assert_eq!(whole, plan);
            let PlacementPlan { log_bytes_peak: logs, disk_peak_bytes: peak, .. } = *least.chosen();
            assert!((logs..=logs + least.database_bytes).contains(&peak), "{layers}");
            let chosen = whole.chosen();
            assert_eq!(chosen.disk_peak_bytes, whole.database_bytes, "{layers}");
            assert_eq!((chosen.log_bytes_written, chosen.log_bytes_peak), (0, 0), "{layers}");
            let [whole, book, least] = [whole, book, least].map(|plan| plan.database_bytes);
            assert!(least < whole && least < book && (layers < 8 || book < whole), "{layers}");
        }
    }

    /// Nimbers are many bitmaps a block, so that blocks are smaller in the same memory.
    #[test]
    fn nimbers_have_plans_that_fit() {
        for layers in 1..=8 {
            let board = Board::triangle(layers, None).unwrap();
            let of = |values| {
                let plan = Plan::suggested(Scenario { rule: Rule::Normal, values, ..scenario(&board) }, None);
                assert_eq!(plan.check(u64::MAX), Ok(()), "{layers}");
                let workers = plan.shape.canonical_blocks.min(2);
                assert!(plan.memory.workers as u64 == workers && plan.memory.used_bytes <= 1 << 30, "{layers}");
                plan
            };
            let (outcomes, nimbers) = (of(Values::Outcomes), of(Values::Nimbers));
            let planes = u64::from(board.cells()) + 1;
            assert_eq!(nimbers.block_bytes, (planes << nimbers.shape.offset_bits.max(9)) / 8);
            assert!(nimbers.shape.offset_bits <= outcomes.shape.offset_bits, "{layers}");
            assert!(nimbers.database_bytes >= outcomes.database_bytes, "{layers}");
        }
    }

    #[test]
    fn what_is_planned_at_the_peak_has_to_fit() {
        let board = Board::triangle(8, None).unwrap();
        let plan = Plan::suggested(scenario(&board), None);
        let needed = plan.chosen().disk_peak_bytes;
        assert_eq!(plan.check(needed), Ok(()));
        assert!(plan.check(needed - 1).is_err());
    }

    #[test]
    fn layouts_with_too_many_blocks_are_refused() {
        let board = Board::triangle(7, None).unwrap();
        let layout = Layout::suggested(&board, 4).without_symmetries();
        assert!(matches!(Plan::for_layout(scenario(&board), &layout), Err(PlanError::Blocks { .. })));
    }
}
