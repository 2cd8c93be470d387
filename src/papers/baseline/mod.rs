//! The papers' strategies, kept to measure the gain of the update logs and the bit-parallel kernel.
//!
//! All of them leave the same bytes in `db` as [`trinim::solve::solve`], and keep no checkpoints.
//! The block strategies keep their bitmaps in scratch files in the `logs` folder of the run. All
//! blocks stay on disk until the end, as in the papers; then the folder is emptied.
//!
//! | | in memory | scratch on disk | loads | stores |
//! |---|---|---|---|---|
//! | [`Baseline::Forward`], [`Baseline::Retrograde`] | the board, two blocks | - | - | - |
//! | [`Baseline::BlockPull`] | three or four blocks a worker | all evaluated blocks | updates | blocks |
//! | [`Baseline::BlockPush`] | the same | the same | updates | updates and blocks |
//!
//! *Blocks* and *updates* are `canonical_blocks` and `canonical_updates` of
//! [`Counts`](crate::counts::Counts) with redundancy removed, `blocks` and `updates` without: the
//! inter-block updates of \[SWLK12\] tables 1 and 2. As there, every update loads its block, even
//! where one load of a source could serve several orientations. The first use of a block creates it
//! instead of loading it.
//!
//! # Invariants
//! 1. The `FORMAT` of a run names its baseline, that of an update-log run none: update logs never
//!    continue the folder of a baseline. A baseline never continues a folder.
//! 2. A scratch file is compared with the hash of the stored bytes before it is used.
//! 3. A block enters the database only once it is decided; `SUMS` completes the folder, as with
//!    update logs.
//!
//! # Cost
//! In memory: one thread, `2^cells / 8` bytes and, for each position, up to all moves (forward), or
//! all moves for each loss (retrograde). In blocks: the kernel's work and the loads and stores
//! above, without syncs.

mod blocks;
pub mod memory;
mod publisher;
mod scratch;
mod strategy;

pub use strategy::{Baseline, Redundancy};

use pipeline::checkpoint::PUBLISHED;
use pipeline::storage::folder_of;
use pipeline::{Error, Metrics, Options, Storage};
use publisher::Publisher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use trinim::database::{Game, SolveSpec};
use trinim::layout::Layout;
use trinim::solve::{RemovalGame, Solved, seal};
use trinim_kernel::{Kernel, bitmap_words};

/// Counters of a baseline, in addition to the [`Metrics`] of every run. Relaxed, because they are
/// read only for progress and after the end.
#[derive(Debug, Default)]
pub struct Counters {
    /// Positions visited in memory.
    pub positions_visited: AtomicU64,
    /// Loads of block bitmaps.
    pub block_loads: AtomicU64,
    /// Bytes of block bitmaps loaded.
    pub block_bytes_read: AtomicU64,
    /// Bytes of block bitmaps stored; rewrites of a block count each time.
    pub block_bytes_written: AtomicU64,
    /// Bytes of scratch files at the end, which is their peak.
    pub scratch_bytes: AtomicU64,
}

impl Counters {
    fn add(counter: &AtomicU64, amount: u64) {
        counter.fetch_add(amount, Ordering::Relaxed);
    }
}

struct Run<'a> {
    game: &'a Game,
    kernel: Kernel,
    storage: &'a dyn Storage,
    publisher: &'a Publisher<'a>,
    options: &'a Options,
    metrics: &'a Metrics,
    counters: &'a Counters,
}

impl Run<'_> {
    fn go_on(&self) -> Result<(), Error> {
        if self.options.stop.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

fn block_bytes(layout: &Layout) -> u64 {
    bitmap_words(layout.offset_bits()) as u64 * 8
}

/// Returns the memory that `workers` workers need, in bytes.
pub fn footprint_bytes(layout: &Layout, baseline: Baseline, workers: usize) -> u64 {
    // The settled and the loaded bitmap, a block file of the worst size, and a loaded bitmap in
    // another orientation.
    let turned = baseline.redundancy() == Some(Redundancy::Remove) && layout.symmetries().len() > 1;
    match baseline.redundancy() {
        None => memory::board_words(layout.bid_bits() + layout.offset_bits()) * 8 + 2 * block_bytes(layout),
        Some(_) => workers as u64 * block_bytes(layout) * if turned { 4 } else { 3 },
    }
}

/// Returns the number of workers that fit a memory budget, at most `threads` and one for each
/// block; 0 if the budget is too small.
pub fn workers(layout: &Layout, baseline: Baseline, memory_bytes: u64, threads: usize) -> usize {
    let affordable = memory_bytes / footprint_bytes(layout, baseline, 1);
    let useful = scratch_blocks(layout, baseline).clamp(1, threads.max(1) as u64);
    useful.min(affordable) as usize
}

/// Returns the number of blocks evaluated and kept in scratch files; 0 in memory.
pub fn scratch_blocks(layout: &Layout, baseline: Baseline) -> u64 {
    match baseline.redundancy() {
        None => 0,
        Some(Redundancy::Keep) => layout.blocks(),
        Some(Redundancy::Remove) => layout.canonical_blocks().len() as u64,
    }
}

/// Returns the bytes of scratch files when all blocks are evaluated.
pub fn scratch_bytes(layout: &Layout, baseline: Baseline) -> u64 {
    scratch_blocks(layout, baseline) * block_bytes(layout)
}

/// Solves in the folder of `storage`, which must be empty. Of the options, threads, memory,
/// identity and stop are used; in memory there is one thread.
///
/// # Errors
/// [`Error::Interrupted`] after `stop` was set; [`Error::Memory`] if the budget is too small;
/// [`Error::NotEmpty`] if the folder holds a run; [`Error::Corrupt`] if a file differs from what
/// was written; any storage error.
pub fn solve<'a>(
    spec: impl Into<SolveSpec<'a>>,
    kernel: Kernel,
    baseline: Baseline,
    storage: &Arc<dyn Storage>,
    options: &Options,
    metrics: &Metrics,
    counters: &Counters,
) -> Result<Solved, Error> {
    let spec = spec.into();
    let game = spec.game;
    let workers = workers(&game.layout, baseline, options.memory_bytes, options.threads);
    if workers == 0 {
        let needed_bytes = footprint_bytes(&game.layout, baseline, 1);
        return Err(Error::Memory { needed_bytes, budget_bytes: options.memory_bytes });
    }
    let workload = RemovalGame::new(spec, kernel);
    let publisher = Publisher::open(&workload, baseline, storage, options.run_id, metrics)?;
    let run = Run { game, kernel, storage: &**storage, publisher: &publisher, options, metrics, counters };
    match baseline {
        Baseline::Forward => memory::solve(&run, memory::forward)?,
        Baseline::Retrograde => memory::solve(&run, memory::retrograde)?,
        Baseline::BlockPush(redundancy) => blocks::solve(&run, true, redundancy, workers)?,
        Baseline::BlockPull(redundancy) => blocks::solve(&run, false, redundancy, workers)?,
    }
    let (mut checkpoint, mut records) = publisher.close()?;
    checkpoint.sweep(&|name| folder_of(name) == PUBLISHED)?;
    let (manifest, database_bytes) = seal(&**storage, &mut checkpoint, spec, &mut records)?;
    Ok(Solved { manifest, database_bytes, peak_leased_bytes: footprint_bytes(&game.layout, baseline, workers) })
}
