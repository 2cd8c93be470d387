//! Progress of a run: a live line on a terminal, a plain line every ten seconds elsewhere, a line
//! at SIGUSR1.
//!
//! `ratio` is the stored size of the published blocks over their raw size.
//!
//! # The estimate
//! Work is counted in edges applied plus [`Total::block_weight`] for each block settled; both
//! totals are known before the start. The time left is the time so far, times the work left, over
//! the work done in this session.

use super::output::{self, Paint, note};
use super::signals::Signals;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pipeline::{Metrics, Stopwatch};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use trinim::solve::baseline::Counters;

/// Time between two readings of the counters.
const TICK: Duration = Duration::from_millis(100);
/// Time between two lines where no terminal shows a live one.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// The work of one session.
#[derive(Clone, Copy, Debug)]
pub struct Total {
    /// All blocks, including those of earlier sessions.
    pub blocks: u64,
    /// Blocks of earlier sessions.
    pub resumed_blocks: u64,
    /// Edges into the blocks of this session.
    pub edges: u64,
    /// Positions in a block.
    pub block_positions: u64,
    /// Work of settling, publishing and encoding a block, in edges.
    pub block_weight: f64,
}

impl Total {
    fn units(&self) -> f64 {
        self.edges as f64 + self.block_weight * (self.blocks - self.resumed_blocks) as f64
    }
}

/// A function of the elapsed seconds that returns the share of work done and a status line.
pub type Status<'a> = &'a (dyn Fn(f64) -> (f64, String) + Sync);

/// The status of a solve after `elapsed` seconds.
pub fn of_solve(metrics: &Metrics, total: &Total, elapsed: f64) -> (f64, String) {
    let counts = metrics.snapshot();
    let settled = counts.blocks_computed;
    let done = counts.edges_applied as f64 + total.block_weight * settled as f64;
    let share = (done / total.units().max(1.0)).min(1.0);
    let committed = counts.blocks_committed;
    let phase = if committed == total.blocks { "sealing" } else { "solving" };
    let positions = output::per_second((settled * total.block_positions) as f64 / elapsed, "positions");
    let log_bytes = counts.log_bytes_written + counts.log_bytes_read;
    let logs = output::per_second(log_bytes as f64 / elapsed, "B");
    let settled_bytes = (settled * total.block_positions / 8).max(1);
    let ratio = counts.published_bytes as f64 / settled_bytes as f64;
    let left = time_left(elapsed, share);
    let blocks = total.resumed_blocks + settled;
    let line = format!(
        "{phase}  {blocks}/{} blocks ({committed} saved)  ETA {left}  {positions}  logs {logs}  ratio {ratio:.3}",
        total.blocks
    );
    (share, line)
}

/// The status of a baseline in blocks after `elapsed` seconds.
pub fn in_blocks(metrics: &Metrics, counters: &Counters, total: &Total, elapsed: f64) -> (f64, String) {
    let counts = metrics.snapshot();
    let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let settled = counts.blocks_computed;
    let done = counts.edges_applied as f64 + total.block_weight * settled as f64;
    let share = (done / total.units().max(1.0)).min(1.0);
    let positions = output::per_second((settled * total.block_positions) as f64 / elapsed, "positions");
    let block_bytes = of(&counters.block_bytes_read) + of(&counters.block_bytes_written);
    let moved = output::per_second(block_bytes as f64 / elapsed, "B");
    let left = time_left(elapsed, share);
    (share, format!("solving  {settled}/{} blocks  ETA {left}  {positions}  blocks {moved}", total.blocks))
}

/// The status of a baseline in memory after `elapsed` seconds; cutting the board into blocks takes
/// little of the time.
pub fn in_memory(counters: &Counters, all: u64, elapsed: f64) -> (f64, String) {
    let visited = counters.positions_visited.load(Ordering::Relaxed);
    let share = visited as f64 / all as f64;
    let phase = if visited == all { "publishing" } else { "solving" };
    let positions = output::per_second(visited as f64 / elapsed, "positions");
    (share, format!("{phase}  ETA {}  {positions}", time_left(elapsed, share)))
}

/// Estimates the time left, in words.
pub fn time_left(elapsed: f64, share: f64) -> String {
    if share > 0.0 { output::seconds(elapsed * (1.0 - share) / share) } else { "unknown".to_owned() }
}

/// Shows progress while `work` runs.
pub fn during<T>(status: Status<'_>, signals: &Signals, quiet: bool, paint: Paint, work: impl FnOnce() -> T) -> T {
    let (ended, end) = channel();
    std::thread::scope(|scope| {
        scope.spawn(move || show(status, signals, quiet, paint, end));
        // Dropped when the work is over, however it ends.
        let _ended = ended;
        work()
    })
}

fn show(status: Status<'_>, signals: &Signals, quiet: bool, paint: Paint, end: Receiver<()>) {
    let watch = Stopwatch::start();
    let live = !quiet && std::io::stderr().is_terminal();
    let bar = if live {
        ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr())
    } else {
        ProgressBar::hidden()
    };
    if let Ok(style) = ProgressStyle::with_template("{bar:10} {percent:>3}% {wide_msg}") {
        bar.set_style(style);
    }
    let say = |text: String| if live { bar.suspend(|| note(&text)) } else { note(&text) };
    let mut told_stop = false;
    let mut next_line = LINE_INTERVAL;
    while let Err(RecvTimeoutError::Timeout) = end.recv_timeout(signals.time_left(watch.elapsed()).min(TICK)) {
        let elapsed = watch.elapsed();
        signals.look_at_clock(elapsed);
        let (share, line) = status(elapsed.as_secs_f64());
        if live {
            bar.set_position((share * 1000.0) as u64);
            bar.set_message(line.clone());
        } else if !quiet && elapsed >= next_line {
            next_line = elapsed + LINE_INTERVAL;
            note(format_args!("{:5.1} % {line}", share * 100.0));
        }
        if signals.status.swap(false, Ordering::Relaxed) {
            say(format!("{:5.1} % {line}", share * 100.0));
        }
        if signals.stopped() && !told_stop {
            told_stop = true;
            say(paint.mark("stopping at the next safe point; press Ctrl-C again to quit now"));
        }
    }
    bar.finish_and_clear();
}
