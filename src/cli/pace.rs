//! Progress and speed of a solve, from the counters of the engine.
//!
//! The share done and the time left refer to the planned work ([`SessionWork`]). The time left is
//! the time of this session, times the planned time of the remaining blocks, divided by the planned
//! time of the blocks settled in this session.

use crate::plan::Plan;
use crate::plan::work::SessionWork;
use pipeline::Metrics;
use terminal::output::{bytes_per_second, per_second, seconds};
use terminal::progress::{in_words, left_s};
use terminal::watch::{Blocks, Reading};

/// The lowest load that is worth a remark.
const BUSY: f64 = 1.25;

/// Says how long planned seconds take at the current load of the machine.
pub fn at_this_load(plan: &Plan, planned: f64) -> String {
    let now = seconds(planned * plan.load);
    if plan.load < BUSY { String::new() } else { format!(" (the machine is busy: about {now} now)") }
}

/// Returns the progress of a solve after `elapsed` seconds.
pub fn of_solve(metrics: &Metrics, work: &SessionWork, elapsed: f64) -> Reading {
    let counts = metrics.snapshot();
    let committed = counts.blocks_committed;
    let phase = if committed == work.blocks { "sealing" } else { "solving" };
    let logs = match counts.log_bytes_written + counts.log_bytes_read {
        0 => "none".to_owned(),
        bytes => bytes_per_second(bytes as f64 / elapsed),
    };
    let bitmap_bytes = (counts.blocks_computed * work.block_bytes).max(1);
    let published = counts.published_bytes as f64 / bitmap_bytes as f64 * 100.0;
    let (share, [passed, left]) = work.after(counts.blocks_computed);
    let eta_s = left_s(elapsed, passed, left);
    let finished_blocks = work.resumed_blocks + counts.blocks_computed;
    let rate = work.positions_of(counts.blocks_computed) / elapsed;
    Reading {
        share,
        line: format!(
            "{phase}  ETA {}  {finished_blocks}/{} blocks ({committed} saved)  {}  logs {logs}  \
             database {published:.1} % of bitmap",
            in_words(eta_s),
            work.blocks,
            per_second(rate, "positions")
        ),
        eta_s,
        rate_positions_per_second: Some(rate),
        blocks: Some(Blocks {
            blocks: work.blocks,
            finished_blocks,
            committed_blocks: committed,
            log_bytes_written: counts.log_bytes_written,
            log_bytes_read: counts.log_bytes_read + counts.published_bytes_read,
        }),
    }
}
