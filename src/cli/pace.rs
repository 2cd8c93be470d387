//! How far a solve is and how fast it goes, from the counters of the engine.
//!
//! The share done and the time left are of the planned work ([`SessionWork`]): the time left is the
//! time of this session, times what is planned for the blocks left, over what was planned for the
//! blocks that it has settled.

use crate::plan::work::SessionWork;
use crate::solve::baseline::Counters;
use pipeline::{Counts, Metrics};
use std::sync::atomic::{AtomicU64, Ordering};
use terminal::output::{bytes_per_second, per_second};
use terminal::progress::{at_share, in_words, left_s};
use terminal::watch::{Blocks, Reading};

/// Returns what is known of a solve after `elapsed` seconds.
pub fn of_solve(metrics: &Metrics, work: &SessionWork, elapsed: f64) -> Reading {
    let counts = metrics.snapshot();
    let committed = counts.blocks_committed;
    let phase = if committed == work.blocks { "sealing" } else { "solving" };
    let log_bytes = counts.log_bytes_written + counts.log_bytes_read + counts.published_bytes_read;
    let logs = bytes_per_second(log_bytes as f64 / elapsed);
    let bitmap_bytes = (counts.blocks_computed * work.block_bytes).max(1);
    let published = counts.published_bytes as f64 / bitmap_bytes as f64 * 100.0;
    let blocks = Blocks {
        committed_blocks: committed,
        log_bytes_written: counts.log_bytes_written,
        log_bytes_read: counts.log_bytes_read + counts.published_bytes_read,
        ..Blocks::default()
    };
    reading(work, &counts, blocks, elapsed, |done, left, rate| {
        format!(
            "{phase}  ETA {left}  {done} blocks ({committed} saved)  {rate}  logs {logs}  \
             database {published:.1} % of bitmap"
        )
    })
}

/// Returns what is known of a baseline in blocks after `elapsed` seconds.
pub fn in_blocks(metrics: &Metrics, counters: &Counters, work: &SessionWork, elapsed: f64) -> Reading {
    let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let block_bytes = of(&counters.block_bytes_read) + of(&counters.block_bytes_written);
    let moved = bytes_per_second(block_bytes as f64 / elapsed);
    reading(work, &metrics.snapshot(), Blocks::default(), elapsed, |done, left, rate| {
        format!("solving  ETA {left}  {done} blocks  {rate}  blocks {moved}")
    })
}

/// Returns what is known of a baseline in memory after `elapsed` seconds; cutting the board into
/// blocks takes little of the time.
pub fn in_memory(counters: &Counters, all: u64, elapsed: f64) -> Reading {
    let visited = counters.positions_visited.load(Ordering::Relaxed);
    let share = visited as f64 / all as f64;
    let phase = if visited == all { "publishing" } else { "solving" };
    let rate = visited as f64 / elapsed;
    let positions = per_second(rate, "positions");
    let reading = at_share(share, elapsed, |left| format!("{phase}  ETA {left}  {positions}"));
    Reading { rate_positions_per_second: Some(rate), ..reading }
}

/// Returns what is known after `elapsed` seconds; `line` gets the blocks done of all, the time left
/// and the rate in words.
fn reading(
    work: &SessionWork,
    counts: &Counts,
    blocks: Blocks,
    elapsed: f64,
    line: impl FnOnce(&str, &str, &str) -> String,
) -> Reading {
    let (share, [passed, left]) = work.after(counts.blocks_computed, counts.edges_applied);
    let eta_s = left_s(elapsed, passed, left);
    let finished_blocks = work.resumed_blocks + counts.blocks_computed;
    let rate = work.positions_of(counts.blocks_computed) / elapsed;
    let done = format!("{finished_blocks}/{}", work.blocks);
    Reading {
        share,
        line: line(&done, &in_words(eta_s), &per_second(rate, "positions")),
        eta_s,
        rate_positions_per_second: Some(rate),
        blocks: Some(Blocks { blocks: work.blocks, finished_blocks, ..blocks }),
    }
}
